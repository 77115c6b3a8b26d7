import numpy as np
import pandas as pd
import pytest

from skdpgen.datasets import load_example
from skdpgen.metrics import marginal_distances, read_alike, total_variation
from skdpgen.plotting import plot_overview
from skdpgen.plotting._columns import lost_levels, ranges


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_a_page_of_every_kind_of_column(tmp_path):
    real, synthetic = load_example(300), load_example(200, random_state=1)
    figure = plot_overview(real, synthetic)
    mean = total_variation(real, synthetic)
    assert f"single columns: mean distance {mean:.3f}" in titles(figure)
    mean = total_variation(real, synthetic, order=2)
    assert f"pairs of columns: mean distance {mean:.3f}" in titles(figure)
    assert "outside the privacy guarantee" in figure.get_supxlabel()
    figure.savefig(tmp_path / "overview.png")
    assert (tmp_path / "overview.png").stat().st_size > 30_000


def test_complete_rows_and_missing_shares_are_told():
    real = pd.DataFrame({"a": [1.0, np.nan, 1.0, 1.0], "b": ["x", "y", "x", None]})
    figure = plot_overview(real, real.fillna({"a": 1.0}))
    assert titles(figure)[0] == "complete rows: 50 % real, 75 % synthetic"
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["a", "b"]  # the one that was kept worst comes first


def test_lost_and_new_categories():
    real = pd.Series(["x"] * 6 + ["y"] * 3 + ["z"])
    synthetic = pd.Series(["x"] * 7 + ["new", "other", "other"])
    pairs = {"a": read_alike(real, synthetic), "b": read_alike(real, real)}
    (lost,) = lost_levels(pairs, "other").values()
    assert (lost.n_real, lost.n_lost, lost.n_new) == (3, 2, 1)
    assert (lost.lost, lost.new, lost.other) == pytest.approx((0.4, 0.1, 0.2))
    assert lost.examples == ("y", "z")
    drawn = texts(plot_overview(real.to_frame("a"), synthetic.to_frame("a")))
    assert {"2 of 3", "40 %", "y, z", "1: 10 %", "20 %"} <= set(drawn)


def test_ranges_are_of_values_that_occur_and_the_worst_comes_first():
    same = pd.Series(np.arange(1000.0))
    day = pd.Series(pd.date_range("2020-01-01", periods=1000))
    pairs = {
        "same": read_alike(same, same),
        "day": read_alike(day, day + pd.Timedelta(days=1)),
        "far": read_alike(same, same.where(same < 999, np.inf)),
        "empty": read_alike(same, same * np.nan),
    }
    found = ranges(pairs)
    assert list(found)[-2:] == ["day", "same"]
    assert found["far"]["max"].tolist() == ["999", "∞"]
    assert found["day"]["min"].tolist() == ["2020-01-01", "2020-01-02"]
    assert set(found["empty"].loc["synthetic"]) == {"none"}


def test_columns_that_find_no_room_are_counted():
    rows = np.random.default_rng(0).normal(size=(2, 60, 40))
    figure = plot_overview(*rows)
    labels = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert labels[-1] == "mean of 16 more"
    assert "25 of 40 columns" in figure.axes[2].get_xlabel()
    assert any(text.startswith("28 more columns") for text in texts(figure))


@pytest.mark.parametrize("n", [1, 2, 30])
def test_odd_columns_are_drawn(n, tmp_path):
    real = pd.DataFrame(
        {
            "constant": np.full(n, 1.5),
            "empty": np.full(n, np.nan),
            "nothing": np.full(n, None, dtype=object),
            "infinite": np.where(np.arange(n) % 2, np.inf, np.arange(n)),
            "lists": pd.Series([[k] for k in range(n)]),
        }
    )
    plot_overview(real, real).savefig(tmp_path / "overview.png")
    plot_overview(real, real, columns=["empty"]).savefig(tmp_path / "one.png")


def test_tables_without_rows_are_refused():
    real = pd.DataFrame({"a": [1.0]})
    with pytest.raises(ValueError, match="synthetic must have rows"):
        plot_overview(real, real[:0])


def test_the_worst_pair_is_the_darkest():
    rng = np.random.default_rng(0)
    real = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("abc"))
    synthetic = real.assign(b=real["a"])
    figure = plot_overview(real, synthetic)
    table = np.asarray(figure.axes[2].images[0].get_array())
    names = [label.get_text() for label in figure.axes[2].get_yticklabels()]
    worst = {names[k] for k in np.unravel_index(table.argmax(), table.shape)}
    assert worst == {"a", "b"}
    assert table.max() == marginal_distances(real, synthetic, order=2).max()
