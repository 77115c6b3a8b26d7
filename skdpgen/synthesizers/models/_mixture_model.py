"""A mixture of products of columns, and rows drawn from it, given any columns."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import rankdata

from skdpgen.synthesizers.models._coupling import Coupling, fewest_rows
from skdpgen.synthesizers.models._decoding import decode_rows, draw_given
from skdpgen.synthesizers.models._image_model import Deformations
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import CellGroups, Cells
from skdpgen.training import ClassConditional, project_to_total
from skdpgen.utils import (
    saved,
    torch_generator,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]
ROWS_AT_ONCE = 4096
LEAST_LIKELIHOOD = 1e-9  # of a value, even of one that the release rules out


@saved("model.table_mixture")
@dataclass(frozen=True, eq=False)
class MixtureModel:
    """Per class, equally likely products of columns over groups of cells.

    Parameters
    ----------
    known : ClassConditional
        Class totals, and each column given the class, on all its cells.
    groups : mapping of name to CellGroups
    tables : mapping of name to ndarray of shape (n_classes, n_components, n_groups)
        Each column in each component.
    coupling : Coupling or None
        How drawn rows are moved, if no column is given.
    """

    known: ClassConditional
    groups: Mapping[Any, CellGroups]
    tables: Mapping[Any, Floats]
    coupling: Coupling | None = None

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return self.known.shares

    @property
    def n_components(self) -> int:
        """Components of each class."""
        tables = next(iter(self.tables.values()), np.ones((1, 1, 1)))
        return int(tables.shape[1])

    def draw(
        self, labels: Codes, given: Mapping[Any, Codes], *, rng: Generator
    ) -> dict[Any, Codes]:
        """Draw the cells of rows with the given labels and the given columns."""
        if self.coupling is None or given:
            return self._drawn(labels, given, rng=rng)
        present, counts = np.unique(labels, return_counts=True)
        # a few rows are some of many, which can be moved among each other
        missing = np.maximum(fewest_rows(len(present)) - counts, 0)
        everyone = np.concatenate([labels, np.repeat(present, missing)])
        codes = self._drawn(everyone, {}, rng=rng)
        for label in present:
            rows = np.flatnonzero(everyone == label)
            of_class = {name: codes[name][rows] for name in self.coupling.sizes}
            moved = self.coupling.moved(of_class, int(label), self.known, rng=rng)
            for name, column in moved.items():
                codes[name][rows] = column
        return {name: column[: len(labels)] for name, column in codes.items()}

    def _drawn(
        self, labels: Codes, given: Mapping[Any, Codes], *, rng: Generator
    ) -> dict[Any, Codes]:
        """Draw the cells of rows from the mixture."""
        if given:
            members = np.empty(len(labels), dtype=np.int64)
            for batch in _parts(len(labels)):
                given_in_batch = {name: codes[batch] for name, codes in given.items()}
                members[batch] = _pick(
                    self._likelihood(given_in_batch, labels[batch]), rng=rng
                )
        else:
            uniform = np.ones((len(self.shares), self.n_components))
            members = draw_given(uniform, labels, rng=rng)
        components = labels * self.n_components + members
        codes = dict(given)
        for name, table in self.tables.items():
            if name in codes:
                continue
            groups = self.groups[name]
            rows = table.reshape(-1, groups.n_groups)
            drawn = draw_given(rows, components, rng=rng)
            if groups.n_groups < len(groups.of_cell):
                places = labels * groups.n_groups + drawn
                # from the drawn group to one of its cells, by class
                membership = np.eye(groups.n_groups)[groups.of_cell].T
                cell_shares = self._within(name)[:, None, :] * membership
                drawn = draw_given(
                    cell_shares.reshape(-1, membership.shape[1]), places, rng=rng
                )
            codes[name] = drawn
        return {name: codes[name] for name in self.tables}

    def draw_labels(self, given: Mapping[Any, Codes], *, rng: Generator) -> Codes:
        """Draw labels for rows of which some columns are given."""
        n = len(next(iter(given.values())))
        drawn = np.empty(n, dtype=np.int64)
        for batch in _parts(n):
            given_in_batch = {name: codes[batch] for name, codes in given.items()}
            labels = np.zeros(len(drawn[batch]), dtype=np.int64)
            log_likelihoods = [
                np.log(max(share, LEAST_LIKELIHOOD))
                + np.logaddexp.reduce(
                    self._likelihood(given_in_batch, labels + label), axis=1
                )
                for label, share in enumerate(self.shares)
            ]
            drawn[batch] = _pick(np.stack(log_likelihoods, axis=1), rng=rng)
        return drawn

    def _likelihood(self, given: Mapping[Any, Codes], labels: Codes) -> Floats:
        """Log-likelihood of the given cells in each component of the label's class."""
        total = np.zeros((len(labels), self.n_components))
        for name, codes in given.items():
            groups, table = self.groups[name], self.tables[name]
            cell_shares = self._within(name)[labels, codes]
            group_shares = table[labels, :, groups.of_cell[codes]]
            total += np.log(
                np.maximum(group_shares * cell_shares[:, None], LEAST_LIKELIHOOD)
            )
        return total

    def _within(self, name: Hashable) -> Floats:
        """Share of each cell in its group, (n_classes, n_cells)."""
        groups = self.groups[name]
        cells = np.maximum(np.asarray(self.known.conditionals[name]), 0.0)
        marginal = np.asarray(self.known.marginals[name]) + LEAST_LIKELIHOOD
        mass = groups.add_up(cells)[:, groups.of_cell]
        cells = np.where(mass > LEAST_LIKELIHOOD, cells, marginal)
        return np.asarray(cells / groups.add_up(cells)[:, groups.of_cell])


