"""Columns by class, counted twice: all alike, then those that tell classes apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Histograms, Release, shortened
from skdpgen.synthesizers.models import single_columns
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.tables import Cells
from skdpgen.training import ClassConditional
from skdpgen.utils import Key

Floats = NDArray[np.float64]
FIRST = 0.3  # of what columns get, for all columns alike
EVEN = 0.2  # of the rest, for all columns alike
POWER = 2.0
LEAST = 1e-9  # distance


def measured_columns(
    opening: Opening, cells: Mapping[Any, Cells], labels: Cells | None, *, share: float
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
    first = opening.release(
        "release_",
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
        "again_",
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
