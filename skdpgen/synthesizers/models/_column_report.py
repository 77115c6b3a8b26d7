"""The report `columns_` on each column, and the rows that a fit lost."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from skdpgen.privacy import Release
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import (
    NUMBERS,
    TARGET,
    Boolean,
    Categorical,
    CategoryCells,
    Cells,
    Column,
    Datetime,
    Kind,
    Numeric,
    Regenerate,
    bounds,
    is_written,
    with_range_of,
)
from skdpgen.training import column_counts, pooled_noise
from skdpgen.utils import (
    Key,
)

# ----------------------------------------------------------------------------
# A report on each column from releases, for people: its type, and lost rows.

OUTSIDE = ("below", "above", "below_noise", "above_noise")
LINE = (
    "type",
    "is_discovered",
    "is_identifier",
    "n_values",
    "lower",
    "upper",
    "n_cells",
)
SHARES = (
    "other",
    "missing",
    "no_cell",
    "noise",
    "other_noise",
    "missing_noise",
    "no_cell_noise",
)
UNREAD = ("unread", "unread_noise")
UNSURE_NOISE = 0.05  # of the number of rows: shares of it are not known
LEAST_USED = 0.01  # lower bound of the share of rows with a usable label


def describe_columns(
    facts: Facts,
    cells: Mapping[Any, Cells],
    counts: Mapping[Any, Any],
    outside: Mapping[Any, Any],
    unread: Mapping[Any, tuple[float, float]],
    dropped: tuple[float, float] = (0.0, 0.0),
    noise_of_rows: float = 0.0,
) -> pd.DataFrame:
    """Return one line a column: its type, released values, and shares of lost rows.

    Rows without a usable label are in no cell. So shares from the main release are
    shares of the rows with one; those of earlier releases are shares of all rows.

    Parameters
    ----------
    facts : Facts
    cells : mapping of name to Cells
    counts : mapping of name to (ndarray, ndarray)
        RELEASED counts of the cells, and their noise; columns may be absent.
    outside : mapping of name to (float, float, float, float)
        RELEASED shares of rows below and above bounds, and their standard errors.
    unread : mapping of name to (float, float)
        RELEASED shares of rows whose value is outside the description of a column.
    dropped : (float, float), default=(0.0, 0.0)
        Share of rows without a usable label, from :func:`dropped_rows`.
    noise_of_rows : float, default=0.0
        Noise of the number of rows; 0 if it is public.
    """
    is_known = not math.isnan(dropped[0])
    dropped_share, noise = dropped if is_known else (0.0, noise_of_rows / facts.n_rows)
    # rows with a usable label: only they are in the cells
    n_rows = facts.n_rows * max(1.0 - dropped_share, LEAST_USED)
    relative_noise = noise / max(1.0 - dropped_share, LEAST_USED)
    lines = {}
    for name, column in facts.schema.columns.items():
        grid = cells.get(name)
        line = _kind_of(column) | {
            "is_discovered": name in facts.discovered,
            "is_identifier": isinstance(column, Regenerate) or name in facts.numbered,
            "n_cells": 0 if grid is None else grid.n_cells,
        }
        if name in counts and grid is not None:
            shares, stds = counts[name][0] / n_rows, counts[name][1] / n_rows
            std = float(stds.max())
            line |= _shares(grid, shares) | {"noise": std}
            late_noise = 0.0
            line |= _no_cell(facts, name, grid, (shares, stds), relative_noise)
            late_words = facts.late_words.get(name)
            if late_words is not None:  # rows of "other" that have a name since
                # counts of words include rows without a label
                line["other"] -= sum(late_words.rows) / facts.n_rows
                late_noise = late_words.total_noise / facts.n_rows
            # the number of rows that a share is divided by is noisy, too
            line["other_noise"] = math.hypot(
                std, late_noise, line["other"] * relative_noise
            )
            line["missing_noise"] = math.hypot(std, line["missing"] * relative_noise)
            if _other_is_listed(column):
                line["other"] = math.nan
        range_ = bounds(column) if isinstance(column, NUMBERS) else (0.0, 0.0)
        column_facts = grid, range_, _held(name, facts), counts.get(name)
        line |= _outside(*column_facts, outside.get(name), n_rows, relative_noise)
        if name in facts.finer:  # perhaps rounded to the bound, and in its cell
            rounded = facts.finer[name] / (line["n_values"] or math.inf)
            for key in OUTSIDE[2:]:
                line[key] = math.hypot(line[key], rounded)
        if name in unread and (grid is None or grid.other is None):
            line |= dict(zip(UNREAD, unread[name], strict=True))
        lines[name] = line
    columns = [*LINE, *SHARES, *OUTSIDE, *UNREAD]
    names = pd.Index(list(lines), dtype=object, tupleize_cols=False)  # None stays None
    return pd.DataFrame(list(lines.values()), index=names, columns=columns)


def describe_target(
    facts: Facts,
    labels: Cells | None,
    outside: Mapping[Any, Any],
    dropped: tuple[float, float],
) -> "pd.Series[Any] | None":
    """Return the type of the target and released shares of rows; None without one."""
    if facts.task is None:
        return None
    line: dict[str, Any] = {"type": "classes", "n_values": len(facts.classes or ())}
    outside_shares = dict.fromkeys(OUTSIDE, math.nan)
    if facts.task == "regression":
        line = _kind_of(facts.schema.target)
        if TARGET in outside:
            outside_shares = dict(
                zip(OUTSIDE, map(float, outside[TARGET]), strict=True)
            )
        line["is_discovered"] = TARGET in facts.discovered
    line |= {
        "n_cells": getattr(labels, "n_cells", 0),
        "dropped": dropped[0],
        "dropped_noise": dropped[1],
    }
    return pd.Series({**dict.fromkeys(LINE), **line, **outside_shares}, dtype=object)


def dropped_rows(
    facts: Facts,
    cells: Mapping[Any, Cells],
    counts: Mapping[Any, Any],
    labelled: tuple[float, float],
    noise_of_rows: float,
) -> tuple[float, float]:
    """Return the share of rows without a usable label, and its standard error.

    Rows whose label is missing, or none of the classes, count in no cell. So the total
    of a column in which each value has a cell is the number of the other rows. Totals
    of several columns are averaged by precision. Without such a column the share is
    unknown (NaN): rows without a cell and rows without a label are indistinguishable.

    Parameters
    ----------
    facts : Facts
    cells : mapping of name to Cells
    counts : mapping of name to (ndarray, ndarray)
        RELEASED counts of the cells, and their noise.
    labelled : (float, float)
        RELEASED number of rows with a label, and its noise, where no column is counted.
    noise_of_rows : float
        Noise of the number of rows; 0 if it is public.
    """
    if facts.task is None:
        return 0.0, noise_of_rows / facts.n_rows
    if noise_of_rows > UNSURE_NOISE * facts.n_rows:
        return math.nan, math.nan
    if counts:
        complete = [
            (float(cell_counts.sum()), float((stds**2).sum()))
            for name, (cell_counts, stds) in counts.items()
            if has_cell_for_all(facts, name, cells[name])
        ]
        if not complete:
            return math.nan, math.nan
        weights = [1.0 / variance if variance else 1.0 for _, variance in complete]
        totals = [total for total, _ in complete]
        is_exact = not complete[0][1]
        noise = 0.0 if is_exact else 1.0 / math.sqrt(sum(weights))
        labelled = float(np.average(totals, weights=weights)), noise
    share = 1.0 - labelled[0] / facts.n_rows
    return share, math.hypot(labelled[1], (1.0 - share) * noise_of_rows) / facts.n_rows


def has_cell_for_all(facts: Facts, name: Hashable, cells: Cells) -> bool:
    """Return whether each value of a column has a cell, by dtype and description."""
    if cells.nullable:
        return True
    layout: Any = facts.layout
    place = layout.names.index(name)
    if layout.can_be_missing[place]:
        return False
    is_list = isinstance(cells, CategoryCells) and cells.other is None
    return not is_list or layout.kinds[place] is Kind.BOOLEAN


def _kind_of(column: Column | None) -> dict[str, Any]:
    """Return the type of a column, and the values that it lists or its bounds."""
    n_values = getattr(column, "n_values", None)
    if isinstance(column, Categorical):
        n_values = len(column.categories or ())
    return {
        "type": type(column).__name__,
        "n_values": n_values,
        "lower": getattr(column, "lower", None),
        "upper": getattr(column, "upper", None),
    }


def _other_is_listed(column: Column) -> bool:
    """Return whether "other" is also a listed value, whose cell rare values share."""
    listed = map(str, getattr(column, "categories", None) or ())
    return str(getattr(column, "other", None)) in listed


def _shares(cells: Cells, shares: Any) -> dict[str, float]:
    """Return the shares of rows without a listed value: other, or missing."""
    return {
        "other": math.nan if cells.other is None else float(shares[cells.other]),
        "missing": float(shares[-1]) if cells.nullable else 0.0,
    }


def _no_cell(
    facts: Facts,
    name: Hashable,
    cells: Cells,
    counted: tuple[Any, Any],
    relative_noise: float,
) -> dict[str, float]:
    """Return the share of labelled rows whose value has no cell."""
    if has_cell_for_all(facts, name, cells):
        return {"no_cell": 0.0, "no_cell_noise": 0.0}
    shares, stds = counted
    return {
        "no_cell": 1.0 - float(shares.sum()),
        "no_cell_noise": math.hypot(*stds, relative_noise),
    }


def _outside(
    cells: Cells | None,
    range_: tuple[float, float],
    held: tuple[float, float],
    counted: tuple[Any, Any] | None,
    earlier: Sequence[float] | None,
    n_rows: float,
    relative_noise: float,
) -> dict[str, float]:
    """Return the shares of rows below and above a range, and their standard errors.

    The main release counted the cells on both sides of the range. Earlier releases give
    the shares beyond the outermost cell, and those of columns without such cells. No
    row is where the dtype holds nothing (``held``): a cell ends there.
    """
    numbers: Any = getattr(cells, "numbers", cells)
    shares = dict.fromkeys(OUTSIDE, math.nan)
    if earlier is not None:
        shares = dict(zip(OUTSIDE, map(float, earlier), strict=True))
    if counted is None or not getattr(numbers, "gaps", ()):
        return shares
    edges = np.clip(numbers.edges, *held)
    widths = np.diff(edges)
    middles = edges[:-1] + 0.5 * widths
    for where, is_outside in (
        ("below", middles < range_[0] - 0.25 * widths),  # a range ends between cells
        ("above", middles > range_[1] + 0.25 * widths),
    ):
        n_cells = int(is_outside.sum())
        if n_cells:
            rows = float(counted[0][: len(middles)][is_outside].sum())
            shares[where] = rows / n_rows
            stds = counted[1][: len(middles)][is_outside]
            shares[f"{where}_noise"] = math.hypot(
                math.hypot(*stds) / n_rows, shares[where] * relative_noise
            )
    return shares


def _held(name: Hashable, facts: Facts) -> tuple[float, float]:
    """Return the numbers between which all those are that a dtype holds."""
    layout: Any = facts.layout
    place = layout.names.index(name)
    lower, upper = layout.limits[place] or (-math.inf, math.inf)
    more_below, more_above = layout.holds_more[place]
    return -math.inf if more_below else lower, math.inf if more_above else upper


def counted_columns(
    released: Release, cells: Mapping[Any, Cells], scales: Sequence[float] | None
) -> dict[Any, tuple[Any, Any]]:
    """Return the counts of every cell, classes together, and the noise of each."""
    if not cells or Key.COLUMNS not in released.values:
        return {}
    sizes = np.array([column.n_cells for column in cells.values()])
    blocks, stds = column_counts(released, sizes, scales)
    return {
        name: (block.sum(axis=0), of_cells)
        for name, block, of_cells in zip(
            cells, blocks, pooled_noise(released, blocks, stds), strict=True
        )
    }


def with_ranges(
    facts: Facts, marginals: Mapping[Any, Any], cells: Mapping[Any, Cells]
) -> Facts:
    """Return the facts of a table with the ranges in which rows are drawn.

    The main release also counts gaps between bins. If it shows rows in an outer gap,
    the range grows.
    """
    for name in facts.discovered:
        if name in cells and name in marginals and name is not TARGET:
            column, marginal = facts.schema.columns[name], np.asarray(marginals[name])
            widened = with_range_of(column, cells[name], marginal)
            facts = facts.corrected(name, widened)
    return facts


# ----------------------------------------------------------------------------
# Rows that were moved or left out, if released counts show that they are many.

STATED_LOSS = 0.03  # of the rows: a smaller one is only stated in `columns_`
FALSE_ALARMS = 1e-6  # chance that a fit states a loss where there is none
STANDARD_ERRORS = 2.0  # around a share
HARDLY_LISTED = 0.1  # of the rows have a listed value: less than is usual
NO_LABEL = "Rows without a label were left out"
TOO_LARGE = "Whole numbers are too large"
PIXELS = object()  # in the place of a column
MOSTLY_DARK = 0.8  # of the images, for certain: more than is usual
SURELY_STDS = 5.0  # where a wrong alarm would blame what is right


@dataclass(frozen=True)
class Loss:
    """A statement that many rows were moved or left out.

    Parameters
    ----------
    line : str
        The column, the share as a range, and what happened to the rows.
    advice : str
        What to do.
    is_public : bool
        Whether the schema or the labels cause it; otherwise values were too rare.
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
    low, high = (
        max(share - STANDARD_ERRORS * noise, 0.0),
        min(share + STANDARD_ERRORS * noise, 1.0),
    )
    return f"between {math.floor(100 * low)}% and {math.ceil(100 * high)}%"


