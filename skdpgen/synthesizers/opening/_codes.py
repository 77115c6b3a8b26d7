"""Whole numbers that are codes: few values, far apart, that carry nearly every row."""

import math
from collections.abc import Mapping

from skdpgen.tables import Column, Integer, Ordinal, bounds

NEARLY_ALL = 0.1  # of the rows that have not the commonest value may be others
LATTICE = 256  # columns with so many values at most are counted value by value anyway
EXACT = 2**53  # up to here floats hold every whole number


def may_be_codes(column: Column) -> bool:
    """Say whether a range says too little of a column of whole numbers."""
    if not isinstance(column, Integer) or max(map(abs, bounds(column))) > EXACT:
        return False
    return (column.n_values or LATTICE + 1) > LATTICE


def as_codes(
    column: Column,
    found: Mapping[str, float],
    n_rows: float,
    noise_std: float,
    lowest: float = -math.inf,
) -> Column | None:
    """Return a list of codes, if the values that were found carry nearly all rows.

    Parameters
    ----------
    column : Integer
        What magnitudes said of it.
    found : mapping of text to float
        RELEASED values and their noisy counts.
    n_rows : float
        Rows that are not missing.
    noise_std : float
        Noise of a count.
    lowest : float, default=-inf
        Least number that the dtype can hold.

    Examples
    --------
    >>> as_codes(Integer(0, 1023, nullable=False), {"7": 60.0, "900": 39.0}, 99.0, 1.0)
    Ordinal(categories=(7, 900), nullable=False, other=None)
    >>> as_codes(Integer(1024, 2047), {"1999": 60.0, "2000": 39.0}, 99.0, 1.0)
    """
    found = {text: n for text, n in found.items() if float(text).is_integer()}
    if len(found) < 2:
        return None
    left = n_rows - sum(found.values())
    noise = 2.0 * noise_std * (len(found) + 1) ** 0.5
    others = n_rows - max(found.values())
    if left > NEARLY_ALL * others + noise:
        return None
    values = sorted(int(float(text)) for text in found)
    if values[-1] - values[0] < LATTICE:  # as years are, for all that a range says
        return None
    other = other_code(values, lowest) if left > noise else None
    return Ordinal(values, nullable=column.nullable, other=other)


def other_code(values: list[int], lowest: float = -math.inf) -> int:
    """Return a code that no value has, for all that were not found.

    Examples
    --------
    >>> other_code([1, 2, 3]), other_code([-1, 5]), other_code([0, 7])
    (-1, -9, -1)
    >>> other_code([9, 500], lowest=0)
    0
    """
    candidates = [-1, *(-(10**k) + 1 for k in range(1, 10)), *range(len(values) + 1)]
    return next(code for code in candidates if code >= lowest and code not in values)