def _parts(n: int) -> Iterator[slice]:
    """Cut rows into parts."""
    for start in range(0, n, ROWS_AT_ONCE):
        yield slice(start, start + ROWS_AT_ONCE)


def _pick(logs: Floats, *, rng: Generator) -> Codes:
    """Draw one column for each row of log-probabilities."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    cumulative = np.cumsum(weights, axis=1)
    places = rng.random(len(logs)) * cumulative[:, -1]
    picked = (places[:, None] >= cumulative).sum(axis=1)
    return np.minimum(picked, logs.shape[1] - 1)


# ----------------------------------------------------------------------------
# Mixtures of Gaussians in the codes of a lens, and pictures drawn from them.

PICTURES_AT_ONCE = 4096
N_QUANTILES = 257  # between which tones are mapped
CODES_DRAWN, CENTRE_ROUNDS = 2000, 8  # by which centres are first placed
PICTURES_FOR_TONES = 2000  # from which the tones are estimated


@saved("model.image_mixture")
@dataclass(frozen=True, eq=False)
class PictureMixture:
    """A model of codes: per class a mixture of Gaussians that differ in place.

    Parameters
    ----------
    lens : Lens
        With a way back.
    shape : tuple of int
        Channels, height and width.
    totals : ndarray of shape (n_classes,)
    total_std : float
        Noise of their sum.
    centres : ndarray of shape (n_classes, n_prototypes, n_latent)
    weights : ndarray of shape (n_classes, n_prototypes)
    roots : ndarray of shape (n_classes, n_latent, n_latent)
        A root of the covariance around centres.
    diagonals : ndarray of shape (n_classes, n_latent)
        Variance besides.
    histogram : ndarray
        How frequent tones are, from black to white.
    tones : tuple of two ndarrays or None
        Quantiles of decoded pixels, and the tones that they become.
    """

    lens: Any
    shape: tuple[int, int, int]
    totals: Floats
    total_std: float
    centres: Floats
    weights: Floats
    roots: Floats
    diagonals: Floats
    histogram: Floats
    tones: tuple[Floats, Floats] | None = None

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return np.asarray(self.totals / self.totals.sum())

    @property
    def has_relations(self) -> bool:
        """Return True: pixels of decoded images always depend on each other."""
        return True

    def finished(self, seed: int) -> "PictureMixture":
        """Return it with the tones of real pixels."""
        return self.with_tones(np.random.default_rng(seed))

    def draw_rows(
        self,
        labels: Integers,
        cells: Mapping[Any, Cells],
        facts: Facts,
        *,
        deform: Deformations | None,
        container: str | None,
        rng: Generator,
    ) -> Any:
        """Draw images with the given labels, in the original dtype and shape."""
        del cells
        refuse_container(container)
        return facts.layout.restore(self.draw(labels, deform, rng=rng))  # type: ignore[union-attr]

    def draw(
        self, labels: Integers, deform: Deformations | None, *, rng: Generator
    ) -> NDArray[np.float32]:
        """Draw the pixels of pictures with the given labels, in [0, 1]."""
        public = torch_generator(rng)
        members = draw_given(self.weights, labels, rng=rng)
        pixels = np.empty((len(labels), int(np.prod(self.shape))), dtype=np.float32)
        for first in range(0, len(labels), PICTURES_AT_ONCE):
            batch = slice(first, first + PICTURES_AT_ONCE)
            codes = self._codes(labels[batch], members[batch], rng)
            images = self._decoded(codes)
            if deform is not None:
                images = deform(images, public)
            pixels[batch] = images.flatten(1).numpy()
        return pixels

    def with_tones(self, rng: Generator) -> "PictureMixture":
        """Return it with decoded tones made as frequent as those of the histogram.

        Gaussians blur what is black or white. A map of tones that never decreases gives
        pixels the released histogram, and leaves the order of tones in a picture.
        """
        labels = draw_given(
            self.shares[None], np.zeros(PICTURES_FOR_TONES, dtype=np.int64), rng=rng
        )
        members = draw_given(self.weights, labels, rng=rng)
        decoded = np.sort(
            self._decoded(self._codes(labels, members, rng)).numpy().ravel()
        )
        places = np.linspace(0.0, 1.0, N_QUANTILES)
        if not self.histogram.sum() > 0:
            return self
        n, frequencies = len(self.histogram), self.histogram / self.histogram.sum()
        ends = np.concatenate([[0.0], np.cumsum(frequencies)])
        target_tones = np.interp(places, ends, np.linspace(0.0, 1.0, n + 1))
        # the lightest and darkest bins map to pure black and white
        target_tones = np.clip((target_tones - 1 / n) / (1 - 2 / n), 0.0, 1.0)
        decoded_tones = np.quantile(decoded, places) + 1e-9 * np.arange(N_QUANTILES)
        return replace(self, tones=(decoded_tones, target_tones))

    def split(self, n_prototypes: int, rng: Generator) -> "PictureMixture":
        """Return it with more centres a class: those of groups of drawn codes."""
        n_classes, _, d = self.centres.shape
        centres = np.empty((n_classes, n_prototypes, d))
        for label in range(n_classes):
            labels = np.full(CODES_DRAWN, label)
            codes = self._codes(labels, np.zeros(CODES_DRAWN, dtype=np.int64), rng)
            centres[label] = cluster_means(codes, n_prototypes, rng)
        return replace(
            self, centres=centres, weights=np.ones((n_classes, n_prototypes))
        )

    def _codes(self, labels: Integers, members: Any, rng: Generator) -> Floats:
        codes = self.centres[labels, members].copy()
        for label in np.unique(labels):
            of_label = labels == label
            noise = rng.normal(size=(2, int(of_label.sum()), codes.shape[1]))
            codes[of_label] += noise[0] @ self.roots[label].T
            codes[of_label] += noise[1] * np.sqrt(self.diagonals[label])
        return codes

    def _decoded(self, codes: Floats) -> torch.Tensor:
        images = self.lens.decode(torch.from_numpy(codes), self.shape).float()
        if self.tones is not None:
            decoded_tones, target_tones = self.tones
            mapped = np.interp(images.numpy(), decoded_tones, target_tones)
            images = torch.from_numpy(mapped.astype(np.float32))
        return images


def cluster_means(rows: Floats, n: int, rng: Generator) -> Floats:
    """Return the means of n clusters of rows."""
    centres = rows[rng.choice(len(rows), n, replace=False)]
    for _ in range(CENTRE_ROUNDS):
        nearest = ((centres**2).sum(axis=1) - 2.0 * rows @ centres.T).argmin(axis=1)
        for k in np.unique(nearest):
            centres[k] = rows[nearest == k].mean(axis=0)
    return centres


def shares_of_counts(counts: Floats) -> Floats:
    """Return noisy counts of components as shares of their class, class by class."""
    projected = [project_to_total(row, max(float(row.sum()), 1.0)) for row in counts]
    return np.stack([row / row.sum() for row in projected])


def refuse_container(container: str | None) -> None:
    """Raise if ``set_output`` was called, which is for tables only."""
    if container:
        raise ValueError(
            "set_output is for tables. Got images, which come back as an array "
            "like the one given; call `set_output(transform='default')`."
        )


# ----------------------------------------------------------------------------
# A Gaussian copula: columns given the class, and correlations of normal scores.

ROWS_FOR_RANKS = 100  # of a class, from which ranks are used instead of scores


@saved("model.copula")
@dataclass(frozen=True, eq=False)
class CopulaModel:
    """Columns as in ``known``, whose ranks are correlated, class by class.

    Parameters
    ----------
    known : ClassConditional
        Class totals, and each column given the class.
    orders : mapping of name to ndarray
        The cells of each column in the order in which they are ranked.
    correlations : ndarray of shape (n_groups, d, d)
        Of the normal scores of ranks; a group is a class, or all rows.
    """

    known: ClassConditional
    orders: Mapping[Any, Integers]
    correlations: Floats

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return self.known.shares

    @property
    def totals(self) -> Floats:
        """Rows of each class."""
        return self.known.totals

    @property
    def total_std(self) -> float:
        """Noise of their sum."""
        return self.known.total_std

    @property
    def has_relations(self) -> bool:
        """Whether any two columns are correlated within a class."""
        d = self.correlations.shape[1]
        return bool(
            np.abs(self.correlations - np.eye(d)).max(initial=0.0) > LEAST_LIKELIHOOD
        )

    def finished(self, seed: int) -> "CopulaModel":
        """Return itself: there is nothing to train."""
        del seed
        return self

    def draw_rows(
        self,
        labels: Integers,
        cells: Mapping[Any, Cells],
        facts: Facts,
        *,
        deform: Deformations | None = None,
        container: str | None,
        rng: Generator,
    ) -> Any:
        """Draw a table with the given labels."""
        del deform  # images are
        codes, marginals = self.draw(labels, rng=rng), self.known.marginals
        return decode_rows(facts, cells, codes, marginals, rng=rng, container=container)

    def draw(self, labels: Integers, *, rng: Generator) -> dict[Any, Codes]:
        """Draw the cells of rows with the given labels."""
        names = list(self.orders)
        codes = np.empty((len(labels), len(names)), dtype=np.int64)
        roots = np.linalg.cholesky(self.correlations)
        for label in np.unique(labels):
            of_label = np.flatnonzero(labels == label)
            noise = rng.normal(size=(len(of_label), len(names)))
            # one correlation matrix for each class, or one for all rows
            values = noise @ roots[label if len(roots) > 1 else 0].T
            for j, name in enumerate(names):
                places = _places(values[:, j], rng)
                order = self.orders[name]
                shares = np.asarray(self.known.conditionals[name])[label, order]
                codes[of_label, j] = order[_cell_at(shares, places)]
        return {name: codes[:, j] for j, name in enumerate(names)}


def _places(values: Floats, rng: Generator) -> Floats:
    """Return normal values as places in [0, 1): even ones, if there are many."""
    if len(values) < ROWS_FOR_RANKS:
        return np.asarray(ndtr(values))
    return np.asarray((rankdata(values, "ordinal") - rng.random()) / len(values))


def _cell_at(shares: Floats, places: Floats) -> Integers:
    """Return the cell that each place in [0, 1) falls into."""
    ends = np.cumsum(np.maximum(shares, 0.0))
    last = int(np.flatnonzero(shares > 0).max(initial=0))
    cells = np.searchsorted(
        ends / max(ends[-1], LEAST_LIKELIHOOD), places, side="right"
    )
    return np.asarray(np.minimum(cells, last))
