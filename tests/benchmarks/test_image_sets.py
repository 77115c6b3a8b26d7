"""The images command: what it reads, and the rows it gives."""

from functools import partial
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from benchmarks import image_sets
from benchmarks.image_sets import (
    measure_image_release,
    measure_images,
    measure_unlabelled_cell,
    read_image_set,
    scores_of_models,
)
from skdpgen import (
    DPMERFSynthesizer,
    DPMGESynthesizer,
    Generator,
    SyntheticUtility,
)
from skdpgen.benchmark import BenchConfig, Catalogue, KnownTable
from skdpgen.benchmark._measure_cell import measure_cell
from skdpgen.metrics import CLASSIFIERS

DIGITS, LABELS = load_digits(return_X_y=True)
PIXELS = np.rint(DIGITS.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
TRAIN, TEST = slice(0, 1200), slice(1200, None)


@pytest.fixture
def arrays(tmp_path):
    path = tmp_path / "digits.npz"
    np.savez(
        path,
        x_train=PIXELS[TRAIN],
        y_train=LABELS[TRAIN],
        x_test=PIXELS[TEST],
        y_test=LABELS[TEST],
    )
    return path


def test_a_row_of_real_images_and_one_for_each_release(arrays, tmp_path):
    utility = SyntheticUtility(classifiers=("logistic_regression",), n_samples=500)
    make = partial(DPMERFSynthesizer, generator=Generator(max_iter=50), n_features=400)
    rows = measure_images(
        arrays,
        {"quick": make},
        utility,
        epsilons=[10.0],
        n_releases=2,
        adjacency="replace",
        picture=tmp_path,
    )
    real, *releases = rows
    assert real["method"] == "real"
    assert real["logistic_regression"] > 0.8
    assert [row["release"] for row in releases] == [0, 1]
    assert all(row["logistic_regression"] > 0.4 for row in releases)
    assert (tmp_path / "digits_quick_10.png").exists()


def test_images_without_labels_have_a_row_of_likeness_alone(arrays):
    known = KnownTable(
        files=(("digits.npz",),), measure=measure_unlabelled_cell, has_seed=False
    )
    catalogue = Catalogue(tables={"digits": known})
    config = BenchConfig.from_dict(
        {
            "tables": ["digits"],
            "methods": [
                {
                    "class": "DPMERFSynthesizer",
                    "settings": {"generator__max_iter": 5, "n_features": 50},
                }
            ],
            "epsilons": [10.0],
            "releases": 1,
            "n_compared": 200,
        },
        catalogue=catalogue,
    )
    (_, real), (_, fitted) = config.cells(arrays.parent)
    rows = [
        measure_cell(cell, str(arrays.parent), catalogue) for cell in (real, fitted)
    ]
    assert not any("error" in row or "models" in row for row in rows)
    assert rows[0]["fid"] < rows[1]["fid"]
    assert rows[1]["privacy"]["epsilon"] == 10.0


def test_images_may_be_compressed(tmp_path):
    image = pytest.importorskip("PIL.Image")
    colours = np.stack([PIXELS[:30], 255 - PIXELS[:30], PIXELS[:30]], axis=-1)

    def written(pixels):
        files = []
        for one in pixels:
            file = BytesIO()
            image.fromarray(one).save(file, "PNG")  # keeps every value
            files.append(file.getvalue())
        ends = np.cumsum([0, *map(len, files)])
        return np.frombuffer(b"".join(files), np.uint8), ends

    train, test = written(colours[:20]), written(colours[20:])
    path = tmp_path / "colours.npz"
    np.savez(
        path,
        jpeg_train=train[0],
        offset_train=train[1],
        y_train=np.arange(20),
        jpeg_test=test[0],
        offset_test=test[1],
        y_test=np.arange(20, 30),
    )
    for X, y in zip(*[iter(read_image_set(path))] * 2, strict=True):
        assert sorted(y) != list(y)  # in the order of classes no more
        np.testing.assert_array_equal(X, np.moveaxis(colours[y], -1, 1))


def test_the_mean_is_of_twelve_models():
    few = {"mlp": 0.5, "cnn": 1.0}
    twelve = dict.fromkeys(CLASSIFIERS["images"], 0.5) | {"cnn": 1.0, "resnet9": 0.9}
    frame = partial(pd.DataFrame.from_dict, orient="index", columns=["accuracy"])
    assert "mean_of_12" not in scores_of_models(frame(few))
    assert scores_of_models(frame(twelve))["mean_of_12"] == 0.5


def test_rows_have_every_score_of_every_model():
    scores = {"accuracy": [0.5], "macro_f1": [0.25], "note": [""]}
    row = scores_of_models(pd.DataFrame(scores, index=["mlp"]))
    models = {"mlp": {"accuracy": 0.5, "macro_f1": 0.25}}
    assert row == {"mlp": 0.5, "models": models}


@pytest.mark.parametrize(("n_compared", "n_real"), [(300, 300), (600, 600)])
def test_more_images_than_those_to_test_on_are_compared_with_those_of_the_fit(
    n_compared, n_real, monkeypatch
):
    seen = []

    def compared(real, synthetic):
        seen.append((len(real), len(synthetic)))
        return SimpleNamespace(fid=0.0, precision=1.0, recall=1.0, ndb=0.0)

    monkeypatch.setattr(image_sets, "image_fidelity", compared)
    images = [PIXELS[TRAIN], LABELS[TRAIN], PIXELS[TEST], LABELS[TEST]]
    row, _, rows = measure_image_release(
        images,
        partial(DPMGESynthesizer, augmentation=None),
        SyntheticUtility(classifiers=("gaussian_nb",), n_samples=400),
        release=0,
        epsilon=10.0,
        adjacency="replace",
        n_compared=n_compared,
    )
    assert seen == [(n_real, n_compared)]
    assert len(rows[0]) == max(400, n_compared)
    assert set(row["models"]) == {"gaussian_nb"}
