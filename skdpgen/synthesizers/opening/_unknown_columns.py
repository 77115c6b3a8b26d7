"""What estimators learn about a table before the main release, and what it costs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from skdpgen.privacy import (
    Counts,
    Histograms,
    Ledger,
    OneHot,
    Release,
    Selections,
    release,
    sensitivity,
)
from skdpgen.tables import (
    Boolean,
    Categorical,
    Column,
    Kind,
    MagnitudeCells,
    Rows,
    discovered_column,
)
from skdpgen.utils import SchemaRequiredError

COUNT_SHARE = 0.01  # add/remove only: how many rows there are
SCHEMA_SHARES = (0.05, 0.4)  # of mu², at least and at most
STANDS_OUT = 4.5  # noise stds from which on a value is almost sure to be shown
SCHEMA_STD = 1 / 64  # of the rows: the noise that discovery aims at


@dataclass(frozen=True)
class Unknown:
    """Columns that no schema describes, known from public names and dtype kinds."""

    numbers: Mapping[Any, Kind]
    texts: tuple[Any, ...]

    @classmethod
    def of(cls, kinds: Mapping[Any, Kind], known: Mapping[Any, Column]) -> "Unknown":
        """List what the schema leaves open; booleans need no discovery."""
        left = {name: kind for name, kind in kinds.items() if name not in known}
        numbers = {
            name: kind
            for name, kind in left.items()
            if kind not in (Kind.TEXT, Kind.BOOLEAN)
        }
        texts = tuple(name for name, kind in left.items() if kind is Kind.TEXT)
        return cls(numbers, texts)

    def __len__(self) -> int:
        """Return the number of columns that must be paid for."""
        return len(self.numbers) + len(self.texts)


def share_for(
    n_columns: int, wanted_std: float, ledger: Ledger, limits: tuple[float, float]
) -> float:
    """Return the share of mu² at which ``n_columns`` histograms have ``wanted_std``."""
    delta = sensitivity(OneHot(n_columns), ledger.budget.adjacency)
    whole = ledger.noise_std(share=1.0, sensitivity=delta)
    return min(max((whole / wanted_std) ** 2, limits[0]), limits[1])


def count_rows(rows: Rows, ledger: Ledger) -> float:
    """Release the number of rows, where it is private."""
    released = release(
        rows.batches({}),
        {"rows": Counts()},
        name="number of rows",
        ledger=ledger,
        share=COUNT_SHARE,
    )
    return max(float(released.values["rows"][0, 0]), 2.0)


def discover_columns(
    rows: Rows,
    kinds: Mapping[Any, Kind],
    known: Mapping[Any, Column],
    ledger: Ledger,
    n_rows: float,
) -> dict[Any, Column]:
    """Describe every column; those not known share one joint release."""
    unknown = Unknown.of(kinds, known)
    found: dict[Any, Column] = {
        name: Boolean() for name, kind in kinds.items() if kind is Kind.BOOLEAN
    }
    found |= known
    if len(unknown):
        share = share_for(len(unknown), n_rows * SCHEMA_STD, ledger, SCHEMA_SHARES)
        check_feasible(len(unknown), n_rows, ledger)
        grids = {name: MagnitudeCells(kind) for name, kind in unknown.numbers.items()}
        blocks: dict[str, Any] = {}
        if grids:
            blocks["columns"] = Histograms(tuple(g.n_cells for g in grids.values()))
        if unknown.texts:
            blocks["tokens"] = Selections(unknown.texts)
        released = release(
            rows.batches(grids, tokens=unknown.texts),
            blocks,
            name=f"bounds and categories of {len(unknown)} columns",
            ledger=ledger,
            share=share,
        )
        for name, counts in by_column(released, grids).items():
            std = released.noise_std["columns"]
            found[name] = discovered_column(counts, std, grids[name].kind)
        for name in unknown.texts:
            found[name] = Categorical(list(released.values["tokens"][name]))
    return {name: found[name] for name in kinds}


def by_column(released: Release, grids: Mapping[Any, Any]) -> dict[Any, Any]:
    """Cut the joint histogram of an unlabelled release into its columns."""
    ends = list(accumulate(grid.n_cells for grid in grids.values()))[:-1]
    parts = np.split(released.values["columns"][0], ends) if grids else []
    return dict(zip(grids, parts, strict=True))


def check_feasible(n_columns: int, n_rows: float, ledger: Ledger) -> None:
    """Raise where public quantities show that discovery cannot work."""
    if not n_columns:
        return
    share = share_for(n_columns, n_rows * SCHEMA_STD, ledger, SCHEMA_SHARES)
    delta = sensitivity(OneHot(n_columns), ledger.budget.adjacency)
    needed = STANDS_OUT * ledger.noise_std(share=share, sensitivity=delta)
    if needed > n_rows / 2:
        raise SchemaRequiredError(
            f"Private discovery of {n_columns} columns needs values that "
            f"{math.ceil(needed)} of the rows share, which is more than half of "
            f"{math.floor(n_rows)} rows at epsilon={ledger.budget.epsilon:g}. Give a "
            "schema of public knowledge: start from `Schema.template(X)` and fill in "
            "bounds and categories."
        )
