"""Rows that were moved or left out, where released counts show that they are many."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from scipy.stats import norm

from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import (
    NUMBERS,
    TARGET,
    Boolean,
    Categorical,
    Kind,
    bounds,
    is_written,
)

MUCH = 0.03  # of the rows: a smaller loss is only stated in `columns_`
FALSE_ALARMS = 1e-6  # chance that a fit states a loss where there is none
RANGE = 2.0  # standard errors around a share
NOTHING = 0.1  # of the rows have a listed value: less than is usual
NO_LABEL = "Rows without a label were left out"
PIXELS = object()  # in the place of a column
MOSTLY = 0.8  # of the images are dark for certain: more than is usual
SURELY = 5.0  # noise stds, where a wrong alarm would blame what is right


@dataclass(frozen=True)
class Loss:
    """A statement that many rows were moved or left out.

    Parameters
    ----------
    line : str
        The column, the share as a range, and what became of the rows.
    advice : str
        What to do.
    is_public : bool
        Whether the schema or the labels cause it; else values were not found.
    start : str, default="What is public does not fit the table"
        Of a warning.
    """

    line: str
    advice: str
    is_public: bool
    start: str = "What is public does not fit the table"

    @property
    def warning(self) -> str:
        """The text of a warning."""
        return f"{self.start}: {self.line}. {self.advice}"


def between(share: float, noise: float) -> str:
    """Return a share as a range of two standard errors.

    Examples
    --------
    >>> between(0.33, 0.02), between(0.99, 0.02), between(0.33, 0.0)
    ('between 29% and 37%', 'between 95% and 100%', '33%')
    """
    share = min(max(share, 0.0), 1.0)
    if not noise:
        return f"{share:.0%}"
    low, high = max(share - RANGE * noise, 0.0), min(share + RANGE * noise, 1.0)
    return f"between {math.floor(100 * low)}% and {math.ceil(100 * high)}%"


def losses(
    table: pd.DataFrame, target: Any, facts: Facts, pixels: Mapping[str, float]
) -> list[Loss]:
    """Return the losses of a fit: shares above 3 % that noise does not explain.

    *False alarms.* A share is stated if it exceeds k standard errors of its noise, and
    k is chosen such that of all shares that are compared one does so by noise alone
    with a probability of one in a million.

    Parameters
    ----------
    table : DataFrame
        From ``describe_columns``.
    target : Series or None
        From ``describe_target``.
    facts : Facts
    pixels : mapping of str to float
        RELEASED shares of images that leave their range, and standard errors.
    """
    asked = [one for name, line in table.iterrows() for one in _asked(name, line)]
    if target is not None:
        asked += _asked(TARGET, target)
    asked += _asked(PIXELS, pixels)
    asked = [one for one in asked if math.isfinite(one[2]) and math.isfinite(one[3])]
    least = float(norm.isf(FALSE_ALARMS / max(len(asked), 1)))
    wrong = dict(_contradicted(table, facts))
    found = list(wrong.values())
    surely = [one for one in asked if one[2] > max(MUCH, least * one[3])]
    gaps = {name for name, key, *_ in surely if key == "no_cell"}
    for name, key, share, noise in surely:
        if name in wrong or (key == "unread" and name in gaps):
            continue
        if name in facts.schema.columns and _is_at_limit(name, key, facts):
            continue
        if key == "dark" and share - RANGE * noise <= MOSTLY:
            continue
        share = between(share, noise)
        if name is PIXELS:
            found.append(_of_pixels(key, share, facts))
        elif name is TARGET:
            found.append(_of_target(key, share, target, facts))
        else:
            found.append(_of_column(name, key, share, table.loc[name], facts))
    return found


KEYS = {
    "other": "other_noise",
    "no_cell": "no_cell_noise",
    "below": "below_noise",
    "above": "above_noise",
    "unread": "unread_noise",
    "dropped": "dropped_noise",
    "dark": "dark_noise",
}


def _is_at_limit(name: Any, key: str, facts: Facts) -> bool:
    """Say whether a bound is that of the dtype: what is beyond it is rounding."""
    layout, column = facts.layout, facts.schema.columns[name]
    limits: Any = layout.limits[layout.names.index(name)]
    if limits is None or key not in ("below", "above"):
        return False
    lower, upper = bounds(column)
    return bool(lower <= limits[0] if key == "below" else upper >= limits[1])


def _asked(name: Any, line: Any) -> list[tuple[Any, str, float, float]]:
    """Return the shares of a line that are losses, and their standard errors."""
    return [
        (name, key, float(line[key]), float(line[noise]))
        for key, noise in KEYS.items()
        if key in line and line[key] is not None
    ]


def _of_column(name: Any, key: str, share: str, line: Any, facts: Facts) -> Loss:
    """State a loss of one column."""
    column: Any = facts.schema.columns[name]
    found, start = bool(line["is_discovered"]), f"column {name!r}: {share} of the rows "
    if key in ("below", "above"):
        bound = column.lower if key == "below" else column.upper
        if found:
            what = f"are {key} the range that was found; synthetic rows are within it"
            return Loss(start + what, "Give bounds if they are public.", False)
        what = f"are {key} {bound!r} and were moved to it"
        return Loss(start + what, "Give wider bounds, or none to find them.", True)
    if key == "other":
        other = getattr(column, "other", None) or facts.schema.other
        if found:
            what = f"hold values that are too rare to be found, and became {other!r}"
            return Loss(start + what, "List the values if they are public.", False)
        what = f"hold values that are not among its categories, and became {other!r}"
        return Loss(start + what, "List these values as well.", True)
    if key == "unread":
        if isinstance(column, Categorical):
            what = "hold values that are not among its categories, and count as missing"
            return Loss(start + what, "List them, or give `other=`.", True)
        what = "hold text that could not be read, and counts as missing"
        if isinstance(column, Boolean):
            what = "hold values that are neither true nor false, and count as missing"
            return Loss(start + what, "Describe the column as another type.", True)
        advice = "Say in a schema how it is written, or list `codes=`."
        return Loss(start + what, advice, not found)
    what = "hold no value that fits the schema; others were drawn in their place"
    return Loss(start + what, "Set `nullable=True`, or mend the description.", True)


def _of_target(key: str, share: str, line: Any, facts: Facts) -> Loss:
    """State a loss of the target."""
    start = f"target: {share} of the rows "
    if key in ("below", "above"):
        column: Any = facts.schema.target
        if line["is_discovered"]:
            what = f"are {key} the range that was found; synthetic rows are within it"
            return Loss(start + what, "Give bounds if they are public.", False)
        bound = column.lower if key == "below" else column.upper
        what = f"are {key} {bound!r} and were moved to it"
        return Loss(start + what, "Give wider bounds, or none to find them.", True)
    if facts.task == "regression":
        what = "have no number as their target, and were left out"
        advice = "Give y without missing values, or leave y out."
        return Loss(start + what, advice, True, NO_LABEL)
    what = "have a label that is missing or none of the classes, and were left out"
    advice = "Check `classes`, and whether y holds classes at all."
    return Loss(start + what, advice, True, NO_LABEL)


def _of_pixels(key: str, share: str, facts: Facts) -> Loss:
    """State images that leave the range of their pixels, or use hardly any of it."""
    layout: Any = facts.layout
    top = 255 if layout.dtype == "uint8" else 1
    start = f"pixels: {share} of the images have "
    if key == "dark":
        what = f"no pixel above a tenth of {top}, and are taken for nearly black"
        return Loss(start + what, f"Scale them if they should reach {top}.", True)
    if key == "below":
        what, advice = "pixels below 0, which were set to 0", "Map them to 0 to 1."
        return Loss(start + what, advice, True)
    what = f"pixels above {top}, which were set to {top}"
    return Loss(start + what, "Divide by the largest possible value.", True)


def _contradicted(table: pd.DataFrame, facts: Facts) -> Iterator[tuple[Any, Loss]]:
    """State the columns of which hardly a row fits what was said to be public."""
    layout: Any = facts.layout
    texts = {n for j, n in enumerate(layout.names) if layout.kinds[j] is Kind.TEXT}
    for name, line in table.iterrows():
        column = facts.schema.columns[name]
        read = 1.0 - line["missing"] - line["no_cell"]
        noise = SURELY * math.hypot(line["noise"], line["no_cell_noise"])
        if not read + noise < NOTHING:
            continue
        share = between(read, math.hypot(line["noise"], line["no_cell_noise"]))
        start = f"column {name!r}: only {share} of the rows hold "
        is_said = is_written(column) or (not line["is_discovered"] and name in texts)
        if isinstance(column, (*NUMBERS, Boolean)) and is_said:
            what = "truth value" if isinstance(column, Boolean) else "number or time"
            start += f"a {what} that could be read"
            yield name, Loss(start, "Are they written as the schema says?", True)
        is_list = isinstance(column, Categorical) and column.other is None
        if is_list and line["n_values"] and not line["is_discovered"]:
            start += "one of its categories"
            yield name, Loss(start, "Are they spelt as in the table?", True)
