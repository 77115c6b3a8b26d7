"""Tables without rows, that say what columns and dtypes are and keep nothing else."""

from typing import Any

import numpy as np
import pandas as pd


def like_of(X: Any) -> Any:
    """Return a table, or labels, of no rows, with the columns and dtypes of X.

    A slice of no rows is not enough to be sent elsewhere: one of Arrow holds the bytes
    of all rows, and one of pandas the categories of its dtypes and the levels of its
    index, which are private.

    Examples
    --------
    >>> like_of(pd.Series(["rare", "often"], dtype="category")).cat.categories.tolist()
    []
    """
    if isinstance(X, np.ndarray) and type(X) is np.ndarray:
        dtype = "U1" if X.dtype.kind == "U" else X.dtype  # a width tells the longest
        return np.empty((0, *X.shape[1:]), dtype)
    if isinstance(X, pd.DataFrame):
        columns = [_of_pandas(X.iloc[:, i]) for i in range(X.shape[1])]
        return pd.concat(columns, axis=1) if columns else pd.DataFrame()
    if isinstance(X, pd.Series):
        return _of_pandas(X)
    if hasattr(X, "schema"):  # of pyarrow or polars
        is_arrow = hasattr(X.schema, "empty_table")
        return X.schema.remove_metadata().empty_table() if is_arrow else _of_polars(X)
    return X[:0]


def _of_pandas(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of no rows without the categories of its dtype."""
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = pd.CategoricalDtype(dtype.categories[:0], dtype.ordered)
    return pd.Series([], dtype=dtype, name=column.name)


def _of_polars(X: Any) -> Any:
    """Return a table of no rows; an enumeration lists nothing then."""
    import polars as pl

    schema = X.schema.items()
    bare = {name: pl.Enum([]) if d == pl.Enum else d for name, d in schema}
    return pl.DataFrame(schema=bare)
