"""Tables as Gaussians: columns by class, then products of their normal scores."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.privacy import (
    Histograms,
    Ledger,
    OuterProducts,
    Release,
    sensitivity,
    shortened,
)
from skdpgen.synthesizers.gaussian._measured import MeasuredMixture
from skdpgen.synthesizers.models import CopulaModel, NormalScores, single_columns
from skdpgen.synthesizers.opening import Fitting, n_classes_of
from skdpgen.tables import Cells, EncodedBatch
from skdpgen.training import ClassConditional, class_correlations
from skdpgen.utils import Key, asked, has_role, is_amount, refuse_unless, saved

# ----------------------------------------------------------------------------
# Columns by class, counted twice: all alike, then those that tell classes apart.

Floats = NDArray[np.float64]
FIRST = 0.3  # of what columns get, for all columns alike
EVEN = 0.2  # of the rest, for all columns alike
POWER = 2.0
LEAST = 1e-9  # distance


def measured_columns(
    opening: Fitting[MeasuredMixture],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    share: float,
) -> Iterator[ClassConditional]:
    r"""Release columns by class with a share of what is left; yield what is known.

    A table may have one column that tells most of its target (the hour, of how many
    bicycles are hired) among many that tell little. So a part of the share counts all
    columns alike, and the rest counts again, each column by its weight :math:`w_j`:
    more, the farther its classes are apart by the first counts. Without noise once is
    enough.

    *Why it is private.* The first are d one-hot blocks. Weights are a function of them,
    and their squares sum to 1: a row moves the second sum by :math:`\sqrt 2` if
    replaced, by 1 if added or removed (:class:`~skdpgen.privacy.Histograms` with
    scales). The two compose adaptively.
    """
    n_classes, sizes = n_classes_of(labels), tuple(c.n_cells for c in cells.values())
    is_twice = n_classes > 1 and len(sizes) > 1 and opening.ledger.budget.is_private
    first = opening.release_main(
        opening.rows.batches(cells, labels),
        {Key.COLUMNS: Histograms(sizes)},
        name=f"histograms of {len(sizes)} columns by class",
        share=share * FIRST if is_twice else share,
        n_classes=n_classes,
    )
    known = single_columns(first, cells, labels, opening.facts)
    yield known
    if not is_twice:
        return
    opening.progress.total += 1
    opening.step("histograms again")
    scales = scales_of(known)
    again = opening.release(
        opening.rows.batches(cells, labels),
        {Key.COLUMNS: Histograms(sizes, scales)},
        name="histograms again, more of columns that tell classes apart",
        share=share * (1.0 - FIRST) / (1.0 - share * FIRST),
        n_classes=n_classes,
    )
    both, units = joined(first, again, sizes, scales)
    yield single_columns(both, cells, labels, opening.facts, units)


def scales_of(known: ClassConditional) -> tuple[float, ...]:
    """Return a weight for each column; their squares sum to 1.

    Most of them are in proportion to the squared distance of its classes: how much of
    each class is elsewhere than the whole is.
    """
    told = np.array(
        [
            known.shares @ np.abs(table - known.shares @ table).sum(axis=1) / 2
            for table in map(np.asarray, known.conditionals.values())
        ]
    )
    parts = np.maximum(told, LEAST) ** POWER
    squares = EVEN / len(parts) + (1.0 - EVEN) * parts / parts.sum()
    return tuple(map(shortened, np.sqrt(squares / squares.sum()).tolist()))


def joined(
    first: Release, again: Release, sizes: Sequence[int], scales: Sequence[float]
) -> tuple[Release, tuple[float, ...]]:
    r"""Return both counts of each column as one, in units of its noise.

    Counts are averaged by precision, p: in units of :math:`1 / \sqrt p` noise is 1.
    """
    std, std_again = (one.noise_std[Key.COLUMNS] for one in (first, again))
    own = np.asarray(scales) / std_again**2
    units = np.sqrt(1.0 / std**2 + np.asarray(scales) * own)
    values = first.values[Key.COLUMNS] / std**2
    values = values + again.values[Key.COLUMNS] * np.repeat(own, sizes)
    values = values / np.repeat(units, sizes)
    whole = replace(first, values={Key.COLUMNS: values}, noise_std={Key.COLUMNS: 1.0})
    return whole, tuple(units.tolist())


# ----------------------------------------------------------------------------
# Tables as Gaussians: columns by class, then products of their normal scores.

SHARES = (0.05, 0.3)  # of what is left, for products: at least, at most
POOLED_EDGE, CLASS_EDGE = 0.01, 0.05  # largest eigenvalue of noise, of all there may be
CALM, MOST_ROOM = (
    0.005,
    3.0,
)  # such an edge where noise matters; of a row's squared norm

SMALLEST_ROOM = 1e-6  # that someone else may ask with


def measure_copula(
    opening: Fitting[MeasuredMixture],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
) -> None:
    r"""Release columns by class, then products of the normal scores of rows.

    Keeps the mixture, which knows more after each release.

    *Why it is private.* Scores are a function of released columns, so the last one is a
    sum of :math:`v v^\top` of rows clipped to norm 1: no inner product of two of them
    is negative, and a row moves it by :math:`\sqrt 2` if replaced, by 1 if added or
    removed (:class:`~skdpgen.privacy.OuterProducts` of the kind "square"). They
    compose adaptively. Their shares go by the numbers of rows, classes and columns.
    """
    n_classes, d = n_classes_of(labels), len(cells)
    opening.progress.total += 1
    share = share_of_products(opening.ledger, opening.facts.n_rows, d)
    for known in measured_columns(opening, cells, labels, share=1.0 - share):
        scores = NormalScores.of(known, cells)
        model = CopulaModel(known, scores.orders, np.eye(d)[None])
        opening.measured = replace(opening.measured, mixture=model)
    if not share:
        return
    opening.step("products")
    product = OuterProducts(((d, d),), 1.0, ("square",))
    std = opening.ledger.noise_std(
        share=opening.ledger.remaining,
        sensitivity=sensitivity(product.structure, opening.ledger.budget.adjacency),
    )
    edge = noise_edge(std, opening.facts.n_rows / n_classes, d)
    by_class = n_classes > 1 and edge < CLASS_EDGE
    room = room_for(edge if by_class else edge / n_classes)

    step = ScoresOfRows(scores, room, by_class)
    found = opening.release(
        opening.rows.batches(cells, labels).through(step),
        {Key.FEATURES: product},
        name=f"products of normal scores of {d} columns" + ", by class" * by_class,
        n_classes=n_classes if by_class else 1,
    )
    totals = known.totals if by_class else known.totals.sum(keepdims=True)
    values = found.values[Key.FEATURES].reshape(-1, d, d)
    noise, spreads = found.noise_std[Key.FEATURES], scores.spreads(known)
    correlations = class_correlations(values, noise, totals, spreads)
    model = replace(model, correlations=correlations)
    opening.measured = replace(opening.measured, mixture=model)


@asked("step")
@saved("step.normal_scores")
@dataclass(frozen=True, eq=False)
class ScoresOfRows:
    """From cells of rows to the vectors whose products are summed, row by row."""

    scores: NormalScores
    room: float
    by_class: bool

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        refuse_unless(
            has_role(self.scores, "scores")
            and is_amount(self.room, SMALLEST_ROOM, 1 / SMALLEST_ROOM)
            and type(self.by_class) is bool,
            "scores of rows",
        )

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield scores, and labels as classes are counted."""
        for batch in batches:
            rows = self.scores.encode(batch.parts[Key.COLUMNS], batch.labels)
            v = torch.from_numpy(rows / math.sqrt(self.room))
            pooled = np.where(batch.labels >= 0, 0, -1)
            label = batch.labels if self.by_class else pooled
            yield EncodedBatch(label, {Key.FEATURES: [(v, v)]})


def noise_edge(std: float, n_rows: float, n_columns: int) -> float:
    r"""Return the largest eigenvalue that noise alone gives correlations, over d.

    Products of rows of norm 1 have a diagonal of n / d, so that noise in correlations
    is :math:`s d / (n \sqrt 2)`; d is the largest eigenvalue that there can be.
    """
    return 2.0 * std / math.sqrt(2.0) * math.sqrt(n_columns) / max(n_rows, 1.0)


def room_for(edge: float) -> float:
    """Return how much larger than the mean squared norm that of a row may be.

    Rows beyond are cut, which makes relations weaker; more room makes noise larger.
    """
    return float(np.clip(CALM / edge, 1.0, MOST_ROOM)) if edge else MOST_ROOM


def share_of_products(ledger: Ledger, n_rows: float, n_columns: int) -> float:
    """Return which part of what is left goes to products; 0 if there are none."""
    if n_columns < 2:
        return 0.0
    product = OuterProducts(((n_columns, n_columns),), 1.0, ("square",))
    whole = sensitivity(product.structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=ledger.remaining, sensitivity=whole)
    edge = noise_edge(std, n_rows, n_columns)
    return float(np.clip((edge / POOLED_EDGE) ** 2, *SHARES))
