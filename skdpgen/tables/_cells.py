"""Cells: a column as a finite set of public intervals or categories.

Encoding knows the schema and earlier releases only. The last cell of a nullable
column is "missing"; a value with no cell has code -1 and contributes nothing.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables._columns import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Numeric,
    number,
)
from skdpgen.tables._text_forms import PLAIN, NumberForm, number_form, read_time
from skdpgen.tables._values import (
    Codes,
    Floats,
    Numbers,
    TokenColumn,
    Values,
    as_numbers,
    as_seconds,
    seconds_of_text,
)
from skdpgen.utils import (
    are_whole,
    asked,
    has_role,
    is_amount,
    is_whole,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# Positions of numbers among edges, as `searchsorted` returns them, but two to three
# times as fast (2^18 numbers among 1,000 and among 30,000 edges). Encoding takes most
# of the time of a pass over rows that do not fit into memory.

N_BUCKETS = 2**15  # at least
BUCKETS_OF_EDGE = 8
MANY_NUMBERS = 2**14  # at once, from which a table of buckets saves time
MANY_PER_EDGE = 2  # numbers so far, from which it does: making the table takes time
TOP_BIT = np.uint64(2**63)


class Search:
    """``searchsorted(edges, x, side="right")``, for many batches of numbers.

    A function that never decreases puts numbers into buckets. A table holds the answer
    of each bucket without an edge; only numbers in other buckets are searched. *Exact*:
    a number in a lower bucket than an edge is below it, in a higher one above.

    Parameters
    ----------
    edges : ndarray
        Increasing.

    Examples
    --------
    >>> Search(np.array([0.0, 1.0]))(np.array([-0.0, 0.5, 7.0]))
    array([1, 1, 2])
    """

    def __init__(self, edges: Floats) -> None:
        self.edges = edges
        self._table: Any = None
        self._n_seen = 0

    def __call__(self, x: Floats) -> Codes:
        """Return the number of edges at or below each number; anything for NaN."""
        self._n_seen += len(x)
        is_rare = len(x) < MANY_NUMBERS or self._n_seen < MANY_PER_EDGE * len(
            self.edges
        )
        if is_rare or len(self.edges) < 2:
            return np.searchsorted(self.edges, x, side="right")
        if self._table is None:
            self._table = _best_table(self.edges)
        buckets, answers = self._table
        positions = answers[buckets(x)].astype(np.int64)
        ambiguous = np.flatnonzero(positions < 0)
        positions[ambiguous] = np.searchsorted(self.edges, x[ambiguous], side="right")
        return positions


class _Even:
    """Buckets of one width."""

    def __init__(self, edges: Floats, n: int) -> None:
        self.low, self.last = edges[0], n - 2.0
        with np.errstate(all="ignore"):
            scale = self.last / (edges[-1] - edges[0])
        self.scale = scale if math.isfinite(scale) else 0.0

    def __call__(self, x: Floats) -> Codes:
        if not self.scale:  # a range too small or too large for floats
            return np.zeros(len(x), dtype=np.int64)
        with np.errstate(all="ignore"):
            place = (x - self.low) * self.scale
        place = np.fmin(np.fmax(place, -1.0), self.last)  # where NaN is no number
        place += 1.0
        return place.astype(np.int64)


class _ByDigits:
    """Buckets by the leading bits of a number: the finer, the nearer it is to 0.

    Floats of one sign are in the order of their bits, as whole numbers.
    """

    def __init__(self, edges: Floats, n: int) -> None:
        keys = self._keys(edges)
        # from the second edge on: between 0 and it there may be a thousand octaves
        self.low, self.high = keys[1] - np.uint64(1), keys[-1]
        span = int(self.high) - int(self.low)
        self.shift = np.uint64(max(span.bit_length() - n.bit_length() + 1, 0))

    def __call__(self, x: Floats) -> Codes:
        keys = np.clip(self._keys(x), self.low, self.high)
        keys -= self.low
        keys >>= self.shift
        return keys.astype(np.int64)

    def _keys(self, x: Floats) -> NDArray[np.uint64]:
        """Return integers in the order of floats; bits of negative ones are flipped."""
        bits = (x + 0.0).view(np.uint64)  # 0.0 has no sign
        return np.where(bits >= TOP_BIT, ~bits, bits | TOP_BIT)


def _best_table(edges: Floats) -> tuple["_Even | _ByDigits", NDArray[np.int32]]:
    """Return the buckets that separate most edges, and the answer of each, or -1."""
    tables, n = [], max(N_BUCKETS, BUCKETS_OF_EDGE * 2 ** len(edges).bit_length())
    for buckets in (_Even(edges, n), _ByDigits(edges, n)):
        counts = np.bincount(buckets(edges), minlength=n)
        answers = np.where(counts > 0, -1, np.cumsum(counts)).astype(np.int32)
        tables.append((np.count_nonzero(counts), buckets, answers))
    _, best, answers = max(tables, key=lambda entry: entry[0])
    return best, answers


# ----------------------------------------------------------------------------
# Cells: a column as a finite set of public intervals or categories.

MOST_ENDS = 2**22  # of intervals or points, in a question from another process
LEAST_MAGNITUDE = 2.0**-40  # below this numbers are zero, as in private discovery


@asked("cells")
@saved("cells.categories")
@dataclass(frozen=True)
class CategoryCells:
    """One cell a category; other values are in cell ``other``, if there is one.

    Parameters
    ----------
    categories : tuple
        What each cell stands for.
    other : int or None, default=None
        The cell of values that are not listed; None counts them as missing.
    """

    categories: tuple[Any, ...]
    nullable: bool
    is_ordered: bool = False
    other: int | None = None

    is_lattice = False
    gaps = ()

    def check_asked(self) -> None:
        """Check what a constructor in another process may have set otherwise."""
        last, other = len(self.categories) - 1, self.other
        refuse_unless(
            type(self.categories) is tuple
            and type(self.nullable) is bool
            and type(self.is_ordered) is bool
            and (other is None or is_whole(other, 0, last)),
            "categories, one of which may stand for others",
        )

    @property
    def n_known(self) -> int:
        """Number of cells that are not "missing"."""
        return len(self.categories)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.n_known + self.nullable

    def encode(self, values: Values) -> Codes:
        """Return a cell for each value."""
        missing = self.n_known if self.nullable else -1
        unlisted = missing if self.other is None else self.other
        if isinstance(values, Numbers) and values.whole is not None:
            places: dict[int | None, int] = {}
            for i, category in enumerate(self.categories):
                places.setdefault(_as_whole(category), i)
            distinct, rows = np.unique(values.whole, return_inverse=True)
            found = [places.get(number, unlisted) for number in distinct.tolist()]
            codes = np.array(found, dtype=np.int64)[rows]
            return np.where(np.isnan(values.values), missing, codes)
        if isinstance(values, Numbers):
            numbered = [(as_float(c), i) for i, c in enumerate(self.categories)]
            pairs = sorted((c, i) for c, i in numbered if not np.isnan(c))
            if not pairs:
                return np.where(np.isnan(values.values), missing, unlisted)
            keys = np.array([c for c, _ in pairs])
            cells = np.array([i for _, i in pairs])
            place = np.searchsorted(keys, values.values).clip(max=len(keys) - 1)
            codes = np.where(keys[place] == values.values, cells[place], unlisted)
            return np.where(np.isnan(values.values), missing, codes)
        index = {str(category): i for i, category in enumerate(self.categories)}
        table = [index.get(value, unlisted) for value in values.values]
        return np.array([*table, missing], dtype=np.int64)[values.codes]


@asked("cells")
@saved("cells.numbers")
@dataclass(frozen=True, eq=False)
class NumberCells:
    """Intervals ``[edges[k], edges[k+1])``; values outside fall in the end cells.

    Parameters
    ----------
    edges : ndarray of shape (n + 1,)
        Increasing.
    step : float or None
        Distance of the lattice that values are rounded to; None is continuous.
    origin : float
        A point of the lattice.
    is_time : bool
        Whether text is read as times.
    gaps : tuple of int, default=()
        Cells that releases showed to be empty: no number is drawn there, unless a later
        release shows rows in them.
    """

    edges: Floats
    nullable: bool
    step: float | None = None
    origin: float = 0.0
    is_time: bool = False
    gaps: tuple[int, ...] = ()

    is_ordered = True
    other = None

    def check_asked(self) -> None:
        """Check what a constructor in another process may have set otherwise."""
        refuse_unless(
            is_increasing(self.edges)
            and np.isfinite(self.searched).all()
            and type(self.nullable) is bool
            and type(self.is_time) is bool
            and (self.step is None or is_amount(self.step, 0, np.finfo(float).max))
            and is_amount(self.origin, -np.inf, np.inf)
            and type(self.gaps) is tuple
            and all(is_whole(gap, 0, self.n_known - 1) for gap in self.gaps),
            "edges of intervals, from the first to the last",
        )

    @property
    def n_known(self) -> int:
        """Number of cells that are not "missing"."""
        return len(self.edges) - 1

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.n_known + self.nullable

    @property
    def searched(self) -> Floats:
        """The edges between neighbouring cells."""
        return self.edges[1:-1]

    def encode(self, values: Values, search: Search | None = None) -> Codes:
        """Return a cell for each value."""
        x = as_seconds(values) if self.is_time else as_numbers(values)
        codes = (search or Search(self.searched))(x)
        missing = self.n_known if self.nullable else -1
        return np.where(np.isnan(x), missing, codes)

    def with_outside(self) -> "NumberCells":
        """Return cells with an additional one at each end, for values outside."""
        first, last = self.edges[0], np.nextafter(self.edges[-1], np.inf)
        inner = self.edges[1:-1]
        edges = np.concatenate([[-np.inf, first], inner, [last, np.inf]])
        return replace(self, edges=edges)

    @property
    def is_lattice(self) -> bool:
        """Whether every interval holds one single value."""
        return bool(self.is_atom().all())

    def is_atom(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Whether each interval holds one single value."""
        widths = np.diff(self.edges)
        if self.step is not None:
            return np.asarray(widths <= 1.5 * self.step)
        return np.asarray(
            widths <= np.maximum(LEAST_MAGNITUDE, 1.5 * np.spacing(self.edges[:-1]))
        )


