"""Values inside cells: what a sampled code becomes."""

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.optimize import brentq

from skdpgen.tables._cells import (
    CategoryCells,
    Cells,
    MixedCells,
    NumberCells,
    bounds,
)
from skdpgen.tables._columns import Column, Datetime, Integer, Numeric
from skdpgen.tables._layout import EPOCH
from skdpgen.tables._left_out_columns import Regenerate
from skdpgen.tables._restoring import times_as_text
from skdpgen.tables._values import Codes, Floats


def draw_values(
    column: Column, cells: Cells, codes: Codes, marginal: Floats, *, rng: Generator
) -> "pd.Series[Any]":
    """Turn codes into values that obey the schema; "missing" becomes missing.

    Categories are looked up. Numbers are uniform inside their cell, exact where the
    cell is a single value; the two end cells decay at the rate at which their density
    continues that of their neighbour.
    """
    if isinstance(cells, CategoryCells):
        table = pd.Series([*cells.categories, None], dtype=object)
        return table.iloc[np.minimum(codes, cells.n_known)].reset_index(drop=True)
    numbers = cells.numbers if isinstance(cells, MixedCells) else cells
    values = draw_numbers(numbers, codes, marginal, rng=rng)
    values = values.clip(*bounds(column))
    missing = codes >= cells.n_known
    if isinstance(column, Datetime):
        stamps = EPOCH + pd.to_timedelta(values.round(6), unit="s")
        return pd.Series(stamps).mask(missing)
    if isinstance(column, Integer):
        whole = pd.Series(np.round(values), dtype="Float64").astype("Int64")
        return whole.mask(missing)
    decimals = column.decimals if isinstance(column, Numeric) else None
    if decimals is not None and numbers.step is None:  # too many for a lattice
        values = values.round(decimals).clip(*bounds(column))
    return pd.Series(values).mask(missing)


def with_named(
    values: "pd.Series[Any]", cells: Cells, codes: Codes
) -> "pd.Series[Any]":
    """Put the named values of drawn cells in place of what is missing there."""
    if not isinstance(cells, MixedCells) or not cells.named:
        return values
    place = codes - cells.n_known
    is_named = (place >= 0) & (place < len(cells.named))
    table = pd.Series(cells.named, dtype=object)
    values = times_as_text(values)
    mixed = values.astype(object).where(values.notna(), None)
    mixed[is_named] = table.iloc[place[is_named]].to_numpy()
    return mixed if _are_text(cells.named) else mixed.infer_objects()


def _are_text(named: tuple[Any, ...]) -> bool:
    return any(isinstance(value, str) for value in named)


def regenerate(column: Regenerate, n_samples: int, first: int = 0) -> "pd.Series[Any]":
    """Write an identifier or text anew for each row, counted from the first."""
    numbers = range(first, first + n_samples)
    written = [column.template.format(i=i) for i in numbers]
    return pd.Series(written, dtype=object)


def draw_numbers(
    cells: NumberCells, codes: Codes, marginal: Floats, *, rng: Generator
) -> Floats:
    """Draw a number in each given cell."""
    n = cells.n_known
    known = np.minimum(codes, n - 1)
    left, right = cells.edges[:-1], cells.edges[1:]
    places = rng.random(len(codes))
    if n > 2:
        widths = np.maximum(right - left, 1e-300)
        density = marginal[:n] / widths
        atoms = cells.is_atom()
        full = np.flatnonzero(marginal[:n] > 0).tolist()
        ends = ((full[-1], full[-1] - 1), (full[0], full[0] + 1)) if full else ()
        for end, inner in ends:
            if not 0 <= inner < n:
                continue
            if atoms[end] or atoms[inner] or density[inner] <= density[end]:
                continue
            rate = decay_rate(density[end] / density[inner])
            mine = known == end
            decayed = -np.log1p(places[mine] * math.expm1(-rate)) / rate
            places[mine] = decayed if inner < end else 1.0 - decayed
    values = left[known] + places * (right - left)[known]
    if cells.step is not None:
        values = cells.origin + cells.step * np.round(
            (values - cells.origin) / cells.step
        )
        inside = cells.step * 0.5
        values = np.clip(values, left[known] + inside, right[known] - inside)
        values = cells.origin + cells.step * np.round(
            (values - cells.origin) / cells.step
        )
        return np.round(values, 9)
    atom = cells.is_atom()[known]
    return np.where(atom, left[known], values)


def decay_rate(filled: float) -> float:
    """Return x with (1 - exp(-x)) / x = ``filled``, a number in (0, 1).

    Examples
    --------
    >>> round(decay_rate(0.5), 2)
    1.59
    """
    filled = min(max(filled, 1e-3), 1 - 1e-6)
    return float(brentq(lambda x: -math.expm1(-x) / x - filled, 1e-9, 2e3))
