"""Whole numbers that differ in nearly every row: they may be identifiers of people."""

import math
from collections.abc import Mapping
from typing import Any

from skdpgen.privacy import (
    Distinct,
    DistinctCounts,
    Ledger,
    release,
    sensitivity,
)
from skdpgen.synthesizers.opening._shares import share_for
from skdpgen.tables import Rows
from skdpgen.utils import Key

LEAST_SHARE = 0.001  # of mu²
WANTED_STD = 1 / 80  # of the rows: 4 such are between all rows and 95 % of them
BLURRED_COUNT = (
    1 / 30
)  # noise at which all rows are not distinguishable from 90 % of them
NEARLY_ALL = 0.95  # of the rows that hold a number have one of their own
MANY = 0.90  # of them: a column with fewer must not be named
SURER = 3.0  # noise stds above that
SEEN = 5.0  # noise stds above zero: no column is named because of noise alone
ADVICE = (
    "{}: nearly every row has a number of its own. If these are identifiers, "
    "synthetic rows may carry those of real people: describe it as Regenerate() or "
    "Drop() in the schema. If they are amounts, give their bounds, as Integer(0, 1000)."
)


def can_be_counted(
    names: tuple[Any, ...], ledger: Ledger, n_rows: float, share: float
) -> bool:
    """Say whether a share of mu² is enough to count whole numbers; reads no row."""
    if not names or share <= 0.0:
        return False
    delta = sensitivity(Distinct(len(names)), ledger.budget.adjacency)
    return ledger.noise_std(share=share, sensitivity=delta) <= BLURRED_COUNT * n_rows


def count_whole_numbers(
    rows: Rows, names: tuple[Any, ...], ledger: Ledger, n_rows: float, most_share: float
) -> dict[Any, tuple[float, float]]:
    r"""Release how many different values columns of whole numbers have; with noise.

    Returns the number and its standard error by column. Nothing is released, and
    nothing is paid, where the noise would hide the answer.

    *Sensitivity.* Each of the d columns gives one count of
    :class:`~skdpgen.privacy.DistinctCounts`. A row holds one value in a column or none,
    so a row that is added, removed or replaced moves each count by at most 1, and all
    of them by at most :math:`\sqrt d` (:class:`~skdpgen.privacy.Distinct`). Numbers are
    compared by a public hash of their float64 bits. This is a function of the value
    alone; where it maps two values to one hash, the count is that of the hashes, which
    a row moves no further.

    Parameters
    ----------
    rows : Rows
    names : tuple of names
        Columns of a whole-number dtype that no schema describes.
    ledger : Ledger
    n_rows : float
        Number of rows; public, or released before.
    most_share : float
        Of mu², at most.
    """
    if not can_be_counted(names, ledger, n_rows, most_share):
        return {}
    structure = Distinct(len(names))
    limits = min(LEAST_SHARE, most_share), most_share
    share = share_for(structure, n_rows * WANTED_STD, ledger, limits)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    sums, block = rows.beforehand, DistinctCounts(names, n_rows)
    released = release(
        rows.batches({}, distinct=names) if sums is None else (),
        {
            Key.DISTINCT: block
            if sums is None
            else sums.distinct(Key.DISTINCT, names, n_rows)
        },
        name=f"different values of {len(names)} columns of whole numbers",
        ledger=ledger,
        share=share,
    )
    estimates, noise = block.estimate(released.values[Key.DISTINCT][0], std)
    return {
        name: (float(estimate), float(blur))
        for name, estimate, blur in zip(names, estimates, noise, strict=True)
    }


def perhaps_identifiers(
    counted: Mapping[Any, tuple[float, float]],
    present: Mapping[Any, tuple[float, float]],
) -> tuple[Any, ...]:
    """Return the columns in which nearly every present row has a value of its own.

    Parameters
    ----------
    counted : mapping of name to (float, float)
        RELEASED numbers of different values, and their standard errors.
    present : mapping of name to (float, float)
        Numbers of rows that are not missing, and their standard errors: public or
        RELEASED.
    """
    return tuple(
        name for name, values in counted.items() if _nearly_all(*values, *present[name])
    )


def _nearly_all(
    distinct: float, blur: float, present: float, present_noise: float
) -> bool:
    """Say whether about 95 % of the present rows, and surely 90 %, differ.

    Examples
    --------
    >>> _nearly_all(980.0, 10.0, 1000.0, 0.0), _nearly_all(940.0, 1.0, 1000.0, 0.0)
    (True, False)
    >>> _nearly_all(980.0, 33.0, 1000.0, 0.0)  # too noisy to tell from 90 %
    False
    """
    noise = math.hypot(blur, MANY * present_noise)
    least = max(NEARLY_ALL * present, MANY * present + SURER * noise, SEEN * noise)
    return distinct > least


def advice_on(names: tuple[Any, ...]) -> str:
    """Return the text of a warning.

    Examples
    --------
    >>> advice_on(("id", "ref"))[:62]
    "columns 'id', 'ref': nearly every row has a number of its own."
    """
    start = "column " if len(names) == 1 else "columns "
    return ADVICE.format(start + ", ".join(map(repr, names)))
