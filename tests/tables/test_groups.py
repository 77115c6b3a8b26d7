import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skdpgen.tables import CategoryCells, NumberCells, group_cells


def cells_of(kind, n, nullable):
    if kind == "numbers":
        return NumberCells(np.arange(n + 1.0), nullable)
    names = tuple(f"c{i}" for i in range(n))
    return CategoryCells(names, nullable, is_ordered=kind == "ordinal")


@st.composite
def columns(draw):
    """Cells of any kind with a marginal: zeros and one heavy cell among them."""
    kind = draw(st.sampled_from(["numbers", "ordinal", "categories"]))
    cells = cells_of(kind, draw(st.integers(1, 40)), draw(st.booleans()))
    mass = draw(
        st.lists(
            st.sampled_from([0.0, 1e-12, 1e6]) | st.floats(0, 1),
            min_size=cells.n_cells,
            max_size=cells.n_cells,
        )
    )
    return cells, np.array(mass) / max(sum(mass), 1.0)


EMPTY = (cells_of("numbers", 20, True), np.zeros(21))
ONE_HEAVY = (cells_of("ordinal", 20, True), np.eye(21)[20])
ONE_CATEGORY = (cells_of("categories", 20, True), np.eye(21)[7])


@given(columns(), st.integers(2, 12))
@example(EMPTY, 4)
@example(ONE_HEAVY, 2)
@example(ONE_CATEGORY, 3)
@settings(deadline=None)
def test_groups_are_a_partition_of_the_cells(column, n_groups):
    cells, marginal = column
    groups = group_cells(cells, marginal, n_groups)
    assert groups.of_cell.shape == (cells.n_cells,)
    assert set(groups.of_cell.tolist()) == set(range(groups.n_groups))
    assert groups.n_groups <= max(n_groups, 2)
    assert groups.n_groups >= min(cells.n_cells, 2)
    full = (marginal > 0) | ((marginal > 0).sum() < 2)
    if full.sum() <= n_groups:
        assert groups.of_cell[full].tolist() == list(range(full.sum()))
    if cells.is_ordered:  # runs, one after the other
        known = groups.of_cell[: cells.n_known]
        assert set(np.diff(known).tolist()) <= {0, 1}
        assert groups.n_ordered == known[full[: cells.n_known]].max(initial=-1) + 1
        if cells.nullable and full[-1]:  # "missing" shares with nobody that is there
            others = groups.of_cell[:-1][full[:-1]]
            assert groups.of_cell[-1] == groups.n_groups - 1 not in others
    else:
        assert groups.n_ordered == 0


@given(columns(), st.integers(2, 12))
@settings(deadline=None)
def test_groups_hold_what_their_cells_hold(column, n_groups):
    cells, marginal = column
    groups = group_cells(cells, marginal, n_groups)
    table = np.array([marginal, 1.0 - marginal, np.arange(cells.n_cells)])
    added = groups.add_up(table)
    assert added.shape == (3, groups.n_groups)
    np.testing.assert_allclose(added.sum(axis=1), table.sum(axis=1))
    for g in range(groups.n_groups):
        mine = table[:, groups.of_cell == g].sum(axis=1)
        np.testing.assert_allclose(added[:, g], mine, atol=1e-12)


@given(columns(), st.integers(2, 12))
@settings(deadline=None)
def test_only_the_rarest_categories_share(column, n_groups):
    cells, marginal = column
    groups = group_cells(cells, marginal, n_groups)
    full = marginal > 0
    if not cells.is_ordered and full.sum() > n_groups:
        marginal = marginal[full]
        sizes = np.bincount(groups.of_cell[full])
        assert (sizes > 1).sum() <= 1
        alone = sizes[groups.of_cell[full]] == 1
        assert groups.n_groups == n_groups
        assert marginal[~alone].max() <= marginal[alone].min()


@given(columns(), st.integers(2, 12))
@settings(deadline=None)
def test_codes_that_mean_nothing_stay_nothing(column, n_groups):
    cells, marginal = column
    groups = group_cells(cells, marginal, n_groups)
    n = cells.n_cells
    codes = np.array([-1, 0, n - 1, n, n + 5, -7, 2**40, -(2**40)])
    first, last = groups.of_cell[[0, -1]].tolist()
    assert groups.encode(codes).tolist() == [-1, first, last, -1, -1, -1, -1, -1]
    assert groups.encode(codes[:0]).tolist() == []


@pytest.mark.parametrize("kind", ["numbers", "ordinal"])
@pytest.mark.parametrize("nullable", [True, False])
def test_runs_have_about_equal_mass(kind, nullable):
    cells = cells_of(kind, 60, nullable)
    marginal = np.ones(cells.n_cells) / cells.n_cells
    groups = group_cells(cells, marginal, 6 + nullable)
    assert groups.n_ordered == 6
    assert groups.n_groups == 6 + nullable
    assert np.bincount(groups.of_cell)[:6].tolist() == [10] * 6


@pytest.mark.parametrize("heavy", [0, 3, 9])
def test_a_heavy_cell_takes_one_group_and_leaves_the_rest_to_others(heavy):
    marginal = np.full(10, 0.05)
    marginal[heavy] = 0.55
    groups = group_cells(cells_of("numbers", 10, False), marginal, 4)
    assert groups.n_groups >= 3
    lightest = np.delete(groups.add_up(marginal), groups.of_cell[heavy])
    assert groups.add_up(marginal)[groups.of_cell[heavy]] <= 0.71
    assert lightest.min() >= 0.05


@pytest.mark.parametrize("kind", ["numbers", "ordinal", "categories"])
def test_groups_depend_on_nothing_but_what_is_given(kind):
    cells = cells_of(kind, 30, True)
    marginal = np.random.default_rng(0).dirichlet(np.full(31, 0.3))
    before = marginal.copy()
    one, two = (group_cells(cells, marginal, 7) for _ in range(2))
    assert one.of_cell.tolist() == two.of_cell.tolist()
    np.testing.assert_array_equal(marginal, before)
