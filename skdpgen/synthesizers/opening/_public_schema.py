"""Bounds and categories that public rows show, unless private rows object."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Histograms, Ledger, OneHot, release
from skdpgen.synthesizers.opening._column_kinds import Unknown, sorted_in
from skdpgen.synthesizers.opening._public_rows import PublicRows
from skdpgen.synthesizers.opening._shares import by_column, share_for
from skdpgen.tables import (
    FROM_PUBLIC,
    TARGET,
    Categorical,
    CategoryCells,
    Cells,
    Column,
    Datetime,
    Kind,
    NumberCells,
    Rows,
    TextKinds,
    bounds,
    infer_column,
)
from skdpgen.utils import Key, saved

CHECK_SHARES = (0.01, 0.05)  # of mu², at least and at most
CHECK_STD = 1 / 50  # of the rows: the noise that is good enough
OUTSIDE, SURE = 0.05, 1.5  # of the rows, and noise stds: public rows know too little
MOST_CATEGORIES = 512  # the most frequent; more are other


@saved
@dataclass(frozen=True, eq=False)
class Outside:
    """Two cells: values that a column's description knows or that miss, and others."""

    column: Column

    n_known = n_cells = 2
    nullable = False
    is_ordered = False

    def encode(self, values: Any) -> NDArray[np.int64]:
        """Return 1 for values that the description does not know."""
        if isinstance(self.column, Categorical):
            known = CategoryCells(tuple(self.column.categories or ()), nullable=True)
            missing = CategoryCells((), nullable=True, other=1).encode(values) == 0
            return ((known.encode(values) == known.n_known) & ~missing).astype(np.int64)
        lower, upper = bounds(self.column)
        span = np.array([lower, np.nextafter(upper, np.inf)])
        is_time = isinstance(self.column, Datetime)
        cells = NumberCells(span, nullable=True, is_time=is_time).with_outside()
        codes = cells.encode(values)
        return np.isin(codes, (0, 2)).astype(np.int64)


def public_columns(
    public: PublicRows,
    kinds: Mapping[Any, Kind],
    known: Mapping[Any, Column],
    other: str,
) -> dict[Any, Column]:
    """Describe the columns that nothing else describes, as public rows show them.

    Reads public rows only. Text that says numbers or times, and text that differs from
    row to row, is left out: it is looked at in private rows, as without public ones.
    """
    found: dict[Any, Column] = {}
    for name, kind in kinds.items():
        if name in known or name is TARGET or kind is Kind.BOOLEAN:
            continue
        if kind is Kind.TEXT and not _is_words(public, name):
            continue
        series = public.frame[name]
        column = replace(infer_column(series, kind), nullable=True)
        if isinstance(column, Categorical):
            counts = series.dropna().map(str).value_counts()
            often = sorted(counts.index[:MOST_CATEGORIES].tolist())
            column = Categorical(often, other=other)
        found[name] = replace(column, origin=FROM_PUBLIC)
    return found


def agreed(
    rows: Rows, columns: Mapping[Any, Column], ledger: Ledger, n_rows: float
) -> dict[Any, Column]:
    r"""Return the descriptions that private rows do not contradict, by a release.

    Released is how many rows of each column have a value that public rows do not have.

    *Why it is private.* Cells are made of public rows. A private row is in one of two
    cells of each of d columns: its vector is not negative and has norm :math:`\sqrt d`,
    so it moves the sum by :math:`\sqrt{2d}` at most if replaced, by :math:`\sqrt d`
    if added or removed (:class:`~skdpgen.privacy.OneHot`). What is kept is decided by
    the noisy counts alone.
    """
    if not columns:
        return {}
    grids: dict[Any, Any] = {name: Outside(column) for name, column in columns.items()}
    share = share_for(OneHot(len(grids)), n_rows * CHECK_STD, ledger, CHECK_SHARES)
    released = release(
        rows.batches(grids),
        {Key.COLUMNS: Histograms((2,) * len(grids))},
        name=f"values of {len(grids)} columns that public rows lack",
        ledger=ledger,
        share=share,
    )
    std = released.noise_std[Key.COLUMNS]
    most = OUTSIDE * n_rows + SURE * std
    counts = by_column(released, grids)
    return {name: column for name, column in columns.items() if counts[name][1] <= most}


def _is_words(public: PublicRows, name: Any) -> bool:
    """Say whether text would be read as words or codes, as in discovery."""
    cells: Cells = TextKinds()  # type: ignore[assignment]
    counts = np.zeros(cells.n_cells)
    for codes, _ in public.codes({name: cells}, None):
        counts += np.bincount(codes[:, 0], minlength=cells.n_cells)
    distinct = float(public.frame[name].nunique())
    unknown = sorted_in(
        Unknown({}, (name,)), name, counts, (distinct, 0.0), 0.0, public.n_rows
    )
    return unknown.texts == (name,)
