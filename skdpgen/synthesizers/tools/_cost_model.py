"""What a fit takes, by rows and columns: measured once, on a machine like ours.

Seconds are those of one core of a shared server of 2026, and within a factor of two or
three of other machines; rows that are read from files are in them, training is.
docs/speed.md has the runs.
"""

from dataclasses import dataclass

from skdpgen.synthesizers.pairwise import BY_CLASS, usual_components

MIB = 2.0**20
CELL = 8  # bytes of a number, and of a cell once it is read
OF_FEATURES = 16  # bytes of an exact sum of a number
ROW_CELL = 2e-7  # seconds for a row and column, in all passes
COLUMN = 0.01  # for a column: its bounds and bins
ROW_PAIR, PAIR = 2.7e-8, 3e-3  # for a row and a pair of columns, and to train a pair
COMPONENTS = 400  # of all classes, with which pairs were trained
ROW_FEATURES, GENERATED = 1.35e-5, 0.07  # for a row's features, and to train a column
TRAINED = 6.0, 10.0  # to train a mixture, and a generator
SPACE, COLUMN_SPACE = 500 * MIB, 0.5 * MIB  # Python and torch, and tables of a column
BITS, POINTS = 1.5 * MIB, 2.0 * MIB  # of a column: slots of its values, and points
ALL_POINTS = 256 * MIB  # of all columns
TOLD_APART = 2**16  # rows from which values have slots
CELLS, PAIR_CELLS = 64, 36  # of a column, and of a pair


@dataclass(frozen=True)
class FitCost:
    """What a fit of one method takes: an estimate, of one core of a machine like ours.

    Parameters
    ----------
    n_passes : int
        Over the rows, at most.
    seconds : float
        Rows may be shared among machines, but for training.
    memory : float
        Bytes, beside the table itself.
    read : float
        Bytes that the table has at 8 a cell, in all passes.
    reduced : float
        Bytes of the largest sum that a part of the rows gives.
    """

    n_passes: int
    seconds: float
    memory: float
    read: float
    reduced: float

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"{_time(self.seconds)}, up to {self.n_passes} passes of "
            f"{_size(self.read / self.n_passes)}, {_size(self.memory)} of memory "
            f"beside the table, sums of {_size(self.reduced)}"
        )


def fit_costs_of(
    n: int,
    columns: int,
    classes: int,
    *,
    n_pairs: int,
    n_features: int,
    is_trained: bool,
    n_passes: tuple[int, int],
) -> dict[str, FitCost]:
    """Return what a fit takes, by the name of the method.

    Examples
    --------
    >>> how = {"n_pairs": 190, "n_features": 1000, "is_trained": True}
    >>> found = fit_costs_of(10**7, 20, 2, n_passes=(4, 9), **how)
    >>> [round(one.seconds) for one in found.values()]
    [40, 98, 187]
    """
    few, many = n_passes
    first = BITS * columns if n > TOLD_APART else CELL * n * columns
    first = max(first, min(POINTS * columns, ALL_POINTS))
    counted = CELL * CELLS * columns * classes
    by_class = classes if classes <= BY_CLASS else 1
    pairs = CELL * PAIR_CELLS * n_pairs * by_class
    features = OF_FEATURES * n_features * classes
    seconds = ROW_CELL * n * columns + COLUMN * columns
    space = SPACE + COLUMN_SPACE * columns + first
    table = float(CELL) * n * columns
    trained = PAIR * n_pairs * usual_components(classes) * classes / COMPONENTS
    of_pairs = ROW_PAIR * n * n_pairs + trained + TRAINED[0] * bool(n_pairs)
    of_features = ROW_FEATURES * n
    if is_trained:
        of_features += GENERATED * columns + TRAINED[1]
    return {
        "DPIndependent": FitCost(
            few, seconds, space + 6 * counted, few * table, max(first, counted)
        ),
        "DPPairwise": FitCost(
            many if n_pairs else few,
            seconds + of_pairs,
            space + 6 * (counted + pairs),
            (many if n_pairs else few) * table,
            max(first, counted, pairs),
        ),
        "DPMERF": FitCost(
            few,
            seconds + of_features,
            space + 6 * (counted + features),
            few * table,
            max(first, counted + features),
        ),
    }


def _time(seconds: float) -> str:
    """Return a span of time in words.

    Examples
    --------
    >>> _time(41.2), _time(800.0), _time(15_000.0)
    ('41 s', '13 min', '4.2 h')
    """
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3600:.1f} h"


def _size(n_bytes: float) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> _size(3e6), _size(2.5e9)
    ('3 MB', '2.5 GB')
    """
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.3g} GB"
