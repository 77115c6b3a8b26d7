"""What may be kept of a table: public, or released and paid for."""

from dataclasses import dataclass
from typing import Any

from skdpgen.tables import (
    TARGET,
    CategoryCells,
    Cells,
    Column,
    Drop,
    ImageLayout,
    Layout,
    Regenerate,
    Schema,
)
from skdpgen.utils import saved


@saved
@dataclass(frozen=True)
class Facts:
    """What an estimator may keep of a table: public, or released and paid for."""

    layout: Layout | ImageLayout
    target_layout: Layout | None
    schema: Schema
    task: str | None
    classes: tuple[Any, ...] | None
    n_rows: float
    discovered: tuple[Any, ...]  # names of the columns that no schema described

    @property
    def columns(self) -> dict[Any, Column]:
        """Every column to encode; a numeric target is stored under TARGET."""
        kept = {
            name: column
            for name, column in self.schema.columns.items()
            if not isinstance(column, Drop | Regenerate)
        }
        if self.task == "regression" and self.schema.target is not None:
            kept[TARGET] = self.schema.target
        return kept

    @property
    def labels(self) -> Cells | None:
        """How a target of classes becomes a label."""
        return None if self.classes is None else CategoryCells(self.classes, False)
