"""Files of Arrow and Parquet that are written piece by piece."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skdpgen.utils import require


class ArrowFile:
    """A file of Parquet, or of Arrow, to which tables of one kind are added.

    The first table decides the types of columns.

    Parameters
    ----------
    path : str or Path
        Replaced by the first table, if it is there.
    is_parquet : bool, default=True
        Else it is a file of Arrow, which is also called feather.
    """

    def __init__(self, path: str | Path, *, is_parquet: bool = True) -> None:
        self.path, self.is_parquet = str(path), is_parquet
        self.n_rows = 0
        self._schema: Any = None
        self._writer: Any = None

    def __enter__(self) -> Self:
        """Open nothing yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file; what was added is in it."""
        if self._writer is not None:
            self._writer.close()

    def add(self, drawn: Any, target: str | None = None) -> None:
        """Write rows, and their labels as the last column."""
        pa = require("pyarrow", extra="arrow")
        table = as_arrow(drawn, target)
        if self._writer is None:
            self._schema = table.schema
            parquet = require("pyarrow.parquet", extra="arrow")
            make = parquet.ParquetWriter if self.is_parquet else pa.ipc.new_file
            self._writer = make(self.path, self._schema)
        self._writer.write_table(table.cast(self._schema))
        self.n_rows += table.num_rows


def as_arrow(drawn: Any, target: str | None = None) -> Any:
    """Return a sample as a table of Arrow, with labels as its last column.

    A column that has no value in it is text.

    Examples
    --------
    >>> X, y = pd.DataFrame({"a": [1, 2]}), pd.Series(["no", "yes"], name="b")
    >>> as_arrow((X, y)).column_names
    ['a', 'b']
    """
    pa = require("pyarrow", extra="arrow")
    X, y = drawn if isinstance(drawn, tuple) else (drawn, None)
    if getattr(X, "ndim", 2) != 2:
        raise ValueError("A file of Parquet holds tables. Got images.")
    if isinstance(X, pa.Table):
        table = X
    elif isinstance(X, pd.DataFrame):
        table = pa.Table.from_pandas(X, preserve_index=False)
    elif hasattr(X, "columns"):
        table = nw.from_native(X, eager_only=True).to_arrow()
    else:
        columns = np.asarray(X).T
        table = pa.table({f"x{j}": pa.array(one) for j, one in enumerate(columns)})
    if y is not None:
        name = target or getattr(y, "name", None) or "target"
        table = table.append_column(str(name), pa.array(y, from_pandas=True))
    fields = [
        one.with_type(pa.string()) if pa.types.is_null(one.type) else one
        for one in table.schema
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))
