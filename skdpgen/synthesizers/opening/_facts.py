"""What may be kept of a table: public, or released and paid for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skdpgen.tables import (
    TARGET,
    CategoryCells,
    Cells,
    Column,
    Drop,
    ImageLayout,
    Integer,
    Layout,
    Numeric,
    Regenerate,
    Schema,
    within_limits,
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
    earlier: Mapping[Any, tuple[Any, Any]] = field(default_factory=dict)
    """Counts of cells that were released before, classes together; their variances."""
    from_public: tuple[Any, ...] = ()
    """Those of the discovered columns that are as public rows show them."""
    late_words: Mapping[Any, Any] = field(default_factory=dict)
    """Words that the main release named, by column: they share its cell "other"."""
    first_row: int = 0
    """The number of the first row that is drawn; identifiers are written from there."""
    public_ends: Mapping[Any, tuple[Any, Any]] = field(default_factory=dict)
    """Bounds that the schema gave of numbers whose other bound was discovered."""
    numbered: tuple[Any, ...] = ()
    """Whole numbers that differ in nearly every row; perhaps identifiers."""
    finer: Mapping[Any, float] = field(default_factory=dict)
    """Noise of the share of rows with decimals, of numbers that seem to have none."""

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
    def n_columns(self) -> int:
        """Columns to encode, without the target."""
        return len(self.columns) - (TARGET in self.columns)

    def corrected(self, name: Any, column: Column) -> "Facts":
        """Return the facts with what a later release says of a column."""
        if name is TARGET:
            return replace(self, schema=replace(self.schema, target=column))
        assert isinstance(self.layout, Layout)
        limits = self.layout.limits[self.layout.names.index(name)]
        column = within_limits(self._within_public_ends(name, column), limits)
        return replace(self, schema=self.schema.with_column(name, column))

    def _within_public_ends(self, name: Any, column: Column) -> Column:
        """Return a column with a bound that is public, whatever range was released."""
        if name not in self.public_ends or not isinstance(column, Integer | Numeric):
            return column
        lower, upper = self.public_ends[name]
        lower = column.lower if lower is None else lower
        upper = column.upper if upper is None else upper
        return replace(column, lower=min(lower, upper), upper=max(lower, upper))

    def public_total(self, adjacency: str, labels: Cells | None) -> float | None:
        """Return the number of rows if it is public and each of them counts."""
        return self.n_rows if adjacency == "replace" and labels is None else None

    @property
    def labels(self) -> Cells | None:
        """How a target of classes becomes a label."""
        return None if self.classes is None else CategoryCells(self.classes, False)
