"""The main release of columns: cells, rare words, and the scales of histograms."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.privacy import (
    ClippedCounts,
    Histograms,
    OneHot,
    Release,
    release,
    sensitivity,
    shortened,
)
from skdpgen.synthesizers.opening._opening import Opening
from skdpgen.synthesizers.opening._unknown_columns import open_words
from skdpgen.tables import Asked, Categorical, CategoryCells, Cells, OpenWords
from skdpgen.utils import (
    Key,
    saved,
)

# ----------------------------------------------------------------------------
# Words that the main release names: those too rare for the releases before it.
#
# Discovery uses little budget, so only words of many rows exceed its threshold. The
# main release is much more exact. It also counts the words of each column that have no
# name yet: for one more count a row, it names most of them. They share the cell
# "other" of their column, so models are not affected; when rows are written, "other"
# is divided among them.

UNNAMED_PART = 0.005  # of the rows without a name: fewer are not worth a count
# Words of more than this part of the rows have this weight.
WORDS_PART, WORDS_WEIGHT = 0.03, math.sqrt(3)
BORDER_STDS = 2.0  # above the least count: noise helped some of these


@saved("late_words")
@dataclass(frozen=True)
class LateWords:
    """Words that share the cell "other" of a column.

    Parameters
    ----------
    words : tuple of str
    rows : tuple of float
        Rows that have each word, with a label or without, from RELEASED counts.
    noise : float
        Their std.
    n_columns : int, default=1
        Columns whose words were counted together: a row with a word in k of them
        counted the root of 1 / k in each, and ``rows`` makes up for it on average.
    """

    words: tuple[str, ...]
    rows: tuple[float, ...]
    noise: float
    n_columns: int = 1

    @property
    def total_noise(self) -> float:
        """Std of the sum; words that noise may have helped add one noise each.

        What clipping may hide counts as four of them.
        """
        least = min(self.rows, default=0.0)
        n_helped = sum(rows < least + BORDER_STDS * self.noise for rows in self.rows)
        noise = self.noise * (math.sqrt(len(self.words)) + n_helped)
        hidden = sum(self.rows) * (math.sqrt(self.n_columns) - 1.0)
        return math.hypot(noise, hidden / 4.0)

    def put(
        self,
        values: "pd.Series[Any]",
        is_other: NDArray[np.bool_],
        n_other: float,
        rng: Generator,
    ) -> "pd.Series[Any]":
        """Return drawn values with words in place of some of the others.

        Parameters
        ----------
        values : Series
        is_other : ndarray of bool
            Which of them are "other".
        n_other : float
            Rows that are, words included; of as many rows as ``rows`` are.
        rng : Generator
        """
        places = np.flatnonzero(is_other)
        rows = np.array(self.rows)
        shares = rows / max(n_other, float(rows.sum()))
        reached = np.cumsum(shares)
        chosen = np.searchsorted(reached, rng.random(len(places)), side="right")
        is_word = chosen < len(self.words)
        words = np.array(self.words, dtype=object)
        values = values.copy()
        values.iloc[places[is_word]] = words[chosen[is_word]]
        return values


def release_columns(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    name: str,
    n_classes: int,
    share: float = 1.0,
    scales: tuple[float, ...] | None = None,
) -> Release:
    r"""Release histograms of columns by class, together with words without a name.

    *Sensitivity.* A row is one-hot in each of the K columns; and it adds at most
    :math:`\min(1, 1/\sqrt k)` to each of its k words without a name, so these have
    squared norm at most 1 (:class:`~skdpgen.privacy.ClippedCounts`). Both are not
    negative, so together they are a vector of squared norm at most
    :math:`\sum_k s_k^2 + w^2`, for scales s of columns and a weight w of words: the
    noise is larger by a factor of about :math:`1 + 1 / 2K`, or
    :math:`1 + 3 / 2K` where many rows have no name yet.

    Parameters
    ----------
    opening : Opening
    cells, labels : Cells
    name : str
        Of the release, in the certificate.
    n_classes : int
    share : float, default=1.0
        Of the remaining budget.
    scales : tuple of float or None, default=None
        What one row counts in each column; 1 if None.

    Returns
    -------
    Release
        Of the columns; words are kept with the facts of the table.
    """
    sizes = tuple(column.n_cells for column in cells.values())
    is_pooled = pools_gaps(opening, len(sizes), n_classes, share)
    blocks: dict[str, Any] = {
        Key.COLUMNS: class_histograms(cells, scales, is_pooled=is_pooled)
    }
    words, expected = _unnamed_words(opening, cells)
    are_many = any(least > WORDS_PART for _, least in expected.values())
    weight = WORDS_WEIGHT if are_many else 1.0
    weight *= 1.0 if scales is None else 1.0 / math.sqrt(len(sizes))
    if words:
        blocks[Key.OPEN] = ClippedCounts((), tuple(words), 1.0)
        name = f"{name}, words of {len(words)}"
    released = release(
        opening.rows.batches(cells, labels, asked=Asked({}, words) if words else None),
        blocks,
        weights={Key.OPEN: weight} if words else None,
        name=name,
        ledger=opening.ledger,
        share=share * opening.ledger.remaining,
        n_classes=n_classes,
    )
    if is_pooled:
        released = with_shared_gaps(released, cells, scales)
    if not words:
        return released
    std = released.noise_std[Key.OPEN]
    for column, counts in released.values[Key.OPEN]["words"].items():
        if counts:
            word_shares = [
                part for name, (part, _) in expected.items() if name != column
            ]
            weight = mean_weight(word_shares)
            rows = tuple(float(count) / weight for count in counts.values())
            late_words = LateWords(tuple(counts), rows, std / weight, len(words))
            opening.add_late_words(column, late_words)
    values = {Key.COLUMNS.value: released.values[Key.COLUMNS]}
    noise = {Key.COLUMNS.value: released.noise_std[Key.COLUMNS]}
    return replace(released, values=values, noise_std=noise)


NOISE_OF_GAPS = 0.003  # of the rows, at most, if gaps are counted by class


def pools_gaps(opening: Opening, n_columns: int, n_classes: int, share: float) -> bool:
    """Return whether gaps are counted without classes, for ``share`` of what is left.

    Few rows are in gaps, if any. One count shows them with the least noise, but hides
    their classes, and the rare rows of a tail may all be of one class. So gaps are
    counted by class where the noise of all classes together is small. It is computed
    from the budget and from the number of rows, which is public or released.
    """
    ledger = opening.ledger
    delta = sensitivity(OneHot(n_columns), ledger.budget.adjacency)
    noise = ledger.noise_std(share=share * ledger.remaining, sensitivity=delta)
    return math.sqrt(n_classes) * noise > NOISE_OF_GAPS * opening.facts.n_rows


def class_histograms(
    cells: Mapping[Any, Cells],
    scales: tuple[float, ...] | None = None,
    *,
    is_pooled: bool = True,
) -> Histograms:
    """Return histograms by class of all columns; of gaps without classes if pooled.

    :func:`with_shared_gaps` divides the count of a pooled gap among the classes.
    """
    sizes = tuple(column.n_cells for column in cells.values())
    gaps = tuple(
        tuple(map(int, _gaps(column))) if is_pooled else () for column in cells.values()
    )
    return Histograms(sizes, scales, pooled=gaps if any(gaps) else None)


def with_shared_gaps(
    released: Release,
    cells: Mapping[Any, Cells],
    scales: tuple[float, ...] | None = None,
) -> Release:
    """Divide the counts of gaps among the classes, in the proportions of all classes.

    Parameters
    ----------
    released : Release
        Of :func:`class_histograms`.
    cells : mapping of name to Cells
    scales : tuple of float or None, default=None
        Of the histograms.
    """
    counts = np.array(released.values[Key.COLUMNS])
    gaps = [list(_gaps(column)) for column in cells.values()]
    if len(counts) < 2 or not any(gaps):
        return released
    starts = np.cumsum([0, *(column.n_cells for column in cells.values())])
    places = np.concatenate(
        [start + np.array(k, int) for start, k in zip(starts, gaps, strict=False)]
    )
    totals = counts[0, places]
    counts[:, places] = 0.0
    # Class counts of columns, weighted by their precision.
    weights = np.repeat(np.asarray(scales or 1.0) / np.diff(starts), np.diff(starts))
    of_class = np.maximum(counts @ weights, 0.0)
    shares = np.full(len(counts), 1.0 / len(counts))
    if of_class.sum() > 0:
        shares = of_class / of_class.sum()
    counts[:, places] = np.outer(shares, totals)
    values = {**released.values, Key.COLUMNS.value: counts}
    of_cells = [
        np.full(column.n_cells, math.sqrt(len(counts))) for column in cells.values()
    ]
    for noise, of_column in zip(of_cells, gaps, strict=True):
        noise[of_column] = 1.0
    return replace(released, values=values, of_cells=tuple(of_cells))


def _gaps(column: Any) -> Sequence[int]:
    return tuple(getattr(column, "gaps", ()))


def mean_weight(shares: Sequence[float]) -> float:
    """Return the average count of a row with a word, if columns are independent.

    Parameters
    ----------
    shares : sequence of float
        Of the rows that have a word in each of the *other* columns.

    Examples
    --------
    >>> mean_weight([]), round(mean_weight([1.0]), 3), round(mean_weight([0.5]), 3)
    (1.0, 0.707, 0.854)
    """
    n_others = np.ones(1)  # probabilities of 0, 1, ... other words
    for share in shares:
        n_others = np.convolve(n_others, [1.0 - share, share])
    return float(n_others @ (1.0 / np.sqrt(1.0 + np.arange(len(n_others)))))


def _unnamed_words(
    opening: Opening, cells: Mapping[Any, Cells]
) -> tuple[dict[Any, OpenWords], dict[Any, tuple[float, float]]]:
    """Return the columns in which some rows have a word without a name.

    Also returns the share of such rows, and a lower bound of it. Reads released counts
    only.
    """
    unknown, facts = opening.unknown, opening.facts
    open_columns: dict[Any, OpenWords] = {}
    shares: dict[Any, tuple[float, float]] = {}
    if unknown is None:
        return open_columns, shares
    for name in unknown.texts:
        column, grid = facts.columns.get(name), cells.get(name)
        if not isinstance(column, Categorical) or not isinstance(grid, CategoryCells):
            continue
        if grid.other is None or str(column.other) in map(str, column.categories or ()):
            continue
        counts, std = opening.seen[name]
        named = sum(counts.values())
        n_unnamed = facts.n_rows - named - unknown.not_words.get(name, 0.0)
        noise = std * math.sqrt(len(counts) + 1)
        if n_unnamed + noise > UNNAMED_PART * facts.n_rows:
            categories = tuple(map(str, column.categories or ()))
            open_columns[name] = open_words(unknown, name, categories)
            likely, least = (
                n_unnamed / facts.n_rows,
                (n_unnamed - 2.0 * noise) / facts.n_rows,
            )
            shares[name] = min(max(likely, 0.0), 1.0), least
    return open_columns, shares


# ----------------------------------------------------------------------------
# The share of each histogram in a joint release.

SIZE_POWER = 0.5


def cell_scales(
    sizes: Sequence[int], weights: Sequence[float] | None = None
) -> tuple[float, ...]:
    """Return the scale of each histogram in a release; squares sum to 1, or less.

    A histogram of k cells with noise s in each is off by k s² in all. Under a fixed
    norm the sum of these errors is least if squared scales are in proportion to the
    square root of k, times that of the weight of its errors. Scales are cut to the few
    bits that a release counts with.

    Examples
    --------
    >>> [round(scale, 2) for scale in cell_scales([2, 32])]
    [0.45, 0.89]
    """
    squares = np.asarray(sizes, dtype=float) ** SIZE_POWER
    if weights is not None:
        squares *= np.sqrt(weights)
    return tuple(map(shortened, np.sqrt(squares / squares.sum()).tolist()))
