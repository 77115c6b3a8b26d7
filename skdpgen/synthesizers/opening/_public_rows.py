"""Public rows with the columns of the private ones: read, checked, counted."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Histograms, Ledger, OneHot, release
from skdpgen.synthesizers.opening._first_look import (
    Unknown,
    by_column,
    share_for,
    with_text_type,
)
from skdpgen.synthesizers.opening._known_columns import Known
from skdpgen.tables import (
    FROM_PUBLIC,
    TARGET,
    Categorical,
    CategoryCells,
    CellGroups,
    Cells,
    Chunks,
    Column,
    Datetime,
    Drop,
    Kind,
    Layout,
    NumberCells,
    Regenerate,
    Rows,
    TextKinds,
    bounds,
    check_zones,
    infer_column,
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
        rows = Rows.read(X, y, task=task)
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


# ----------------------------------------------------------------------------
# Bounds and categories that public rows show, unless private rows contradict them.

CHECK_SHARES = (0.01, 0.05)  # of mu², at least and at most
CHECK_STD = 1 / 50  # of the rows: the noise that is good enough
# Of the rows, and noise stds: more contradict public rows.
OUTSIDE_PART, SURE_STDS = 0.05, 1.5
MOST_CATEGORIES = 512  # the most frequent; more are other


@saved("cells.outside")
@dataclass(frozen=True, eq=False)
class Outside:
    """Two cells: values that a column's description covers or missing, and others."""

    column: Column

    n_known = n_cells = 2
    nullable = False
    is_ordered = False

    def encode(self, values: Any) -> NDArray[np.int64]:
        """Return 1 for values outside the description."""
        if isinstance(self.column, Categorical):
            listed = CategoryCells(tuple(self.column.categories or ()), nullable=True)
            missing = CategoryCells((), nullable=True, other=1).encode(values) == 0
            return ((listed.encode(values) == listed.n_known) & ~missing).astype(
                np.int64
            )
        lower, upper = bounds(self.column)
        span = np.array([lower, np.nextafter(upper, np.inf)])
        is_time = isinstance(self.column, Datetime)
        cells = NumberCells(span, nullable=True, is_time=is_time).with_outside()
        codes = cells.encode(values)
        return np.isin(codes, (0, 2)).astype(np.int64)


def public_columns(
    public: PublicRows,
    kinds: Mapping[Any, Kind],
    described: Mapping[Any, Column],
    other: str,
) -> dict[Any, Column]:
    """Describe the columns that no schema describes, from public rows.

    Reads public rows only. Text of numbers or times, and text that differs from row to
    row, is left out: discovery handles it as it does without public rows.
    """
    columns: dict[Any, Column] = {}
    for name, kind in kinds.items():
        if name in described or name is TARGET or kind is Kind.BOOLEAN:
            continue
        if kind is Kind.TEXT and not _is_words(public, name):
            continue
        series = public.frame[name]
        column: Any = replace(infer_column(series, kind), nullable=True)  # type: ignore[arg-type]
        if isinstance(column, Categorical):
            counts = series.dropna().map(str).value_counts()
            frequent = sorted(counts.index[:MOST_CATEGORIES].tolist())
            column = Categorical(frequent, other=other)
        columns[name] = replace(column, origin=FROM_PUBLIC)
    return columns


def accepted_columns(
    rows: Rows, columns: Mapping[Any, Column], ledger: Ledger, n_rows: float
) -> dict[Any, Column]:
    r"""Return the descriptions that private rows do not contradict, by a release.

    Released is how many rows of each column have a value that public rows do not have.

    *Why it is private.* Cells are computed from public rows. A private row is in one of
    two cells of each of d columns: its vector is not negative and has norm
    :math:`\sqrt d`, so it moves the sum by :math:`\sqrt{2d}` at most if replaced, by
    :math:`\sqrt d` if added or removed (:class:`~skdpgen.privacy.OneHot`). The noisy
    counts alone decide which descriptions are kept.
    """
    if not columns:
        return {}
    grids: dict[Any, Any] = {name: Outside(column) for name, column in columns.items()}
    share = share_for(OneHot(len(grids)), n_rows * CHECK_STD, ledger, CHECK_SHARES)
    released = release(
        rows.batches(grids),
        {Key.COLUMNS: Histograms((2,) * len(grids))},
        name=f"values of {len(grids)} columns that public rows lack",
        ledger=ledger,
        share=share,
    )
    std = released.noise_std[Key.COLUMNS]
    limit = OUTSIDE_PART * n_rows + SURE_STDS * std
    counts = by_column(released, grids)
    return {
        name: column for name, column in columns.items() if counts[name][1] <= limit
    }


def _is_words(public: PublicRows, name: Hashable) -> bool:
    """Return whether discovery would read a text column as words or codes."""
    cells: Cells = TextKinds()  # type: ignore[assignment]
    counts = np.zeros(cells.n_cells)
    for codes, _ in public.codes({name: cells}, None):
        counts += np.bincount(codes[:, 0], minlength=cells.n_cells)
    distinct = float(public.frame[name].nunique())
    unknown = with_text_type(
        Unknown({}, (name,)), name, counts, (distinct, 0.0), 0.0, public.n_rows
    )
    return unknown.texts == (name,)
