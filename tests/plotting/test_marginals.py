import builtins

import numpy as np
import pandas as pd
import pytest

from skdpgen.datasets import load_example
from skdpgen.plotting import plot_marginals


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


def test_only_the_first_columns_are_drawn(tables):
    assert len(plot_marginals(*tables, max_columns=3).axes) == 3


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
    heights = axes.patches[0].get_xy()[:, 1]
    assert heights.max() == pytest.approx(1 / 40)


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
