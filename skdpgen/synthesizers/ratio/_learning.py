"""The ratio by the method that was asked for."""

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
from torch.nn import functional

from skdpgen.networks import Discriminator
from skdpgen.privacy import Counts, Histograms, Moments
from skdpgen.synthesizers.adversarial import Labelled, game_share, release_start
from skdpgen.synthesizers.embedding import MeasuredEmbedding, PointRows
from skdpgen.synthesizers.gaussian import Pictures
from skdpgen.synthesizers.models import PublicItems, RatioModel, single_columns
from skdpgen.synthesizers.opening import (
    Fitting,
    Measured,
    discover_bins,
    n_classes_of,
    steps_share,
)
from skdpgen.synthesizers.ratio._public_side import PublicSide, see
from skdpgen.tables import CategoryCells, Cells, as_pixels
from skdpgen.training import (
    Generated,
    Told,
    effective_size,
    log_ratios,
    private_descent,
    project_to_total,
    score_real,
    weighed,
)
from skdpgen.utils import Key, SupportWarning, saved, warn_caller

# ----------------------------------------------------------------------------
# What is known of the ratio after a fit: all that weights are made of.

Floats = NDArray[np.float64]


@saved("ratio")
@dataclass(frozen=True, eq=False)
class LearntRatio:
    """Public items, and the log of the ratio of each with every label.

    Parameters
    ----------
    items : PublicItems
    base : ndarray of shape (n_items, n_classes)
        Share of each before any weight; they sum to 1.
    logs : ndarray of shape (n_items, n_classes) or None
        None where they still have to be made of what was told.
    totals : ndarray of shape (n_classes,)
        Private rows of each class, from a release.
    total_std : float
        Noise of their sum.
    codes : ndarray or None
        Of public items: cells, or numbers of a lens.
    told : Told or None
        Means of codes of private rows.
    sizes : tuple of int
        Numbers of cells of columns, if codes are cells.
    """

    items: PublicItems
    base: Floats
    logs: Floats | None
    totals: Floats
    total_std: float
    codes: Any = None
    told: Told | None = None
    sizes: tuple[int, ...] = ()

    @property
    def matrix(self) -> Any:
        """Codes as numbers: those of a lens, or cells as zeros and ones."""
        return one_hot(self.codes, self.sizes) if self.sizes else self.codes

    def learnt(self) -> "LearntRatio":
        """Return it with logs, which are made of means that were told."""
        if self.logs is not None or self.told is None:
            return self
        return replace(self, logs=log_ratios(self.matrix, self.base, self.told))

    def model(self, power: float) -> RatioModel:
        """Return public items weighed by a power of the ratio; classes by all of it.

        Where few rows have a class its count is lost in noise. So shares of classes are
        those of weighed rows, which are public ones as far as the release agrees.
        """
        assert self.logs is not None
        weights = weighed(self.base, self.logs, power)
        shares = weighed(self.base, self.logs).sum(axis=0)
        return RatioModel(self.items, weights, shares)


@saved("measured.ratio")
@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredRatio(Measured):
    """How much likelier public items are among private rows.

    Parameters
    ----------
    ratio : LearntRatio or None
        None before it was learnt.
    n_iter : int or None
        Steps of the discriminator; None if there is none.
    """

    ratio: LearntRatio | None = None
    n_iter: int | None = None


