"""The joint release: one pass, one noise, every block at once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy._blocks import Block, Counts, Floats, Histograms, Integers
from skdpgen.privacy._budget import Adjacency
from skdpgen.privacy._ledger import Ledger
from skdpgen.privacy._noise import add_noise
from skdpgen.privacy._query import (
    AsGiven,
    NoiseWanted,
    Query,
    Summable,
    query_of,
)
from skdpgen.privacy._sensitivity import (
    HEAVIEST,
    LIGHTEST,
    Weighted,
    WithCounts,
    check_accurate,
    sensitivity,
)
from skdpgen.privacy._value_counts import (
    ClippedCounts,
    DistinctCounts,
    Seen,
    Selections,
)
from skdpgen.utils import (
    saved,
)

EVIDENCE = 4.5  # noise stds at which a public value is kept: few by chance


@saved("release")
@dataclass(frozen=True, eq=False)
class Release:
    """Noisy sums; all that post-processing may see, and safe to publish.

    Parameters
    ----------
    values : mapping of str to ndarray of shape (n_classes, width) or to a dict
        The noisy sums of each block in its own unit (counts, for histograms). Selected
        values come as ``{column: {value: noisy count}}``, sorted by value.
    noise_std : mapping of str to float
        Standard deviation of the noise on each coordinate of a block.
    sensitivity : float
        Of the joint, weighted sum under ``adjacency``.
    mu : float
        Gaussian-DP parameter of this release.
    of_cells : tuple of ndarray or None, default=None
        Noise of each cell of each histogram, summed over the classes, in units of the
        noise of one count. None if each is the square root of the number of classes.
    """

    values: Mapping[str, Any]
    noise_std: Mapping[str, float]
    sensitivity: float
    mu: float
    adjacency: Adjacency
    of_cells: tuple[NDArray[np.float64], ...] | None = None


def release(
    rows: Summable,
    blocks: Mapping[str, Block],
    *,
    name: str,
    ledger: Ledger,
    share: float,
    n_classes: int = 1,
    n_minibatches: int = 1,
    weights: Mapping[str, float] | None = None,
) -> Release:
    r"""Sum the blocks over the rows, once, and add calibrated noise to all together.

    The joint vector of a row is its blocks side by side, block ``k`` scaled by
    ``weights[k]`` (1 unless given); its sensitivity comes from the structures alone.
    A ``Counts`` block appends the class counts, free where the other blocks allow.
    Noise is entered in the ledger before it is drawn.

    Parameters
    ----------
    rows : Summable
        The private rows, asked once: as ``Rows.batches`` of a table returns them, or
        :class:`~skdpgen.privacy.GivenBatches`.
    blocks : mapping of str to Block
        What to sum, by the name of the part of a batch that it reads.
    name : str
        What the certificate calls this release.
    ledger : Ledger
        Pays ``share`` of its squared mu.
    n_classes : int, default=1
        Number of labels.
    n_minibatches : int, default=1
        Sum the rows of this many random groups ("mini-batches") separately; in the
        values, group g starts at row ``g * n_classes``. *Every group gets the same
        noise as the whole would.* Proof: groups are drawn without looking at rows, so
        the rows that two neighbours share can be given the same groups; then one row
        moves the block :math:`\phi \otimes e_{(g, y)}` of one g, as far as without
        groups.
    """
    blocks = {str(key): block for key, block in blocks.items()}  # no enum is published
    weights = joint_weights(blocks, weights)
    delta = joint_sensitivity(blocks, weights, ledger.budget.adjacency)
    if n_minibatches > 1 and any(getattr(b, "pooled", None) for b in blocks.values()):
        raise ValueError("pooled cells would count in the first group alone.")
    query = query_of(rows, blocks, n_classes, n_minibatches)
    std = ledger.charge(name, share=share, sensitivity=delta)
    noise_std = noise_of_blocks(std, weights)
    mu = delta / std if std else float("inf")
    totals = rows.total(query, NoiseWanted(name, share, weights, std))
    shares = rows.noise_shares
    if shares is not None:  # the parties that hold the rows have added the noise
        noise_std = {
            key: std_of_block * shares.excess for key, std_of_block in noise_std.items()
        }
        return Release(totals, noise_std, delta, mu, ledger.budget.adjacency)
    values: dict[str, Any] = {}
    for key, block in blocks.items():
        if isinstance(block, Selections):
            values[key] = _select(totals[key], noise_std[key], ledger, block.public)
            continue
        exact = block.value(totals.pop(key))
        if isinstance(block, ClippedCounts):
            values[key] = {
                "cells": add_noise(exact["cells"], noise_std[key]),
                "words": _select(exact["words"], noise_std[key], ledger, block.public),
            }
            continue
        values[key] = add_noise(exact, noise_std[key])
    return Release(values, noise_std, delta, mu, ledger.budget.adjacency)


def joint_weights(
    blocks: Mapping[str, Block], given: Mapping[str, float] | None
) -> dict[str, float]:
    """Return the weight of each block; blocks of counts have their own."""
    weights: dict[str, float] = {}
    for key, block in blocks.items():
        weight = (given or {}).get(key, 1.0)
        weight = math.sqrt(block.beta) if isinstance(block, Counts) else weight
        weights[key] = check_accurate("weights", weight, LIGHTEST, HEAVIEST)
    return weights


def noise_of_blocks(std: float, weights: Mapping[str, float]) -> dict[str, float]:
    r"""Return the noise of each block in its own unit.

    The joint vector has block k times :math:`w_k`, and noise of ``std`` in each entry.
    Values are those of a block without its weight, so their noise is divided by it.

    Examples
    --------
    >>> noise_of_blocks(3.0, {"light": 0.5, "heavy": 2.0})
    {'light': 6.0, 'heavy': 1.5}
    """
    return {key: std / weight for key, weight in weights.items()}


def joint_sensitivity(
    blocks: Mapping[str, Block], weights: Mapping[str, float], adjacency: Adjacency
) -> float:
    """Return how far one row moves all blocks together, each by its weight."""
    return sensitivity(_structure(blocks, weights), adjacency)


def _structure(blocks: Mapping[str, Block], weights: Mapping[str, float]) -> Any:
    """Return the structure of all blocks; WithCounts knows when counts are free."""
    keys = [key for key, block in blocks.items() if not isinstance(block, Counts)]
    counts = [block for block in blocks.values() if isinstance(block, Counts)]
    if len(counts) > 1:
        raise ValueError(f"One block of Counts is enough. Got {len(counts)}.")
    joint = Weighted(
        tuple(blocks[key].structure for key in keys),
        tuple(weights[key] for key in keys),
    )
    return WithCounts(joint, counts[0].beta) if counts else joint


def _select(
    totals: Mapping[Any, Mapping[str, float]],
    std: float,
    ledger: Ledger,
    public: Sequence[str] = (),
) -> dict[Any, dict[str, float]]:
    """Add noise to counts of all existing values; keep those above the threshold.

    Public values are noised whether they exist or not, and need less evidence.
    """
    if not totals:
        return {}
    threshold = ledger.admit_selection(len(totals), std)
    thresholds = dict.fromkeys(
        public, min(max(EVIDENCE * std, 0.5), max(threshold, 0.5))
    )
    shown: dict[Any, dict[str, float]] = {}
    for column, counts in totals.items():
        values = sorted({*counts, *public})  # the order of rows must not show
        exact = np.array([counts.get(value, 0) for value in values], dtype=float)
        noisy = add_noise(exact, std)
        selected: list[tuple[str, float]] = [
            (value, float(count))
            for value, count in zip(values, noisy, strict=True)
            if count > thresholds.get(value, threshold)
        ]
        shown[column] = dict(selected)
    return shown


# ----------------------------------------------------------------------------
# Sums of one pass over the rows, for several later releases.

SUMS = "Sums that were made beforehand are of all rows as one class. Got {} classes."


@dataclass(eq=False)
class Beforehand:
    r"""Exact sums of several blocks, from one pass; as private as the rows.

    A release takes the part that it would have summed itself, and pays for that only.
    *Proof* that nothing changes: :meth:`histograms`, :meth:`selections` and the others
    return a block of the same structure, whose sum over the rows is, number by number,
    that of a block which reads only these columns and cells. A histogram of fewer
    cells is the same histogram without the others, since values in no cell are
    ignored. So :func:`~skdpgen.privacy.release` publishes the same sum with the same
    noise, and the other sums are never read. The choice of the part may depend on
    earlier releases only, as the choice of columns to read would.

    Parameters
    ----------
    blocks : mapping of str to Block
    columns : mapping of str to sequence of names
        The columns of each block of histograms.
    totals : dict
    """

    blocks: Mapping[str, Block]
    columns: Mapping[str, Sequence[Any]]
    totals: dict[str, Any] = field(repr=False)

    encoder = AsGiven()
    are_here = True
    noise_shares = None

    def total(self, query: Query, noise: NoiseWanted | None = None) -> dict[str, Any]:
        """Return the sums of blocks that :meth:`counts` and the others made.

        No row is read. A release uses this object like rows. Other blocks raise an
        error, because their sums were not computed.
        """
        del noise
        for block in query.blocks.values():
            if not isinstance(block, _Summed) or block.sums is not self:
                raise ValueError(
                    "Sums that were made beforehand answer for their own blocks. Got "
                    f"{type(block).__name__}; make it with `counts`, `selections`, "
                    "`distinct` or `histograms`."
                )
        return query.sums(())

    def counts(self, key: str) -> Counts:
        """Return the number of rows."""
        return SummedCounts(sums=self, key=key)

    def selections(self, key: str, names: Sequence[Any]) -> Selections:
        """Return the values of some columns."""
        return SummedSelections(tuple(names), sums=self, key=key)

    def distinct(self, key: str, names: Sequence[Any], n_rows: float) -> DistinctCounts:
        """Return the numbers of different values of some columns."""
        return SummedDistinct(tuple(names), n_rows, sums=self, key=key)

    def histograms(
        self,
        key: str,
        names: Sequence[Any],
        cells: Mapping[Any, NDArray[np.intp]] | None = None,
    ) -> Histograms:
        """Return the histograms of some columns, with all of their cells or some."""
        block = self.blocks[key]
        assert isinstance(block, Histograms)
        ends = pairwise([0, *accumulate(block.sizes)])
        spans = dict(zip(self.columns[key], ends, strict=True))
        places = [
            np.arange(*spans[name]) if cells is None else spans[name][0] + cells[name]
            for name in names
        ]
        sizes = tuple(len(place) for place in places)
        selected = np.concatenate([*places, np.empty(0, dtype=np.intp)])
        return SummedHistograms(
            sizes, sums=self, key=key, places=selected.astype(np.intp)
        )


def sum_beforehand(
    rows: Summable,
    blocks: Mapping[str, Block],
    columns: Mapping[str, Sequence[Any]],
) -> Beforehand | None:
    """Sum blocks over the rows, all rows as one class; nothing is released.

    Returns None for rows of parties that send no sums without noise: then each release
    sends them a question of its own.
    """
    if rows.noise_shares is not None:
        return None
    blocks = {str(key): block for key, block in blocks.items()}
    return Beforehand(blocks, columns, rows.total(query_of(rows, blocks, 1, 1)))


@dataclass(frozen=True)
class _Summed:
    """A block that starts where a pass ended."""

    sums: Beforehand = field(kw_only=True, repr=False)
    key: str = field(kw_only=True)

    def total(self, n_classes: int) -> Any:
        """Return the sum of the earlier pass."""
        if n_classes != 1:
            raise ValueError(SUMS.format(n_classes))
        return self.sums.totals[self.key]

    def add(self, total: Any, part: Any, labels: Any) -> NoReturn:
        """Raise: the sum includes each row already, and no row may count twice."""
        raise ValueError(
            "Sums that were made beforehand hold every row. Got rows besides; release "
            "the sums themselves."
        )


@dataclass(frozen=True)
class SummedCounts(_Summed, Counts):
    """The number of rows, counted beforehand."""

    def start(self, n_classes: int) -> Floats:
        """Return the counts."""
        return np.array(self.total(n_classes))


@dataclass(frozen=True)
class SummedSelections(_Summed, Selections):
    """Counts of values, made beforehand."""

    def start(self, n_classes: int) -> dict[Any, dict[str, int]]:
        """Return the counts."""
        total = self.total(n_classes)
        return {column: dict(total[column]) for column in self.columns}


@dataclass(frozen=True)
class SummedDistinct(_Summed, DistinctCounts):
    """Numbers of different values, counted beforehand."""

    def start(self, n_classes: int) -> dict[Any, Seen]:
        """Return the values of each column."""
        total = self.total(n_classes)
        return {column: total[column] for column in self.columns}


@dataclass(frozen=True, eq=False)
class SummedHistograms(_Summed, Histograms):
    """Histograms, made beforehand; ``places`` are the cells that are taken."""

    places: NDArray[np.intp] = field(kw_only=True, repr=False)

    def start(self, n_classes: int) -> Integers:
        """Return the counts."""
        return np.array(self.total(n_classes)[:, self.places])
