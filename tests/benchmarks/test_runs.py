"""Peers, the lowest floor and images as cells of a run, and limits of time."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

from skdpgen.benchmark import _peers
from skdpgen.benchmark._floor_codes import Uniform
from skdpgen.benchmark.runs import BenchConfig, run_cells
from skdpgen.datasets import load_example
from tests.benchmark._fake_rival import write_fake
from tests.benchmark._small_run import SMALL, command, write_small_run

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.RareValuesWarning")

PEER = SMALL | {"methods": ["mst"], "adjacency": "add_remove", "releases": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_small_run(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def peer(tmp_path, monkeypatch):
    """Return what installs a peer that copies rows."""
    monkeypatch.setenv(_peers.PLACE, str(tmp_path / "peers"))

    def write(extra=""):
        path = _peers.python_in("dpmm")
        path.parent.mkdir(parents=True)
        return write_fake(path, extra)

    return write


def run(content, folder, out, **options):
    return run_cells(BenchConfig.from_dict(content, folder), out, **options)


def test_a_peer_is_a_method_like_others(folder, tmp_path, peer):
    peer()
    (row,) = run(PEER, folder, tmp_path / "out")
    assert row["fit_seconds"] == 7.0  # of the peer alone
    assert row["peak_mib"] == 11.0
    assert row["version"] == "fake 1"
    assert 0 < row["roc_auc"] < 1
    assert "privacy" not in row


def test_a_peer_that_is_not_installed_says_how(folder, tmp_path, peer):
    (row,) = run(PEER, folder, tmp_path / "out")
    assert row["error"] == "ConfigError"
    assert "mst: dpmm, not installed" in command("peers", "list")
    peer()
    assert f"mst: dpmm, {tmp_path}" in command("peers", "list")


def test_a_peer_is_given_up_and_ends(folder, tmp_path, peer):
    mark = tmp_path / "mark"
    write = f"import threading, os; open({str(mark)!r}, 'w').close(); "
    # what the real runner does, too: end with whoever asks
    ends = "threading.Thread(target=lambda: (os.read(0, 1), os.remove("
    ends += f"{str(mark)!r}), os._exit(1))).start(); import time; time.sleep(600)"
    peer(write + ends)
    (row,) = run(PEER | {"limit": 20}, folder, tmp_path / "out")
    assert (row["error"], row["message"]) == ("GivenUp", "Given up after 20 seconds.")
    deadline = time.monotonic() + 30
    while mark.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_peers_are_installed_apart_or_not_at_all(peer, monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr(_peers.venv, "create", lambda at, with_pip: at.mkdir())
    monkeypatch.setattr(_peers.subprocess, "run", lambda run, **how: ran.append(run))
    told = command("peers", "install", "mst", "aim", "patectgan")
    assert [run[-1] for run in ran] == ["dpmm==0.1.9", "packaging"]
    assert "has dpmm: mst, aim, privbayes." in told

    def broken(run, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(_peers.subprocess, "run", broken)
    with pytest.raises(KeyboardInterrupt):
        _peers.install_peer("mst")
    assert not (tmp_path / "peers" / "dpmm").exists()


def test_no_cell_begins_after_the_minutes(folder, tmp_path):
    out = tmp_path / "out"
    assert run(SMALL, folder, out, minutes=0) == []
    told = command(folder / "small.toml", "--out", out, "--minutes", 0)
    assert "3 cells are not run yet; the same command goes on." in told


def test_printed_numbers_go_to_their_rows(folder, tmp_path):
    texts = {"mine": {"DPIndependentSynthesizer": {"1": ".8", "2": ".9"}}}
    rows = run(SMALL | {"printed": texts, "releases": 1}, folder, tmp_path)
    assert [row["printed"] for row in rows] == [".8"]


def test_uniform_rows_know_no_label():
    X, y = load_example(2000)
    floor = Uniform(epsilon=5.0, classes=["left", "stayed"]).fit(X, y)
    drawn, labels = floor.sample(4000, random_state=0)
    assert list(drawn.columns) == list(X.columns)
    assert (labels == "left").mean() == pytest.approx(0.5, abs=0.05)
    assert floor.privacy_.epsilon == 5.0


def test_sets_of_images_have_cells(tmp_path):
    pixels, labels = load_digits(return_X_y=True)
    pixels = np.rint(pixels.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
    parts = {"x_train": pixels[:1200], "y_train": labels[:1200]}
    parts |= {"x_test": pixels[1200:], "y_test": labels[1200:]}
    np.savez(tmp_path / "usps.npz", **parts)
    content = {
        **{"tables": ["usps"], "methods": ["DPMGESynthesizer"], "epsilons": [10.0]},
        **{"classifiers": ["logistic_regression"], "releases": 1},
    }
    real, ours = run(content, tmp_path, tmp_path / "out", data=tmp_path)
    assert (real["rows"], ours["rows"]) == (1200, 1200)
    assert real["logistic_regression"] > ours["logistic_regression"] > 0.3
    assert ours["schema"] is None
    assert ours["privacy"]["epsilon"] == 10.0
