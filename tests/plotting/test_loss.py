import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from skdpgen import DPIndependentSynthesizer, DPMERFSynthesizer, Generator
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_loss


class Trained(BaseEstimator):
    """Fitted, and knows its losses."""

    def __init__(self, losses=()):
        self.loss_curve_ = losses

    def fit(self, X, y=None):
        return self


def lines(figure):
    return {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}


def test_a_fitted_synthesizer_is_drawn(tmp_path):
    X, y = load_example(500)
    synth = DPMERFSynthesizer(
        classes=["left", "stayed"], n_features=100, generator=Generator(max_iter=5)
    )
    figure = plot_loss(synth.fit(X, y))
    assert list(lines(figure)["each step"]) == synth.loss_curve_
    figure.savefig(tmp_path / "loss.png")
    assert (tmp_path / "loss.png").stat().st_size > 5000


def test_the_level_of_independent_columns_is_one_and_in_sight():
    figure = plot_loss(Trained([0.5, 0.3, 0.2]))
    assert list(lines(figure)["columns alone"]) == [1.0, 1.0]
    low, high = figure.axes[0].get_ylim()
    assert low < 0.2
    assert high > 1.0


def test_a_long_curve_has_a_running_mean_as_long_as_it_has_one():
    steps = np.linspace(3.0, 1.0, 50)
    drawn = lines(plot_loss(Trained(steps)))
    assert drawn["mean of 20"][-1] == pytest.approx(steps[-20:].mean())
    assert len(drawn["mean of 20"]) == 31
    assert "mean of 20" not in lines(plot_loss(Trained(steps[:10])))


def test_a_generator_that_was_not_trained_is_no_error(tmp_path):
    figure = plot_loss(Trained([]))
    assert [text.get_text() for text in figure.axes[0].texts] == ["no training steps"]
    figure.savefig(tmp_path / "loss.png")


def test_it_draws_where_it_is_told_to():
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plot_loss(Trained([1.0, 0.5]), ax=axes[1]) is figure
    assert not axes[0].lines
    assert axes[1].lines


def test_what_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        plot_loss(DPMERFSynthesizer())


def test_what_does_not_train_is_refused():
    X, y = load_example(300)
    baseline = DPIndependentSynthesizer(classes=["left", "stayed"]).fit(X[["age"]], y)
    with pytest.raises(TypeError, match="Got DPIndependentSynthesizer instead"):
        plot_loss(baseline)


def test_without_matplotlib_the_message_names_the_extra(monkeypatch):
    def hide(name):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", hide)
    with pytest.raises(ImportError, match=r"pip install 'skdpgen\[plot\]'"):
        plot_loss(Trained([1.0]))