@asked("cells")
@saved("cells.mixed")
@dataclass(frozen=True, eq=False)
class MixedCells:
    """Cells of numbers or times, followed by cells of named values, such as "N".

    Ordered cells come first, then one cell for each named value, then "missing".

    Parameters
    ----------
    numbers : NumberCells
        The ordered part; it is not nullable.
    named : tuple
        Values that are kept exactly as they are, and never averaged.
    nullable : bool
    other : int or None, default=None
        The cell of text that is neither named nor a number; None is missing.
    written : Column or None, default=None
        The format of numbers or times in text, if it is unusual.
    """

    numbers: NumberCells
    named: tuple[Any, ...]
    nullable: bool
    other: int | None = None
    written: Column | None = None

    is_ordered = True

    def check_asked(self) -> None:
        """Check what a constructor in another process may have set otherwise."""
        last, other = self.n_known + len(self.named) - 1, self.other
        refuse_unless(
            type(self.numbers) is NumberCells
            and not self.numbers.nullable
            and type(self.named) is tuple
            and all(type(value) in (str, int, float) for value in self.named)
            and type(self.nullable) is bool
            and (other is None or is_whole(other, self.n_known, last))
            and (self.written is None or has_role(self.written, "column")),
            "numbers, and values beside them that have names",
        )

    @property
    def n_known(self) -> int:
        """Number of ordered cells."""
        return self.numbers.n_known

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.n_known + len(self.named) + self.nullable

    @property
    def is_lattice(self) -> bool:
        """Whether every ordered cell holds one single value."""
        return self.numbers.is_lattice

    @property
    def gaps(self) -> tuple[int, ...]:
        """Cells of numbers that releases showed to be empty."""
        return self.numbers.gaps

    def encode(self, values: Values) -> Codes:
        """Return a cell for each value."""
        missing = self.n_cells - 1 if self.nullable else -1
        n = self.n_known
        if isinstance(values, Numbers):
            codes = np.where(
                np.isnan(values.values), missing, self.numbers.encode(values)
            )
            for place, value in enumerate(self.named):
                codes[values.values == as_float(value)] = n + place
            return codes
        unnamed = missing if self.other is None else self.other
        numbers = read_text(values, self.written)
        one_each = Numbers(numbers)
        table = np.where(np.isnan(numbers), unnamed, self.numbers.encode(one_each))
        index = {text: n + place for place, text in enumerate(map(str, self.named))}
        for place, text in enumerate(values.values):
            table[place] = index.get(text, table[place])
        return np.append(table, missing)[values.codes]


