import builtins

import numpy as np
import pandas as pd
import pytest

from skdpgen.datasets import load_example
from skdpgen.metrics import read_alike
from skdpgen.plotting import plot_marginals
from skdpgen.plotting._columns import Steps, panel_of


@pytest.fixture
def tables():
    return load_example(200, random_state=0)[0], load_example(150, random_state=1)[0]


def panels(figure):
    return {axes.get_title(): axes for axes in figure.axes}


def tick_labels(axes):
    return [label.get_text() for label in axes.get_xticklabels()]


def test_every_kind_of_column_is_drawn(tables, tmp_path):
    figure = plot_marginals(*tables)
    assert list(panels(figure)) == list(tables[0].columns)
    figure.savefig(tmp_path / "marginals.png")
    assert (tmp_path / "marginals.png").stat().st_size > 10_000


def test_columns_that_are_not_on_the_page_are_announced(tables):
    whole = plot_marginals(*tables)
    assert whole.get_supxlabel() == ""
    names = []
    for page in (1, 2, 3):
        figure = plot_marginals(*tables, max_columns=6, page=page)
        names += panels(figure)
        assert f" of {tables[0].shape[1]}" in figure.get_supxlabel()
    assert names == list(panels(whole))


def test_a_page_must_exist(tables):
    with pytest.raises(ValueError, match=r"page must be 1 to 2 here. Got 3"):
        plot_marginals(*tables, max_columns=8, page=3)


def test_bars_are_shares_of_each_table():
    real = pd.DataFrame({"a": ["x", "x", "x", "y"]})
    synthetic = pd.DataFrame({"a": ["x", "y"]})
    (axes,) = plot_marginals(real, synthetic).axes
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
    assert heights == [[0.75, 0.25], [0.5, 0.5]]


def test_missing_values_are_a_bar_of_their_own_and_come_last(tables):
    figure = plot_marginals(*tables, columns=["region", "complaints"])
    for axes in figure.axes:
        assert tick_labels(axes).count("missing") == 1
        assert tick_labels(axes)[-1] == "missing"


def test_many_categories_end_in_bars_for_all_others():
    codes = [f"c{k:03d}" for k in range(300) for _ in range(300 - k)]
    real = pd.DataFrame({"code": [*codes, "other", None]})
    synthetic = pd.DataFrame({"code": [*codes[:100], "new", "newer", "other"]})
    (axes,) = plot_marginals(real, synthetic).axes
    labels = tick_labels(axes)
    assert labels[:12] == [f"c{k:03d}" for k in range(12)]
    assert labels[12:] == ["288 more", "2 not real", "other", "missing"]
    (axes,) = plot_marginals(real, synthetic, other="c299").axes
    assert tick_labels(axes)[-2:] == ["c299", "missing"]


def test_a_value_called_missing_is_no_missing_value():
    real = pd.DataFrame({"a": ["missing", "missing", "x", None]})
    (axes,) = plot_marginals(real, real).axes
    assert tick_labels(axes) == ['"missing"', "x", "missing"]


def test_a_far_synthetic_tail_is_counted_and_does_not_squeeze():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"x": rng.normal(size=2000)})
    synthetic = real.where(np.arange(2000)[:, None] >= 50, 1e12)
    (axes,) = plot_marginals(real, synthetic).axes
    assert tick_labels(axes)[-1].startswith("> ")
    numbers = [text.get_text() for text in axes.texts][-4:]  # real ones, then synthetic
    assert (numbers[1], numbers[3]) == ("0", "2.5")
    shown = axes.patches[0].get_data().values
    assert (shown > 0).mean() > 0.9


def test_text_dates_durations_and_objects_are_drawn():
    days = pd.date_range("2020-01-01", periods=200)
    real = pd.DataFrame(
        {
            "text": days.strftime("%d.%m.%Y"),
            "date": list(days.date),
            "lists": pd.Series([[1], [2]] * 100),
            "mixed": pd.Series([1, "x"] * 100, dtype=object),
            "length": days - days[0],
        }
    )
    synthetic = real.assign(text=["soon", *real["text"][1:]])
    drawn = panels(plot_marginals(real, synthetic))
    assert tick_labels(drawn["text"])[-1] == "no date"
    assert tick_labels(drawn["text"])[0].startswith("2020-")
    assert tick_labels(drawn["date"])[0].startswith("2020-")
    assert tick_labels(drawn["lists"]) == ["[1]", "[2]"]
    assert len(tick_labels(drawn["mixed"])) == 2


def test_every_row_is_in_the_panel(tables):
    rng = np.random.default_rng(0)
    real = tables[0].assign(
        wide=rng.standard_cauchy(200), code=rng.integers(0, 99, 200)
    )
    synthetic = tables[1].assign(wide=rng.normal(size=150) + 9, code=np.inf)
    for name in real.columns:
        panel = panel_of(read_alike(real[name], synthetic[name]), "other")
        ends = [*panel.left, *panel.right]
        for side in ("real", "synthetic"):
            body = panel.body
            values = (
                getattr(body, side)
                if isinstance(body, Steps)
                else [getattr(bar, side) for bar in body]
            )
            total = np.sum(values) + sum(getattr(bar, side) for bar in ends)
            assert total == pytest.approx(1.0), name


def test_booleans_have_two_bars(tables):
    (axes,) = plot_marginals(*tables, columns=["owns_home"]).axes
    assert tick_labels(axes) == ["False", "True"]


def test_ordered_categories_keep_their_order(tables):
    (axes,) = plot_marginals(*tables, columns=["education"]).axes
    order = list(tables[0]["education"].cat.categories)
    assert tick_labels(axes) == [name for name in order if name in tick_labels(axes)]


def test_whole_numbers_get_bins_between_them():
    ages = pd.DataFrame({"age": np.arange(20, 60)})
    (axes,) = plot_marginals(ages, ages).axes
    assert axes.patches[0].get_data().values.max() == pytest.approx(1 / 40)


def test_constant_empty_and_infinite_columns_are_drawn():
    real = pd.DataFrame(
        {
            "constant": np.full(30, 1.5),
            "empty": np.full(30, np.nan),
            "infinite": np.r_[np.inf, -np.inf, np.arange(28) / 7],
        }
    )
    assert len(plot_marginals(real, real).axes) == 3


def test_arrays_are_tables_too():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    assert list(panels(plot_marginals(rows, rows))) == ["0", "1"]


def test_images_are_refused():
    with pytest.raises(ValueError, match=r"two-dimensional array. Got 3 dimensions"):
        plot_marginals(np.zeros((5, 4, 4)), np.zeros((5, 4, 4)))


def test_unknown_columns_are_named(tables):
    with pytest.raises(ValueError, match=r"Got \['height'\] instead"):
        plot_marginals(*tables, columns=["height"])


def test_tables_without_a_common_column_are_refused():
    with pytest.raises(ValueError, match="that both tables have"):
        plot_marginals(pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}))


def test_max_columns_must_be_positive(tables):
    with pytest.raises(ValueError, match=r"max_columns must be at least 1. Got 0"):
        plot_marginals(*tables, max_columns=0)


def test_without_matplotlib_the_message_names_the_extra(tables, monkeypatch):
    find = builtins.__import__

    def hide(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return find(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", hide)
    monkeypatch.setattr("importlib.import_module", hide)
    with pytest.raises(ImportError, match=r"pip install 'skdpgen\[plot\]'"):
        plot_marginals(*tables)
