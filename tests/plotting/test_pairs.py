import numpy as np
import pandas as pd
import pytest

from skdpgen.datasets import load_example
from skdpgen.plotting import plot_pairs


@pytest.fixture
def tables():
    return load_example(300, random_state=0)[0], load_example(200, random_state=1)[0]


def heat_maps(figure):
    """Return the tables of shares that are drawn, in order."""
    return [np.asarray(axes.images[0].get_array()) for axes in figure.axes]


def names(figure, axis):
    """Return the names of the cells of the first panel."""
    ticks = getattr(figure.axes[0], f"get_{axis}ticklabels")()
    return [tick.get_text() for tick in ticks]


def test_every_kind_of_column_is_drawn(tables, tmp_path):
    kinds = ["job", "income", "region", "customer_since", "complaints", "education"]
    figure = plot_pairs(*tables, columns=kinds, max_pairs=99)
    assert len(figure.axes) == 2 * 15
    assert all(table.sum() == pytest.approx(1.0) for table in heat_maps(figure))
    plot_pairs(*tables, max_pairs=3).savefig(tmp_path / "pairs.png")
    assert (tmp_path / "pairs.png").stat().st_size > 10_000


def test_cells_are_shares_of_each_table():
    real = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "u", "u", "v"]})
    synthetic = pd.DataFrame({"a": ["x", "y"], "b": ["v", "v"]})
    figure = plot_pairs(real, synthetic)
    assert [axes.get_title() for axes in figure.axes] == ["real", "synthetic"]
    assert (names(figure, "y"), names(figure, "x")) == (["x", "y"], ["u", "v"])
    first, second = heat_maps(figure)
    assert first.tolist() == [[0.5, 0.0], [0.25, 0.25]]
    assert second.tolist() == [[0.0, 0.5], [0.0, 0.5]]


def test_both_panels_of_a_pair_share_their_colours(tables):
    figure = plot_pairs(*tables, max_pairs=2)
    scales = [axes.images[0].get_clim() for axes in figure.axes]
    assert scales[0] == scales[1]
    assert scales[0][1] == max(table.max() for table in heat_maps(figure)[:2])


def test_pairs_that_depend_most_come_first():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    real = pd.DataFrame(
        {
            "noise": rng.normal(size=2000),
            "x": x,
            "many": rng.integers(0, 200, 2000).astype(str),  # many cells, no relation
            "near x": x + 0.3 * rng.normal(size=2000),
        }
    )
    first, _ = plot_pairs(real, real, max_pairs=1).axes
    assert (first.get_ylabel(), first.get_xlabel()) == ("x", "near x")


def test_unrelated_numbers_give_an_even_colour():
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(20_000, 2)) ** 3)
    table = heat_maps(plot_pairs(rows, rows))[0]
    assert table.shape == (10, 10)
    assert table.max() < 1.4 * table.min()


def test_a_spike_takes_the_place_of_bins_and_none_is_empty():
    rng = np.random.default_rng(0)
    gain = np.where(rng.random(1000) < 0.7, 0.0, rng.exponential(size=1000))
    table = pd.DataFrame({"gain": gain, "half": rng.integers(0, 2, 1000)})
    shares = heat_maps(plot_pairs(table, table))[0].sum(axis=1)
    assert (gain == 0).mean() <= shares.max() <= (gain == 0).mean() + 0.1
    assert len(shares) == 4  # 0 and the three tenths above it
    assert shares.min() > 0


def test_missing_comes_last_and_rare_values_share_a_cell():
    letters = list("aaabbbcccdddeeefffggghhhiiijjjkl")
    real = pd.DataFrame({"letter": letters, "other": [None, *[True] * 31]})
    figure = plot_pairs(real, real)
    assert names(figure, "y")[-1] == "2 more"
    assert names(figure, "x") == ["True", "missing"]
    assert heat_maps(figure)[0].sum(axis=1)[-1] == pytest.approx(2 / 32)


