"""Images in an `.npz` are read a few at a time, as they were written."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from skdpgen import load
from skdpgen.cli import _table_files, main
from skdpgen.cli._table_files import image_chunks, some_images
from skdpgen.metrics import _utility

X = np.random.default_rng(0).integers(0, 255, (50, 8, 8), dtype=np.uint8)
Y = np.arange(50) % 3


def run(*arguments, code=0):
    found = CliRunner().invoke(main, [str(one) for one in arguments])
    assert found.exit_code == code, found.output
    return found.output


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_pieces_are_the_whole(save, tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    save(path, x_train=X, y_train=Y)
    monkeypatch.setattr(_table_files, "BYTES_OF_PIECE", 7 * 64)
    chunks = image_chunks(path)
    for _ in range(2):
        pieces = list(chunks)
        assert [len(x) for x, _ in pieces] == [7] * 7 + [1]
        assert np.array_equal(np.concatenate([x for x, _ in pieces]), X)
        assert np.array_equal(np.concatenate([y for _, y in pieces]), Y)
    x, y = chunks.first
    assert (x.shape, x.dtype, y.dtype) == ((0, 8, 8), X.dtype, Y.dtype)


def test_a_fit_of_images(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=X.astype(np.float32) / 255, y=np.array(["a", "b", "c"])[Y])
    run("fit", path, "--method", "mge", "--epsilon", 20, "--classes", "a,b,c",
        "--out", tmp_path / "model", "--quiet")  # fmt: skip
    images, labels = load(tmp_path / "model" / "model.skdpgen").sample(10)
    assert (images.shape, images.dtype) == ((10, 8, 8), np.float32)
    assert set(labels) <= {"a", "b", "c"}
    np.savez(path, x=X)
    run("fit", path, "--method", "mge", "--epsilon", 20,
        "--out", tmp_path / "other", "--quiet")  # fmt: skip
    assert load(tmp_path / "other" / "model.skdpgen").sample(10).shape == (10, 8, 8)


def test_a_label_that_is_no_text_is_empty(tmp_path):
    """Its bytes are no character; as a label of one row it ended the fit."""
    labels = np.array(["a", "bc"])[Y % 2]
    codes = labels.view(np.uint32).reshape(50, 2).copy()
    codes[7], codes[9, 1] = 0x7FFFFFFF, 0xD800
    np.savez(tmp_path / "a.npz", x=X, y=codes.view("U2").reshape(-1))
    found = np.concatenate([y for _, y in image_chunks(tmp_path / "a.npz")])
    labels[[7, 9]] = ""
    assert found.tolist() == labels.tolist()


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Bright halves of small images, labelled; their model, and a file of others."""
    folder = tmp_path_factory.mktemp("digits")
    rng = np.random.default_rng(0)
    sides = {}
    for part, n in (("train", 300), ("test", 100)):
        y = rng.integers(0, 2, n)
        x = rng.integers(0, 90, (n, 8, 8)).astype(np.uint8)
        x[y == 1, :4] += 150
        x[y == 0, 4:] += 150
        sides |= {f"x_{part}": x, f"y_{part}": y}
    np.savez(folder / "digits.npz", **sides)
    np.savez(folder / "plain.npz", x=sides["x_train"])
    run("fit", folder / "digits.npz", "--method", "mge", "--epsilon", 20,
        "--classes", "0,1", "--out", folder / "model", "--quiet")  # fmt: skip
    run("fit", folder / "plain.npz", "--method", "mge", "--epsilon", 20,
        "--out", folder / "unlabelled", "--quiet")  # fmt: skip
    return folder


def test_the_usual_method_names_one_for_images(digits, tmp_path):
    said = run("fit", digits / "plain.npz", "--out", tmp_path / "m", code=1)
    assert "use `--method mge` for them" in said


@pytest.fixture(autouse=True)
def few_images_shown(monkeypatch):
    """Let pictures show two rows of images; each image is slow to draw."""
    monkeypatch.setattr("skdpgen.plotting._training.MOST_ROWS", 2)


@pytest.mark.usefixtures("few_models")
def test_a_report_shows_synthetic_images(digits, tmp_path):
    for model in ("model", "unlabelled"):
        run("report", digits / model, "-o", tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text()
        assert page.count("data:image/png;base64") == 1
        assert "not private" not in page
        content = json.loads((tmp_path / "r.json").read_text())
        assert "figures" not in content
        assert content["timing"]["rows"] == 100


@pytest.fixture
def short_network(monkeypatch):
    """Let the network that scores images train for a tenth of its steps."""
    network = _utility.IMAGE_NETWORKS["cnn"]
    short = replace(network, settings={"max_iter": 100})
    monkeypatch.setitem(_utility.IMAGE_NETWORKS, "cnn", short)


@pytest.mark.usefixtures("short_network")
def test_a_report_beside_real_images(digits, tmp_path):
    """Labels were said as text, and stand as numbers in the file."""
    file = digits / "digits.npz"
    run("report", digits / "model", "-o", tmp_path / "r.html",
        "--real", file, "--test", file)  # fmt: skip
    assert (tmp_path / "r.html").read_text().count("data:image/png;base64") == 3
    real = json.loads((tmp_path / "r.json").read_text())["real"]
    assert real["scores"]["metric"] == "accuracy"
    scores = {one["name"]: one for one in real["scores"]["models"]}
    assert scores["cnn"]["real"] > 0.95
    assert scores["logistic_regression"]["synthetic"] > 0.95
    assert real["distances"][0]["name"] == "Fréchet distance"


@pytest.mark.usefixtures("few_models")
def test_a_report_beside_images_without_labels(digits, tmp_path):
    run("report", digits / "unlabelled", "-o", tmp_path / "r.html",
        "--real", digits / "digits.npz")  # fmt: skip
    assert json.loads((tmp_path / "r.json").read_text())["real"]["scores"] is None
    told = run("report", digits / "model", "-o", tmp_path / "r.html",
               "--real", digits / "plain.npz", code=2)  # fmt: skip
    assert "must hold labels y" in told
    table = tmp_path / "a.csv"
    table.write_text("a,b\n1,2\n")
    told = run("report", digits / "model", "-o", tmp_path / "r.html",
               "--real", table, code=2)  # fmt: skip
    assert "must be an .npz" in told


def test_some_images_are_rows_with_their_labels(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    np.savez(path, x_train=X, y_train=Y, x_test=X[:9], y_test=Y[:9])
    monkeypatch.setattr(_table_files, "BYTES_OF_PIECE", 7 * 64)
    x, y = some_images(path, "train", most=20, is_labelled=True)
    places = [int(np.flatnonzero((one == X).all(axis=(1, 2)))[0]) for one in x]
    assert len(set(places)) == 20
    assert np.array_equal(Y[places], y)
    assert len(some_images(path, "test", most=20, is_labelled=False)) == 9


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (
            {"z": X},
            "must hold an array x (or x_train) of images, and",
        ),
        ({"x": X, "y": Y[:9]}, "must have as many rows. Got 50 and 9"),
        ({"x": np.asfortranarray(X)}, "Save it as `np.ascontiguousarray(x)`"),
        ({"x": X, "y": Y.astype(object)}, "y in"),
    ],
)
def test_what_is_wrong_with_a_file(arrays, words, tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    told = run("fit", path, "--method", "mge", "--out", tmp_path / "model", code=2)
    assert words in told
    assert not (tmp_path / "model").exists()
