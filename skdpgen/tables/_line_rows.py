"""The rows of each cell of a number line, with less noise than its counts.

Everything here reads RELEASED counts only.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from skdpgen.tables._line import REOPENED_STDS, Line, chance_of_times, spans_of
from skdpgen.tables._values import Codes, Floats

# How rows are shared among the cells of a family. Thresholds are in noise stds.
DIFFERENT_STDS = 2.0  # of two halves from the expected shares
EVEN_PART = 0.05  # of the rows: expected everywhere, despite public rows
SPIKE_STDS = 4.5  # above the median: such a part keeps its own count
BELL_STDS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0)  # of the rows of a gap, in its cells
OCTAVES_PER_E = 5.0  # from one; further, a size of numbers is less likely by e


def smoothed(coarse: Line, fine: Line, expected: Floats | None = None) -> Floats:
    """Return non-negative rows of fine cells, equal where only noise differs.

    The cells of a family share its rows. A cell that surely exceeds its neighbours
    keeps its own count. The others are halved again and again while the halves differ
    by more than noise. This is done for parts of octaves, then for finer parts.

    Parameters
    ----------
    coarse, fine : Line
        Before and after the last division.
    expected : ndarray or None, default=None
        Counts of public rows in the cells of ``fine``, the prior of the shares.
    """
    outer = None
    if expected is not None:
        sums = np.bincount(fine.families, expected, minlength=coarse.n_cells)
        outer = np.asarray(sums, dtype=np.float64)
    rows = _shared_rows(coarse, outer, None)
    return _shared_rows(fine, expected, rows)


def _shared_rows(line: Line, expected: Floats | None, totals: Floats | None) -> Floats:
    """Return the rows of each cell; ``totals`` are rows of families, if known."""
    estimate, stds = np.zeros(line.n_cells), np.sqrt(line.variances)
    trees, places = [], []  # of all families: they are halved together
    for family, cells in spans_of(line.families):
        start, stop = cells.start, cells.stop
        counts, std = line.counts[cells], median(stds[cells])
        total = float(counts.sum())
        if totals is not None:
            total = float(totals[family])
        total = max(total, 0.0)
        if stop - start == 1:
            is_there = totals is not None or line.is_open[start]
            estimate[start] = total if is_there or total > REOPENED_STDS * std else 0.0
            continue
        is_spike = counts > median(counts) + max(SPIKE_STDS * std, 0.5)
        shares, is_shared = np.where(is_spike, counts, 0.0), ~is_spike
        remaining = total - float(shares.sum())
        tree = None
        if is_shared.any() and remaining > 0:
            places_shared = np.arange(start, stop)[is_shared]
            if not line.is_open[start]:
                are_usual = how_usual(line, places_shared)
                prior = _one_peak(counts[is_shared], std, are_usual, remaining)
            else:
                widths = np.diff(line.edges[start : stop + 1])[is_shared]
                prior = widths / widths.sum() + 1.0 / len(widths)
            public_counts = None if expected is None else expected[cells][is_shared]
            if public_counts is not None and public_counts.any():
                prior = (
                    public_counts / public_counts.sum()
                    + EVEN_PART * prior / prior.sum()
                )
            is_gradual = public_counts is not None or not line.is_open[start]
            tree = Tree(counts[is_shared], std, prior, remaining, is_gradual)
            trees.append(tree)
        places.append((cells, total, shares, None if tree is None else is_shared))
    denoised = iter(tree_estimates(trees))
    for cells, total, shares, halved in places:
        if halved is not None:
            shares[halved] = next(denoised)
        if shares.sum() > 0:
            estimate[cells] = shares * (total / shares.sum())
    return estimate


def _one_peak(counts: Floats, noise_std: float, usual: Floats, rows: float) -> Floats:
    """Return the expected share of each cell of a gap, if its rows have one peak.

    The cells of a gap are parts of octaves, and noise hides the rows of each. So these
    are taken to be in the shape of a bell, whose place and width are unknown. The
    result is the mean over places and widths, and a small part that is the same
    everywhere: there may be another peak.
    """
    if not noise_std:
        return np.maximum(counts, 0.0) + EVEN_PART * usual / usual.sum()
    chances = chances_of_bells(counts, noise_std, usual, rows)
    everywhere = np.ones(len(counts))
    bells = zip(BELL_STDS, chances, strict=True)
    spread = [_spread(p / _spread(everywhere, width), width) for width, p in bells]
    return np.asarray(np.sum(spread, axis=0) + EVEN_PART / len(counts))


def chances_of_bells(
    counts: Floats, noise_std: float, usual: Floats, rows: float
) -> Floats:
    """Return the probability of each width and place, by RELEASED counts.

    It is in proportion to how likely they make the counts, and to how ``usual`` numbers
    of that size are.
    """
    evidence, everywhere = [], np.ones(len(counts))
    for width in BELL_STDS:
        sums = _spread(everywhere, width)
        seen = _spread(counts, width) / sums
        squares = _spread(everywhere, width / math.sqrt(2.0)) / sums**2
        fit = (rows * seen - 0.5 * rows**2 * squares) / noise_std**2
        evidence.append(fit + np.log(usual))
    chances = np.exp(np.array(evidence) - np.max(evidence))
    return np.asarray(chances / chances.sum())


def _spread(values: Floats, width: float) -> Floats:
    """Return values, each of which is spread over its neighbours in a bell."""
    reach = min(math.ceil(5.0 * width), len(values) - 1)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    return np.convolve(values, bell)[reach : reach + len(values)]


def median(values: Floats) -> float:
    """Return the median of a few numbers, in a tenth of the time of numpy's."""
    ordered, middle = np.sort(values), len(values) // 2
    if len(values) % 2:
        return float(ordered[middle])
    return float((ordered[middle - 1] + ordered[middle]) / 2)


