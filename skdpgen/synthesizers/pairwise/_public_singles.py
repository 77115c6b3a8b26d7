"""Single columns, where public rows say how they go together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables import CellGroups
from skdpgen.training import Related, columns_together, raked

Floats = NDArray[np.float64]
WIDEST = 500  # groups of all columns and classes; of more, all classes together
MOST = 2 / 3  # of a column that is trusted; the rest is what it says by itself


def with_relations(
    groups: Sequence[CellGroups],
    counts: Sequence[Floats],
    variances: Sequence[float],
    singles: Sequence[Floats],
    shares: Floats,
    n_rows: float,
    pairs: Any,
) -> list[Floats]:
    """Return columns given the class, each told by the noise of all, too.

    What :func:`columns_together` finds is averaged with what each column says by
    itself: neither knows what the other does. Public rows without labels are taken to
    be alike in each class: where private classes differ in one column, they are then
    expected to differ in what goes with it. (Differences that are noise, which no
    relation would have made, mislead models that know relations.) Where classes are
    many, this is of all classes together, and classes follow; where columns are many,
    too, each stays by itself, since time grows with their third power.

    Parameters
    ----------
    groups : sequence of CellGroups
    counts, variances : sequence of ndarray of shape (n_classes, n_groups), of float
        Noisy counts of groups by class, and of their noise.
    singles : sequence of ndarray of shape (n_classes, n_groups)
        Columns by themselves; groups that are empty there stay so.
    shares : ndarray of shape (n_classes,)
    n_rows : float
    pairs : ndarray of shape (n_classes, S, S) or (1, S, S)
        Public counts.
    """
    full = [one.max(axis=0) > 0 for one in singles]
    kept = np.flatnonzero(np.concatenate(full))
    if len(kept) > WIDEST:
        return list(singles)
    theirs = np.asarray(pairs[:, kept[:, None], kept], dtype=float)
    by_class = len(shares) * len(kept) <= WIDEST
    if by_class and len(theirs) < len(shares):
        theirs = shares[:, None, None] * theirs
    seen = Related(
        [one[:, some] for one, some in zip(counts, full, strict=True)],
        variances,
        shares,
        n_rows,
        theirs,
        [
            int(some[: one.n_ordered].sum())
            for one, some in zip(groups, full, strict=True)
        ],
    )
    tables, trust = columns_together(seen if by_class else seen.of_all)
    found = []
    for mine, table, some, weight in zip(singles, tables, full, trust, strict=True):
        told = np.zeros_like(mine)
        if by_class:
            told[:, some] = table
        else:
            moved = raked(shares[:, None] * mine[:, some], shares, table[0])
            told[:, some] = moved / moved.sum(axis=1, keepdims=True)
        found.append(mine + MOST * weight * (told - mine))
    return found
