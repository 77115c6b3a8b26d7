"""Bins: a RELEASED fine histogram becomes few cells of about equal mass."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skdpgen.tables._cells import NumberCells
from skdpgen.tables._values import Floats

EVEN = 0.05  # of the rows are expected anywhere, whatever public rows say
SIGNIFICANT = 2.0  # noise stds by which two halves must differ from their prior


def quantile_bins(
    cells: NumberCells,
    counts: Floats,
    noise_std: float,
    mass: float,
    expected: Floats | None = None,
    total: float | None = None,
) -> NumberCells:
    """Merge fine cells until each holds ``mass`` rows; split the ones that hold more.

    Parameters
    ----------
    cells : NumberCells
        The fine grid that was released.
    counts : ndarray of shape (n_cells,)
        Noisy counts on it, "missing" included.
    noise_std : float
        Their noise.
    mass : float
        Rows that a bin should hold; from public quantities.
    expected : ndarray of shape (n_cells,) or None, default=None
        Counts of public rows, which the others are like unless they differ by more
        than noise would.
    total : float or None, default=None
        Rows that all cells hold; None is the sum of counts, which has the noise of all.
    """
    widths = np.diff(cells.edges)
    prior = widths / widths.sum() + 1.0 / len(widths)
    if expected is not None and expected[: cells.n_known].any():
        known = expected[: cells.n_known]
        prior = known / known.sum() + EVEN * prior / prior.sum()
    density = tree_estimate(
        counts[: cells.n_known],
        noise_std,
        prior,
        total,
        is_gradual=expected is not None,
    )
    edges: list[float] = [float(cells.edges[0])]
    held, was_atom = 0.0, False
    atoms = cells.is_atom()
    for k, rows in enumerate(density):
        left, right = float(cells.edges[k]), float(cells.edges[k + 1])
        if rows >= mass or (atoms[k] and rows > 0.5 * mass):
            _close(edges, left)
            parts = 1 if atoms[k] else math.ceil(rows / mass)
            for inner in _inside(cells, left, right, parts):
                _close(edges, inner)
            _close(edges, right)
            held, was_atom = 0.0, bool(atoms[k])
        elif held + rows >= mass:
            _close(edges, right)
            held, was_atom = 0.0, False
        else:
            held += rows
    last = float(cells.edges[-1])
    if edges[-1] < last:
        if held < 0.5 * mass and len(edges) > 2 and not was_atom:
            edges.pop()  # too few for a bin of their own
        edges.append(last)
    return replace(cells, edges=np.array(edges))


def tree_estimate(
    counts: Floats,
    noise_std: float,
    prior: Floats,
    total: float | None = None,
    *,
    is_gradual: bool = False,
) -> Floats:
    """Denoise a histogram by halving it for as long as the halves tell apart.

    The sum over a node of the dyadic tree has noise ``noise_std * sqrt(cells)``. Its
    mass is shared as observed if the halves differ from the share that ``prior``
    expects by more than noise would; else as ``prior`` says. If that is worth more than
    a guess, ``is_gradual`` leaves it only as far as the difference is beyond noise.

    Examples
    --------
    >>> tree_estimate(np.array([90.0, 8.0, 1.0, 1.0]), 0.0, np.ones(4)).round().tolist()
    [90.0, 8.0, 1.0, 1.0]
    """
    density = np.zeros(len(counts))
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    base = np.concatenate([[0.0], np.cumsum(prior)])
    held = max(float(sums[-1]) if total is None else total, 0.0)
    stack: list[tuple[int, int, float]] = [(0, len(counts), held)]
    while stack:
        start, stop, mass = stack.pop()
        if stop - start == 1 or mass <= 0:
            density[start:stop] = mass * prior[start:stop] / prior[start:stop].sum()
            continue
        middle = (start + stop) // 2
        left, right = sums[middle] - sums[start], sums[stop] - sums[middle]
        expected = (base[middle] - base[start]) / (base[stop] - base[start])
        surplus = (1 - expected) * left - expected * right
        noise = noise_std * math.hypot(
            (1 - expected) * math.sqrt(middle - start),
            expected * math.sqrt(stop - middle),
        )
        both = left + right
        share = expected
        if abs(surplus) > SIGNIFICANT * noise and both > 0:
            share = min(max(left / both, 0.0), 1.0)
            if is_gradual:
                share += (expected - share) * (SIGNIFICANT * noise / surplus) ** 2
        stack += [(start, middle, mass * share), (middle, stop, mass * (1 - share))]
    return density


def _inside(
    cells: NumberCells, left: float, right: float, parts: int
) -> Sequence[float]:
    inner = np.linspace(left, right, parts + 1)[1:-1]
    if cells.step is not None:
        half = cells.origin - 0.5 * cells.step
        inner = half + cells.step * np.round((inner - half) / cells.step)
    return [float(edge) for edge in inner if left < edge < right]


def _close(edges: list[Any], edge: float) -> None:
    if edge > edges[-1]:
        edges.append(edge)
