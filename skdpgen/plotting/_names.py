"""What numbers, times, intervals and shares are called in a plot."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# from coarse to fine; a year alone would hide where in it an edge lies
_UNITS = ("M", "D", "m", "s")


def short(text: str, length: int = 14) -> str:
    """Fit a value under its bars.

    Examples
    --------
    >>> short("a very long name")
    'a very long n…'
    """
    text = " ".join(text.split()) or repr(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def number_name(value: float, digits: int = 3) -> str:
    """Write a number with at least so many digits, or all before the point.

    Examples
    --------
    >>> [number_name(x) for x in (0.5, 12.345, 82417.2, 3.2e9, -float("inf"))]
    ['0.5', '12.3', '82417', '3.2e9', '-∞']
    """
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    if 10 ** (digits - 1) <= abs(value) < 10 ** max(digits, 6):
        return f"{value:.0f}"
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e+", "e")


def time_name(seconds: float, unit: str = "D") -> str:
    """Write a time since 1970 down to a unit of numpy.

    Examples
    --------
    >>> time_name(86_400.0), time_name(86_460.0, "m")
    ('1970-01-02', '1970-01-02 00:01')
    """
    if np.isinf(seconds):
        return number_name(seconds)
    stamp = np.datetime64(int(np.floor(seconds)), "s").astype(f"datetime64[{unit}]")
    return str(stamp).replace("T", " ")


def point_names(values: Sequence[float], is_time: bool) -> list[str]:
    """Write numbers or times as short as still tells them apart.

    Examples
    --------
    >>> point_names([1000.1, 1000.2], is_time=False)
    ['1000.1', '1000.2']
    """
    write: Callable[[float, Any], str] = time_name if is_time else number_name
    names: list[str] = []
    for precision in _UNITS if is_time else range(3, 16):
        names = [write(value, precision) for value in values]
        if len(set(names)) == len(set(values)):
            break
    return names


def interval_names(
    edges: Sequence[float], *, is_whole: bool = False, is_time: bool = False
) -> list[str]:
    """Name the bins below, between and above edges; an edge belongs to the bin above.

    Examples
    --------
    >>> interval_names([31, 40, 41], is_whole=True)
    ['≤ 30', '31–39', '40', '≥ 41']
    >>> interval_names([-0.5, 2.5])
    ['< -0.5', '-0.5 to 2.5', '≥ 2.5']
    >>> interval_names([])
    ['any']
    """
    if not len(edges):
        return ["any"]
    names = point_names(edges, is_time)
    if is_whole and not is_time:
        lasts = [number_name(edge - 1, 15) for edge in edges]
        names = [number_name(edge, 15) for edge in edges]
        below = f"≤ {lasts[0]}"
    else:
        lasts, below = names, f"< {names[0]}"
    between = " to " if min(edges) < 0 and not is_time else "–"
    inner = [
        first if first == last else f"{first}{between}{last}"
        for first, last in zip(names[:-1], lasts[1:], strict=True)
    ]
    return [below, *inner, f"≥ {names[-1]}"]


def percent(share: float) -> str:
    """Write a share of rows; what is there never reads as nothing.

    Examples
    --------
    >>> [percent(x) for x in (0, 0.0001, 0.0123, 0.4567, 0.9999, 1)]
    ['0', '<.1', '1.2', '46', '>99.9', '100']
    """
    hundredths = 100 * share
    if hundredths in (0, 100):
        return f"{hundredths:.0f}"
    if hundredths < 0.1:
        return "<.1"
    if hundredths > 99.9:
        return ">99.9"
    is_rough = 9.95 <= hundredths < 99
    return f"{hundredths:.0f}" if is_rough else f"{hundredths:.1f}"
