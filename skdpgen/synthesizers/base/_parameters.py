"""Types of the parameters that several estimators share, as their docstrings name them.

They are for readers and type checkers. Values are checked in ``fit``, by
``_parameter_constraints``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import torch

from skdpgen.tables import Chunks, Schema
from skdpgen.utils import (
    Table,
)

# ----------------------------------------------------------------------------
# Of the constructor.

SchemaLike: TypeAlias = Schema | dict[Any, Any] | None
AdjacencyName: TypeAlias = Literal["replace", "add_remove"]
ClassWeight: TypeAlias = Literal["balanced"] | Mapping[Any, float] | None
TaskName: TypeAlias = Literal["auto", "classification", "regression"]
Device: TypeAlias = str | torch.device

# ----------------------------------------------------------------------------
# Of `fit` and `sample`.


class RowsElsewhere(Protocol):
    """Rows that stand in other processes, such as `skdpgen.parties.Parties`."""

    def standing(self, task: str) -> Any:
        """Return the rows, which answer queries with sums."""


# Images are arrays. A Path is a folder or a file of Parquet.
PrivateRows: TypeAlias = Table | Chunks | Path | RowsElsewhere
ClassShares: TypeAlias = Literal["balanced"] | Mapping[Any, float] | None
Sample: TypeAlias = Any  # a table in the container of X, or a pair of it and y
