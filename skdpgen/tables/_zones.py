"""Times of a column with a time zone, as clocks in the zone show them.

Days begin at midnight there, and bounds without an offset are times there. So rows are
read as local times, and samples are put back into the zone at the end.
"""

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ZONED_DTYPES = (  # of pandas, Arrow and polars
    re.compile(r"datetime64\[\w+, (?P<zone>[^\]]+)\]"),
    re.compile(r"timestamp\[\w+, tz=(?P<zone>[^\]]+)\]"),
    re.compile(r"time_zone='(?P<zone>[^']+)'"),
)
UTC_AND = re.compile(r"^UTC([+-].*)$")
OF_UTC = ("UTC", "+00:00", "-00:00", "Etc/UTC", "Z")
# Rules of zones are known for these years; the others take the offset of the nearest.
FIRST, LAST = np.datetime64("1900-01-02", "s"), np.datetime64("2100-01-01", "s")
EPOCH = np.datetime64("2000-01-01", "s")  # as in all of the package


def zone_of(dtype: str) -> str | None:
    """Return the time zone in the name of a dtype, if it has one.

    Examples
    --------
    >>> zone_of("datetime64[us, Europe/Berlin]"), zone_of("datetime64[us]")
    ('Europe/Berlin', None)
    >>> zone_of("timestamp[us, tz=Z]")
    'UTC'
    """
    found = [match["zone"] for name in ZONED_DTYPES if (match := name.search(dtype))]
    return _known(found[0]) if found else None


def zones_of(layout: Any) -> dict[Any, str | None]:
    """Return the time zone of each column of a layout."""
    return dict(zip(layout.names, map(zone_of, layout.dtypes), strict=True))


def is_same_zone(first: str | None, second: str | None) -> bool:
    """Return whether two names are spellings of one zone, or there is none.

    Examples
    --------
    >>> is_same_zone("UTC+05:30", "+05:30"), is_same_zone("UTC", "Asia/Tokyo")
    (True, False)
    """
    spelt = [
        zone if zone is None else UTC_AND.sub(r"\1", zone) for zone in (first, second)
    ]
    return len(set(map(_known, spelt))) == 1


def local_seconds(utc: Floats, zone: Any) -> Floats:
    """Return seconds since 2000 in UTC as those that clocks of a zone show.

    Each is converted by itself, and none raises.

    Examples
    --------
    >>> local_seconds(np.array([0.0, np.nan]), "Asia/Tokyo") / 3600
    array([ 9., nan])
    """
    low, high = ((end - EPOCH).astype(np.int64) for end in (FIRST, LAST))
    whole = np.nan_to_num(np.clip(utc, low, high)).astype(np.int64)
    stamps = EPOCH + whole.astype("timedelta64[s]")
    clocks = (
        pd.DatetimeIndex(stamps, tz="UTC").tz_convert(_known(zone)).tz_localize(None)
    )
    return np.asarray(utc + (clocks.to_numpy() - stamps) / np.timedelta64(1, "s"))


def in_utc(local: "pd.Series[Any]", zone: Any) -> "pd.Series[Any]":
    """Return local times of a zone in UTC, without a zone in their dtype.

    Times with a zone are taken as they are.

    Where clocks are put back, the later one of two times is meant; where they are put
    forward, times that no clock shows are those at the end of the gap.

    Examples
    --------
    >>> in_utc(pd.Series(pd.to_datetime(["2000-01-01 09:00"])), "Asia/Tokyo")[0]
    Timestamp('2000-01-01 00:00:00')
    """
    local = in_zone(local, None)
    if isinstance(local.dtype, pd.DatetimeTZDtype):
        return local.dt.tz_convert(None)
    stamps = local.to_numpy()
    clipped = stamps.astype("datetime64[s]").clip(FIRST, LAST)
    clocks = pd.DatetimeIndex(clipped).tz_localize(
        _known(zone),
        ambiguous=np.zeros(len(clipped), dtype=bool),
        nonexistent="shift_forward",
    )
    shift = clocks.tz_convert(None).to_numpy() - clipped
    return pd.Series(stamps + shift.astype("timedelta64[s]"), index=local.index)


def _known(zone: Any) -> Any:
    """Return a zone by a name that pandas knows; Arrow has others for UTC."""
    return "UTC" if isinstance(zone, str) and zone in OF_UTC else zone


def in_zone(column: "pd.Series[Any]", zone: str | None) -> "pd.Series[Any]":
    """Return times with any zone in ``zone``, None being UTC; others unchanged."""
    dtype = column.dtype
    if not isinstance(dtype, pd.DatetimeTZDtype):
        listed = dtype.categories if isinstance(dtype, pd.CategoricalDtype) else column
        if zone_of(str(listed.dtype)) is None:
            return column
        column = pd.to_datetime(column.astype(object), utc=True)
    return column.dt.tz_convert(_known(zone) or "UTC")


def clock_times(column: "pd.Series[Any]", zone: str | None) -> "pd.Series[Any]":
    """Return times with any zone as local times of ``zone``; None is UTC."""
    column = in_zone(column, zone)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return column.dt.tz_localize(None)
    return column