def one_hot(codes: Any, sizes: Sequence[int]) -> Any:
    """Return cells of columns as a sparse matrix of zeros and ones.

    Examples
    --------
    >>> one_hot(np.array([[1, 0], [-1, 1]]), (2, 2)).toarray().tolist()
    [[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    starts = np.cumsum([0, *sizes[:-1]])
    there = codes >= 0
    shape = (len(codes), int(sum(sizes)))
    places = np.nonzero(there)[0], (codes + starts)[there]
    return sparse.csr_matrix((np.ones(len(places[0])), places), shape=shape)


# ----------------------------------------------------------------------------
# Whether public rows are where private ones are, told by releases alone.

MUCH, SURE = 0.05, 4.0  # of the rows, and noise stds: public rows lack a value
HARDLY = 0.2  # times as many as private rows: public rows lack a value
FEW = 0.05  # of the public rows count
CODE = "code of a lens"
SAID = 5  # columns named
LACKING = (
    "Private rows have values that public rows hardly have, and samples will lack: {}. "
    "Add public rows that have them, or use a method that needs none."
)
FLAT = (
    "Only about {:.0f} of {} public rows count: the others are unlike private rows. "
    "Samples repeat those; public rows more like the private ones would help."
)


def calibration(
    ratio: LearntRatio, weights: Floats, cells: Mapping[Any, Cells]
) -> pd.DataFrame | None:
    """Return released means of codes beside those of public rows, as is and weighed.

    If the ratio is right, ``weighed`` is ``released`` within a few times ``noise``.
    """
    if ratio.told is None:
        return None
    told, codes = ratio.told, ratio.matrix
    n_classes, n_codes = told.means.shape
    names = [(name, cell) for name, one in cells.items() for cell in _names_of(one)]
    names = names or [(CODE, j) for j in range(n_codes)]
    public, found = (np.asarray(codes.T @ each).T for each in (ratio.base, weights))
    table = pd.DataFrame(names, columns=["column", "cell"])
    return pd.concat(
        [
            table.assign(
                label=label,
                public=public[label],
                weighed=found[label],
                released=told.means[label],
                noise=np.sqrt(told.variances[label]),
            )
            for label in range(n_classes)
        ],
        ignore_index=True,
    )


def tell_support(table: pd.DataFrame | None, weights: Floats) -> list[str]:
    """Warn where private rows are and public ones are not; return what to state."""
    lines = []
    n, size = len(weights), effective_size(weights)
    if table is not None and table["column"].iloc[0] != CODE:
        lacking = _lacking(table)
        if lacking:
            told = ", ".join(f"{name} ({part:.0%})" for name, part in lacking[:SAID])
            told += ", ..." * (len(lacking) > SAID)
            lines.append(f"values that public rows hardly have: {told}")
            warn_caller(LACKING.format(told), SupportWarning)
    if size < FEW * n:
        warn_caller(FLAT.format(size, n), SupportWarning)
    return [*lines, f"effective number of public rows: {size:.0f} of {n}"]


def _lacking(table: pd.DataFrame) -> list[tuple[Any, float]]:
    """Return columns of which private rows have what public ones hardly have."""
    found = []
    cells = table.groupby(["column", "cell"], sort=False).agg(
        public=("public", "sum"),
        released=("released", "sum"),
        noise=("noise", lambda one: math.sqrt(float((one**2).sum()))),
    )
    for name, column in cells.groupby(level="column", sort=False):
        hardly = column["released"] > column["public"] / HARDLY
        surely = column["released"] > SURE * column["noise"]
        part = float(column["released"][hardly & surely].sum())
        noise = SURE * float(np.sqrt((column["noise"][hardly & surely] ** 2).sum()))
        if part - noise > MUCH:
            found.append((name, min(part, 1.0)))
    return sorted(found, key=lambda one: -one[1])


def _names_of(cells: Cells) -> list[Any]:
    """Return a name for each cell: its category, or where its interval begins."""
    if isinstance(cells, CategoryCells):
        known = [str(one) for one in cells.categories]
    else:
        known = [f"from {edge:g}" for edge in cells.edges[:-1]]  # type: ignore[attr-defined]
    return known + ["missing"] * (cells.n_cells - len(known))


# ----------------------------------------------------------------------------
# The ratio from one release: means of codes by class, and a tilt that has them.

FREE = 0.5  # squared weight of counts, beside first and second moments
LEAST = 1e-6


def learn_at_once(opening: Fitting[MeasuredRatio], given: Any, lens: Any) -> None:
    r"""Release means of codes by class; keep them beside public items.

    *Why it is private.* Of tables histograms of columns by class are released
    (:class:`~skdpgen.privacy.Histograms`: d one-hot blocks, :math:`\sqrt{2 d}` if a
    row is replaced, :math:`\sqrt d` if one is added or removed). Of images codes v of
    norm 1 at most beside :math:`v \circ v / \sqrt 2` and class counts of squared
    weight 1/2: two rows of one class differ by 2 at most
    (:class:`~skdpgen.privacy.Moments`: squares are free), two of different classes by
    :math:`\sqrt{2 (1 + 1/2 + 1/2)} = 2`, and a row that is added moves them by
    :math:`\sqrt 2`. All else is made of that and of public items.
    """
    facts, cells, labels = (
        opening.facts,
        opening.measured.cells,
        opening.measured.labels,
    )
    n_classes = n_classes_of(labels)
    side = PublicSide.of(opening, given, lens)
    sizes: tuple[int, ...] = ()
    if opening.holds_images:
        rows = Pictures(opening, labels, lens)
        moments = Moments(rows.width)
        codes = np.hstack([side.codes, moments.b * side.codes**2, _ones(side.codes)])
        matrix = codes
        found = opening.release_main(
            rows.codes(lambda label, z: (label, z)),
            {Key.FEATURES: moments, Key.CLASSES: Counts(FREE)},
            name="means and squares of codes by class",
            n_classes=n_classes,
        )
        counts = found.values[Key.CLASSES]
        n_rows = facts.public_total(found.adjacency, labels)
        totals = project_to_total(counts[:, 0], n_rows or max(float(counts.sum()), 1.0))
        total_std = float(found.noise_std[Key.CLASSES]) * n_classes**0.5
        values = np.hstack([found.values[Key.FEATURES], counts])
        noise = np.full(values.shape[1], float(found.noise_std[Key.FEATURES]))
        noise[-1] = float(found.noise_std[Key.CLASSES])
        units = np.append(np.maximum(codes[:, :-1].std(axis=0), LEAST), 1.0)
    else:
        codes = side.codes
        sizes = tuple(column.n_cells for column in cells.values())
        matrix = one_hot(codes, sizes)
        found = opening.release_main(
            opening.rows.batches(cells, labels),
            {Key.COLUMNS: Histograms(sizes)},
            name=f"histograms of {len(cells)} columns by class",
            n_classes=n_classes,
        )
        known = single_columns(found, cells, labels, facts)
        totals, total_std = np.asarray(known.totals), float(known.total_std)
        values = found.values[Key.COLUMNS]
        noise = np.full(values.shape[1], float(found.noise_std[Key.COLUMNS]))
        units = np.ones(values.shape[1])
    base = side.base(totals / totals.sum())
    variances = _variances(matrix, base, noise, facts.n_rows)
    told = Told(values / facts.n_rows, variances, units)
    known_so_far = side.items, base, None, totals, total_std, codes, told, sizes
    ratio = LearntRatio(*known_so_far)
    opening.measured = replace(opening.measured, ratio=ratio)


def _ones(codes: Any) -> Floats:
    return np.ones((len(codes), 1))


def _variances(codes: Any, base: Floats, noise: Floats, n_rows: float) -> Floats:
    """Return noise of means of codes, and how private rows vary by chance."""
    squared = codes.multiply(codes) if hasattr(codes, "multiply") else codes**2
    means, squares = (np.asarray(one.T @ base).T for one in (codes, squared))
    return (noise / n_rows) ** 2 + np.maximum(squares - means**2, 0.0) / n_rows


# ----------------------------------------------------------------------------
# The ratio from a discriminator that DP-SGD trains, as the paper has it.

BATCH = 512  # public items of a step
LEAST_SCALE = 0.05  # scale of a code that hardly varies
AT_ONCE = 8192
QUIET = 0.3  # noise of a step, in clipping norms, above which it gets shorter


class LensPoints:
    """Images as codes of a lens, for methods that read some rows at each step."""

    def __init__(self, lens: Any, size: tuple[int, int, int]) -> None:
        self._lens, self._size = lens, size
        self.width = int(lens.n_latent(size))
        self.certificate_name = "codes of images"

    def rows_of(self, batch: Any) -> Any:
        """Return the part of a batch that :meth:`inputs` takes."""
        return as_pixels(batch.parts[Key.PIXELS])

    def inputs(self, pixels: Any) -> NDArray[np.float32]:
        """Return codes of norm 1 at most."""
        found = see(self._lens, self._size, np.asarray(pixels, dtype=np.float64))
        return found.astype(np.float32)


def learn_by_steps(
    opening: Fitting[Any],
    given: Any,
    lens: Any,
    *,
    settings: Any,
    share: float,
    seed: int,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    r"""Train a discriminator s to tell private rows from public items, by DP-SGD.

    It goes down :math:`E\,\mathrm{softplus}(-s)` of private rows plus
    :math:`E\,\mathrm{softplus}(s)` of public ones: at its best s is the log of the
    ratio of their densities. Slopes of public rows are clipped as those of private
    rows are, or else they would outweigh them. Keeps what :func:`learn_at_once` keeps.

    *Why it is private.* Rows are read by the release of class counts and by
    :func:`~skdpgen.training.private_descent` alone, which pay. Centres and scales are
    those of public items; the number of steps is public.
    """
    settings_of_start = SimpleNamespace(start="nothing", pooling=1)
    known = release_start(opening, settings_of_start, steps=share, seed=seed)
    start: MeasuredEmbedding = opening.measured
    n_classes = len(known.totals)
    side = PublicSide.of(opening, given, lens)
    if opening.holds_images:
        kernel: Any = LensPoints(lens, opening.facts.layout.size)  # type: ignore[union-attr]
        x = side.codes.astype(np.float32)
    else:
        kernel = start.kernel
        x = kernel.inputs(side.codes)
    base = side.base(known.shares)
    centre, scale = x.mean(axis=0), np.maximum(x.std(axis=0), LEAST_SCALE)
    rng = torch.Generator().manual_seed(seed)
    look = Discriminator(
        torch.as_tensor(centre),
        torch.as_tensor(scale),
        n_classes,
        settings.discriminator_layer_sizes,
        rng=rng,
    ).to(device)
    points = torch.as_tensor(x)
    flat = torch.as_tensor(base).flatten()
    weights = torch.full((n_classes,), 1 / BATCH, device=device)

    def some() -> tuple[torch.Tensor, torch.Tensor]:
        drawn = torch.multinomial(flat, BATCH, replacement=True, generator=rng)
        rows, labels = drawn // n_classes, drawn % n_classes
        known = functional.one_hot(labels, n_classes).float()
        return points[rows].to(device), known.to(device)

    rows = PointRows(kernel, opening.rows.batches(start.cells, start.labels))
    with private_descent(
        look,
        score_real,
        Labelled(rows, n_classes),
        opening.ledger,
        name=f"discriminator of {kernel.certificate_name}, by DP-SGD",
        share=share,
        sampling_rate=settings.sampling_rate,
        n_steps=settings.max_iter,
        norm_bound=settings.norm_bound,
        expected_rows=opening.facts.n_rows,
        learning_rate=settings.learning_rate,
        momentum=0.5,
        is_adam=True,
        quiet=QUIET,
        is_smooth=True,
    ) as descent:
        public = Generated(look, settings.norm_bound, some())
        for _ in progress(range(settings.max_iter)):
            descent.step(public(*some(), weights))
        descent.average()
    rows.close()
    logs = _scores(look.cpu(), points, n_classes)
    total_std = float(known.total_std)
    opening.measured = MeasuredRatio(
        cells=start.cells,
        labels=start.labels,
        seed=seed,
        release=start.release,
        ratio=LearntRatio(side.items, base, logs, known.totals, total_std),
        n_iter=settings.max_iter,
    )


def _scores(look: Discriminator, points: torch.Tensor, n_classes: int) -> Any:
    """Return the score of every item with every label."""
    found = []
    with torch.no_grad():
        for some in points.split(AT_ONCE):
            labels = torch.eye(n_classes)[:, None].expand(-1, len(some), -1)
            found.append(torch.stack([look(some, known) for known in labels], dim=1))
    return torch.cat(found).double().numpy()


# ----------------------------------------------------------------------------
# The ratio by the method that was asked for.


def learn_ratio(
    opening: Fitting[Any],
    lens: Any,
    *,
    settings: Any,
    seed: int,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    """Learn, and keep, how much likelier public items are among private rows.

    The share of steps is fixed before anything is released: see ``steps_share``.
    """
    if settings.method == "sgd":
        share = steps_share(opening, game_share("nothing"))
        learn_by_steps(
            opening,
            settings.public_data,
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
    learn_at_once(opening, settings.public_data, lens)
