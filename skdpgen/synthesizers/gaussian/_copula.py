"""DP-MGE on tables: a Gaussian copula, from two kinds of releases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import (
    Release,
    shortened,
)
from skdpgen.synthesizers.gaussian._measured import MeasuredMixture
from skdpgen.synthesizers.models import (
    CopulaModel,
    NormalScores,
    class_factors,
    products_share,
    release_products,
    single_columns,
)
from skdpgen.synthesizers.opening import (
    Fitting,
    class_histograms,
    n_classes_of,
    pools_gaps,
    with_shared_gaps,
)
from skdpgen.tables import Cells
from skdpgen.training import ClassConditional, class_correlations
from skdpgen.utils import Key

# ----------------------------------------------------------------------------
# Columns by class, counted twice: with equal weights, then by how they differ by class.

Floats = NDArray[np.float64]
EVEN_COUNTS_SHARE = 0.3  # of the budget; they weigh all columns equally
EVEN_PART = 0.2  # of the weighted counts: it is spread equally over columns
DISTANCE_POWER = 2.0  # weights go with the squared distance of classes, to this
LEAST_DISTANCE = 1e-9


def release_columns_twice(
    opening: Fitting[MeasuredMixture],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    share: float,
) -> Iterator[ClassConditional]:
    r"""Release columns by class, twice; yield the estimate after each release.

    Both use ``share`` of what is left of the budget. A table may have one column that
    predicts most of its target (the hour, for the number of hired bicycles) among many
    that predict little. So even counts have equal weights for all columns, and weighted
    counts then have the weight :math:`w_j` for column j: the larger, the more its
    classes differ in the even counts. Without noise one release is enough.

    *Why it is private.* Even counts have d one-hot blocks. Weights are a function of
    them, and their squares sum to 1: a row moves the weighted sum by :math:`\sqrt 2` if
    replaced, by 1 if added or removed (:class:`~skdpgen.privacy.Histograms` with
    scales). The two compose adaptively.
    """
    n_classes, sizes = n_classes_of(labels), tuple(c.n_cells for c in cells.values())
    is_twice = n_classes > 1 and len(sizes) > 1 and opening.ledger.budget.is_private
    is_pooled = pools_gaps(opening, len(sizes), n_classes, share)
    first = opening.release_main(
        opening.rows.batches(cells, labels),
        {Key.COLUMNS: class_histograms(cells, is_pooled=is_pooled)},
        name=f"histograms of {len(sizes)} columns by class",
        share=share * EVEN_COUNTS_SHARE if is_twice else share,
        n_classes=n_classes,
    )
    if is_pooled:
        first = with_shared_gaps(first, cells)
    opening.measured = replace(opening.measured, release=first)
    columns = single_columns(first, cells, labels, opening.facts)
    yield columns
    if not is_twice:
        return
    opening.progress.total += 1
    opening.step("histograms again")
    scales = scales_of(columns)
    second = opening.release(
        opening.rows.batches(cells, labels),
        {Key.COLUMNS: class_histograms(cells, scales, is_pooled=is_pooled)},
        name="histograms again, more of columns that tell classes apart",
        share=share * (1.0 - EVEN_COUNTS_SHARE) / (1.0 - share * EVEN_COUNTS_SHARE),
        n_classes=n_classes,
    )
    if is_pooled:
        second = with_shared_gaps(second, cells, scales)
    joint, scales_of_counts = joined(first, second, sizes, scales)
    yield single_columns(joint, cells, labels, opening.facts, scales_of_counts)


def scales_of(columns: ClassConditional) -> tuple[float, ...]:
    """Return a weight for each column; their squares sum to 1.

    Most of a squared weight is in proportion to a power of the distance of the classes:
    the mean total variation between a class and all rows.
    """
    distances = np.array(
        [
            columns.shares @ np.abs(table - columns.shares @ table).sum(axis=1) / 2
            for table in map(np.asarray, columns.conditionals.values())
        ]
    )
    parts = np.maximum(distances, LEAST_DISTANCE) ** DISTANCE_POWER
    squares = EVEN_PART / len(parts) + (1.0 - EVEN_PART) * parts / parts.sum()
    return tuple(map(shortened, np.sqrt(squares / squares.sum()).tolist()))


def joined(
    first: Release, second: Release, sizes: Sequence[int], scales: Sequence[float]
) -> tuple[Release, tuple[float, ...]]:
    r"""Join two counts of each column into one release, in units of its noise.

    Counts are averaged, weighted by precision. If p is the precision of the mean, its
    noise is 1 in units of :math:`1 / \sqrt p`. Returns the units as well.
    """
    noise_first, noise_second = (r.noise_std[Key.COLUMNS] for r in (first, second))
    weights = np.asarray(scales) / noise_second**2
    units = np.sqrt(1.0 / noise_first**2 + np.asarray(scales) * weights)
    values = first.values[Key.COLUMNS] / noise_first**2
    values = values + second.values[Key.COLUMNS] * np.repeat(weights, sizes)
    values = values / np.repeat(units, sizes)
    joint = replace(first, values={Key.COLUMNS: values}, noise_std={Key.COLUMNS: 1.0})
    return joint, tuple(units.tolist())


# ----------------------------------------------------------------------------
# Tables as Gaussians: columns by class, then products of their normal scores.

PRODUCT_SHARES = (0.05, 0.3)  # least and largest budget fraction


def measure_copula(
    opening: Fitting[MeasuredMixture],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    class_weight: str | Mapping[Any, float] | None = None,
) -> None:
    r"""Release columns by class, then products of the normal scores of rows.

    ``opening.measured`` keeps the mixture, updated after each release. Classes are
    weighted in the mean of their correlations, which is free.

    *Why it is private.* Scores are a function of released columns, and
    :func:`~skdpgen.synthesizers.models.release_products` releases their products. The
    releases compose adaptively. Their shares depend on the numbers of rows, classes
    and columns only.
    """
    n_classes, d = n_classes_of(labels), len(cells)
    opening.progress.total += 1
    share = products_share(opening.ledger, opening.facts.n_rows, d, PRODUCT_SHARES)
    for columns in release_columns_twice(opening, cells, labels, share=1.0 - share):
        scores = NormalScores.of(columns, cells)
        model = CopulaModel(columns, scores.orders, np.eye(d)[None])
        opening.measured = replace(opening.measured, mixture=model)
    if not share:
        return
    opening.step("products")
    products = release_products(opening, cells, labels, scores, n_classes=n_classes)
    by_class = products.by_class
    totals = columns.totals if by_class else columns.totals.sum(keepdims=True)
    weights = None
    if by_class:
        classes = opening.facts.classes or ()
        weights = class_factors(class_weight, classes, columns.shares)
    correlations = class_correlations(
        products.values, products.noise_std, totals, scores.spreads(columns), weights
    )
    model = replace(model, correlations=correlations)
    opening.measured = replace(opening.measured, mixture=model)
