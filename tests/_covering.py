"""Fewer combinations of parameters: each pair of values occurs, and the rest is slow.

Most bugs that hang on parameters hang on one value, or on two together. So the suite
runs combinations in which every two values of different axes meet at least once;
``make slow`` runs the others.
"""

from collections import Counter
from itertools import combinations, product

import pytest


def covering(*axes, strength=2, first=()):
    """Return few combinations in which any values of that many axes meet.

    Parameters
    ----------
    *axes : iterables
        Values of each parameter.
    strength : int
        How many values must meet: 2 for every pair, 1 for every value by itself.
    first : iterable of tuples
        Combinations that are in it in any case.

    Returns
    -------
    list of tuples
        The same ones each time, in the order of the full product.
    """
    axes = [list(axis) for axis in axes]
    every = list(product(*map(range, map(len, axes))))
    groups = list(combinations(range(len(axes)), min(strength, len(axes))))
    met = {one: 0 for places in every for one in _meetings(places, groups)}
    chosen = [
        tuple(axis.index(value) for axis, value in zip(axes, values, strict=True))
        for values in first
    ]
    met.update(Counter(one for places in chosen for one in _meetings(places, groups)))
    while 0 in met.values():

        def gain(places):
            """Return how many meetings are new, and how rare the others were."""
            times = [met[one] for one in _meetings(places, groups)]
            return times.count(0), -sum(times)

        chosen.append(max(every, key=gain))
        for one in _meetings(chosen[-1], groups):
            met[one] += 1
    return [
        tuple(axis[place] for axis, place in zip(axes, places, strict=True))
        for places in sorted(chosen)
    ]


def _meetings(places, groups):
    """Yield the values, by axis, that meet in one combination."""
    for group in groups:
        yield group, tuple(places[axis] for axis in group)


def parametrize_pairs(names, *axes, strength=2, first=(), **params):
    """Parametrize a test by all combinations; those that add no pair are slow.

    Parameters
    ----------
    names : str
        Names of the parameters, separated by commas.
    *axes : iterables
        Values of each parameter.
    strength, first :
        As for :func:`covering`.
    **params : any
        For ``pytest.mark.parametrize``.
    """
    axes = [list(axis) for axis in axes]
    quick = covering(*axes, strength=strength, first=first)
    return parametrize_some(names, quick, *axes, **params)


def parametrize_some(names, quick, *axes, **params):
    """Parametrize a test by all combinations; those that are not quick are slow.

    Parameters
    ----------
    names : str
        Names of the parameters, separated by commas.
    quick : iterable of tuples
        Combinations that are not slow.
    *axes : iterables
        Values of each parameter.
    **params : any
        For ``pytest.mark.parametrize``.
    """
    quick = list(quick)
    cases = [
        pytest.param(*case, marks=() if case in quick else pytest.mark.slow)
        for case in product(*axes)
    ]
    assert len(quick) == sum(not case.marks for case in cases)
    return pytest.mark.parametrize(names.replace(" ", "").split(","), cases, **params)
