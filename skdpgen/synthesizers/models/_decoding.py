"""Drawn cells become values of columns, and draws that are even."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from skdpgen.synthesizers.opening._facts import Facts
from skdpgen.tables import (
    Categorical,
    Cells,
    Drop,
    Layout,
    Ordinal,
    Regenerate,
    clock_times,
    draw_values,
    is_written,
    obey,
    read_target,
    read_values,
    regenerate,
    restore_series,
    restore_table,
    with_named,
    write_text,
    zone_of,
    zones_of,
)

Codes = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]

# ----------------------------------------------------------------------------
# Drawn cells and labels in the form of the input: container, columns, dtypes.


def decode_rows(
    facts: Facts,
    cells: Mapping[Any, Cells],
    codes: Mapping[Any, Codes],
    marginals: Mapping[Any, NDArray[np.float64]],
    *,
    rng: Generator,
    container: str | None = None,
    given: Mapping[Any, Any] | None = None,
) -> Any:
    """Return drawn cells as a table; columns that were ``given`` stay as they are."""
    assert isinstance(facts.layout, Layout)
    n_rows = len(next(iter(codes.values())))
    columns: dict[Any, Any] = {}
    for name, column in facts.schema.columns.items():
        if given and name in given:
            columns[name] = given[name]
        elif isinstance(column, Regenerate):
            columns[name] = regenerate(column, n_rows, facts.first_row)
        elif not isinstance(column, Drop):
            columns[name] = draw_values(
                column, cells[name], codes[name], marginals[name], rng=rng
            )
            late_words = facts.late_words.get(name)
            if late_words is not None:
                shares = np.asarray(marginals[name], dtype=np.float64)
                other_cell: Any = cells[name].other
                n_other = facts.n_rows * float(shares[other_cell] / shares.sum())
                is_other = np.asarray(codes[name]) == other_cell
                columns[name] = late_words.put(columns[name], is_other, n_other, rng)
    schema, fixed = facts.schema, given or {}
    if schema.rules:
        of_rules = {name for rule in schema.rules for name in rule.read}
        text = [n for n in fixed if n in of_rules and is_written(schema.columns[n])]
        if text:
            raise ValueError(
                "Columns of text that a rule reads cannot be given, as numbers and "
                f"times can. Got {', '.join(map(repr, text))}; leave them to be drawn."
            )
        zones = zones_of(facts.layout)
        series = {
            name: clock_times(pd.Series(values), zones[name])
            for name, values in columns.items()
        }
        obeyed = obey(series, schema.rules, schema.columns, fixed)
        columns |= {n: values for n, values in obeyed.items() if n not in fixed}
    for name, column in schema.columns.items():
        if name in columns and name not in fixed and is_written(column):
            columns[name] = write_text(columns[name], column)
    for name, column_codes in codes.items():
        if name in columns and name not in fixed:
            columns[name] = with_named(columns[name], cells[name], column_codes)
    categories = {
        name: ordered_categories(facts, name, column.categories or ())
        for name, column in facts.schema.columns.items()
        if isinstance(column, Categorical)
    }
    return restore_table(facts.drawn_layout, columns, categories, container)


def ordered_categories(
    facts: Facts, name: Any, categories: Sequence[Any]
) -> Sequence[Any]:
    """Return categories in their public order, or by size: 2 before 10, if released."""
    if name not in facts.discovered or name in facts.from_public:
        return categories
    try:
        return sorted(categories, key=float)
    except (TypeError, ValueError):
        return categories


def decode_target(facts: Facts, values: ArrayLike) -> Any:
    """Return drawn labels or numbers as the container and dtype of y."""
    layout, target = facts.drawn_target_layout, facts.schema.target
    categories: Sequence[Any] = facts.classes or ()
    if isinstance(target, Ordinal):
        categories = target.categories or ()
    series = _series_of(values)
    if layout.container in ("polars", "pyarrow"):
        (name,) = layout.names
        table = restore_table(layout, {name: series}, {name: categories})
        if layout.container == "pyarrow":
            return table.column(0)
        return table.to_series(0).alias(name)  # polars names a nameless column
    series = restore_series(series, layout.dtypes[0], categories)
    series = series.rename(layout.names[0])
    if layout.container == "pandas":
        return series
    return series.to_numpy(dtype=object if layout.is_text(0) else None)


def _series_of(values: Any) -> "pd.Series[Any]":
    """Return labels or numbers of any container as a series; times keep their zone."""
    if isinstance(values, np.ndarray | list | tuple):
        return pd.Series(values)
    return read_target(values, len(values))[0]


def label_codes(classes: NDArray[Any], y: ArrayLike) -> Codes:
    """Return the position of each label among the classes; raise for other labels."""
    index = {_label_text(label): i for i, label in enumerate(classes.tolist())}
    texts = [_label_text(value) for value in np.asarray(y, dtype=object).ravel()]
    unseen = sorted(set(texts) - set(index))
    if unseen:
        shown = ", ".join(unseen[:3]) + ", ..." * (len(unseen) > 3)
        raise ValueError(
            f"y must hold labels the synthesizer knows: {', '.join(index)}. "
            f"Got {shown}; fit with `classes=` that lists every label."
        )
    return np.array([index[text] for text in texts], dtype=np.int64)


def target_codes(layout: Layout, cells: Cells, y: ArrayLike) -> Codes:
    """Return the cells of target numbers to condition on."""
    series = clock_times(_series_of(y), zone_of(layout.dtypes[0]))
    codes = cells.encode(read_values(series, layout.kinds[0]))
    if (codes < 0).any():
        raise ValueError("y must hold numbers. Got missing or other values in it.")
    return codes


def class_array(classes: tuple[Any, ...]) -> NDArray[Any]:
    """Return the classes as an array of their own type, as scikit-learn has them."""
    kinds = {type(label) for label in classes}
    if len(kinds) == 1 and kinds <= {int, float, bool, str}:
        return np.array(classes)
    return np.array(classes, dtype=object)


def _label_text(value: Any) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    return str(plain)


# ----------------------------------------------------------------------------
# How often, and in which order, labels and cells are drawn.


def draw_given(table: ArrayLike, labels: Integers, *, rng: Generator) -> Codes:
    """Draw a cell for each label, from its row of a table of probabilities.

    Among the rows of a label each cell appears as often as expected, give or take one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> np.sort(draw_given(table, np.array([0, 0, 0, 0, 1]), rng=rng)[:4]).tolist()
    [0, 0, 1, 1]
    """
    table = np.asarray(table, dtype=np.float64)
    order = rng.permutation(len(labels))
    keys = labels.astype(np.uint16) if len(table) < 2**16 else labels  # sorted faster
    order = order[np.argsort(keys[order], kind="stable")]
    counts = np.bincount(labels, minlength=len(table))[:, None]
    cumulative = np.cumsum(table, axis=1)
    cumulative /= np.maximum(cumulative[:, -1:], np.finfo(float).tiny)
    # place i of a label, (i + its offset) / count, is below the end of a cell
    below = np.ceil(cumulative * counts - rng.random(len(table))[:, None])
    last = table.shape[1] - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
    is_end = np.arange(table.shape[1]) >= last[:, None]
    below = np.where(is_end, counts, np.clip(below, 0, counts)).astype(np.int64)
    numbers = np.diff(below, axis=1, prepend=0)
    cells = np.broadcast_to(np.arange(table.shape[1]), table.shape)
    codes = np.empty(len(labels), dtype=np.int64)
    codes[order] = np.repeat(cells.ravel(), numbers.ravel())
    return codes


def systematic(probabilities: ArrayLike, n_samples: int, *, rng: Generator) -> Codes:
    """Draw sorted codes; each appears as often as expected, give or take one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> np.bincount(systematic(np.array([0.25, 0.75]), 8, rng=rng)).tolist()
    [2, 6]
    """
    places = (np.arange(n_samples) + rng.random()) / max(n_samples, 1)
    cumulative = np.cumsum(probabilities)
    codes = np.searchsorted(cumulative / cumulative[-1], places, side="right")
    return codes.clip(max=len(cumulative) - 1)
