"""The columns that the data are for: their weights, and rows counted by one of them."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from skdpgen.privacy import Release
from skdpgen.synthesizers.opening import Opening
from skdpgen.synthesizers.pairwise._affordable import affordable_pairs
from skdpgen.synthesizers.pairwise._pair_release import Pair
from skdpgen.tables import Cells
from skdpgen.training import ClassConditional
from skdpgen.utils import Key

# Without a target, rows are counted by the heaviest column of the focus as they would
# be by class. With a target they are counted by it, and a focus only weighs pairs.

LISTED_WEIGHT = 4.0  # of errors of a column that is listed; others have 1
MOST_CELLS = 32  # of a column by which rows are counted
FOR_PAIRS = 0.5  # part of the budget of pairs that is left; columns by group get more


def focus_weights(
    focus: Sequence[Any] | Mapping[Any, float] | None, names: Collection[Any]
) -> dict[Any, float]:
    """Return the weight of each column of the focus; raise for unknown names.

    Examples
    --------
    >>> focus_weights(["b"], ["a", "b"]), focus_weights({"a": 2.0}, ["a", "b"])
    ({'b': 4.0}, {'a': 2.0})
    >>> focus_weights([], ["a"]) == focus_weights({}, ["a"]) == focus_weights(None, [])
    True
    >>> focus_weights(["c"], ["a", "b"])
    Traceback (most recent call last):
    ValueError: focus must name columns of the table: a, b. Got c instead.
    """
    if focus is None:
        return {}
    unknown = [str(name) for name in focus if name not in names]
    if unknown:
        raise ValueError(
            f"focus must name columns of the table: {', '.join(map(str, names))}. Got "
            f"{', '.join(unknown)} instead."
        )
    is_weighted = isinstance(focus, Mapping)
    weights = dict(focus) if is_weighted else dict.fromkeys(focus, LISTED_WEIGHT)
    for name, weight in weights.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not is_number or not 0 < weight < math.inf:
            raise ValueError(
                "focus must have weights above 0, such as 4; other columns have 1. Got "
                f"{weight!r} for {name!r}."
            )
    return {name: float(weight) for name, weight in weights.items()}


def stratum_of(
    opening: Opening, cells: Mapping[Any, Cells], weights: Mapping[Any, float]
) -> Any:
    """Return the column by which rows are counted; None if there is none.

    It is the one with the largest weight, the first of several, if it has few cells.
    Only without a target, and without public rows. Cells are released or public.
    """
    if opening.facts.task is not None or opening.public is not None or len(cells) < 2:
        return None
    few = [n for n in weights if n in cells and 1 < cells[n].n_cells <= MOST_CELLS]
    return max(few, key=lambda name: weights[name], default=None)


def share_with_stratum(
    opening: Opening, stratum: Any, n_pairs: int, for_pairs: float
) -> tuple[Any, int, float]:
    """Return the stratum, how many pairs to measure, and their part of the budget.

    Where single columns get more, fewer pairs may be affordable; without any, there is
    no stratum. All of it follows from public quantities and releases.
    """
    if stratum is None:
        return None, n_pairs, for_pairs
    ledger, facts = opening.ledger, opening.facts
    less = FOR_PAIRS * for_pairs
    fewer = affordable_pairs(ledger, facts.n_rows, facts.n_columns, less)
    return (stratum, fewer, less) if fewer else (None, n_pairs, for_pairs)


def pair_weights(
    cells: Mapping[Any, Cells], weights: Mapping[Any, float], pairs: Sequence[Pair]
) -> list[float]:
    """Return the weight of errors of each pair: the larger one of its two columns."""
    each = [weights.get(name, 1.0) for name in cells]
    return [max(each[j], each[k]) for j, k in pairs]


def on_the_diagonal(
    released: Release, cells: Mapping[Any, Cells], stratum: Any
) -> Release:
    """Move counts of the stratum to the class that they must be in.

    Row c of its histogram by class can only have the cell c. What else was released
    there is noise, which the sum of the row keeps.
    """
    start = 0
    for name, column in cells.items():
        if name == stratum:
            break
        start += column.n_cells
    block = released.values[Key.COLUMNS].copy()
    place = slice(start, start + cells[stratum].n_cells)
    block[:, place] = np.diag(block[:, place].sum(axis=1))
    return replace(released, values={**released.values, Key.COLUMNS.value: block})


def with_stratum(columns: ClassConditional, stratum: Any) -> ClassConditional:
    """Return columns in which each class has one cell of the stratum."""
    if stratum is None:
        return columns
    marginals = {**columns.marginals, stratum: columns.shares}
    conditionals = {**columns.conditionals, stratum: np.eye(len(columns.totals))}
    return replace(columns, marginals=marginals, conditionals=conditionals)
