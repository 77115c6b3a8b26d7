"""Rows in a cluster: partitions are summed where they are, and only sums travel."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skdpgen.tables._layout import Layout
from skdpgen.tables._passes import RemoteRows, SumQuery, Sums, layouts_of, read_part
from skdpgen.utils import (
    require,
)

PartSums = tuple[int, Sums]  # of so many rows
FAN_IN = 8  # sums that one task adds up


def is_dask(X: Any) -> bool:
    """Say whether something is a collection of Dask.

    Examples
    --------
    >>> is_dask([1, 2])
    False
    """
    return hasattr(X, "__dask_graph__")


@dataclass(frozen=True, eq=False)
class DaskRows(RemoteRows):
    """Partitions of a collection of Dask; its metadata say columns and dtypes.

    A query is a graph of pure tasks: one for each partition, which reads it and returns
    its sums, and a tree of tasks that add up eight sums each. *No row counts twice,
    whatever is lost.* A task has one result in the graph, which is the same whenever
    and wherever it is computed, and stands under one task of the tree; a worker that
    dies takes results along, and they are computed anew in their places. What leaves a
    worker for another one, or for the client, are results of these tasks: sums.

    Parameters
    ----------
    X, y : collections of Dask
        y is None without labels.
    layout, target_layout : Layout
        By their metadata.
    task : str
        How numbers in y are read.
    """

    X: Any
    y: Any
    layout: Layout
    target_layout: Layout | None
    task: str

    def trusted(self, budget: Any) -> list[str]:
        """Say who sees what without noise."""
        del budget
        return [
            "rows in partitions of Dask: their workers see rows, and they and the "
            "process of this fit see sums without noise"
        ]

    @classmethod
    def of(cls, X: Any, y: Any, task: str) -> "DaskRows":
        """Read columns and dtypes off the metadata, which know no rows."""
        for name, one in (("X", X), ("y", y)):
            if one is not None and not is_dask(one):
                raise ValueError(
                    "X and y must both be collections of Dask, or neither. Got "
                    f"{type(one).__name__} as {name}; use `dask.dataframe.from_pandas`."
                )
        X, y = _by_rows(X), None if y is None else _by_rows(y)
        n_parts = [one.npartitions for one in (X, y) if one is not None]
        if len(set(n_parts)) > 1:
            raise ValueError(
                f"X and y must have the same partitions. Got {n_parts[0]} and "
                f"{n_parts[1]}; take both from one collection."
            )
        layouts = layouts_of(_without_rows(X), None if y is None else _without_rows(y))
        return cls(X, y, *layouts, task)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows, counted when it is asked for."""
        is_unknown = not _is_frame(self.X) and math.isnan(self.X.shape[0])
        return len(self.X.compute_chunk_sizes() if is_unknown else self.X)

    def total(self, query: SumQuery, noise: Any = None) -> Sums:
        """Return sums over all partitions, without noise."""
        del noise
        dask = require("dask", extra="dask")
        asked = dask.delayed(query, traverse=False, pure=False)
        how = (self.layout, self.target_layout), self.task
        of_part, added = (
            dask.delayed(one, pure=False, traverse=False) for one in (sum_part, add_up)
        )
        sums = [of_part(asked, X, y, *how) for X, y in self._parts]
        while len(sums) > 1:
            groups = [sums[i : i + FAN_IN] for i in range(0, len(sums), FAN_IN)]
            sums = [added(asked, group) for group in groups]
        ((n_rows, total),) = dask.compute(sums[0])
        if "n_rows" in vars(self) and n_rows != self.n_rows:  # counted: it is public
            raise ValueError(
                "Partitions must hold the same rows in every pass. Got another number "
                "of rows in a later one; use `.persist()`, or a source that stays."
            )
        return dict(total)

    @cached_property
    def _parts(self) -> list[tuple[Any, Any]]:
        """Return the partitions of X and y, in order."""
        mine = _delayed(self.X)
        labels = [None] * len(mine) if self.y is None else _delayed(self.y)
        return list(zip(mine, labels, strict=True))


def sum_part(query: SumQuery, X: Any, y: Any, layouts: Any, task: str) -> PartSums:
    """Return the sums over one partition; runs where that partition is."""
    return len(X), query.sums(read_part(X, y, layouts, task))


def add_up(query: SumQuery, sums: list[PartSums]) -> PartSums:
    """Return the sum of several; changes none of them."""
    (n_rows, total), *rest = sums
    for more, other in rest:
        n_rows, total = n_rows + more, query.merge(total, other)
    return n_rows, total


def _by_rows(one: Any) -> Any:
    """Return a collection whose partitions hold whole rows."""
    if _is_frame(one):
        return one
    return one.rechunk(dict.fromkeys(range(1, one.ndim), -1))


def _without_rows(one: Any) -> Any:
    """Return what metadata say: a table, or an array, of no rows."""
    if _is_frame(one):
        return one._meta
    return np.empty((0, *one.shape[1:]), one.dtype)


def _is_frame(one: Any) -> bool:
    """Say whether a collection is a data frame or a series of one, or else an array."""
    return not hasattr(one, "rechunk")


def _delayed(one: Any) -> list[Any]:
    """Return partitions, each to be computed by itself."""
    found = one.to_delayed()
    return list(found.ravel() if hasattr(found, "ravel") else found)