def read_text(values: TokenColumn, written: Column | None) -> Floats:
    """Return the number or time of each distinct text; NaN for other text."""
    texts = values.values
    form = getattr(written, "format", None)
    if isinstance(written, Datetime) and form is not None:
        parsed = [read_time(text, form) for text in texts]
    elif isinstance(written, Datetime):
        parsed = [seconds_of_text(text) for text in texts]
    elif form is not None or getattr(written, "parse", False):
        read_number = form_of_column(written).read
        parsed = [read_number(text) for text in texts]
    else:
        numbers = as_numbers(TokenColumn(np.arange(len(texts)), texts))
        return np.asarray(numbers)
    return np.array(parsed, dtype=np.float64)


def form_of_column(column: Any) -> NumberForm:
    """Return the format of the numbers of a column in text.

    Examples
    --------
    >>> from skdpgen.tables import Integer
    >>> form_of_column(Integer(0, 9999, format="1.234")).thousands
    '.'
    """
    if column.format is None:
        return PLAIN
    form, _ = number_form(column.format, is_whole=column.decimals == 0)
    return form


Cells = CategoryCells | NumberCells | MixedCells


def is_increasing(values: Any) -> bool:
    """Return whether these are two or more floats in an array, in non-decreasing order.

    Examples
    --------
    >>> is_increasing(np.array([0.0, 1.0])), is_increasing(np.array([1.0, 0.0]))
    (True, False)
    """
    is_array = isinstance(values, np.ndarray) and values.dtype == np.float64
    if not is_array or values.ndim != 1 or not 2 <= len(values) <= MOST_ENDS:
        return False
    return bool((values[1:] >= values[:-1]).all())


