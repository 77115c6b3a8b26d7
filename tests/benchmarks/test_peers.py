"""Peers in another environment: a script that acts as one, and the real runner."""

import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import peer_runner as runner
from benchmarks.peers import Other, Peer, Uniform
from skdpgen.benchmark._own_table import Split
from skdpgen.datasets import load_example
from tests.benchmarks._fake_peer import write_fake

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")

CLASSES = ["left", "stayed"]


@pytest.fixture
def fake(tmp_path):
    return lambda extra="": write_fake(tmp_path / "python", extra)


@pytest.fixture
def split():
    X, y = load_example(1500)
    return Split("example", X[:1000], y[:1000], X[1000:], y[1000:])


def peer(python, **settings):
    other = Other(python, settings)
    return Peer("mst", other, 700, epsilon=1.0, classes=CLASSES, random_state=3)


def test_a_peer_samples_rows_like_those_it_was_fitted_on(fake, split):
    fitted = peer(fake(), degree=3).fit(split.X_train, split.y_train)
    X, y = fitted.sample(random_state=0)
    assert fitted.costs_["fit_seconds"] == 7.0
    assert fitted.costs_["settings"] == {"degree": 3}
    assert list(X.columns) == list(split.X_train.columns)
    assert list(X.dtypes.map(str)) == list(split.X_train.dtypes.map(str))
    assert len(X) == len(y) == 700
    # the fake copies rows: shares of labels are those of the private rows
    real = (split.y_train == "left").mean()
    assert (y == "left").mean() == pytest.approx(real, abs=0.06)
    again, _ = fitted.sample(random_state=0)
    pd.testing.assert_frame_equal(X, again)
    with pytest.raises(ValueError, match="the peer drew that many rows"):
        fitted.sample(10)


def test_rows_of_a_regression(fake, split):
    y = pd.Series(np.arange(1000.0), name="y")
    other = Other(fake(), {})
    fitted = Peer("mst", other, 700, epsilon=3.0).fit(split.X_train, y)
    _, drawn = fitted.sample(random_state=0)
    assert fitted.task_ == "regression"
    assert drawn.std() == pytest.approx(y.std(), rel=0.3)


def test_uniform_rows_know_no_label():
    X, y = load_example(2000)
    lowest = Uniform(epsilon=5.0, classes=["left", "stayed"]).fit(X, y)
    drawn, labels = lowest.sample(4000, random_state=0)
    assert list(drawn.columns) == list(X.columns)
    assert (labels == "left").mean() == pytest.approx(0.5, abs=0.05)
    assert lowest.privacy_.epsilon == 5.0


def test_peers_promise_add_remove_only(fake):
    with pytest.raises(ValueError, match="peers promise no other"):
        Peer("mst", Other(fake(), {}), 10, adjacency="replace", epsilon=1.0)


def test_what_a_peer_says_when_it_fails(fake, split):
    broken = peer(fake("raise ImportError('no such peer')"))
    with pytest.raises(RuntimeError, match=r"(?s)Install dpmm there.*no such peer"):
        broken.fit(split.X_train, split.y_train)


class Smart:
    """What the runner expects of SmartNoise: made by name, fitted on categories."""

    @classmethod
    def create(cls, name, epsilon, delta, epochs):
        made = cls()
        made.parameters = name, epsilon, delta, epochs
        return made

    def fit(self, frame, categorical_columns, preprocessor_eps):
        assert categorical_columns == list(frame)
        assert preprocessor_eps == 0.0
        self.frame = frame

    def sample(self, n):
        return self.frame.sample(n, replace=True)


def test_the_runner_asks_a_gan():
    table = np.column_stack([np.arange(30) % 3, np.full(30, 4)])
    request = {
        **{"peer": "dpctgan", "epsilon": 1.0, "delta": 1e-5, "sizes": [3, 5]},
        **{"n_samples": 12, "seed": 0, "settings": {"epochs": 2}},
    }
    names = pd.DataFrame(table, columns=["c0", "c1"])
    model = runner.fit_smartnoise(Smart, "dpctgan", names, request)
    assert model.parameters == ("dpctgan", 1.0, 1e-5, 2)
    assert runner.draw(model, request).shape == (12, 2)


class Copycat:
    """What the runner expects of a peer's class."""

    def __init__(self, epsilon, delta, disable_processing, n_jobs, compress):
        self.parameters = epsilon, delta, disable_processing, n_jobs, compress

    def fit(self, frame, domain, random_state):
        assert (frame.max() < pd.Series(domain)).all()
        self.frame, self.seed = frame, random_state

    def generate(self, n_records, random_state):
        assert random_state == self.seed
        rows = self.frame.sample(n_records, random_state=random_state, replace=True)
        return rows[self.frame.columns[::-1]]  # peers may reorder columns


def test_the_runner_asks_the_peer(monkeypatch, tmp_path):
    module = types.ModuleType("dpmm.pipelines")
    module.MSTPipeline = Copycat
    monkeypatch.setitem(sys.modules, "dpmm", types.ModuleType("dpmm"))
    monkeypatch.setitem(sys.modules, "dpmm.pipelines", module)
    monkeypatch.setattr(runner, "version", lambda peer: "dpmm 0")
    table = np.column_stack([np.arange(30) % 3, np.full(30, 4)])
    np.save(tmp_path / "table.npy", table)
    request = {
        **{"peer": "mst", "epsilon": 1.0, "delta": 1e-5, "sizes": [3, 5]},
        **{"n_samples": 12, "seed": 0, "settings": {"compress": False}},
    }
    (tmp_path / "request.json").write_text(json.dumps(request))
    runner.main(str(tmp_path))
    drawn = np.load(tmp_path / "answer.npy")
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert drawn.shape == (12, 2)
    assert set(drawn[:, 1]) == {4}
    assert answer["version"] == "dpmm 0"
    assert answer["peak_mib"] > 1


def test_the_runner_imports_nothing_of_ours():
    code = f"import runpy, sys; runpy.run_path({str(runner.__file__)!r}); "
    code += "print(sorted(m for m in sys.modules if m.split('.')[0] in "
    code += "('skdpgen', 'benchmarks', 'torch', 'numpy', 'pandas')))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_peak_of_a_process_is_its_own():
    ballast = np.ones(40_000_000)  # 305 MiB, all of them touched
    code = "import runpy; print(runpy.run_path({!r})['peak_mib']())"
    run = [sys.executable, "-I", "-c", code.format(str(Path(runner.__file__)))]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert float(done.stdout) < ballast.nbytes / 2**20
