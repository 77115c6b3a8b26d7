"""DP-MGE on images: Gaussians in the codes of a lens, around private prototypes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.lenses import Lens
from skdpgen.networks import SmallCNN
from skdpgen.privacy import Counts, Moments, OuterProducts, Release, Vectors
from skdpgen.synthesizers.gaussian._lens_map import Pictures, from_centres
from skdpgen.synthesizers.gaussian._measured import MeasuredMixture
from skdpgen.synthesizers.models import (
    Deformations,
    PictureMixture,
    class_factors,
    shares_of_counts,
    systematic,
)
from skdpgen.synthesizers.opening import Fitting, Opening, n_classes_of
from skdpgen.tables import Batches, Cells
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
# "one_shot", as the paper: one diagonal Gaussian for each class, from one release.

# Squared weight of counts beside first and second moments; free up to here, see below.
COUNTS_WEIGHT = 0.5


def measure_moments(
    opening: Fitting[MeasuredMixture],
    labels: Cells | None,
    lens: Lens,
    device: torch.device,
) -> None:
    r"""Release sums of codes, sums of their squares, and class counts, all at once.

    ``opening.measured`` keeps the mixture: mean and variance of each code by class.

    *Why it is private.* Sums of codes v of norm 1 at most, beside
    :math:`v \circ v / \sqrt 2`, move by 2 if a row of the same class replaces another
    (:class:`~skdpgen.privacy.Moments`: the squares are free). If the class differs,
    each of the two rows moves the sums of its own class, and counts of squared weight
    1/2 beside them: :math:`\sqrt{2 (1 + 1/2 + 1/2)} = 2` again. A row that is added
    moves all by :math:`\sqrt 2`.
    """
    rows, n_classes = Pictures(opening, labels, lens, device), n_classes_of(labels)
    d, moments = rows.width, Moments(rows.width)
    opening.step("moments")
    release = opening.release_main(
        rows.codes(lambda label, z: (label, z)),
        {Key.FEATURES: moments, Key.CLASSES: Counts(COUNTS_WEIGHT)},
        name="means and squares of codes by class",
        n_classes=n_classes,
    )
    counts = release.values[Key.CLASSES][:, 0]
    n_rows = opening.facts.public_total(release.adjacency, labels)
    totals = project_to_total(counts, n_rows or max(float(counts.sum()), 1.0))
    n_rows_of_class = np.maximum(totals, 1.0)[:, None]
    sums, squares = np.split(release.values[Key.FEATURES], [d], axis=1)
    means = sums / n_rows_of_class
    # The square of a noisy mean is too large by the variance of its noise.
    noise = release.noise_std[Key.FEATURES] / n_rows_of_class
    variances = squares / moments.b / n_rows_of_class - (means**2 - noise**2)
    mixture = PictureMixture(
        lens,
        rows.shape,
        totals,
        float(release.noise_std[Key.CLASSES]) * n_classes**0.5,
        means[:, None],
        np.ones((n_classes, 1)),
        np.zeros((n_classes, d, d)),
        np.maximum(variances, 0.0),
        np.zeros(1),
    )
    opening.measured = replace(opening.measured, mixture=mixture)


# ----------------------------------------------------------------------------
# How far images may be deformed, by a private vote of the rows.

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CHOICES = (None, Deformations().times(0.5), Deformations())  # of prototypes
# For samples of a generator, which differ already.
MILD_CHOICES = (None, Deformations().times(0.25), CHOICES[1])
N_DRAWN = 1000, 10_000  # least and largest number of images that a classifier gets
ROWS_PER_STEP = 20  # a classifier takes one step for this many of its images
VOTE_SHARE = 0.02  # of the budget
SHARPNESS = 8.0  # factor of logits: votes are near 0 or 1, and still continuous
Augmentation = Deformations | Literal["auto", "deformations"] | None


def given_augmentation(augmentation: Augmentation) -> Deformations | None:
    """Return the deformations that the user chose; with "auto" None, until the vote."""
    if isinstance(augmentation, str):
        return Deformations() if augmentation == "deformations" else None
    return augmentation


def vote_share(
    opening: Opening, labels: Cells | None, augmentation: Augmentation
) -> float:
    """Return the budget fraction of the vote; 0 without a vote."""
    is_auto = isinstance(augmentation, str) and augmentation == "auto"
    has_classes = labels is not None and labels.n_cells > 1
    is_voted = is_auto and has_classes and opening.facts.task == "classification"
    return VOTE_SHARE if is_voted else 0.0


def choose_augmentation(
    rows: Pictures,
    model: Any,
    choices: Sequence[Deformations | None],
    rng: Generator,
) -> None:
    r"""Keep the choice whose samples train the best classifier of private images.

    For each choice a small network is trained on samples, which is free. The vote of a
    private row is the probability of its label by each network: k numbers from 0 to 1.
    The sum of all votes is released with all that is left of the budget.

    *Why it is private.* The networks are functions of releases. A row of k such numbers
    is not negative, and its norm is :math:`\sqrt k` at most, so the sum moves by
    :math:`\sqrt{2k}` at most if a row is replaced. The numbers are continuous in the
    pixels, and no row affects the vote of another: batches have one shape, in double
    precision.
    """
    n_drawn = int(np.clip(rows.opening.facts.n_rows, *N_DRAWN))
    networks = [
        _trained_network(model, choice, n_drawn, rng, rows.device) for choice in choices
    ]

    def row(labels: Integers, pixels: Floats) -> tuple[Integers, Floats]:
        images = torch.from_numpy(pixels).unflatten(1, rows.shape).to(rows.device)
        with torch.no_grad():
            probabilities = [
                (SHARPNESS * network(images)).softmax(dim=1).cpu().numpy()
                for network in networks
            ]
        votes_of_rows = [
            p[np.arange(len(p)), np.maximum(labels, 0)] for p in probabilities
        ]
        return np.where(labels >= 0, 0, -1), np.stack(votes_of_rows, axis=1)

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


def _trained_network(
    model: Any,
    choice: Deformations | None,
    n_drawn: int,
    rng: Generator,
    device: torch.device,
) -> torch.nn.Module:
    """Return a classifier trained on samples only."""
    n_classes = len(model.totals)
    labels = systematic(np.ones(n_classes), n_drawn, rng=rng)
    images = torch.from_numpy(model.draw(labels, choice, rng=rng))
    torch_rng = torch_generator(rng)
    network = SmallCNN(model.shape, n_classes, rng=torch_rng).to(device)
    images = images.unflatten(1, model.shape).to(device)
    targets = torch.from_numpy(labels).to(device)
    n_steps = n_drawn // ROWS_PER_STEP
    train_classifier(network, images, targets, max_iter=n_steps, rng=torch_rng)
    return network.double()


# ----------------------------------------------------------------------------
# Images as Gaussians in the codes of a lens: means, prototypes, covariances.

N_TONES = 32  # bins of grey levels
# Budget fractions of mu² that is left after discovery; the covariance gets the rest.
FOR_TONES = 0.02
FOR_SCALE = 0.01  # of each mean norm
FOR_MEANS = 0.08
FOR_SPLIT = 0.1  # of a first covariance, by which means are split into prototypes
FOR_ROUNDS = 0.15  # of all rounds that move prototypes
N_ROUNDS = 2
ROWS_EACH = 80.0  # rows of a prototype, in stds of the noise of a count
MOST_PROTOTYPES = 32
CLIPPING_ROOM = 1.1  # norm at which codes are clipped, relative to their mean norm
LEAST_SIZE = 0.02  # least mean norm, relative to the largest possible


def measure_pictures(
    opening: Fitting[MeasuredMixture],
    labels: Cells | None,
    *,
    lens: Lens,
    n_prototypes: int | None,
    augmentation: Augmentation,
    covariance: str,
    class_weight: str | Mapping[Any, float] | None,
    device: torch.device,
    rng: Generator,
) -> None:
    r"""Release tones, sizes, means, prototypes and products of codes, one by one.

    ``opening.measured`` keeps the mixture, updated after each release, so that an
    interrupted fit has all that it paid for. The main release has means and counts of
    classes.

    *Why it is private.* Every release sums one vector per row, clipped to a public
    bound in `privacy`. All that a vector is computed with (a size, a centre, a network)
    is public or released before: this is adaptive composition of Gaussian releases.
    The sum of :math:`v` with counts of weight 1 moves by 2 if a row is replaced, in
    any component and class. Products :math:`v v^\top` alone move by
    :math:`\sqrt 2`, and so do tones, sizes and :math:`v \circ v`, which are not
    negative.
    """
    rows = Pictures(opening, labels, lens, device)
    budget, n_classes = opening.ledger.remaining, n_classes_of(labels)
    releases = _ImageReleases(rows, budget, n_classes, covariance, class_weight, rng)
    vote = vote_share(opening, labels, augmentation)
    opening.progress.total += 4
    opening.step("means")
    releases.means()
    n_prototypes = n_prototypes or releases.affordable()
    if n_prototypes > 1:
        opening.step("prototypes")
        releases.covariance(FOR_SPLIT)
        releases.prototypes(n_prototypes)
    opening.step("covariances")
    releases.covariance(None, reserved=vote)
    opening.step("augmentation")
    if vote:
        choose_augmentation(rows, releases.mixture.with_tones(rng), CHOICES, rng)


class _ImageReleases:
    """The releases of `measure_pictures`, each computed with the ones before."""

    def __init__(
        self,
        rows: Pictures,
        budget: float,
        n_classes: int,
        covariance: str,
        class_weight: str | Mapping[Any, float] | None,
        rng: Generator,
    ) -> None:
        self.class_weight = class_weight
        self.rows, self.opening, self.rng = rows, rows.opening, rng
        self.kind = covariance
        self.budget, self.n_classes = budget, n_classes
        self.mixture: PictureMixture

    def means(self) -> None:
        """Release tones and the mean of each class."""
        opening, d = self.opening, self.rows.width
        tones = self._release(
            self.rows.pixels(lambda labels, x: (without_classes(labels), tones_of(x))),
            {Key.FEATURES: Vectors(N_TONES, is_nonnegative=True)},
            "tones of pixels",
            FOR_TONES,
        )
        size = CLIPPING_ROOM * self._size("codes", lambda labels, z: z)
        release = self._release(
            self.rows.codes(lambda labels, z: (labels, z / size)),
            {Key.FEATURES: Vectors(d), Key.CLASSES: Counts(1.0)},
            "means of codes by class",
            FOR_MEANS,
            self.n_classes,
        )
        opening.measured = replace(opening.measured, release=release)
        counts = release.values[Key.CLASSES][:, 0]
        n_rows = opening.facts.public_total(release.adjacency, self.rows.labels)
        totals = project_to_total(counts, n_rows or max(float(counts.sum()), 1.0))
        means = release.values[Key.FEATURES] / np.maximum(totals, 1.0)[:, None]
        self._keep(
            PictureMixture(
                self.rows.lens,
                self.rows.shape,
                totals,
                float(release.noise_std[Key.CLASSES]) * self.n_classes**0.5,
                size * means[:, None],
                np.ones((self.n_classes, 1)),
                np.zeros((self.n_classes, d, d)),
                np.zeros((self.n_classes, d)),
                np.maximum(tones.values[Key.FEATURES][0], 0.0),
            )
        )

    def affordable(self) -> int:
        """Return the number of prototypes that rows and noise allow for a class.

        Both are public, or released.
        """
        ledger = self.opening.ledger
        noise = ledger.noise_std(share=ledger.remaining, sensitivity=1.0)
        n_rows_of_class = self.opening.facts.n_rows / self.n_classes
        if not noise:
            return MOST_PROTOTYPES
        return int(np.clip(n_rows_of_class / (ROWS_EACH * noise), 1, MOST_PROTOTYPES))

    def prototypes(self, n_prototypes: int) -> None:
        """Split each class along its covariance, then move centres to their rows."""
        mixture, d = self.mixture, self.rows.width
        self._keep(mixture.split(n_prototypes, self.rng))
        size = self._size("prototypes", self._from_centres)
        for k in range(N_ROUNDS):

            def row(labels: Integers, z: Floats) -> tuple[Integers, Floats]:
                v, nearest = from_centres(z, self.mixture.centres, labels)
                components = labels * n_prototypes + nearest
                return np.where(labels >= 0, components, -1), v / size

            release = self._release(
                self.rows.codes(row),
                {Key.FEATURES: Vectors(d), Key.CLASSES: Counts(1.0)},
                f"prototypes, round {k + 1}",
                FOR_ROUNDS / N_ROUNDS,
                self.n_classes * n_prototypes,
            )
            counts = release.values[Key.CLASSES][:, 0]
            divisors = np.maximum(counts, release.noise_std[Key.CLASSES] + 1.0)
            steps = release.values[Key.FEATURES] / divisors[:, None]
            noise = (release.noise_std[Key.FEATURES] / divisors) ** 2
            steps *= wiener((steps**2).mean(axis=1), noise)[:, None]
            centres = self.mixture.centres + size * steps.reshape(
                self.n_classes, n_prototypes, d
            )
            weights = shares_of_counts(counts.reshape(self.n_classes, -1))
            self._keep(replace(self.mixture, centres=centres, weights=weights))

    def covariance(self, share: float | None, reserved: float = 0.0) -> None:
        """Release the covariance around centres; by default with all but ``reserved``.

        ``FOR_SCALE`` is left for the mean norm, which is released before.
        """
        centres_named = "prototypes" if self.mixture.centres.shape[1] > 1 else "means"
        available = self.opening.ledger.remaining / self.budget - reserved - FOR_SCALE
        share = available if share is None else share
        if self.kind == "diagonal":
            self._squares(centres_named, share)
        else:
            self._products(centres_named, share)

    def _products(self, centres_named: str, share: float) -> None:
        r"""Release sums of :math:`v v^\top`, by class or pooled over classes."""
        d, is_pooled = self.rows.width, self.kind == "pooled"
        size = self._size(centres_named, self._from_centres)

        def row(
            labels: Integers, z: Floats
        ) -> tuple[Integers, list[tuple[torch.Tensor, torch.Tensor]]]:
            v = torch.from_numpy(self._from_centres(labels, z) / size)
            return without_classes(labels) if is_pooled else labels, [(v, v)]

        release = self._release(
            self.rows.codes(row),
            {Key.FEATURES: OuterProducts(((d, d),), 1.0, ("square",))},
            f"products of codes around {centres_named}"
            + ", by class" * (not is_pooled),
            share,
            1 if is_pooled else self.n_classes,
        )
        products = release.values[Key.FEATURES].reshape(-1, d, d)
        totals = self.mixture.totals
        totals = totals.sum(keepdims=True) if is_pooled else totals
        roots, diagonals = class_covariances(
            products,
            release.noise_std[Key.FEATURES],
            totals,
            None if is_pooled else self._class_weights(),
        )
        roots = np.broadcast_to(size * roots, (self.n_classes, d, d)).copy()
        diagonals = np.broadcast_to(size**2 * diagonals, (self.n_classes, d)).copy()
        self._keep(replace(self.mixture, roots=roots, diagonals=diagonals))

    def _squares(self, centres_named: str, share: float) -> None:
        r"""Release sums of :math:`v \circ v` by class: the diagonal of products.

        Its norm is far smaller than that of the matrix. The mean norm is released
        first, so that the noise is smaller, too.
        """

        def squared(labels: Integers, z: Floats) -> Floats:
            return self._from_centres(labels, z) ** 2

        size = CLIPPING_ROOM * self._size(f"squares around {centres_named}", squared)
        release = self._release(
            self.rows.codes(lambda labels, z: (labels, squared(labels, z) / size)),
            {Key.FEATURES: Vectors(self.rows.width, is_nonnegative=True)},
            f"squares of codes around {centres_named}, by class",
            share,
            self.n_classes,
        )
        noise, totals = release.noise_std[Key.FEATURES], self.mixture.totals
        variances = class_variances(
            release.values[Key.FEATURES], noise, totals, self._class_weights()
        )
        self._keep(replace(self.mixture, diagonals=size * variances))

    def _class_weights(self) -> Floats | None:
        """Return what each class counts in what all classes share; from releases."""
        classes = self.opening.facts.classes or ()
        return class_factors(self.class_weight, classes, self.mixture.shares)

    def _from_centres(self, labels: Integers, z: Floats) -> Floats:
        return from_centres(z, self.mixture.centres, labels)[0]

    def _size(
        self, vectors_named: str, vectors_of: Callable[[Integers, Floats], Floats]
    ) -> float:
        """Release the mean norm of vectors; the norm of a row counts 1 at most."""

        def row(labels: Integers, z: Floats) -> tuple[Integers, Floats]:
            norms = np.sqrt((vectors_of(labels, z) ** 2).sum(axis=1, keepdims=True))
            return without_classes(labels), np.minimum(norms, 1.0)

        release = self._release(
            self.rows.codes(row),
            {Key.FEATURES: Vectors(1, is_nonnegative=True)},
            "size of codes" + f" around {vectors_named}" * (vectors_named != "codes"),
            FOR_SCALE,
        )
        size = release.values[Key.FEATURES][0, 0] / self.opening.facts.n_rows
        return float(np.clip(size, LEAST_SIZE, 1.0))

    def _release(
        self,
        batches: Batches,
        blocks: Mapping[str, Any],
        name: str,
        share: float,
        n_classes: int = 1,
    ) -> Release:
        share = min(share * self.budget / self.opening.ledger.remaining, 1.0)
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
    """Return the factors of Wiener shrinkage of vectors with known noise.

    Examples
    --------
    >>> wiener(np.array([4.0, 1.0, 0.0]), np.array([1.0, 2.0, 0.0])).tolist()
    [0.75, 0.0, 0.0]
    """
    signal = np.maximum(energy - noise, 0.0)
    return np.asarray(signal / np.maximum(energy, np.finfo(float).tiny))


def without_classes(labels: Integers) -> Integers:
    """Return one label for all classes; rows without a class have none."""
    return np.where(labels >= 0, 0, -1)


def tones_of(pixels: Floats) -> Floats:
    """Return the histogram of grey levels of each image; rows sum to 1.

    Examples
    --------
    >>> tones_of(np.array([[0.0, 0.0, 1.0, 1.0]]))[0, [0, -1]].tolist()
    [0.5, 0.5]
    """
    n, width = pixels.shape
    bins = np.minimum((pixels * N_TONES).astype(np.int64), N_TONES - 1)
    bins += N_TONES * np.arange(n)[:, None]
    counts = np.bincount(bins.ravel(), minlength=n * N_TONES).reshape(n, N_TONES)
    return np.asarray(counts / width)