def test_cells_of_numbers_and_dates_are_named_by_what_they_span():
    real = pd.DataFrame({"n": range(100), "x": np.arange(100) / 7 - 3})
    real["day"] = pd.date_range("2020-01-01", periods=100)
    figure = plot_pairs(real, real, columns=["n", "x"])
    assert names(figure, "y")[:2] == ["≤ 9", "10–19"]
    assert names(figure, "y")[-1] == "≥ 90"
    assert names(figure, "x")[:2] == ["< -1.57", "-1.57 to -0.143"]
    figure = plot_pairs(real, real, columns=["n", "day"])
    assert names(figure, "x")[0] == "< 2020-01-11"
    assert names(figure, "x")[1] == "2020-01-11–2020-01-21"


def test_what_stands_apart_has_cells_at_the_end():
    codes = [f"c{k:02d}" for k in range(20)]
    real = pd.DataFrame({"code": [*codes * 2, "other", None], "b": [0, 1] * 21})
    figure = plot_pairs(real, real.replace({"code": {"c19": "new"}}))
    last = ["10 more", "1 not real", "other", "missing"]
    assert names(figure, "y")[-4:] == last
    third = plot_pairs(real, real, other="c19")
    assert names(third, "y")[-2:] == ["c19", "missing"]


def test_booleans_have_a_cell_each(tables):
    figure = plot_pairs(*tables, columns=["age", "owns_home"])
    assert names(figure, "x") == ["False", "True"]


def test_values_of_the_synthetic_table_alone_are_seen():
    real = pd.DataFrame({"a": ["x"] * 4, "b": [0, 1, 0, 1]})
    synthetic = pd.DataFrame({"a": ["z"] * 4, "b": [0, 1, 0, 1]})
    first, second = heat_maps(plot_pairs(real, synthetic))
    assert (first * second).sum() == 0
    assert first.shape == (2, 2)


def test_constant_empty_and_infinite_columns_and_dates_are_drawn(tmp_path):
    day = pd.date_range("2020-01-01", periods=30, tz="UTC").to_series()
    real = pd.DataFrame(
        {
            "constant": np.full(30, 1.5),
            "empty": np.full(30, np.nan),
            "infinite": np.r_[np.inf, -np.inf, np.arange(28) / 7],
            "day": day.mask(np.arange(30) < 3).to_numpy(),
            "few": pd.array([1, 2, None] * 10, dtype="Int64"),
        }
    )
    varied = real.assign(constant=np.arange(30) / 7, empty=np.arange(30) / 7)
    for synthetic in (real, varied):
        figure = plot_pairs(real, synthetic, max_pairs=10)
        assert all(table.sum() == pytest.approx(1.0) for table in heat_maps(figure))
    figure.savefig(tmp_path / "pairs.png")


def test_arrays_are_tables_too():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    assert len(plot_pairs(rows, rows, columns=[0, 2, 0]).axes) == 2


def test_one_column_is_no_pair(tables):
    with pytest.raises(ValueError, match=r"at least two. Got \['age'\] instead"):
        plot_pairs(*tables, columns=["age"])


def test_unknown_columns_are_named(tables):
    with pytest.raises(ValueError, match=r"Got \['height'\] instead"):
        plot_pairs(*tables, columns=["age", "height"])


def test_tables_without_rows_are_refused(tables):
    with pytest.raises(ValueError, match="synthetic must have rows"):
        plot_pairs(tables[0], tables[1][:0])


def test_max_pairs_must_be_positive(tables):
    with pytest.raises(ValueError, match=r"max_pairs must be at least 1. Got 0"):
        plot_pairs(*tables, max_pairs=0)


def test_without_matplotlib_the_message_names_the_extra(tables, monkeypatch):
    def hide(name):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", hide)
    with pytest.raises(ImportError, match=r"pip install 'skdpgen\[plot\]'"):
        plot_pairs(*tables)
