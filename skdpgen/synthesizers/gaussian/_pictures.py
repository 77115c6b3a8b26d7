"""Images as Gaussians in the codes of a lens: means, prototypes, covariances."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.privacy import Counts, OuterProducts, Release, Vectors
from skdpgen.synthesizers.gaussian._lens_map import Pictures, from_centres
from skdpgen.synthesizers.gaussian._prior import CHOICES, choose_prior, vote_share
from skdpgen.synthesizers.models import PictureMixture, shares_of_counts
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.tables import Cells
from skdpgen.training import class_covariances, class_variances, project_to_total
from skdpgen.utils import Key

Floats = NDArray[np.float64]
TONES = 32  # grey levels that are told apart
FOR_TONES, FOR_SCALE, FOR_MEANS, FOR_SPLIT, FOR_ROUNDS = (
    0.02,
    0.01,
    0.08,
    0.1,
    0.15,
)  # of what is left of mu²; the covariance gets the rest
N_ROUNDS = 2
ROWS_EACH = 80.0  # noise stds of rows that a component should hold
MOST = 32
ROOM = 1.1  # how far beyond the mean norm codes are cut
LEAST = 0.02  # of the largest norm: as small as the mean norm is taken to be


def measure_pictures(
    opening: Opening,
    labels: Cells | None,
    *,
    lens: Any,
    n_prototypes: int | None,
    prior: Any,
    covariance: str,
    rng: Generator,
) -> None:
    r"""Release tones, sizes, means, prototypes and products of codes, one by one.

    Keeps ``release_`` (means and counts of classes) and ``mixture_``, which knows more
    after each release, so that an interrupted fit has what it paid for.

    *Why it is private.* Every release sums a vector a row, clipped to a public bound in
    `privacy`, and all that a row is compared with (a size, a centre, a picture) is
    public or released before: this is adaptive composition of Gaussian releases.
    :math:`v` with counts of weight 1 moves by 2 if a row is replaced, whatever
    component and class it is counted in; products :math:`v v^\top` alone move by
    :math:`\sqrt 2`, and so do tones, sizes and :math:`v \circ v`, which are not
    negative.
    """
    rows = Pictures(opening, labels, lens)
    whole, n_classes = opening.ledger.remaining, n_classes_of(labels)
    measured = _Measured(rows, whole, n_classes, covariance, rng)
    kept = vote_share(opening, labels, prior)
    opening.progress.total += 4
    opening.step("means")
    measured.means()
    n_prototypes = n_prototypes or measured.affordable()
    if n_prototypes > 1:
        opening.step("prototypes")
        measured.covariance(FOR_SPLIT)
        measured.prototypes(n_prototypes)
    opening.step("covariances")
    measured.covariance(None, kept=kept)
    opening.step("prior")
    if kept:
        choose_prior(rows, measured.mixture.with_tones(rng), CHOICES, rng)


class _Measured:
    """What releases said so far, and the next ones."""

    def __init__(
        self,
        rows: Pictures,
        whole: float,
        n_classes: int,
        covariance: str,
        rng: Generator,
    ) -> None:
        self.rows, self.opening, self.rng = rows, rows.opening, rng
        self.kind = covariance
        self.whole, self.n_classes = whole, n_classes
        self.mixture: PictureMixture

    def means(self) -> None:
        """Release tones and the mean of each class."""
        opening, d = self.opening, self.rows.width
        tones = self._release(
            "tones_",
            self.rows.pixels(lambda labels, x: (pooled(labels), tones_of(x))),
            {Key.FEATURES: Vectors(TONES, is_nonnegative=True)},
            "tones of pixels",
            FOR_TONES,
        )
        size = ROOM * self._size("codes", lambda labels, z: z)
        found = self._release(
            "release_",
            self.rows.codes(lambda labels, z: (labels, z / size)),
            {Key.FEATURES: Vectors(d), Key.CLASSES: Counts(1.0)},
            "means of codes by class",
            FOR_MEANS,
            self.n_classes,
        )
        counts = found.values[Key.CLASSES][:, 0]
        n_rows = opening.facts.public_total(found.adjacency, self.rows.labels)
        totals = project_to_total(counts, n_rows or max(float(counts.sum()), 1.0))
        means = found.values[Key.FEATURES] / np.maximum(totals, 1.0)[:, None]
        self._keep(
            PictureMixture(
                self.rows.lens,
                self.rows.shape,
                totals,
                float(found.noise_std[Key.CLASSES]) * self.n_classes**0.5,
                size * means[:, None],
                np.ones((self.n_classes, 1)),
                np.zeros((self.n_classes, d, d)),
                np.zeros((self.n_classes, d)),
                np.maximum(tones.values[Key.FEATURES][0], 0.0),
            )
        )

    def affordable(self) -> int:
        """Return how many components a class can have: known rows and known noise."""
        ledger = self.opening.ledger
        noise = ledger.noise_std(share=ledger.remaining, sensitivity=1.0)
        each = self.opening.facts.n_rows / self.n_classes
        return int(np.clip(each / (ROWS_EACH * noise), 1, MOST)) if noise else MOST

    def prototypes(self, n_prototypes: int) -> None:
        """Split each class by what is known, then move centres to their rows."""
        known, d = self.mixture, self.rows.width
        self._keep(known.split(n_prototypes, self.rng))
        size = self._size("prototypes", self._from_centres)
        for k in range(N_ROUNDS):

            def row(labels: Any, z: Floats) -> tuple[Any, Floats]:
                v, near = from_centres(z, self.mixture.centres, labels)
                return np.where(labels >= 0, labels * n_prototypes + near, -1), v / size

            found = self._release(
                "prototypes_",
                self.rows.codes(row),
                {Key.FEATURES: Vectors(d), Key.CLASSES: Counts(1.0)},
                f"prototypes, round {k + 1}",
                FOR_ROUNDS / N_ROUNDS,
                self.n_classes * n_prototypes,
            )
            counts = found.values[Key.CLASSES][:, 0]
            many = np.maximum(counts, found.noise_std[Key.CLASSES] + 1.0)
            steps = found.values[Key.FEATURES] / many[:, None]
            noise = (found.noise_std[Key.FEATURES] / many) ** 2
            steps *= wiener((steps**2).mean(axis=1), noise)[:, None]
            centres = self.mixture.centres + size * steps.reshape(
                self.n_classes, n_prototypes, d
            )
            weights = shares_of_counts(counts.reshape(self.n_classes, -1))
            self._keep(replace(self.mixture, centres=centres, weights=weights))

    def covariance(self, share: float | None, kept: float = 0.0) -> None:
        """Release products of what is left around centres; None spends all but some."""
        what = "prototypes" if self.mixture.centres.shape[1] > 1 else "means"
        left = self.opening.ledger.remaining / self.whole - kept - FOR_SCALE
        share = left if share is None else share
        if self.kind == "diagonal":
            self._squares(what, share)
        else:
            self._products(what, share)

    def _products(self, what: str, share: float) -> None:
        r"""Release :math:`v v^\top`, of each class or of all together."""
        d, is_pooled = self.rows.width, self.kind == "pooled"
        size = self._size(what, self._from_centres)

        def row(labels: Any, z: Floats) -> tuple[Any, Any]:
            v = torch.from_numpy(self._from_centres(labels, z) / size)
            return pooled(labels) if is_pooled else labels, [(v, v)]

        found = self._release(
            "products_",
            self.rows.codes(row),
            {Key.FEATURES: OuterProducts(((d, d),), 1.0, ("square",))},
            f"products of codes around {what}" + ", by class" * (not is_pooled),
            share,
            1 if is_pooled else self.n_classes,
        )
        products = found.values[Key.FEATURES].reshape(-1, d, d)
        totals = self.mixture.totals
        totals = totals.sum(keepdims=True) if is_pooled else totals
        roots, rest = class_covariances(products, found.noise_std[Key.FEATURES], totals)
        roots = np.broadcast_to(size * roots, (self.n_classes, d, d)).copy()
        rest = np.broadcast_to(size**2 * rest, (self.n_classes, d)).copy()
        self._keep(replace(self.mixture, roots=roots, diagonals=rest))

    def _squares(self, what: str, share: float) -> None:
        r"""Release :math:`v \circ v` of each class: the diagonal of products.

        Its norm is far below that of all products, so the noise is: the mean norm is
        released first.
        """

        def squared(labels: Any, z: Floats) -> Floats:
            return self._from_centres(labels, z) ** 2

        size = ROOM * self._size(f"squares around {what}", squared)
        found = self._release(
            "products_",
            self.rows.codes(lambda labels, z: (labels, squared(labels, z) / size)),
            {Key.FEATURES: Vectors(self.rows.width, is_nonnegative=True)},
            f"squares of codes around {what}, by class",
            share,
            self.n_classes,
        )
        noise, totals = found.noise_std[Key.FEATURES], self.mixture.totals
        variances = class_variances(found.values[Key.FEATURES], noise, totals)
        self._keep(replace(self.mixture, diagonals=size * variances))

    def _from_centres(self, labels: Any, z: Floats) -> Floats:
        return from_centres(z, self.mixture.centres, labels)[0]

    def _size(self, what: str, place: Callable[[Any, Floats], Floats]) -> float:
        """Release the mean norm of codes, at most 1 a row."""

        def row(labels: Any, z: Floats) -> tuple[Any, Floats]:
            norms = np.sqrt((place(labels, z) ** 2).sum(axis=1, keepdims=True))
            return pooled(labels), np.minimum(norms, 1.0)

        found = self._release(
            "sizes_",
            self.rows.codes(row),
            {Key.FEATURES: Vectors(1, is_nonnegative=True)},
            "size of codes" + f" around {what}" * (what != "codes"),
            FOR_SCALE,
        )
        size = found.values[Key.FEATURES][0, 0] / self.opening.facts.n_rows
        return float(np.clip(size, LEAST, 1.0))

    def _release(
        self,
        attribute: str,
        batches: Any,
        blocks: Any,
        name: str,
        share: float,
        n_classes: int = 1,
    ) -> Release:
        share = min(share * self.whole / self.opening.ledger.remaining, 1.0)
        return self.opening.release(
            attribute, batches, blocks, name=name, share=share, n_classes=n_classes
        )

    def _keep(self, mixture: PictureMixture) -> None:
        self.mixture = mixture
        self.opening.keep(mixture_=mixture)


def wiener(energy: Floats, noise: Floats) -> Floats:
    """Return by how much to shrink noisy vectors of known noise.

    Examples
    --------
    >>> wiener(np.array([4.0, 1.0, 0.0]), np.array([1.0, 2.0, 0.0])).tolist()
    [0.75, 0.0, 0.0]
    """
    signal = np.maximum(energy - noise, 0.0)
    return np.asarray(signal / np.maximum(energy, np.finfo(float).tiny))


def pooled(labels: Any) -> Any:
    """Return one label for all classes; rows of no class have none."""
    return np.where(labels >= 0, 0, -1)


def tones_of(pixels: Floats) -> Floats:
    """Return how large a part of each image has each of some tones.

    Examples
    --------
    >>> tones_of(np.array([[0.0, 0.0, 1.0, 1.0]]))[0, [0, -1]].tolist()
    [0.5, 0.5]
    """
    n, width = pixels.shape
    bins = np.minimum((pixels * TONES).astype(np.int64), TONES - 1)
    bins += TONES * np.arange(n)[:, None]
    counts = np.bincount(bins.ravel(), minlength=n * TONES).reshape(n, TONES)
    return np.asarray(counts / width)