def code_or_none(codes: Codes, n: int | Codes) -> Codes:
    """Return codes, with -1 for each that is not in 0..n-1; n may differ by column.

    Examples
    --------
    >>> code_or_none(np.array([-7, 0, 2, 3]), 3)
    array([-1,  0,  2, -1])
    """
    return np.where((codes >= 0) & (codes < n), codes, -1)


def are_classes(of_class: object) -> bool:
    """Return whether these assign classes to classes that are counted; or are None.

    Examples
    --------
    >>> are_classes(None), are_classes(np.array([0, 0, 1])), are_classes(np.zeros(2))
    (True, True, False)
    """
    return of_class is None or are_whole(of_class, -1)


def class_of(of_class: NDArray[np.integer[Any]], labels: Codes) -> Codes:
    """Return the counted class of each label; -1 for a label that is no class.

    Examples
    --------
    >>> class_of(np.array([1, 0]), np.array([0, 1, 2, -1]))
    array([ 1,  0, -1, -1])
    """
    return np.append(of_class, -1)[code_or_none(labels, len(of_class))]


def bounds(column: Column) -> tuple[float, float]:
    """Return the bounds of a number column as floats (times in seconds)."""
    if isinstance(column, Datetime | Numeric):
        return column.drawn_bounds
    return number(column.lower), number(column.upper)  # type: ignore[union-attr]


