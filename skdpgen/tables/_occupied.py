"""Which octaves of a RELEASED histogram of magnitudes hold numbers, not only noise.

The evidence that is asked for grows with the harm: a column that noise made a thousand
times too wide is lost, one that is cut at its largest percent is not.
"""

from typing import Any

import numpy as np
from scipy.stats import norm

from skdpgen.tables._values import Floats

WINDOWS = (1, 2, 4, 8)  # octaves
FALSE_ALARM = 1e-4  # chance that noise sets any bound of a whole table
WRONG_SIGN = 2.5e-3  # chance that it makes any column of it reach beyond 0
PLAUSIBLE = (76, 36)  # octaves below the largest: 0.0001 to 100,000,000
LIKELY = 4.0  # noise stds that it must stand out
FURTHER = 2.0  # noise stds at which the next octave outwards looks occupied
NEARER = 1.75  # and towards 0, where a bound too far costs next to nothing
NARROW, EASILY, SURELY = 2, 3, 5.0  # octaves, and noise stds, of what is far from 0
TINY = 1e-9


def occupied(
    table: Floats, noise_std: float, n_columns: int, *, is_full: bool = False
) -> Any:
    """Find runs of 1 to 8 octaves of equal precision whose sum stands out.

    Short windows are taken first, of equal ones the fullest, and those that overlap a
    taken one are left: only mass that is spread over octaves needs a long window. An
    octave that is k octaves further from 0 than the bulk would make the column 2^k
    times as wide, so noise may pass for one 2^k times more rarely. Numbers of both
    signs are looked for by their size as well, and then by sign. If most rows hold a
    number and none is found so, the fullest window of usual magnitudes is taken.

    Parameters
    ----------
    table : ndarray of shape (n_octaves, n_precisions)
        Noisy counts; 0 in the middle, negative numbers before.
    noise_std : float
    n_columns : int
        Columns that are discovered together.
    is_full : bool, default=False
        Whether most rows hold a number.

    Returns
    -------
    seen : ndarray of bool, as ``table``
    """
    seen = np.zeros(table.shape, dtype=bool)
    zero = len(table) // 2
    sizes = table[zero + 1 :] + table[:zero][::-1]
    n_windows = len(WINDOWS) * (table.size + sizes.size)
    alarm = FALSE_ALARM / n_columns / n_windows
    top = _top_of_bulk(table, sizes)
    found = _full_windows(
        table, noise_std, alarm, np.abs(np.arange(len(table)) - zero), top
    )
    for start, width, column in found:
        window = seen[start : start + width, column]
        if not window.any():
            window[:] = True
    folded_std = noise_std * float(np.sqrt(2.0))
    for start, width, column in _full_windows(
        sizes, folded_std, alarm, np.arange(1, zero + 1), top
    ):
        _mark_signs(seen, table, noise_std, n_columns, start, width, column)
    if not seen.any() and is_full:
        start, width, score = _likeliest(sizes.sum(axis=1))
        noise = folded_std * float(np.sqrt(sizes.shape[1]))
        if score < LIKELY * noise:
            return seen
        column = int(sizes[start : start + width].sum(axis=0).argmax())
        _mark_signs(seen, table, noise_std, n_columns, start, width, column)
    return seen


def _likeliest(sizes: Floats) -> tuple[int, int, float]:
    """Return the window that stands out most, among magnitudes that people use."""
    first, last = (min(max(len(sizes) - end, 0), len(sizes)) for end in PLAUSIBLE)
    best, found = -np.inf, (first, 1)
    sums = np.concatenate([[0.0], np.cumsum(sizes)])
    for width in WINDOWS:
        for start in range(first, last - width + 1):
            score = (sums[start + width] - sums[start]) / float(np.sqrt(width))
            if score > best:
                best, found = score, (start, width)
    return *found, best


def _full_windows(
    table: Floats,
    noise_std: float,
    alarm: float,
    size: Any,
    top: int,
) -> list[tuple[int, int, int]]:
    """Return the windows that stand out, short and full ones first.

    None reaches over 0: what is on one side must not pass for the sign of the other.
    """
    sums = np.vstack([np.zeros(table.shape[1]), np.cumsum(table, axis=0)])
    found: list[tuple[float, int, int, int]] = []
    for width in WINDOWS:
        totals = sums[width:] - sums[:-width]
        ends = np.maximum(size[: len(totals)], size[width - 1 :])
        stds = norm.isf(alarm / np.exp2(np.maximum(ends - top, 0).astype(float)))
        limits = np.maximum(stds * noise_std * np.sqrt(width), 0.5)[:, None]
        starts = np.arange(len(totals))
        zeros = np.flatnonzero(size == 0)
        if width > 1 and len(zeros):
            limits[(starts <= zeros[0]) & (starts + width > zeros[0])] = np.inf
        for start, column in np.argwhere(totals > limits):
            score = float(totals[start, column]) / np.sqrt(width)
            found.append((score, int(start), width, int(column)))
    return [f[1:] for f in sorted(found, key=lambda f: (f[2], -f[0]))]


