"""Peers and images as cells of a run, and what a file may say of them."""

import time
from math import inf

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_digits

from benchmarks import peers
from benchmarks.__main__ import main
from benchmarks.catalogue import CATALOGUE
from skdpgen.benchmark import BenchConfig, run_cells
from skdpgen.exceptions import ConfigError
from tests.benchmark._small_run import SMALL, write_small_run
from tests.benchmarks._fake_peer import write_fake

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")

PEER = SMALL | {"methods": ["mst"], "adjacency": "add_remove", "releases": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_small_run(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def peer(tmp_path, monkeypatch):
    """Return what installs a peer that copies rows."""
    monkeypatch.setenv(peers.PLACE, str(tmp_path / "peers"))

    def write(extra=""):
        path = peers.python_in("dpmm")
        path.parent.mkdir(parents=True)
        return write_fake(path, extra)

    return write


def run(content, folder, out, **options):
    return run_cells(BenchConfig.from_dict(content, folder, CATALOGUE), out, **options)


def command(*arguments, code=0):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tables": ["adlut"]}, "Tables must be among adult, .* Got 'adlut'"),
        ({"tables": [{"name": "adult", "rows": 0}]}, "`rows` must be 1, 2, ..."),
        ({"tables": ["adult", "mnist"]}, "`tables` must be tables only, or sets of"),
        ({"tables": ["mnist"]}, "`methods` must be among DP.* Got 'DPIndependentSyn"),
        ({"methods": ["mst"]}, 'mst promises "add_remove" alone: say adjacency'),
        (
            {"epsilons": [inf], "methods": ["mst"], "adjacency": "add_remove"},
            "mst knows no run without noise: leave inf out",
        ),
        (
            {"methods": [{"class": "uniform", "settings": {"a": 1}}]},
            "Unknown in settings of uniform: a",
        ),
        (
            {"methods": [{"class": "uniform", "public": "all"}]},
            "uniform cannot read public rows",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_a_line(change, words):
    with pytest.raises(ConfigError, match=words) as caught:
        BenchConfig.from_dict(SMALL | change, catalogue=CATALOGUE)
    assert "\n" not in str(caught.value)


def test_a_known_table_needs_its_folder(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('tables = ["adult"]')
    with pytest.raises(ConfigError, match="Say `--data FOLDER`"):
        run_cells(BenchConfig.load(path, CATALOGUE), tmp_path, data=tmp_path)


def test_a_peer_is_a_method_like_others(folder, tmp_path, peer):
    peer()
    (row,) = run(PEER, folder, tmp_path / "out")
    assert row["fit_seconds"] == 7.0  # of the peer alone
    assert row["peak_mib"] == 11.0
    assert row["version"] == "fake 1"
    assert 0 < row["roc_auc"] < 1
    assert "privacy" not in row


@pytest.mark.usefixtures("computed")
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
    monkeypatch.setattr(peers.venv, "create", lambda at, with_pip: at.mkdir())
    monkeypatch.setattr(peers.subprocess, "run", lambda run, **how: ran.append(run))
    told = command("peers", "install", "mst", "aim", "patectgan")
    assert [run[-1] for run in ran] == ["dpmm==0.1.9", "packaging"]
    assert "has dpmm: mst, aim, privbayes." in told

    def broken(run, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(peers.subprocess, "run", broken)
    with pytest.raises(KeyboardInterrupt):
        peers.install_peer("mst")
    assert not (tmp_path / "peers" / "dpmm").exists()


@pytest.mark.usefixtures("computed")
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
