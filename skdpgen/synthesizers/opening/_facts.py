"""What may be kept of a table: public facts, and releases that used budget."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skdpgen.tables import (
    TARGET,
    CategoryCells,
    Cells,
    Column,
    Datetime,
    Drop,
    ImageLayout,
    Integer,
    Kind,
    Layout,
    Numeric,
    Ordinal,
    Regenerate,
    Schema,
    unordered,
    with_ends,
    within_limits,
)
from skdpgen.utils import (
    saved,
)


@saved("facts")
@dataclass(frozen=True)
class Facts:
    """What an estimator may keep of a table: public facts, and released ones."""

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
    """The discovered columns whose description comes from public rows."""
    late_words: Mapping[Any, Any] = field(default_factory=dict)
    """Words that the main release named, by column: they share its cell "other"."""
    first_row: int = 0
    """The number of the first row that is drawn; identifiers are written from there."""
    public_ends: Mapping[Any, tuple[Any, Any]] = field(default_factory=dict)
    """Bounds that the schema gave of columns whose other bound was discovered."""
    numbered: tuple[Any, ...] = ()
    """Whole numbers that differ in nearly every row; perhaps identifiers."""
    finer: Mapping[Any, float] = field(default_factory=dict)
    """Noise of the share of rows with decimals, for numbers that show none."""
    pixels: Mapping[str, float] | None = None
    """Released shares of pixels beyond their range, and their noise; of images."""
    outside: Mapping[Any, tuple[float, float, float, float]] = field(
        default_factory=dict
    )
    """Released shares of rows below and above bounds, and standard errors of both."""
    unread: Mapping[Any, tuple[float, float]] = field(default_factory=dict)
    """Released shares of rows outside a description, and their standard errors."""

    @property
    def columns(self) -> dict[Any, Column]:
        """Every column to encode; a numeric target is stored under TARGET."""
        encoded: dict[Any, Column] = {
            name: column
            for name, column in self.schema.columns.items()
            if not isinstance(column, Drop | Regenerate)
        }
        if self.task == "regression" and self.schema.target is not None:
            encoded[TARGET] = self.schema.target
        return encoded

    def kind_of(self, name: Hashable) -> Kind:
        """Return the kind of a column's dtype, or of the target's."""
        if name is TARGET:
            assert self.target_layout is not None
            return self.target_layout.kinds[0]
        assert isinstance(self.layout, Layout)
        return self.layout.kinds[self.layout.names.index(name)]

    @property
    def without_order(self) -> tuple[Any, ...]:
        """Ordered categories of text that were discovered: their order is unknown.

        A dtype says that there is an order; the categories in it are private. Labels
        are sorted, so only an `Ordinal` of a schema states their order.
        """
        lacking = []
        if isinstance(self.layout, Layout):
            lacking = [
                name
                for name, dtype in zip(
                    self.layout.names, self.layout.dtypes, strict=True
                )
                if unordered(dtype) != dtype and self._lacks_order(name, dtype)
            ]
        if self.target_layout is not None and not isinstance(
            self.schema.target, Ordinal
        ):
            dtype = self.target_layout.dtypes[0]
            lacking += [TARGET] * (unordered(dtype) != dtype)
        return tuple(lacking)

    def _lacks_order(self, name: Hashable, dtype: str) -> bool:
        if dtype == "Enum":  # it always has one, whatever the schema says
            return not isinstance(self.schema.columns.get(name), Ordinal)
        return name in self.discovered and name not in self.from_public

    @property
    def drawn_layout(self) -> Layout:
        """Names and dtypes of drawn rows: no order where none is known."""
        assert isinstance(self.layout, Layout)
        dtypes = tuple(
            unordered(dtype) if name in self.without_order else dtype
            for name, dtype in zip(self.layout.names, self.layout.dtypes, strict=True)
        )
        return replace(self.layout, dtypes=dtypes)

    @property
    def drawn_target_layout(self) -> Layout:
        """Name and dtype of drawn labels or numbers: no order where none is known."""
        layout = self.target_layout
        assert layout is not None
        if TARGET not in self.without_order:
            return layout
        return replace(layout, dtypes=(unordered(layout.dtypes[0]),))

    @property
    def n_columns(self) -> int:
        """Columns to encode, without the target."""
        return len(self.columns) - (TARGET in self.columns)

    def corrected(self, name: Hashable, column: Column) -> "Facts":
        """Return the facts with the description of a column by a later release."""
        if name is TARGET:
            assert self.target_layout is not None
            column = within_limits(column, self.target_layout.limits[0])
            return replace(self, schema=replace(self.schema, target=column))
        assert isinstance(self.layout, Layout)
        limits = self.layout.limits[self.layout.names.index(name)]
        column = within_limits(self._within_public_ends(name, column), limits)
        return replace(self, schema=self.schema.with_column(name, column))

    def _within_public_ends(self, name: Hashable, column: Column) -> Column:
        """Return a column whose public bound overrides the released range."""
        if name not in self.public_ends or not isinstance(
            column, Datetime | Integer | Numeric
        ):
            return column
        changed: Column = with_ends(column, *self.public_ends[name])
        return changed

    def public_total(self, adjacency: str, labels: Cells | None) -> float | None:
        """Return the number of rows if it is public and each of them counts."""
        return self.n_rows if adjacency == "replace" and labels is None else None

    @property
    def labels(self) -> Cells | None:
        """How a target of classes becomes a label."""
        return None if self.classes is None else CategoryCells(self.classes, False)


# ----------------------------------------------------------------------------
# Counts of discovery, arranged by the cells that were computed from them.

Seen = tuple[Mapping[str, float], float]


def earlier_counts(
    cells: Mapping[Any, Cells | None], seen: Mapping[Any, Seen]
) -> dict[Any, tuple[Any, Any]]:
    """Return, for each column, counts of its cells and their variances.

    Parameters
    ----------
    cells : mapping of name to Cells
    seen : mapping of name to (mapping, float)
        RELEASED counts of values, and their noise.

    Cells that were not counted have an infinite variance. Only counts of categories are
    used, because their cells do not depend on the counts. Bins were placed by theirs,
    so counting them twice would be biased.

    Examples
    --------
    >>> cells = {"job": CategoryCells(("clerk", "nurse"), nullable=False)}
    >>> earlier_counts(cells, {"job": ({"nurse": 40.0}, 5.0)})["job"][1].tolist()
    [inf, 25.0]
    """
    earlier = {}
    for name, (count_of, std) in seen.items():
        grid = cells.get(name)
        if not isinstance(grid, CategoryCells):
            continue
        counts, variances = np.zeros(grid.n_cells), np.full(grid.n_cells, np.inf)
        for place, category in enumerate(grid.categories):
            if str(category) in count_of and place != grid.other:
                counts[place], variances[place] = count_of[str(category)], std**2
        earlier[name] = counts, variances
    return earlier


def joined_earlier(
    first: Mapping[Any, tuple[Any, Any]], second: Mapping[Any, tuple[Any, Any]]
) -> dict[Any, tuple[Any, Any]]:
    """Average two counts of the same cells by the precision of each.

    Examples
    --------
    >>> first = {"job": (np.array([0.0, 40.0]), np.array([np.inf, 25.0]))}
    >>> second = {"job": (np.array([7.0, 50.0]), np.array([4.0, 25.0]))}
    >>> counts, variances = joined_earlier(first, second)["job"]
    >>> counts.tolist(), variances.tolist()
    ([7.0, 45.0], [4.0, 12.5])
    """
    joined = {**first, **second}
    for name in first.keys() & second.keys():
        (counts, variances), (other_counts, other_variances) = first[name], second[name]
        precision = 1.0 / variances + 1.0 / other_variances
        mean = (counts / variances + other_counts / other_variances) / precision
        joined[name] = mean, 1.0 / precision
    return joined
