"""Mixtures of Gaussians in the codes of a lens, and pictures drawn from them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.synthesizers.models._deformations import Deformations
from skdpgen.synthesizers.models._even_draws import draw_given
from skdpgen.synthesizers.opening import Facts
from skdpgen.training import project_to_total
from skdpgen.utils import saved, torch_generator

Floats = NDArray[np.float64]
AT_ONCE = 4096
LEVELS = 257  # quantiles between which tones are mapped
DRAWN, N_ROUNDS = 2000, 8  # codes that centres are first placed by
SEEN = 2000  # pictures that tell which tones decoded codes have


@saved
@dataclass(frozen=True, eq=False)
class PictureMixture:
    """What is known of codes: per class a mixture of Gaussians that differ in place.

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
    tones: Any = None

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return np.asarray(self.totals / self.totals.sum())

    @property
    def has_relations(self) -> bool:
        """Pixels depend on each other, whatever was learnt."""
        return True

    def finished(self, seed: int) -> "PictureMixture":
        """Return it with the tones of real pixels."""
        return self.with_tones(np.random.default_rng(seed))

    def draw_rows(
        self,
        labels: Any,
        cells: Any,
        facts: Facts,
        *,
        deform: Deformations | None,
        container: str | None,
        rng: Generator,
    ) -> Any:
        """Draw images with the given labels, as the array that came in."""
        del cells
        refuse_container(container)
        return facts.layout.restore(self.draw(labels, deform, rng=rng))  # type: ignore[union-attr]

    def draw(
        self, labels: Any, deform: Deformations | None, *, rng: Generator
    ) -> NDArray[np.float32]:
        """Draw the pixels of pictures with the given labels, in [0, 1]."""
        public = torch_generator(rng)
        members = draw_given(self.weights, labels, rng=rng)
        pixels = np.empty((len(labels), int(np.prod(self.shape))), dtype=np.float32)
        for first in range(0, len(labels), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            codes = self._codes(labels[some], members[some], rng)
            images = self._decoded(codes)
            if deform is not None:
                images = deform(images, public)
            pixels[some] = images.flatten(1).numpy()
        return pixels

    def with_tones(self, rng: Generator) -> "PictureMixture":
        """Return it with decoded tones made as frequent as those of the histogram.

        Gaussians blur what is black or white. A map of tones that never decreases gives
        pixels the released histogram, and leaves the order of tones in a picture.
        """
        labels = draw_given(self.shares[None], np.zeros(SEEN, dtype=np.int64), rng=rng)
        members = draw_given(self.weights, labels, rng=rng)
        found = np.sort(
            self._decoded(self._codes(labels, members, rng)).numpy().ravel()
        )
        places = np.linspace(0.0, 1.0, LEVELS)
        if not self.histogram.sum() > 0:
            return self
        n, parts = len(self.histogram), self.histogram / self.histogram.sum()
        ends = np.concatenate([[0.0], np.cumsum(parts)])
        wanted = np.interp(places, ends, np.linspace(0.0, 1.0, n + 1))
        wanted = np.clip((wanted - 1 / n) / (1 - 2 / n), 0.0, 1.0)  # ends are pure
        seen = np.quantile(found, places) + 1e-9 * np.arange(LEVELS)
        return replace(self, tones=(seen, wanted))

    def split(self, n_prototypes: int, rng: Generator) -> "PictureMixture":
        """Return it with more centres a class: those of groups of drawn codes."""
        n_classes, _, d = self.centres.shape
        centres = np.empty((n_classes, n_prototypes, d))
        for label in range(n_classes):
            given = np.full(DRAWN, label)
            drawn = self._codes(given, np.zeros(DRAWN, dtype=np.int64), rng)
            centres[label] = middles(drawn, n_prototypes, rng)
        return replace(
            self, centres=centres, weights=np.ones((n_classes, n_prototypes))
        )

    def _codes(self, labels: Any, members: Any, rng: Generator) -> Floats:
        codes = self.centres[labels, members].copy()
        for label in np.unique(labels):
            mine = labels == label
            noise = rng.normal(size=(2, int(mine.sum()), codes.shape[1]))
            codes[mine] += noise[0] @ self.roots[label].T
            codes[mine] += noise[1] * np.sqrt(self.diagonals[label])
        return codes

    def _decoded(self, codes: Floats) -> torch.Tensor:
        images = self.lens.decode(torch.from_numpy(codes), self.shape).float()
        if self.tones is not None:
            seen, wanted = self.tones
            mapped = np.interp(images.numpy(), seen, wanted)
            images = torch.from_numpy(mapped.astype(np.float32))
        return images


def middles(rows: Floats, n: int, rng: Generator) -> Floats:
    """Return the middles of n groups of rows that are near to each other."""
    found = rows[rng.choice(len(rows), n, replace=False)]
    for _ in range(N_ROUNDS):
        near = ((found**2).sum(axis=1) - 2.0 * rows @ found.T).argmin(axis=1)
        for k in np.unique(near):
            found[k] = rows[near == k].mean(axis=0)
    return found


def shares_of_counts(counts: Floats) -> Floats:
    """Return noisy counts of components as shares of their class, class by class."""
    found = [project_to_total(row, max(float(row.sum()), 1.0)) for row in counts]
    return np.stack([row / row.sum() for row in found])


def refuse_container(container: str | None) -> None:
    """Raise if a container of tables is asked for."""
    if container:
        raise ValueError(
            "set_output is for tables. Got images, which come back as an array "
            "like the one given; call `set_output(transform='default')`."
        )
