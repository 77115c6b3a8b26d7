"""DP-DRE: the density ratio of private to public rows, from one release or DP-SGD."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import nn
from torch.nn import functional

from skdpgen.exceptions import SupportWarning
from skdpgen.features import FourierFeatures
from skdpgen.lenses import Lens
from skdpgen.networks import Discriminator, ImageDiscriminator
from skdpgen.privacy import Counts, Histograms, Release, Vectors
from skdpgen.synthesizers.adversarial import game_share, private_steps, release_start
from skdpgen.synthesizers.embedding import (
    MeasuredEmbedding,
)
from skdpgen.synthesizers.gaussian import Pictures, encode_images
from skdpgen.synthesizers.models import PublicItems, RatioModel, single_columns
from skdpgen.synthesizers.opening import (
    Fitting,
    Measured,
    discover_bins,
    n_classes_of,
    steps_share,
)
from skdpgen.synthesizers.presets import RatioSettings
from skdpgen.synthesizers.ratio._public_codes import PublicCodes
from skdpgen.tables import (
    CategoryCells,
    Cells,
    EncodedBatch,
    ImageLayout,
    MixedCells,
    as_pixels,
)
from skdpgen.training import (
    Generated,
    ReleasedMeans,
    effective_size,
    log_ratios,
    project_to_total,
    ratio_weights,
    score_real,
)
from skdpgen.utils import Key, Rows, saved, warn_caller

# ----------------------------------------------------------------------------
# What a fit keeps of the ratio; weights are computed from it.

Floats = NDArray[np.float64]


@saved("ratio")
@dataclass(frozen=True, eq=False)
class LearntRatio:
    """Public items, and the log of the ratio of each with every label.

    Parameters
    ----------
    items : PublicItems
    base : ndarray of shape (n_items, n_classes)
        Share of each item and label before weighting; they sum to 1.
    logs : ndarray of shape (n_items, n_classes) or None
        None until :meth:`with_logs` computes them from released means.
    totals : ndarray of shape (n_classes,)
        Private rows of each class, from a release.
    total_std : float
        Noise of their sum.
    codes : ndarray, LensWaves or None
        Of public items: cells of columns, or random features of codes of a lens.
    released : ReleasedMeans or None
        Means of codes of private rows; None for DP-SGD.
    sizes : tuple of int
        Numbers of cells of columns, if codes are cells.
    """

    items: PublicItems
    base: Floats
    logs: Floats | None
    totals: Floats
    total_std: float
    codes: Any = None
    released: ReleasedMeans | None = None
    sizes: tuple[int, ...] = ()

    @property
    def matrix(self) -> Any:
        """Codes as numbers: one-hot cells, or features of codes of a lens."""
        if isinstance(self.codes, LensWaves):
            return self.codes.matrix
        return one_hot(self.codes, self.sizes) if self.sizes else self.codes

    def with_logs(self) -> "LearntRatio":
        """Return the ratio with logs, computed from the released means."""
        if self.logs is not None or self.released is None:
            return self
        return replace(self, logs=log_ratios(self.matrix, self.base, self.released))

    def model(self, power: float) -> RatioModel:
        """Return public items weighted by a power of the ratio; classes by all of it.

        The released count of a rare class may be smaller than its noise. So class
        shares are those of weighted public rows.
        """
        assert self.logs is not None
        weights = ratio_weights(self.base, self.logs, power)
        shares = ratio_weights(self.base, self.logs).sum(axis=0)
        return RatioModel(self.items, weights, shares)


@saved("ratio.lens_waves")
@dataclass(frozen=True, eq=False)
class LensWaves:
    """Codes of a lens of public images, and the frequencies of their random features.

    Parameters
    ----------
    codes : ndarray of shape (n, n_latent)
    frequencies : ndarray of shape (n_latent, n_features / 2)
    """

    codes: NDArray[Any]
    frequencies: NDArray[Any]

    @property
    def matrix(self) -> Floats:
        """Random features, and a column of ones for the class counts."""
        features = fourier_features(self.codes, self.frequencies)
        return np.hstack([features, np.ones((len(features), 1))])


def fourier_features(codes: Floats, frequencies: Floats) -> Floats:
    """Return cosines and sines; each row has norm 1, whatever the code is.

    Examples
    --------
    >>> fourier_features(np.zeros((1, 3)), np.ones((3, 2))).round(2).tolist()
    [[0.71, 0.71, 0.0, 0.0]]
    """
    angles = codes @ frequencies
    waves = np.hstack([np.cos(angles), np.sin(angles)])
    return np.asarray(waves / math.sqrt(frequencies.shape[1]))


@saved("measured.ratio")
@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredRatio(Measured):
    """What DP-DRE measured: the density ratio of public items.

    Parameters
    ----------
    ratio : LearntRatio or None
        None until it is learnt.
    n_iter : int or None
        Steps of the discriminator; None if there is none.
    """

    ratio: LearntRatio | None = None
    n_iter: int | None = None


def one_hot(codes: NDArray[Any], sizes: Sequence[int]) -> Any:
    """Return cells of columns as a sparse matrix of zeros and ones.

    Examples
    --------
    >>> one_hot(np.array([[1, 0], [-1, 1]]), (2, 2)).toarray().tolist()
    [[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    starts = np.cumsum([0, *sizes[:-1]])
    is_known = codes >= 0
    shape = (len(codes), int(sum(sizes)))
    positions = np.nonzero(is_known)[0], (codes + starts)[is_known]
    return sparse.csr_matrix((np.ones(len(positions[0])), positions), shape=shape)


# ----------------------------------------------------------------------------
# Whether public rows cover the private ones: computed from releases only.

# Public rows lack a value if its public share is below RARE_FACTOR times its released
# share, which must exceed SURE stds of its noise. A column, or the target, is named in
# the warning if such values have more than MISSING_PART of the private rows.
MISSING_PART, SURE = 0.05, 4.0
RARE_FACTOR = 0.2
LEAST_EFFECTIVE = 0.05  # least effective part of the public rows without a warning
CODE = "code of a lens"
MOST_NAMED = 5  # columns in the text of a warning
HARDLY_COVERED = "values that public rows hardly have"
EFFECTIVE = "effective number of public rows"
SUPPORT_LINES = HARDLY_COVERED, EFFECTIVE  # how statements begin that depend on weights
VALUES_LACK = (
    "Private rows have values that public rows hardly have, and samples will lack: {}. "
    "Shares are of the private rows. Add public rows that have these values, or use a "
    "method that needs none."
)
FEW_COUNT = (
    "Only about {:.0f} of {} public rows count: the others are unlike private rows. "
    "Samples repeat those; public rows more like the private ones would help."
)
NOT_MEASURED = (
    "it is not known whether public rows cover the private ones: training by DP-SGD "
    "releases no counts of values"
)


def calibration(
    ratio: LearntRatio, weights: Floats, cells: Mapping[Any, Cells]
) -> pd.DataFrame | None:
    """Return released means of codes beside those of public rows, plain and weighted.

    If the ratio is right, ``weighed`` is ``released`` within a few times ``noise``.
    """
    if ratio.released is None:
        return None
    released, codes = ratio.released, ratio.matrix
    n_classes, n_codes = released.means.shape
    names: list[tuple[Any, str | int]] = [
        (name, cell) for name, column in cells.items() for cell in cell_names(column)
    ]
    names = names or [(CODE, j) for j in range(n_codes)]
    public, weighted = (np.asarray(codes.T @ w).T for w in (ratio.base, weights))
    table = pd.DataFrame(names, columns=["column", "cell"])
    return pd.concat(
        [
            table.assign(
                label=label,
                public=public[label],
                weighed=weighted[label],
                released=released.means[label],
                noise=np.sqrt(released.variances[label]),
            )
            for label in range(n_classes)
        ],
        ignore_index=True,
    )


def warn_about_support(measured: MeasuredRatio, weights: Floats) -> list[str]:
    """Warn if public rows do not cover the private ones; return statements."""
    lines = []
    n, size = len(weights), effective_size(weights)
    lacking = [*_target_lacking(measured), *_columns_lacking(measured)]
    if lacking:
        listed = ", ".join(  # rounded down, for "at least" to hold
            f"{name} (at least {math.floor(100 * part)}%)"
            for name, part in lacking[:MOST_NAMED]
        )
        listed += ", ..." * (len(lacking) > MOST_NAMED)
        lines.append(f"{HARDLY_COVERED}: {listed}")
        warn_caller(VALUES_LACK.format(listed), SupportWarning)
    if size < LEAST_EFFECTIVE * n:
        warn_caller(FEW_COUNT.format(size, n), SupportWarning)
    return [*lines, f"{EFFECTIVE}: {size:.0f} of {n}"]


def _columns_lacking(measured: MeasuredRatio) -> list[tuple[Any, float]]:
    """Return columns with values that public rows hardly have, and their share."""
    ratio = measured.ratio
    assert ratio is not None
    if ratio.released is None or not ratio.sizes:  # by DP-SGD, or images
        return []
    shares = (
        np.asarray(ratio.matrix.T @ ratio.base.sum(axis=1)),
        ratio.released.means.sum(axis=0),
        np.sqrt(ratio.released.variances.sum(axis=0)),
    )
    ends = np.cumsum(ratio.sizes)[:-1]
    columns = zip(*(np.split(part, ends) for part in shares), strict=True)
    parts = [least_lacking(*column) for column in columns]
    lacking = [
        (name, part)
        for name, part in zip(measured.cells, parts, strict=True)
        if part > MISSING_PART
    ]
    return sorted(lacking, key=lambda column: -column[1])


def _target_lacking(measured: MeasuredRatio) -> list[tuple[str, float]]:
    """Return the target, and the share of its labels that public rows hardly have.

    Labels of a target of numbers are its bins. Public rows without labels take them
    from released counts, so they lack none.
    """
    ratio, release = measured.ratio, measured.release
    assert ratio is not None
    is_labelled = int((ratio.base > 0).sum(axis=1).max()) == 1
    if release is None or len(ratio.totals) < 2 or not is_labelled:
        return []
    counts, noise = _class_counts(release, ratio.sizes)
    n_rows = float(ratio.totals.sum())
    noises = np.full(len(counts), noise / n_rows)
    part = least_lacking(ratio.base.sum(axis=0), counts / n_rows, noises)
    return [("the target", part)] if part > MISSING_PART else []


def _class_counts(release: Release, sizes: Sequence[int]) -> tuple[Floats, float]:
    """Return the released rows of each class, and the noise of each count.

    They are not denoised: denoised counts are never below 0, so their sum over many
    empty classes would be too large. The histogram of each column has all rows of a
    class, with a variance in proportion to its cells.
    """
    if Key.CLASSES in release.values:
        noise = release.noise_std[Key.CLASSES]
        return np.asarray(release.values[Key.CLASSES][:, 0]), float(noise)
    blocks = np.split(release.values[Key.COLUMNS], np.cumsum(sizes)[:-1], axis=1)
    precisions = 1.0 / np.asarray(sizes)
    sums = np.array([block.sum(axis=1) for block in blocks])  # (columns, classes)
    noise = float(release.noise_std[Key.COLUMNS]) / math.sqrt(precisions.sum())
    return np.asarray(precisions @ sums / precisions.sum()), noise


def least_lacking(public: Floats, released: Floats, noise: Floats) -> float:
    """Return a share that private rows at least have where public ones hardly are.

    It is the larger one of two sums, each less ``SURE`` stds of its noise. One is over
    cells that each exceed the noise. The other one is over the cells with the fewest
    public rows: these are chosen from public rows only, so no noise is selected.

    Examples
    --------
    >>> private = np.full(20, 0.05)
    >>> round(least_lacking(np.eye(20)[0], private, np.full(20, 0.02)), 2)
    0.6
    """
    is_sure = (released > public / RARE_FACTOR) & (released > SURE * noise)
    order = np.argsort(public, kind="stable")
    is_rare = np.zeros(len(public), dtype=bool)
    is_rare[order] = np.cumsum(public[order]) <= RARE_FACTOR * MISSING_PART
    bounds = [
        float(released[cells].sum() - SURE * np.linalg.norm(noise[cells]))
        for cells in (is_sure, is_rare)
    ]
    return min(max(bounds), 1.0)


def cell_names(cells: Cells) -> list[str]:
    """Return a name for each cell: its category, or where its interval begins."""
    if isinstance(cells, CategoryCells):
        names = [str(category) for category in cells.categories]
    else:
        numbers = cells.numbers if isinstance(cells, MixedCells) else cells
        names = [f"from {edge:g}" for edge in numbers.edges[:-1]]
        if isinstance(cells, MixedCells):
            names += [str(value) for value in cells.named]
    return names + ["missing"] * (cells.n_cells - len(names))


# ----------------------------------------------------------------------------
# The ratio from one release: means of codes by class, and a tilt that matches them.

# Squared weight of counts beside features. The sensitivity is 2 with or without them
# (see `learn_from_means`), so up to 1 they are free if a row is replaced; with less,
# more of the noise of an added row is left to the features.
COUNTS_WEIGHT = 0.5
LEAST_SCALE_OF_CODE = 1e-6
N_FEATURES = 400  # cosines and sines of codes
# Length scale of the kernel on codes, relative to the median distance of public images.
LENGTH_SCALE, SHORTEST = 0.6, 1e-2
N_PAIRS = 2000  # public images whose distances are measured


def learn_from_means(
    opening: Fitting[MeasuredRatio], public_data: Rows, lens: Lens | None
) -> None:
    r"""Release means of codes by class; keep them beside public items.

    *Why it is private.* For tables, histograms of columns by class are released
    (:class:`~skdpgen.privacy.Histograms`: d one-hot blocks, :math:`\sqrt{2 d}` if a
    row is replaced, :math:`\sqrt d` if one is added or removed). For images, random
    Fourier features of codes of a lens, of norm 1 and either sign, beside class counts
    of squared weight 1/2: two rows of one class differ by 2 at most
    (:class:`~skdpgen.privacy.Vectors`), two of different classes by
    :math:`\sqrt{2 (1 + 1/2)} < 2`, and a row that is added moves them by
    :math:`\sqrt{3/2}`. Frequencies are drawn from public randomness, and their length
    scale is a distance of public images. All else is computed from these releases and
    from public items.
    """
    facts, cells, labels = (
        opening.facts,
        opening.measured.cells,
        opening.measured.labels,
    )
    n_classes = n_classes_of(labels)
    public = PublicCodes.of(opening, public_data, lens)
    sizes: tuple[int, ...] = ()
    if opening.holds_images:
        rows = Pictures(opening, labels, lens)
        frequencies = _draw_frequencies(public.codes, opening.measured.seed)
        codes: Any = LensWaves(public.codes, frequencies)
        matrix = codes.matrix
        release = opening.release_main(
            rows.codes(lambda label, z: (label, fourier_features(z, frequencies))),
            {
                Key.FEATURES: Vectors(2 * frequencies.shape[1]),
                Key.CLASSES: Counts(COUNTS_WEIGHT),
            },
            name="means of random features of codes by class",
            n_classes=n_classes,
        )
        counts = release.values[Key.CLASSES]
        n_rows = facts.public_total(release.adjacency, labels)
        totals = project_to_total(counts[:, 0], n_rows or max(float(counts.sum()), 1.0))
        total_std = float(release.noise_std[Key.CLASSES]) * n_classes**0.5
        values = np.hstack([release.values[Key.FEATURES], counts])
        noise = np.full(values.shape[1], float(release.noise_std[Key.FEATURES]))
        noise[-1] = float(release.noise_std[Key.CLASSES])
        units = np.append(
            np.maximum(matrix[:, :-1].std(axis=0), LEAST_SCALE_OF_CODE), 1.0
        )
    else:
        codes = public.codes
        sizes = tuple(column.n_cells for column in cells.values())
        matrix = one_hot(codes, sizes)
        release = opening.release_main(
            opening.rows.batches(cells, labels),
            {Key.COLUMNS: Histograms(sizes)},
            name=f"histograms of {len(cells)} columns by class",
            n_classes=n_classes,
        )
        columns = single_columns(release, cells, labels, facts)
        totals, total_std = np.asarray(columns.totals), float(columns.total_std)
        values = release.values[Key.COLUMNS]
        noise = np.full(values.shape[1], float(release.noise_std[Key.COLUMNS]))
        units = np.ones(values.shape[1])
    base = public.base(totals / totals.sum())
    variances = _variances(matrix, base, noise, facts.n_rows)
    released = ReleasedMeans(values / facts.n_rows, variances, units)
    ratio = LearntRatio(
        public.items, base, None, totals, total_std, codes, released, sizes
    )
    opening.measured = replace(opening.measured, ratio=ratio)


def _draw_frequencies(codes: Floats, seed: int) -> Floats:
    """Draw frequencies of a kernel on codes, as wide as public images are apart."""
    order = np.random.default_rng(0).permutation(len(codes))[: 2 * N_PAIRS]
    pairs = codes[order[: len(order) // 2 * 2]].reshape(2, -1, codes.shape[1])
    distance = float(np.median(np.linalg.norm(pairs[0] - pairs[1], axis=1)))
    features = FourierFeatures.draw(
        (codes.shape[1],),
        N_FEATURES,
        length_scale=max(LENGTH_SCALE * distance, SHORTEST),
        rng=torch.Generator().manual_seed(seed),
    )
    return np.asarray(features.frequencies.double().numpy())


def _variances(codes: Any, base: Floats, noise: Floats, n_rows: float) -> Floats:
    """Return variances of released means: of their noise, plus sampling of rows.

    Private rows are a sample. Its variance is estimated from public rows.
    """
    squared = codes.multiply(codes) if hasattr(codes, "multiply") else codes**2
    means, squares = (np.asarray(values.T @ base).T for values in (codes, squared))
    return (noise / n_rows) ** 2 + np.maximum(squares - means**2, 0.0) / n_rows


# ----------------------------------------------------------------------------
# The ratio from a discriminator that DP-SGD trains, as the paper has it.

BATCH = 512  # public items of a step
LEAST_SCALE = 0.05  # scale of a code that hardly varies
ITEMS_AT_ONCE = 8192  # that are scored
QUIET_NOISE = 0.3  # of a step, in clipping norms; above, steps get shorter


class LensPoints:
    """Images as codes of a lens, for methods that read some rows at each step."""

    def __init__(self, lens: Lens, size: tuple[int, int, int]) -> None:
        self._lens, self._size = lens, size
        self.width = int(lens.n_latent(size))
        self.certificate_name = "codes of images"

    def rows_of(self, batch: EncodedBatch) -> NDArray[np.float32]:
        """Return the codes of a batch, of norm 1 at most: a lens sees an image once."""
        pixels = as_pixels(batch.parts[Key.PIXELS])
        return encode_images(self._lens, self._size, pixels).astype(np.float32)

    def inputs(self, rows: Any) -> Any:
        """Return codes unchanged: `rows_of` has encoded them."""
        return rows


class ImagePoints:
    """Images themselves, for methods that read some rows at each step."""

    certificate_name = "images"

    def __init__(self, size: tuple[int, int, int]) -> None:
        self.size, self.width = size, math.prod(size)

    def rows_of(self, batch: EncodedBatch) -> NDArray[Any]:
        """Return the part of a batch that :meth:`inputs` takes."""
        return as_pixels(batch.parts[Key.PIXELS])

    def inputs(self, pixels: NDArray[Any]) -> NDArray[np.float32]:
        """Return pixels in [0, 1]."""
        return np.asarray(pixels, dtype=np.float32)


def learn_by_sgd(
    opening: Fitting[Any],
    public_data: Rows,
    lens: Lens | None,
    *,
    settings: RatioSettings,
    share: float,
    seed: int,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    r"""Train a discriminator s of private rows against public items, by DP-SGD.

    It minimises :math:`E\,\mathrm{softplus}(-s)` over private rows plus
    :math:`E\,\mathrm{softplus}(s)` over public ones. At the minimum s is the log of the
    ratio of their densities. Gradients of public rows are clipped like those of private
    rows; else they would outweigh them. Keeps a `LearntRatio` in ``opening.measured``.

    *Why it is private.* Only the release of class counts and the steps of
    :func:`~skdpgen.training.private_descent` read rows, and both charge the ledger.
    Without a ``lens`` the discriminator of images is convolutional; its proof is the
    same, since a row's gradient is clipped whatever the network is. Centres and scales
    are those of public items; the number of steps is public.
    """
    settings_of_start = SimpleNamespace(start="nothing", pooling=1)
    counts = release_start(opening, settings_of_start, steps=share, seed=seed)
    start: MeasuredEmbedding = opening.measured
    n_classes = len(counts.totals)
    public = PublicCodes.of(opening, public_data, lens)
    layout = opening.facts.layout
    kernel: Any
    if isinstance(layout, ImageLayout):
        kernel = (
            ImagePoints(layout.size) if lens is None else LensPoints(lens, layout.size)
        )
        x = public.codes.astype(np.float32)
    else:
        kernel = start.kernel
        x = kernel.inputs(public.codes)
    base = public.base(counts.shares)
    rng = torch.Generator().manual_seed(seed)
    if isinstance(kernel, ImagePoints):
        size = kernel.size
        discriminator: nn.Module = ImageDiscriminator(size, n_classes, rng=rng)
    else:
        centre, scale = x.mean(axis=0), np.maximum(x.std(axis=0), LEAST_SCALE)
        discriminator = Discriminator(
            torch.as_tensor(centre),
            torch.as_tensor(scale),
            n_classes,
            settings.discriminator_layer_sizes,
            rng=rng,
        )
    discriminator.to(device)
    points = torch.as_tensor(x)
    flat = torch.as_tensor(base).flatten()
    weights = torch.full((n_classes,), 1 / BATCH, device=device)

    def public_batch() -> tuple[torch.Tensor, torch.Tensor]:
        drawn = torch.multinomial(flat, BATCH, replacement=True, generator=rng)
        rows, labels = drawn // n_classes, drawn % n_classes
        one_hots = functional.one_hot(labels, n_classes).float()
        return points[rows].to(device), one_hots.to(device)

    with private_steps(
        opening,
        discriminator,
        n_classes,
        kernel=kernel,
        settings=settings,
        loss=score_real,
        share=share,
        quiet=QUIET_NOISE,
    ) as descent:
        public_loss = Generated(discriminator, settings.max_grad_norm, public_batch())
        for _ in progress(range(settings.max_iter)):
            descent.step(public_loss(*public_batch(), weights))
        descent.average()
    logs = _scores(discriminator.cpu(), points, n_classes)
    total_std = float(counts.total_std)
    opening.measured = MeasuredRatio(
        cells=start.cells,
        labels=start.labels,
        seed=seed,
        release=start.release,
        ratio=LearntRatio(public.items, base, logs, counts.totals, total_std),
        n_iter=settings.max_iter,
    )


def _scores(discriminator: nn.Module, points: torch.Tensor, n_classes: int) -> Floats:
    """Return the score of every item with every label, (n_items, n_classes)."""
    scores = []
    with torch.no_grad():
        for part in points.split(ITEMS_AT_ONCE):
            labels = torch.eye(n_classes)[:, None].expand(-1, len(part), -1)
            scores.append(
                torch.stack([discriminator(part, label) for label in labels], dim=1)
            )
    return np.asarray(torch.cat(scores).double().numpy())


# ----------------------------------------------------------------------------
# The ratio by the method that the user chose.


def learn_ratio(
    opening: Fitting[Any],
    lens: Lens | None,
    *,
    algorithm: str,
    public_data: Rows,
    settings: RatioSettings,
    seed: int,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    """Learn the density ratio of public items, and keep it in ``opening.measured``.

    The share of DP-SGD steps is fixed before anything is released: see
    ``steps_share``.
    """
    if algorithm == "sgd":
        share = steps_share(opening, game_share("nothing"))
        learn_by_sgd(
            opening,
            public_data,
            lens,
            settings=settings,
            share=share,
            seed=seed,
            device=device,
            progress=progress,
        )
        return
    cells, labels = discover_bins(opening)
    opening.measured = MeasuredRatio(cells=cells, labels=labels, seed=seed)
    learn_from_means(opening, public_data, lens)
