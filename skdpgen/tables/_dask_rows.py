"""Rows in a Dask cluster: workers sum their partitions, and only sums are sent."""

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

PartSums = tuple[int, Sums]  # number of rows, and their sums
FAN_IN = 8  # sums that one task adds up


def is_dask(X: Any) -> bool:
    """Return whether something is a collection of Dask.

    Examples
    --------
    >>> is_dask([1, 2])
    False
    """
    return hasattr(X, "__dask_graph__")


@dataclass(frozen=True, eq=False)
class DaskRows(RemoteRows):
    """Partitions of a collection of Dask, whose metadata have columns and dtypes.

    A query is a graph of pure tasks: one for each partition, which reads it and returns
    its sums, and a tree of tasks that add up eight sums each. *No row counts twice,
    even if workers fail.* A task has one result in the graph, which does not depend on
    the time and place of its computation, and enters one task of the tree. If a worker
    dies, its results are computed again and take the same places. Workers send only
    the results of these tasks to each other and to the client: sums.

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
        """Return the statement of who sees rows and sums without noise."""
        del budget
        return [
            "rows in partitions of Dask: their workers see rows, and they and the "
            "process of this fit see sums without noise"
        ]

    @classmethod
    def of(cls, X: Any, y: Any, task: str) -> "DaskRows":
        """Read columns and dtypes from the metadata, which contain no rows."""
        for name, collection in (("X", X), ("y", y)):
            if collection is not None and not is_dask(collection):
                raise ValueError(
                    "X and y must both be collections of Dask, or neither. Got "
                    f"{type(collection).__name__} as {name}; use "
                    "`dask.dataframe.from_pandas`."
                )
        X, y = _by_rows(X), None if y is None else _by_rows(y)
        n_parts = [
            collection.npartitions for collection in (X, y) if collection is not None
        ]
        if len(set(n_parts)) > 1:
            raise ValueError(
                f"X and y must have the same partitions. Got {n_parts[0]} and "
                f"{n_parts[1]}; take both from one collection."
            )
        layouts = layouts_of(_without_rows(X), None if y is None else _without_rows(y))
        return cls(X, y, *layouts, task)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows, counted on first use."""
        is_unknown = not _is_frame(self.X) and math.isnan(self.X.shape[0])
        return len(self.X.compute_chunk_sizes() if is_unknown else self.X)

    def total(self, query: SumQuery, noise: Any = None) -> Sums:
        """Return sums over all partitions, without noise."""
        del noise
        dask = require("dask", extra="dask")
        delayed_query = dask.delayed(query, traverse=False, pure=False)
        reading = (self.layout, self.target_layout), self.task
        part_sums, group_sums = (
            dask.delayed(function, pure=False, traverse=False)
            for function in (sum_part, add_up)
        )
        sums = [part_sums(delayed_query, X, y, *reading) for X, y in self._parts]
        while len(sums) > 1:
            groups = [sums[i : i + FAN_IN] for i in range(0, len(sums), FAN_IN)]
            sums = [group_sums(delayed_query, group) for group in groups]
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
        partitions = _delayed(self.X)
        labels = [None] * len(partitions) if self.y is None else _delayed(self.y)
        return list(zip(partitions, labels, strict=True))


def sum_part(query: SumQuery, X: Any, y: Any, layouts: Any, task: str) -> PartSums:
    """Return the sums over one partition; runs where that partition is."""
    return len(X), query.sums(read_part(X, y, layouts, task))


def add_up(query: SumQuery, sums: list[PartSums]) -> PartSums:
    """Return the sum of several parts; changes none of them."""
    (n_rows, total), *rest = sums
    for n_more, addend in rest:
        n_rows, total = n_rows + n_more, query.merge(total, addend)
    return n_rows, total


def _by_rows(collection: Any) -> Any:
    """Return a collection whose partitions hold whole rows."""
    if _is_frame(collection):
        return collection
    return collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))


def _without_rows(collection: Any) -> Any:
    """Return a table or an array without rows, from the metadata."""
    if _is_frame(collection):
        return collection._meta
    return np.empty((0, *collection.shape[1:]), collection.dtype)


def _is_frame(collection: Any) -> bool:
    """Return whether a collection is a data frame or a series, and not an array."""
    return not hasattr(collection, "rechunk")


def _delayed(collection: Any) -> list[Any]:
    """Return partitions as delayed objects, computed independently."""
    partitions = collection.to_delayed()
    return list(partitions.ravel() if hasattr(partitions, "ravel") else partitions)