def step_of(column: Column) -> float | None:
    """Return the distance between neighbouring values; None if continuous."""
    if isinstance(column, Datetime):
        return column.step or None
    decimals = getattr(column, "decimals", None)
    if decimals is None or column.n_values is None:  # type: ignore[union-attr]
        return None
    return float(10.0**-decimals)


def simple_cells(column: Column, max_lattice: int) -> Cells | None:
    """Return the cells of a column that needs no bins; None for other columns."""
    nullable = column.nullable
    if isinstance(column, Boolean):
        return CategoryCells((False, True), nullable)
    if isinstance(column, Categorical):
        texts = list(map(str, column.values))
        other = None if column.other is None else texts.index(str(column.other))
        return CategoryCells(column.values, nullable, _is_ordinal(column), other)
    lower, upper = bounds(column)
    step, n_values = step_of(column), column.n_values  # type: ignore[union-attr]
    is_time = isinstance(column, Datetime)
    if upper == lower:
        edges = np.array([lower, upper + LEAST_MAGNITUDE])
        return NumberCells(edges, nullable, step, lower, is_time)
    if step is not None and n_values is not None and n_values <= max_lattice:
        edges = lower + step * (np.arange(n_values + 1) - 0.5)
        return NumberCells(edges, nullable, step, lower, is_time)
    return None


def with_codes(column: Column, cells: Cells) -> Cells:
    """Return the cells of numbers with a cell for each code of the column.

    Examples
    --------
    >>> from skdpgen.tables import Integer
    >>> score = Integer(300, 850, codes=[-9])
    >>> cells = NumberCells(np.array([300.0, 600.0, 850.5]), nullable=True)
    >>> with_codes(score, cells).encode(Numbers(np.array([-9.0, 700.0, np.nan])))
    array([2, 1, 3])
    """
    codes = getattr(column, "codes", ())
    if not codes or not isinstance(cells, NumberCells):
        return cells
    numbers = replace(cells, nullable=False)
    is_written = getattr(column, "parse", False) or getattr(column, "format", None)
    is_written = is_written or isinstance(column, Datetime)
    written = column if is_written else None
    return MixedCells(numbers, tuple(codes), cells.nullable, None, written)


def encoders(cells: Iterable[Any]) -> list[Callable[[Values], Codes]]:
    """Return a function for each column that encodes it, for many batches of rows.

    Examples
    --------
    >>> (encode,) = encoders([NumberCells(np.array([0.0, 1.0, 2.0]), nullable=False)])
    >>> encode(Numbers(np.array([0.5, 1.5])))
    array([0, 1])
    """
    encode_functions: list[Callable[[Values], Codes]] = []
    for column_cells in cells:
        searched = getattr(column_cells, "searched", None)
        encode: Any = column_cells.encode
        encode_functions.append(
            encode if searched is None else partial(encode, search=Search(searched))
        )
    return encode_functions


def encode_all(
    encode: Sequence[Callable[[Values], Codes]], values: Sequence[Values], n_rows: int
) -> Codes:
    """Return the codes of several columns, (n, d), column by column in memory."""
    table = np.empty((n_rows, len(encode)), dtype=np.int64, order="F")
    for column, (encode_column, column_values) in enumerate(
        zip(encode, values, strict=True)
    ):
        table[:, column] = encode_column(column_values)
    return table


def _is_ordinal(column: Categorical) -> bool:
    return type(column).__name__ == "Ordinal"


def _as_whole(value: Any) -> int | None:
    """Return a category as a whole number without rounding; None of all else.

    Examples
    --------
    >>> _as_whole("1152921504606846977"), _as_whole(2.0), _as_whole(2.5)
    (1152921504606846977, 2, None)
    """
    number = as_float(value)
    if not number.is_integer():  # nor is infinity
        return None
    try:
        return int(value)
    except ValueError:  # text such as 2.0
        return int(number)


def as_float(value: Any) -> float:
    """Return a code as a number; NaN of text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