def losses(
    table: pd.DataFrame,
    target: "pd.Series[Any] | None",
    facts: Facts,
    pixels: Mapping[str, float],
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
    shares = [
        entry for name, line in table.iterrows() for entry in _loss_shares(name, line)
    ]
    if target is not None:
        shares += _loss_shares(TARGET, target)
    shares += _loss_shares(PIXELS, pixels)
    shares = [
        entry for entry in shares if math.isfinite(entry[2]) and math.isfinite(entry[3])
    ]
    least = float(norm.isf(FALSE_ALARMS / max(len(shares), 1)))
    contradicted = dict(_contradicted(table, facts))
    stated = list(contradicted.values())
    significant = [
        entry for entry in shares if entry[2] > max(STATED_LOSS, least * entry[3])
    ]
    gaps = {name for name, key, *_ in significant if key == "no_cell"}
    for name, key, share, noise in significant:
        if name in contradicted or (key == "unread" and name in gaps):
            continue
        is_at_limit = name in facts.schema.columns and _is_at_limit(name, key, facts)
        if is_at_limit and not _holds_more(name, key, facts):
            continue
        if key == "dark" and share - STANDARD_ERRORS * noise <= MOSTLY_DARK:
            continue
        range_ = between(share, noise)
        if name is PIXELS:
            stated.append(_of_pixels(key, range_, facts))
        elif name is TARGET:
            stated.append(_of_target(key, range_, target, facts))
        elif is_at_limit:
            stated.append(_of_limit(name, key, range_, facts))
        else:
            stated.append(_of_column(name, key, range_, table.loc[name], facts))
    return stated


NOISE_OF_LOSS = {
    "other": "other_noise",
    "no_cell": "no_cell_noise",
    "below": "below_noise",
    "above": "above_noise",
    "unread": "unread_noise",
    "dropped": "dropped_noise",
    "dark": "dark_noise",
}


def _is_at_limit(name: Hashable, key: str, facts: Facts) -> bool:
    """Return whether a bound is that of the dtype; rows beyond it are rounding."""
    layout, column = facts.layout, facts.schema.columns[name]
    limits: Any = layout.limits[layout.names.index(name)]
    if limits is None or key not in ("below", "above"):
        return False
    lower, upper = bounds(column)
    return bool(lower <= limits[0] if key == "below" else upper >= limits[1])


def _holds_more(name: Hashable, key: str, facts: Facts) -> bool:
    """Return whether a dtype holds numbers beyond its limit, as uint64 does."""
    layout: Any = facts.layout
    return bool(layout.holds_more[layout.names.index(name)][key == "above"])


def _loss_shares(
    name: Hashable, line: "pd.Series[Any]"
) -> list[tuple[Any, str, float, float]]:
    """Return the shares of a line that are losses, and their standard errors."""
    return [
        (name, key, float(line[key]), float(line[noise]))
        for key, noise in NOISE_OF_LOSS.items()
        if key in line and line[key] is not None
    ]


def _of_limit(name: Hashable, key: str, share: str, facts: Facts) -> Loss:
    """State rows beyond the numbers that can be drawn, which a wider bound is not."""
    end = "largest" if key == "above" else "least"
    limit = bounds(facts.schema.columns[name])[key == "above"]
    line = (
        f"column {name!r}: {share} of the rows are {key} {limit:.0f}, the {end} whole "
        "number that can be drawn, and were moved to it"
    )
    advice = "If they are identifiers, give them as text, or describe Regenerate()."
    return Loss(line, advice, True, TOO_LARGE)


def _moved(key: str, column: Any) -> str:
    """Say where values beyond a bound went.

    Examples
    --------
    >>> from skdpgen.tables import Datetime
    >>> _moved("above", Datetime("2024-01-01", "2024-12-31T23:59:59", "day"))
    "are above '2024-12-31T23:59:59' and were moved to the nearest whole day inside"
    """
    bound = column.lower if key == "below" else column.upper
    place = key == "above"
    end, drawn = "it", bounds(column)[place]
    if isinstance(column, Datetime) and drawn != column.seconds[place]:
        end = f"the nearest whole {column.resolution} inside"
    elif isinstance(column, Numeric) and drawn != bound:
        end = f"{drawn!r}, the nearest number inside with {column.decimals} decimals"
    return f"are {key} {bound!r} and were moved to {end}"


def _of_column(
    name: Hashable, key: str, share: str, line: "pd.Series[Any]", facts: Facts
) -> Loss:
    """State a loss of one column."""
    column: Any = facts.schema.columns[name]
    is_discovered, start = (
        bool(line["is_discovered"]),
        f"column {name!r}: {share} of the rows ",
    )
    if key in ("below", "above"):
        ends = facts.public_ends.get(name, (None, None))  # one of them is public
        if is_discovered and ends[key == "above"] is None:
            outcome = (
                f"are {key} the range that was found; synthetic rows are within it"
            )
            return Loss(start + outcome, "Give bounds if they are public.", False)
        outcome = _moved(key, column)
        return Loss(start + outcome, "Give wider bounds, or none to find them.", True)
    if key == "other":
        rest = getattr(column, "other", None) or facts.schema.other
        if is_discovered:
            outcome = f"hold values that are too rare to be found, and became {rest!r}"
            return Loss(start + outcome, "List the values if they are public.", False)
        outcome = f"hold values that are not among its categories, and became {rest!r}"
        return Loss(start + outcome, "List these values as well.", True)
    if key == "unread":
        if isinstance(column, Categorical):
            outcome = (
                "hold values that are not among its categories, and count as missing"
            )
            return Loss(start + outcome, "List them, or give `other=`.", True)
        outcome = "hold text that could not be read, and counts as missing"
        if isinstance(column, Boolean):
            outcome = (
                "hold values that are neither true nor false, and count as missing"
            )
            return Loss(start + outcome, "Describe the column as another type.", True)
        advice = "Say in a schema how it is written, or list `codes=`."
        return Loss(start + outcome, advice, not is_discovered)
    outcome = "hold no value that fits the schema; others were drawn in their place"
    return Loss(start + outcome, "Set `nullable=True`, or mend the description.", True)


TEXT_OF_NUMBERS = (
    "Give y without missing values, and as numbers. Text is read as plain numbers such "
    "as 70.1, or without a target in the schema in a usual form that most rows have, "
    "such as 70.1 kg. Convert times, as by `pd.to_datetime(y)`."
)


def _of_target(key: str, share: str, line: "pd.Series[Any]", facts: Facts) -> Loss:
    """State a loss of the target."""
    start = f"target: {share} of the rows "
    if key in ("below", "above"):
        column: Any = facts.schema.target
        if line["is_discovered"]:
            outcome = (
                f"are {key} the range that was found; synthetic rows are within it"
            )
            return Loss(start + outcome, "Give bounds if they are public.", False)
        outcome = _moved(key, column)
        return Loss(start + outcome, "Give wider bounds, or none to find them.", True)
    if facts.task == "regression":
        outcome = "have no number as their target, and were left out"
        advice = "Give y without missing values, or leave y out."
        assert facts.target_layout is not None
        if facts.target_layout.is_text(0):
            advice = TEXT_OF_NUMBERS
        return Loss(start + outcome, advice, True, NO_LABEL)
    outcome = "have a label that is missing or none of the classes, and were left out"
    advice = "Check `classes`, and whether y holds classes at all."
    if facts.target_layout is not None and facts.target_layout.is_text(0):
        advice += " Convert text of times, as by `pd.to_datetime(y)`."
    return Loss(start + outcome, advice, True, NO_LABEL)


def _of_pixels(key: str, share: str, facts: Facts) -> Loss:
    """State images outside the range of their pixels, or in a small part of it."""
    layout: Any = facts.layout
    top = 255 if layout.dtype == "uint8" else 1
    start = f"pixels: {share} of the images have "
    if key == "dark":
        outcome = f"no pixel above a tenth of {top}, and are taken for nearly black"
        return Loss(start + outcome, f"Scale them if they should reach {top}.", True)
    if key == "below":
        outcome, advice = "pixels below 0, which were set to 0", "Map them to 0 to 1."
        return Loss(start + outcome, advice, True)
    outcome = f"pixels above {top}, which were set to {top}"
    return Loss(start + outcome, "Divide by the largest possible value.", True)


WRITTEN = "Are they written as the schema says?"
SPELT = "Are they spelt as in the table?"
NO_TEXT = "Its dtype holds no text."
WORDS = (
    "Boolean() reads true and false; for other words name them, as "
    "`Categorical(['Y', 'N'])`, or leave the column out of the schema."
)


def _contradicted(table: pd.DataFrame, facts: Facts) -> Iterator[tuple[Any, Loss]]:
    """State the columns in which hardly any row fits the public description."""
    layout: Any = facts.layout
    texts = {n for j, n in enumerate(layout.names) if layout.kinds[j] is Kind.TEXT}
    for name, line in table.iterrows():
        column = facts.schema.columns[name]
        readable = 1.0 - line["missing"] - line["no_cell"]
        noise = SURELY_STDS * math.hypot(line["noise"], line["no_cell_noise"])
        if not readable + noise < HARDLY_LISTED:
            continue
        share = between(readable, math.hypot(line["noise"], line["no_cell_noise"]))
        start = f"column {name!r}: only {share} of the rows hold "
        is_said = is_written(column) or (not line["is_discovered"] and name in texts)
        if isinstance(column, (*NUMBERS, Boolean)) and is_said:
            is_boolean = isinstance(column, Boolean)
            type_name = "truth value" if is_boolean else "number or time"
            start += f"a {type_name} that could be read"
            yield name, Loss(start, WORDS if is_boolean else WRITTEN, True)
        is_list = isinstance(column, Categorical) and column.other is None
        if is_list and line["n_values"] and not line["is_discovered"]:
            start += "one of its categories"
            advice = SPELT if name in texts else f"{NO_TEXT} {SPELT}"
            yield name, Loss(start, advice, True)
