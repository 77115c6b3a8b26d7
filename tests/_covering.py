"""Fewer combinations of parameters: each pair of values occurs, and the rest is slow.

Most bugs that hang on parameters hang on one value or on two together. So the suite runs
combinations in which every two values of different axes meet at least once; ``make slow``
runs the others.
"""

from itertools import combinations, product

import pytest


def covering(*axes, strength=2):
    """Return few combinations in which any values of that many axes meet.

    Parameters
    ----------
    *axes : iterables
        Values of each parameter.
    strength : int
        How many values must meet: 2 for every pair, 1 for every value by itself.

    Returns
    -------
    list of tuples
        The same ones each time, in the order of the full product.
    """
    axes = [list(axis) for axis in axes]
    every = list(product(*map(range, map(len, axes))))
    groups = list(combinations(range(len(axes)), min(strength, len(axes))))
    missing = {meeting for places in every for meeting in _meetings(places, groups)}
    chosen = []
    turn = 0  # ties go to places further on, so that values take turns
    while missing:
        best, most = None, 0
        for step in range(len(every)):
            places = every[(turn + step) % len(every)]
            n_new = sum(one in missing for one in _meetings(places, groups))
            if n_new > most:
                best, most, at = places, n_new, turn + step
            if most == len(groups):
                break
        turn = at + 1
        missing.difference_update(_meetings(best, groups))
        chosen.append(best)
    return [
        tuple(axis[place] for axis, place in zip(axes, places, strict=True))
        for places in sorted(chosen)
    ]


def _meetings(places, groups):
    """Yield the values, by axis, that meet in one combination."""
    for group in groups:
        yield group, tuple(places[axis] for axis in group)


def parametrize_pairs(names, *axes, strength=2, **params):
    """Parametrize a test by all combinations; those that add no pair are slow.

    Parameters
    ----------
    names : str
        Names of the parameters, separated by commas.
    *axes : iterables
        Values of each parameter, hashable.
    strength : int
        As for :func:`covering`.
    **params : any
        For ``pytest.mark.parametrize``.
    """
    axes = [list(axis) for axis in axes]
    fast = {tuple(places) for places in covering(*map(_places, axes), strength=strength)}
    cases = [
        pytest.param(
            *(axis[place] for axis, place in zip(axes, places, strict=True)),
            marks=() if places in fast else pytest.mark.slow,
        )
        for places in product(*map(_places, axes))
    ]
    return pytest.mark.parametrize(names.replace(" ", "").split(","), cases, **params)


def _places(axis):
    return range(len(axis))
