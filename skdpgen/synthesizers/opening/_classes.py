"""Class labels: public, or released above a threshold that no single row passes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from skdpgen.privacy import Ledger, Selections, release, selection_threshold
from skdpgen.tables import (
    TARGET,
    Boolean,
    Categorical,
    Cells,
    Column,
    Integer,
    Kind,
    Layout,
    Rows,
    Schema,
)
from skdpgen.utils import Key, SchemaError, SchemaRequiredError

CLASS_SHARE = 0.05  # of mu²
MOST = 0.7  # of the rows have a label that was found, if integers are classes
SOME, NEARLY_ALL = 10, 0.95  # more labels than that, and what they carry
MAX_CLASSES = 10_000
ROUNDING = 1e-6  # that the sum of shares may be wrong by


def n_classes_of(labels: Cells | None) -> int:
    """Return how many labels there are; rows without any are one class."""
    return 1 if labels is None else labels.n_cells


def public_classes(classes: Any, schema: Schema, task: str | None) -> Any:
    """Return the classes that are known beforehand; None if there are none."""
    if task != "classification":
        return None
    target = schema.target
    if classes is not None:
        found = sorted_unique(classes)
        if len(found) < len(classes) or not found:
            raise ValueError(
                "classes must list each public label once, and not be y itself. "
                f"Got {len(classes)} entries, {len(found)} of them distinct."
            )
        return _checked_classes(found, target)
    if isinstance(target, Boolean):
        return (False, True)
    if isinstance(target, Categorical):
        return sorted_unique(target.categories)
    if isinstance(target, Integer):
        if (target.n_values or math.inf) > MAX_CLASSES:
            raise SchemaError(
                f"An Integer target lists at most {MAX_CLASSES} classes. Got "
                f"{target.lower!r} to {target.upper!r}; set `task='regression'`."
            )
        return tuple(range(int(target.lower or 0), int(target.upper or 0) + 1))
    if target is not None:
        raise SchemaError(
            "The target of a classification must be Categorical, Boolean or Integer. "
            f"Got {type(target).__name__} instead; set `task='regression'` if y is a "
            "number."
        )
    return None


def discover_classes(rows: Rows, ledger: Ledger) -> tuple[Mapping[str, float], float]:
    """Release the labels above the selection threshold, and their noisy counts.

    Also returns that threshold, which is public.
    """
    asked, sums = (TARGET,), rows.beforehand
    block = Selections(asked) if sums is None else sums.selections(Key.TOKENS, asked)
    released = release(
        rows.batches({}, tokens=asked) if sums is None else (),
        {Key.TOKENS: block},
        name="class labels",
        ledger=ledger,
        share=CLASS_SHARE,
    )
    counts: Mapping[str, float] = released.values[Key.TOKENS][TARGET]
    std, budget = released.noise_std[Key.TOKENS], ledger.budget
    least = selection_threshold(std, budget.delta_selection, budget.n_selections)
    return counts, least


def are_classes(found: Mapping[str, float], n_rows: float) -> bool:
    """Say whether a few labels carry most rows; else integers are numbers.

    Examples
    --------
    >>> are_classes({"0": 60.0, "1": 35.0}, 100), are_classes({"7": 10.0}, 100)
    (True, False)
    """
    least = MOST if len(found) <= SOME else NEARLY_ALL
    return sum(found.values()) > least * n_rows


def parse_classes(found: Iterable[str], layout: Layout | None) -> tuple[Any, ...]:
    """Turn released labels back into the kind of value that y holds."""
    if not found:
        raise SchemaRequiredError(
            "No class label was frequent enough to be told from noise. List the "
            "labels in `classes=[...]`, or give a schema with a target; set "
            "`task='regression'` if y is a number."
        )
    assert layout is not None
    kind = layout.kinds[0]
    if kind is Kind.BOOLEAN:
        return sorted_unique([text not in ("0", "False") for text in found])
    is_number = kind in (Kind.INTEGER, Kind.FLOAT)
    parse: Any = _parse_number if is_number else str
    return sorted_unique([parse(text) for text in found])


def shares_of(given: Mapping[Any, float] | str, classes: Sequence[Any]) -> Any:
    """Return the share of each class to draw; a class that is not listed gets 0.

    Shares must sum to 1, so that a class that was forgotten is an error.

    Examples
    --------
    >>> shares_of({"yes": 0.75, "no": 0.25}, ["no", "perhaps", "yes"])
    array([0.25, 0.  , 0.75])
    """
    if isinstance(given, str) and given == "balanced":
        return np.full(len(classes), 1.0 / len(classes))
    if not isinstance(given, Mapping) or set(given) - set(classes):
        problem = f"Got {given!r}"
    elif not all(_is_share(share) for share in given.values()):
        problem = f"Got {given!r}, with a share that is not a number from 0 to 1"
    elif abs(math.fsum(given.values()) - 1.0) > ROUNDING:
        problem = f"Got {given!r}, which sums to {math.fsum(given.values()):.6g}"
    else:
        shares = np.array([given.get(label, 0.0) for label in classes], dtype=float)
        return shares / shares.sum()
    raise ValueError(
        "class_shares must be 'balanced', or a dictionary of known classes and their "
        "shares, which are from 0 to 1 and sum to 1; a class that is not listed is not "
        f"drawn. {problem}; the classes are {list(classes)}. List every class that is "
        "to be drawn, and divide the shares by their sum."
    )


def sorted_unique(values: Any) -> tuple[Any, ...]:
    """Return distinct plain values in a public order."""
    plain = {v.item() if isinstance(v, np.generic) else v for v in values}
    try:
        return tuple(sorted(plain))
    except TypeError:
        return tuple(sorted(plain, key=str))


def _is_share(share: Any) -> bool:
    is_number = isinstance(share, Real) and not isinstance(share, bool | np.bool_)
    return is_number and 0 <= float(share) <= 1 + ROUNDING


def _checked_classes(classes: tuple[Any, ...], target: Column | None) -> Any:
    texts = set(map(str, classes))
    if not texts or len(texts) < len(classes) or texts & {"None", "nan", "<NA>"}:
        raise ValueError(
            "classes must be distinct labels, at least one, and none of them missing. "
            f"Got {list(classes)!r} instead."
        )
    if isinstance(target, Categorical) and texts != set(map(str, target.categories)):
        raise SchemaError(
            "classes must be the categories of the schema's target, if both are given. "
            f"Got {list(classes)!r} and {list(target.categories)!r}; leave one out."
        )
    return classes


def _parse_number(text: str) -> float:
    return int(text) if text.lstrip("-").isdigit() else float(text)
