"""Public rows with the columns of the private ones: read, checked, counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.synthesizers.opening._known_columns import Known
from skdpgen.tables import (
    TARGET,
    CategoryCells,
    CellGroups,
    Cells,
    Chunks,
    Column,
    Drop,
    Kind,
    Layout,
    Regenerate,
    Rows,
    TextKinds,
    check_zones,
    read_table,
)
from skdpgen.utils import (
    Key,
    saved,
)

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_COUNTS_BY_CLASS = 10_000_000  # of pairs; more are pooled
NUMBER_KINDS = (Kind.FLOAT, Kind.INTEGER)


@saved("public.counts")
@dataclass(frozen=True, eq=False)
class PublicTables:
    """Counts of public rows: of columns, and of pairs of columns.

    Parameters
    ----------
    n_rows : int
    columns : mapping of name to ndarray of shape (n_classes, n_cells)
        By class if the rows have labels; else one row.
    pairs : ndarray of shape (n_classes, S, S) or None
        Counts of all pairs of the S groups of all columns.
    """

    n_rows: int
    columns: Mapping[Any, Floats]
    pairs: NDArray[np.float32] | None = None


class PublicRows:
    """Public rows, opened like private ones; reading them uses no privacy budget."""

    def __init__(self, rows: Rows, frame: Any = None, target: Any = None) -> None:
        self._rows, self.frame, self.target = rows, frame, target

    @classmethod
    def read(cls, public_data: Any, private: Rows, known: Known) -> "PublicRows | None":
        """Open public rows; raise if their columns differ from the private ones.

        Only names and types of the private columns are read, which are public.
        """
        if public_data is None:
            return None
        X, y = (
            public_data
            if isinstance(public_data, tuple) and len(public_data) == 2
            else (public_data, None)
        )
        if isinstance(X, Chunks):
            raise ValueError("public_data must be a table in memory. Got Chunks.")
        task = {"regression": "regression"}.get(str(known.task), "auto")
        try:
            rows = Rows.read(X, y, task=task)
        except (TypeError, ValueError) as error:  # which speaks of X and y
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"public_data cannot be read. {error}") from error
        assert isinstance(private.layout, Layout)
        if not isinstance(rows.layout, Layout):
            raise ValueError("public_data must be a table of rows like X. Got images.")
        left_out = {
            name
            for name, column in known.columns.items()
            if isinstance(column, Drop | Regenerate)
        }
        _check_names(rows.layout, private.layout, left_out)
        _check_kinds(rows.layout, private.layout)
        check_zones(rows.layout, private.layout, "public_data")
        if rows.n_rows < 1:
            raise ValueError("public_data must have rows. Got a table without any.")
        if y is not None and known.task is None:
            raise ValueError(
                "public_data must be a table alone, where fit gets no y. Got a pair "
                "(X, y)."
            )
        rows.read_as(known.written)
        _check_labels(rows, private, known)
        return cls(rows, read_table(X)[0], y)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._rows.n_rows

    @property
    def has_labels(self) -> bool:
        """Whether there are labels."""
        return self._rows.target_layout is not None

    @property
    def stated(self) -> str:
        """The statement about them in the certificate."""
        labels = "with labels" if self.has_labels else "without labels"
        return f"{self.n_rows} public rows {labels}: taken as public"

    def read_as(self, written: Mapping[Any, Column]) -> None:
        """Read the text of some columns as described, from now on."""
        self._rows.read_as(written)

    def counts_of_labels(self) -> dict[str, float]:
        """Return how many rows have each label, as text."""
        counts: dict[str, float] = {}
        for batch in self._rows.batches({}, tokens=(TARGET,)):
            tokens = batch.parts[Key.TOKENS][TARGET]
            known = tokens.codes[tokens.codes >= 0]
            of_text = np.bincount(known, minlength=len(tokens.values))
            for text, count in zip(tokens.values, of_text, strict=True):
                counts[text] = counts.get(text, 0.0) + float(count)
        return counts

    def text_types(self, names: Sequence[Any]) -> dict[Any, Floats]:
        """Return how many cells of each column of text are of each type, in a pass."""
        grids: dict[Any, Any] = {name: TextKinds() for name in names}
        counts = {name: np.zeros(grid.n_cells) for name, grid in grids.items()}
        for codes, _ in self.codes(grids, None) if grids else ():
            for table, types in zip(counts.values(), codes.T, strict=True):
                table += np.bincount(types, minlength=len(table))
        return counts

    def codes(
        self, cells: Mapping[Any, Cells], labels: Cells | None
    ) -> Iterator[tuple[Codes, Codes]]:
        """Yield codes of rows and their labels, -1 where there is no cell."""
        for batch in self._rows.batches(cells, labels):
            yield batch.parts[Key.COLUMNS], np.asarray(batch.labels)


def count_public(
    public: PublicRows | None, cells: Mapping[Any, Cells], labels: Cells | None
) -> PublicTables | None:
    """Count the cells of each column, by class if public rows have labels."""
    if public is None:
        return None
    n_classes = labels.n_cells if labels is not None and public.has_labels else 1
    counts = {name: np.zeros((n_classes, c.n_cells)) for name, c in cells.items()}
    for codes, label_codes in public.codes(cells, labels):
        for table, column_codes in zip(counts.values(), codes.T, strict=True):
            is_valid = (column_codes >= 0) & (label_codes >= 0)
            np.add.at(table, (label_codes[is_valid], column_codes[is_valid]), 1.0)
    return PublicTables(public.n_rows, counts)


def count_public_pairs(
    opening: Any,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    groups: Sequence[CellGroups],
    *,
    by_class: bool,
) -> PublicTables | None:
    """Return the counts of public rows, with those of all pairs of groups."""
    public, tables = opening.public, opening.measured.public
    if public is None or tables is None:
        return None
    n_classes = len(next(iter(tables.columns.values()))) if by_class else 1
    ends = np.cumsum([0, *(column_groups.n_groups for column_groups in groups)])
    if n_classes * ends[-1] ** 2 > MOST_COUNTS_BY_CLASS:
        n_classes = 1
    counts = np.zeros((n_classes, ends[-1], ends[-1]), dtype=np.float32)
    for codes, label_codes in public.codes(cells, labels):
        one_hot = np.zeros((len(codes), ends[-1]), dtype=np.float32)
        for column_groups, start, column_codes in zip(
            groups, ends, codes.T, strict=False
        ):
            group = column_groups.encode(column_codes)
            valid = np.flatnonzero(group >= 0)
            one_hot[valid, start + group[valid]] = 1.0
        for c in range(n_classes):
            rows = (
                one_hot[label_codes == c]
                if n_classes > 1
                else one_hot[label_codes >= 0]
            )
            counts[c] += rows.T @ rows  # how often two groups occur in one row
    return replace(tables, pairs=counts)


def _check_names(public: Layout, private: Layout, left_out: set[Any]) -> None:
    """Raise unless public rows have the columns of the private ones."""
    needed = [name for name in private.names if name not in left_out]
    missing = [str(name) for name in needed if name not in public.names]
    extra = [str(name) for name in public.names if name not in private.names]
    if missing or extra:
        differences = [f"without {', '.join(missing)}"] * bool(missing)
        differences += [f"with {', '.join(extra)} besides"] * bool(extra)
        raise ValueError(
            "public_data must have the columns of X. Got a table "
            f"{', and '.join(differences)}; labels go into a pair (X_public, y_public)."
        )


def _check_labels(rows: Rows, private: Rows, known: Known) -> None:
    """Raise for public labels of another type, or that are not among the classes."""
    if rows.target_layout is None or private.target_layout is None:
        return
    kinds = {rows.target_layout.kinds[0], private.target_layout.kinds[0]}
    if len(kinds) > 1 and not kinds <= set(NUMBER_KINDS):
        raise ValueError(
            "Labels of public_data must be of the kind of y, "
            f"{private.target_layout.kinds[0].value}. Got "
            f"{rows.target_layout.kinds[0].value}; convert them."
        )
    if known.classes is None:
        return
    labels = CategoryCells(known.classes, nullable=False)
    n_unknown = sum(int((batch.labels < 0).sum()) for batch in rows.batches({}, labels))
    if n_unknown:
        raise ValueError(
            "Labels of public_data must be among the classes, "
            f"{', '.join(map(str, known.classes))}. Got {n_unknown} others; leave such "
            "rows out."
        )


def _check_kinds(public: Layout, private: Layout) -> None:
    """Raise for a column of another type than in the private rows."""
    public_kinds = dict(zip(public.names, public.kinds, strict=True))
    for name, kind in zip(private.names, private.kinds, strict=True):
        if name not in public_kinds:
            continue
        if public_kinds[name] is not kind and not {public_kinds[name], kind} <= set(
            NUMBER_KINDS
        ):
            raise ValueError(
                f"Column {name!r} of public_data must be of the kind that it has in X, "
                f"{kind.value}. Got {public_kinds[name].value}; convert it."
            )
