"""Images as Gaussians in the codes of a lens: means, prototypes, covariances."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.networks import SmallCNN
from skdpgen.privacy import Counts, Moments, OuterProducts, Release, Vectors
from skdpgen.synthesizers.gaussian._lens_map import Pictures, from_centres
from skdpgen.synthesizers.gaussian._measured import MeasuredMixture
from skdpgen.synthesizers.models import (
    Deformations,
    PictureMixture,
    shares_of_counts,
    systematic,
)
from skdpgen.synthesizers.opening import Fitting, Opening, n_classes_of
from skdpgen.tables import Cells
from skdpgen.training import (
    class_covariances,
    class_variances,
    project_to_total,
    train_classifier,
)
from skdpgen.utils import (
    Key,
    torch_generator,
)

# ----------------------------------------------------------------------------
# Images as the paper has them: one diagonal Gaussian a class, from one release.

FREE = 0.5  # of counts beside first and second moments, as squared weight


def measure_moments(
    opening: Fitting[MeasuredMixture], labels: Cells | None, lens: Any
) -> None:
    r"""Release sums of codes, of their squares and of rows, all at once.

    Keeps the mixture: mean and variance of each code in each class.

    *Why it is private.* Codes v of norm 1 at most, beside :math:`v \circ v / \sqrt 2`,
    move by 2 if a row of the same class replaces another
    (:class:`~skdpgen.privacy.Moments`: the squares are free). If the class differs,
    both rows move sums of their own, and counts of squared weight 1/2 beside them:
    :math:`\sqrt{2 (1 + 1/2 + 1/2)} = 2` again. A row that is added moves all by
    :math:`\sqrt 2`.
    """
    rows, n_classes = Pictures(opening, labels, lens), n_classes_of(labels)
    d, moments = rows.width, Moments(rows.width)
    opening.step("moments")
    found = opening.release_main(
        rows.codes(lambda label, z: (label, z)),
        {Key.FEATURES: moments, Key.CLASSES: Counts(FREE)},
        name="means and squares of codes by class",
        n_classes=n_classes,
    )
    counts = found.values[Key.CLASSES][:, 0]
    n_rows = opening.facts.public_total(found.adjacency, labels)
    totals = project_to_total(counts, n_rows or max(float(counts.sum()), 1.0))
    each = np.maximum(totals, 1.0)[:, None]
    sums, squares = np.split(found.values[Key.FEATURES], [d], axis=1)
    means = sums / each
    noise = found.noise_std[Key.FEATURES] / each  # makes squares of means too large
    variances = squares / moments.b / each - (means**2 - noise**2)
    mixture = PictureMixture(
        lens,
        rows.shape,
        totals,
        float(found.noise_std[Key.CLASSES]) * n_classes**0.5,
        means[:, None],
        np.ones((n_classes, 1)),
        np.zeros((n_classes, d, d)),
        np.maximum(variances, 0.0),
        np.zeros(1),
    )
    opening.measured = replace(opening.measured, mixture=mixture)


# ----------------------------------------------------------------------------
# How far pictures may be deformed, by a private vote of the rows.

Floats = NDArray[np.float64]
CHOICES = (None, Deformations().times(0.5), Deformations())  # of prototypes
MILD = (None, Deformations().times(0.25), CHOICES[1])  # where samples differ already
N_DRAWN = 1000, 10_000  # images that a classifier learns from: as many as rows
EACH = 20  # how many of them stand for a step
FOR_PRIOR = 0.02  # of the budget
SHARP = 8.0  # of logits: nearly right or wrong, and still continuous


def given_augmentation(augmentation: Any) -> Deformations | None:
    """Return the deformations that were asked for, before any vote."""
    if isinstance(augmentation, str):
        return Deformations() if augmentation == "deformations" else None
    found: Deformations | None = augmentation
    return found


def vote_share(opening: Opening, labels: Cells | None, augmentation: Any) -> float:
    """Return which part of the budget a vote gets; 0 if there is none to be held."""
    is_asked = isinstance(augmentation, str) and augmentation == "auto"
    has_classes = labels is not None and labels.n_cells > 1
    is_voted = is_asked and has_classes and opening.facts.task == "classification"
    return FOR_PRIOR if is_voted else 0.0


def choose_augmentation(
    rows: Pictures,
    model: Any,
    choices: Sequence[Deformations | None],
    rng: Generator,
) -> None:
    r"""Keep the choice whose pictures teach a classifier most about private ones.

    For each choice a small network learns from pictures that are drawn, which is free.
    Then every private row says how likely each network finds its label: k numbers from
    0 to 1. The sum is released with all that is left.

    *Why it is private.* The networks are made of releases. A row of k such numbers is
    not negative, and has norm :math:`\sqrt k` at most, so the sum moves by
    :math:`\sqrt{2k}` at most if a row is replaced. The numbers are continuous in the
    pixels, and no row sees another: batches have one shape, in double precision.
    """
    n = int(np.clip(rows.opening.facts.n_rows, *N_DRAWN))
    networks = [_taught(model, choice, n, rng) for choice in choices]

    def row(labels: Any, pixels: Floats) -> tuple[Any, Floats]:
        images = torch.from_numpy(pixels).unflatten(1, rows.shape)
        with torch.no_grad():
            found = [
                (SHARP * network(images)).softmax(dim=1).numpy() for network in networks
            ]
        each = [p[np.arange(len(p)), np.maximum(labels, 0)] for p in found]
        return np.where(labels >= 0, 0, -1), np.stack(each, axis=1)

    k = len(choices)
    opening = rows.opening
    votes = opening.release(
        rows.pixels(row),
        {Key.FEATURES: Vectors(k, k**0.5, is_nonnegative=True)},
        name="which deformations teach most",
    )
    best = int(votes.values[Key.FEATURES][0].argmax())
    deform = choices[best]
    opening.measured = replace(opening.measured, votes=votes, deformations=deform)


def _taught(
    model: Any, choice: Deformations | None, n_drawn: int, rng: Generator
) -> torch.nn.Module:
    """Return a network that has learnt from drawn pictures alone."""
    n_classes = len(model.totals)
    labels = systematic(np.ones(n_classes), n_drawn, rng=rng)
    images = torch.from_numpy(model.draw(labels, choice, rng=rng))
    public = torch_generator(rng)
    network = SmallCNN(model.shape, n_classes, rng=public)
    images = images.unflatten(1, model.shape)
    targets = torch.from_numpy(labels)
    n_steps = n_drawn // EACH
    train_classifier(network, images, targets, max_iter=n_steps, rng=public)
    return network.double()


# ----------------------------------------------------------------------------
# Images as Gaussians in the codes of a lens: means, prototypes, covariances.

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
    opening: Fitting[MeasuredMixture],
    labels: Cells | None,
    *,
    lens: Any,
    n_prototypes: int | None,
    augmentation: Any,
    covariance: str,
    rng: Generator,
) -> None:
    r"""Release tones, sizes, means, prototypes and products of codes, one by one.

    Keeps the mixture, which knows more after each release, so that an interrupted fit
    has what it paid for. The main release has means and counts of classes.

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
    kept = vote_share(opening, labels, augmentation)
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
    opening.step("augmentation")
    if kept:
        choose_augmentation(rows, measured.mixture.with_tones(rng), CHOICES, rng)


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
            self.rows.pixels(lambda labels, x: (pooled(labels), tones_of(x))),
            {Key.FEATURES: Vectors(TONES, is_nonnegative=True)},
            "tones of pixels",
            FOR_TONES,
        )
        size = ROOM * self._size("codes", lambda labels, z: z)
        found = self._release(
            self.rows.codes(lambda labels, z: (labels, z / size)),
            {Key.FEATURES: Vectors(d), Key.CLASSES: Counts(1.0)},
            "means of codes by class",
            FOR_MEANS,
            self.n_classes,
        )
        opening.measured = replace(opening.measured, release=found)
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
            self.rows.codes(row),
            {Key.FEATURES: Vectors(1, is_nonnegative=True)},
            "size of codes" + f" around {what}" * (what != "codes"),
            FOR_SCALE,
        )
        size = found.values[Key.FEATURES][0, 0] / self.opening.facts.n_rows
        return float(np.clip(size, LEAST, 1.0))

    def _release(
        self,
        batches: Any,
        blocks: Any,
        name: str,
        share: float,
        n_classes: int = 1,
    ) -> Release:
        share = min(share * self.whole / self.opening.ledger.remaining, 1.0)
        released = self.opening.release(
            batches, blocks, name=name, share=share, n_classes=n_classes
        )
        measured = self.opening.measured  # what is paid for is kept at once
        self.opening.measured = replace(measured, stages=(*measured.stages, released))
        return released

    def _keep(self, mixture: PictureMixture) -> None:
        self.mixture = mixture
        self.opening.measured = replace(self.opening.measured, mixture=mixture)


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