class Tree(NamedTuple):
    """A noisy histogram, and what is expected of it.

    ``is_gradual`` is for informative priors: shares then leave the prior only as far as
    the excess over the noise.
    """

    counts: Floats
    noise_std: float
    prior: Floats
    total: float | None = None
    is_gradual: bool = False


def tree_estimates(trees: Sequence[Tree]) -> list[Floats]:
    """Denoise histograms by halving them while the halves differ by more than noise.

    The sum over a node of the dyadic tree has noise ``noise_std * sqrt(cells)``. If the
    halves deviate from the shares that ``prior`` expects by more than noise, the mass
    is shared as observed; else as ``prior`` expects. All histograms are halved at once:
    their cells are in one array, with one place more for each.

    Examples
    --------
    >>> (rows,) = tree_estimates([Tree(np.array([90.0, 8.0, 2.0]), 0.0, np.ones(3))])
    >>> rows.round().tolist()
    [90.0, 8.0, 2.0]
    """
    if not trees:
        return []

    def cumulative(parts: Iterable[Floats]) -> Floats:
        return np.concatenate([[0.0, *np.cumsum(part).tolist()] for part in parts])

    sums = cumulative(tree.counts for tree in trees)
    base = cumulative(tree.prior for tree in trees)
    noise_stds = np.array([tree.noise_std for tree in trees])
    are_gradual = np.array([tree.is_gradual for tree in trees])
    sizes = np.array([len(tree.counts) for tree in trees])
    first = np.cumsum(sizes + 1) - (sizes + 1)
    density = np.zeros(len(sums))
    starts, stops, of_tree = first, first + sizes, np.arange(len(trees))
    totals = [
        sums[k] if t.total is None else t.total
        for k, t in zip(stops, trees, strict=True)
    ]
    masses = np.maximum(totals, 0.0)
    while len(starts):  # one level of all trees: all nodes at once
        ends_here = stops - starts == 1
        density[starts[ends_here]] = masses[ends_here]
        goes_on = ~ends_here & (masses > 0)
        starts, stops, masses = starts[goes_on], stops[goes_on], masses[goes_on]
        of_tree = of_tree[goes_on]
        middles = (starts + stops) // 2
        left, right = sums[middles] - sums[starts], sums[stops] - sums[middles]
        spans = base[stops] - base[starts]  # 0 if the prior is, up to rounding
        expected = (middles - starts) / (stops - starts)
        np.divide(base[middles] - base[starts], spans, out=expected, where=spans > 0)
        surplus = (1 - expected) * left - expected * right
        # std of the surplus; each half has the noise of its number of cells
        noise = noise_stds[of_tree] * np.hypot(
            (1 - expected) * np.sqrt(middles - starts),
            expected * np.sqrt(stops - middles),
        )
        node_sums, differs = left + right, np.abs(surplus) > DIFFERENT_STDS * noise
        shares, is_split = expected.copy(), differs & (node_sums > 0)
        shares[is_split] = np.clip(left[is_split] / node_sums[is_split], 0.0, 1.0)
        is_pulled = is_split & are_gradual[of_tree]
        pull = (DIFFERENT_STDS * noise[is_pulled] / surplus[is_pulled]) ** 2
        shares[is_pulled] += (expected[is_pulled] - shares[is_pulled]) * pull
        starts = np.concatenate([starts, middles])
        stops = np.concatenate([middles, stops])
        masses = np.concatenate([masses * shares, masses * (1 - shares)])
        of_tree = np.concatenate([of_tree, of_tree])
    return [density[k : k + n] for k, n in zip(first, sizes, strict=True)]


def how_usual(line: Line, cells: Codes) -> Floats:
    """Return how usual numbers of the sizes of some cells are, or times of a cell."""
    left, right = line.edges[cells], line.edges[cells + 1]
    if line.is_time:
        chances = chance_of_times(right) - chance_of_times(left)
        return np.asarray(np.maximum(chances, 1e-300))
    sizes = usual_sizes(np.maximum(np.abs(left), np.abs(right)))
    return np.where((left <= 0) & (right > 0), 1.0, sizes)


def usual_sizes(sizes: Floats) -> Floats:
    """Return how usual numbers of some sizes are, in parts of how usual 1 is.

    Examples
    --------
    >>> usual_sizes(np.array([0.5, 1.0, 32.0])).round(2)
    array([0.82, 1.  , 0.37])
    """
    octaves = np.abs(np.log2(np.clip(sizes, 1e-300, 1e300)))
    return np.asarray(np.exp(-octaves / OCTAVES_PER_E))
