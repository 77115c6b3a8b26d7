"""Images in an `.npz` are read a few at a time, as they were written."""

import numpy as np
import pytest
from click.testing import CliRunner

from skdpgen import load
from skdpgen.cli import _image_files, main
from skdpgen.cli._image_files import image_chunks

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
    monkeypatch.setattr(_image_files, "BYTES", 7 * 64)
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
    images, labels = load(tmp_path / "model" / "model.npz").sample(10)
    assert (images.shape, images.dtype) == ((10, 8, 8), np.float32)
    assert set(labels) <= {"a", "b", "c"}
    np.savez(path, x=X)
    run("fit", path, "--method", "mge", "--epsilon", 20,
        "--out", tmp_path / "other", "--quiet")  # fmt: skip
    assert load(tmp_path / "other" / "model.npz").sample(10).shape == (10, 8, 8)


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
