"""What synthetic columns kept of the real ones: missing, categories and ranges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.metrics import ColumnPair
from skdpgen.plotting._names import number_name, time_name
from skdpgen.plotting._two_tables import has_levels
from skdpgen.plotting._value_shares import level_names, level_shares

# of a column's values; each is a value that occurs, none is computed between two
_QUANTILES = {"min": 0.0, "1 %": 0.01, "median": 0.5, "99 %": 0.99, "max": 1.0}


@dataclass(frozen=True)
class LostLevels:
    """The categories of a column that one of the tables does not have.

    Parameters
    ----------
    n_real, n_lost, n_new : int
        Real categories, those of them that no synthetic row has, and synthetic ones
        that no real row has.
    lost, new, other : float
        Share of the real rows in lost categories, of the synthetic ones in new ones,
        and of the synthetic ones in the catch-all category, which is neither.
    examples : tuple of str
        The lost categories of most rows.
    """

    n_real: int
    n_lost: int
    n_new: int
    lost: float
    new: float
    other: float
    examples: tuple[str, ...]


def complete_rows(table: pd.DataFrame) -> float:
    """Return the share of rows without a missing value."""
    return float(table.notna().all(axis=1).mean())


def missing_shares(real: pd.DataFrame, synthetic: pd.DataFrame) -> pd.DataFrame:
    """Return the missing shares of columns that have any, the worst kept one first."""
    sides = {"real": real.isna().mean(), "synthetic": synthetic.isna().mean()}
    shares = pd.DataFrame(sides, index=real.columns)
    shares = shares[(shares > 0).any(axis=1)]
    wrong = (shares["real"] - shares["synthetic"]).abs()
    return shares.loc[wrong.sort_values(ascending=False, kind="stable").index]


def lost_levels(pairs: Mapping[Any, ColumnPair], other: str) -> dict[Any, LostLevels]:
    """Return the columns that lost or gained categories, the worst first."""
    found = {}
    for name, pair in pairs.items():
        if not has_levels(pair):
            continue
        shares = level_shares(pair)
        catch_all = shares[shares.index == other]
        shares = shares.drop(catch_all.index)
        lost = shares[(shares["real"] > 0) & (shares["synthetic"] == 0)]
        new = shares[shares["real"] == 0]
        if len(lost) or len(new):
            found[name] = LostLevels(
                n_real=int((shares["real"] > 0).sum()),
                n_lost=len(lost),
                n_new=len(new),
                lost=float(lost["real"].sum()),
                new=float(new["synthetic"].sum()),
                other=float(catch_all["synthetic"].sum()),
                examples=tuple(level_names(lost.index[:3], pair.kind == "time")),
            )
    order = sorted(found, key=lambda name: -max(found[name].lost, found[name].new))
    return {name: found[name] for name in order}


def ranges(pairs: Mapping[Any, ColumnPair]) -> dict[Any, pd.DataFrame]:
    """Return minimum, quantiles and maximum of numbers and dates, the worst first.

    The worst is the one of which any of these moved farthest, in widths of the central
    98 % of the real rows.
    """
    found, moved = {}, {}
    for name, pair in pairs.items():
        if pair.kind == "level":
            continue
        sides = [_quantiles(pair.real), _quantiles(pair.synthetic)]
        write = time_name if pair.kind == "time" else _four_digits
        texts = [["none" if np.isnan(x) else write(x) for x in side] for side in sides]
        index = ["real", "synthetic"]
        found[name] = pd.DataFrame(texts, index, columns=list(_QUANTILES))
        moved[name] = _moved(*sides)
    order = sorted(found, key=lambda name: -moved[name])
    return {name: found[name] for name in order}


def _quantiles(values: np.ndarray) -> list[float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return [np.nan] * len(_QUANTILES)
    return np.quantile(known, list(_QUANTILES.values()), method="nearest").tolist()


def _moved(real: list[float], synthetic: list[float]) -> float:
    """Return the largest move of a quantile; all or nothing is infinitely far."""
    if np.isnan(real[0]) or np.isnan(synthetic[0]):
        return 0.0 if np.isnan(real[0]) and np.isnan(synthetic[0]) else np.inf
    width = real[3] - real[1]
    width = width if 0 < width < np.inf else 1.0
    moves = [abs(x - y) for x, y in zip(real, synthetic, strict=True) if x != y]
    return max([0.0, *moves]) / width


def _four_digits(value: float) -> str:
    return number_name(value, 4)
