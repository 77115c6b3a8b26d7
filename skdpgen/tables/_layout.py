"""The container of the input: names, dtypes, and the limits of the dtypes."""

import re
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skdpgen.tables._zones import zone_of
from skdpgen.utils import (
    asked,
    refuse_unless,
    saved,
)

NEVER_MISSING = re.compile(r"u?int\d+|bool")  # numpy's; pandas' own can
NUMBER = re.compile(r"u?int\d+|float\d+")
DECIMAL = re.compile(r"decimal\d*\((?:precision=)?(\d+), (?:scale=)?(-?\d+)\)")
ARROW_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
LISTING = re.compile(r"(ordered )?category|Categorical|Enum|dictionary<")
LARGEST_INT64 = 2**63 - 1024  # that float64 represents exactly
NANOSECONDS = re.compile(r"\[ns\b|'ns'")  # in the names of dtypes of times
DAY = 86_400.0  # seconds; more than clocks of any zone differ from UTC
EPOCH = pd.Timestamp("2000-01-01")


def times_at(seconds: ArrayLike) -> pd.DatetimeIndex:
    """Return the times at seconds since 2000, to the microsecond, of any year.

    A ``Timedelta`` of pandas would end 292 years from 2000.

    Examples
    --------
    >>> times_at([86_400.0, 252_455_615_999.0])
    DatetimeIndex(['2000-01-02 00:00:00', '9999-12-31 23:59:59'], \
dtype='datetime64[us]', freq=None)
    """
    whole = np.round(np.asarray(seconds, dtype=np.float64) * 1e6).astype(np.int64)
    return pd.DatetimeIndex(EPOCH.to_numpy() + whole.astype("timedelta64[us]"))


@saved("layout.kind")
class Kind(StrEnum):
    """The kind of a dtype, which is public, unlike the values."""

    FLOAT = "float"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATETIME = "datetime"


@asked("layout")
@saved("layout.table")
@dataclass(frozen=True)
class Layout:
    """Names and dtypes of a table; nothing here depends on its values.

    The categories inside a categorical dtype are private, so such a dtype is kept
    without them.

    Parameters
    ----------
    container : str
        ``"pandas"``, ``"numpy"``, ``"masked"``, ``"torch"`` or the name of a narwhals
        backend.
    names : tuple
        Column names.
    kinds, dtypes : tuple of str
        Kind and dtype of each column, the latter as its container calls it.
    """

    container: str
    names: tuple[Any, ...]
    kinds: tuple[Kind, ...]
    dtypes: tuple[str, ...]

    def check_asked(self) -> None:
        """Check what a constructor in another process may have set otherwise."""
        refuse_unless(
            isinstance(self.container, str)
            and type(self.names) is tuple
            and all(isinstance(kind, Kind) for kind in self.kinds)
            and all(isinstance(dtype, str) for dtype in self.dtypes)
            and len(self.names) == len(self.kinds) == len(self.dtypes),
            "a kind and a dtype of each column",
        )

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def can_be_missing(self) -> tuple[bool, ...]:
        """Whether the dtype of each column can hold missing values."""
        is_foreign = self.container == "pyarrow"  # which calls an int8 that can int8
        return tuple(
            is_foreign or not NEVER_MISSING.fullmatch(_native(dtype))
            for dtype in self.dtypes
        )

    @property
    def limits(self) -> tuple[tuple[float, float] | None, ...]:
        """Least and greatest number of each dtype; None if it holds none, or all.

        The greatest integer is one that float64 can say: values are drawn as floats.
        Of times in nanoseconds they are whole seconds since 2000, and with a zone a day
        nearer, since its clocks may differ from UTC by most of one.
        """
        return tuple(map(_limits, self.dtypes))

    @property
    def holds_more(self) -> tuple[tuple[bool, bool], ...]:
        """Whether each dtype holds whole numbers below and above its limits.

        The few that float64 rounds to a limit do not count.
        """
        return tuple(map(_holds_more, self.dtypes))

    def is_text(self, column: int) -> bool:
        """Whether values of a column are objects rather than numbers."""
        return self.kinds[column] is Kind.TEXT


def lists_categories(dtype: str) -> bool:
    """Return whether a dtype is categorical, that is, lists the values of a column.

    Examples
    --------
    >>> lists_categories("category[int64]"), lists_categories("object")
    (True, False)
    """
    return LISTING.match(dtype) is not None


@lru_cache  # by public names: asked for all columns, for each of them
def _limits(dtype: str) -> tuple[float, float] | None:
    if NANOSECONDS.search(dtype):
        half = float(2**63 // 10**9)  # both ends are as far from 1970
        first, last = (
            (pd.Timestamp(end, unit="s") - EPOCH).total_seconds()
            for end in (-half, half)
        )
        room = 0.0 if zone_of(dtype) is None else DAY
        return first + room, last - room
    dtype = _native(dtype).lower().removesuffix("[pyarrow]")
    decimal = DECIMAL.fullmatch(dtype)
    if decimal is not None:
        digits, scale = map(int, decimal.groups())
        exact = 10.0**digits - 1 if digits <= 15 else 10.0**digits * (1 - 1e-15)
        return -exact / 10.0**scale, exact / 10.0**scale
    match = NUMBER.fullmatch(ARROW_FLOATS.get(dtype, dtype))
    if match is None:
        return None
    if match.group().startswith("float"):
        largest = float(np.finfo(match.group()).max)
        return -largest, largest
    is_signed, n_bits = _bits_of(dtype)
    highest = min(2 ** (n_bits - is_signed) - 1, LARGEST_INT64)
    return -(2 ** (min(n_bits, 64) - 1)) if is_signed else 0, highest


def _holds_more(dtype: str) -> tuple[bool, bool]:
    """Return whether a dtype holds whole numbers below and above its limits.

    Examples
    --------
    >>> _holds_more("int64"), _holds_more("UInt64"), _holds_more("Int128")
    ((False, False), (False, True), (True, True))
    """
    dtype = _native(dtype).lower().removesuffix("[pyarrow]")
    match = NUMBER.fullmatch(dtype)
    if match is None or dtype.startswith("float"):
        return False, False
    is_signed, n_bits = _bits_of(dtype)
    return is_signed and n_bits > 64, n_bits - is_signed > 63


def _bits_of(dtype: str) -> tuple[bool, int]:
    """Return whether a dtype of whole numbers has a sign, and its number of bits."""
    return not dtype.startswith("u"), int(dtype.partition("int")[2])


def _native(dtype: str) -> str:
    """Return the name of a numpy dtype in the byte order of this machine."""
    return np.dtype(dtype).name if dtype[:1] in ("<", ">") else dtype


# ----------------------------------------------------------------------------
# Names of the parts of a table other than its columns.


@saved("layout.role")
class Role(Enum):
    """Names that no column of a table can have."""

    TARGET = "target"
    PIXELS = "pixels"


TARGET = Role.TARGET
PIXELS = Role.PIXELS
