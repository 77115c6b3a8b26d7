"""Every pair of values occurs in a covering, and nothing gets lost beside it."""

from itertools import combinations, product

import pytest

from tests._covering import covering, parametrize_pairs

SIZES = [(3,), (2, 3), (2, 2, 2), (4, 4, 4), (8, 6, 3, 2), (1, 5, 2), (2,) * 6]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_pair_of_values_occurs(sizes):
    axes = [[f"{axis}{value}" for value in range(n)] for axis, n in enumerate(sizes)]
    cases = covering(*axes)
    for one, other in combinations(range(len(axes)), 2):
        met = {(case[one], case[other]) for case in cases}
        assert met == set(product(axes[one], axes[other]))
    for place, axis in enumerate(axes):
        assert {case[place] for case in cases} == set(axis)
    assert len(set(cases)) == len(cases)
    assert cases == covering(*axes)


def test_a_covering_is_small():
    assert len(covering(range(8), range(6), range(3), range(2))) == 48  # of 288
    assert len(covering(*[range(2)] * 6)) <= 9  # of 64
    assert len(covering(range(8), range(6), strength=1)) == 8


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_more_values_may_have_to_meet(strength):
    cases = covering(*[range(3)] * 4, strength=strength)
    for axes in combinations(range(4), strength):
        met = {tuple(case[axis] for axis in axes) for case in cases}
        assert len(met) == 3**strength


def test_some_combinations_may_come_first():
    wanted = [("x", 1, True), ("x", 1, False), ("y", 1, True)]
    cases = covering("xy", [1, 2], [True, False], first=wanted)
    assert set(wanted) < set(cases)
    assert {(letter, number) for letter, number, _ in cases} == {*product("xy", [1, 2])}
    mark = parametrize_pairs("a, b, c", "xy", [1, 2], [True, False], first=wanted)
    assert [case.values for case in mark.args[1] if not case.marks] == cases


def test_the_rest_of_the_product_is_slow():
    mark = parametrize_pairs("a, b, c", "xy", [1, 2], [True, False])
    names, cases = mark.args
    assert names == ["a", "b", "c"]
    assert [case.values for case in cases] == [*product("xy", [1, 2], [True, False])]
    fast = [case.values for case in cases if not case.marks]
    assert fast == covering("xy", [1, 2], [True, False])
    slow = [case for case in cases if case.marks]
    assert {mark.name for case in slow for mark in case.marks} == {"slow"}