def _mark_signs(
    seen: Any,
    table: Floats,
    noise_std: float,
    n_columns: int,
    start: int,
    width: int,
    column: int,
) -> None:
    """Mark the signs of a window of sizes: those that stand out, or the fuller."""
    zero = len(table) // 2
    above = slice(zero + 1 + start, zero + 1 + start + width)
    below = slice(zero - start - width, zero - start)
    if seen[above, column].any() or seen[below, column].any():
        return
    sums = {True: table[above, column].sum(), False: table[below, column].sum()}
    limit = float(norm.isf(WRONG_SIGN / n_columns)) * noise_std * float(np.sqrt(width))
    fuller = sums[True] >= sums[False]
    for is_above, side in ((True, above), (False, below)):
        if sums[is_above] > limit or is_above == fuller:
            seen[side, column] = True


def _top_of_bulk(table: Floats, sizes: Floats) -> int:
    """Return how far from 0 the window reaches that stands out most; 0 has no size."""
    zero = len(table) // 2
    best, top = -np.inf, 0
    parts = (table[zero + 1 :], table[:zero][::-1], sizes / np.sqrt(2.0))
    for part in parts:
        sums = np.vstack([np.zeros(part.shape[1]), np.cumsum(part, axis=0)])
        for width in WINDOWS:
            totals = (sums[width:] - sums[:-width]).max(axis=1) / np.sqrt(width)
            start = int(totals.argmax())
            if totals[start] > best:
                best, top = float(totals[start]), start + width
    return top


def extended(core: Any, octaves: Floats, std: float) -> tuple[int, int]:
    """Widen the certain range while the next octaves look occupied, up to 0.

    What is in one or two octaves, as years are, may be far from 0 and narrow: it grows
    to three easily, which a finer look can cut again, and further only if that is sure.
    """
    first, last = int(core.min()), int(core.max())
    zero = len(octaves) // 2
    sums = np.concatenate([[0.0], np.cumsum(octaves)])
    is_narrow = last - first < NARROW and not first <= zero <= last

    def looks_full(start: int, stop: int, stds: float) -> bool:
        if is_narrow and max(last, stop - 1) - min(first, start) >= EASILY:
            stds = SURELY
        limit = max(stds * std * float(np.sqrt(stop - start)), 0.5)
        return bool(sums[stop] - sums[start] > limit)

    if last > zero:
        while last + 1 < len(octaves) and looks_full(last + 1, last + 2, FURTHER):
            last += 1
    if first < zero:
        while first and looks_full(first - 1, first, FURTHER):
            first -= 1
    for width in (*WINDOWS, 1):
        while first - width >= zero and looks_full(first - width, first, NEARER):
            first -= width
        while last + width <= zero and looks_full(last + 1, last + width + 1, NEARER):
            last += width
    return first, last


def both_signs(
    first: int, last: int, octaves: Floats, std: float, n_columns: int
) -> tuple[int, int]:
    """Take the other sign in, if its octaves of like magnitude are occupied.

    Numbers around 0 fill two runs of octaves, far apart on this grid. Where one run
    stands out, the other sign is looked for in one place: by how much it resembles the
    first, and by runs in it that stand out.
    """
    zero = len(octaves) // 2
    is_far = last - first < NARROW and not first <= zero <= last
    chance = FALSE_ALARM if is_far else WRONG_SIGN  # it would span what is between
    alarm = chance / n_columns
    top = max(abs(first - zero), abs(last - zero), 1)
    inner = max(top - 2 * WINDOWS[-1] + 1, 1)
    below = octaves[zero - top : zero - inner + 1][::-1]
    above = octaves[zero + inner : zero + top + 1]
    if first >= zero and last > zero:
        end = _other_end(above, below, std, alarm / 2)
        first = first if end is None else min(first, zero - inner - end)
    elif last <= zero and first < zero:
        end = _other_end(below, above, std, alarm / 2)
        last = last if end is None else max(last, zero + inner + end)
    return first, last


def _other_end(known: Floats, other: Floats, std: float, alarm: float) -> int | None:
    """Return the last octave of the other sign that is occupied; None if none is."""
    profile = np.maximum(known, 0.0)
    likeness = float(profile @ other) / max(float(np.linalg.norm(profile)), TINY)
    is_there = likeness > max(float(norm.isf(alarm)) * std, 0.5)
    sums = np.concatenate([[0.0], np.cumsum(other)])
    full, looks_full = [], []
    stds = float(norm.isf(alarm / (len(WINDOWS) * len(other))))
    for width in WINDOWS:
        totals = (sums[width:] - sums[:-width]) / np.sqrt(width)
        ends = np.arange(len(totals)) + width - 1
        full += ends[totals > max(stds * std, 0.5)].tolist()
        looks_full += ends[totals > max(FURTHER * std, 0.5)].tolist()
    if not (is_there or full):
        return None
    return int(max(full + looks_full * is_there, default=int(profile.argmax())))
