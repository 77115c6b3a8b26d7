"""Images: accuracy of models trained on synthetic ones, and how real these look."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from itertools import pairwise, product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from scipy.ndimage import zoom

from benchmarks.public_lenses import with_lens
from skdpgen.benchmark._cells import DELTA, PUBLIC, REAL, Catalogue, Cell, Source
from skdpgen.benchmark._measure_cell import certificate, delta_of, maker, public_part
from skdpgen.benchmark._own_table import check_rows, files_of
from skdpgen.metrics import CLASSIFIERS, SyntheticUtility, image_fidelity
from skdpgen.plotting import plot_images

IMAGE_SETS = ("mnist", "fashion_mnist", "cifar10_jpeg", "usps")
UNLABELLED = {"cifar10_unlabelled": "cifar10_jpeg"}  # fitted without labels
PUBLIC_SETS = {"mnist_usps": ("mnist", "usps")}  # digits, and those of other writers
MNIST_DIGIT = 20 / 28  # share of a side that a digit has
N_COMPARED = 5_000  # images of each side, for FID
QUICK = ("logistic_regression", "mlp", "cnn")
N_SAMPLES = 10_000
OF_MODELS = ("accuracy", "macro_f1", "f1")  # scores that rows keep of each model


def measure_images(
    path: str | Path,
    makers: dict[str, Callable[..., Any]],
    utility: SyntheticUtility,
    *,
    epsilons: list[float],
    n_releases: int,
    adjacency: str,
    picture: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Fit independent releases of an ``.npz`` of images; yield accuracies for each.

    The first row is for models trained on the same number of real images.
    """
    path = Path(path)
    images = read_image_set(path)
    real = measure_real_images(images, utility)
    yield {"set": path.stem, "method": "real", **real}
    for name, make in makers.items():
        for epsilon, release in product(epsilons, range(n_releases)):
            row, _, rows = measure_image_release(
                images,
                make,
                utility,
                release=release,
                epsilon=epsilon,
                adjacency=adjacency,
            )
            if picture is not None and release == 0:
                title = f"{path.stem}_{name}_{epsilon:g}.png"
                plot_images(*rows).savefig(picture / title, dpi=100)
            yield {
                "set": path.stem,
                "method": name,
                "epsilon": epsilon,
                "adjacency": adjacency,
                "release": release,
                **row,
            }


def measure_image_cell(
    cell: Cell, folder: str, utility: SyntheticUtility, catalogue: Catalogue
) -> dict[str, Any]:
    """Return the row of a cell on images, in the format of tables."""
    path, *test_files = files_of(cell.source, folder)
    images = _read_some(cell.source, path)
    counts = {"rows": len(images[0])}
    if cell.method == REAL:
        return counts | measure_real_images(images, utility)
    public: tuple[Any, Any] | None = None
    if test_files:
        X, y, *_ = read_image_set(test_files[0])
        public = public_images(X, images[0].shape[1:]), y
    if cell.method == PUBLIC:
        assert public is not None  # there are such cells of sets that have a public one
        scores = measure_real_images([*public, *images[2:]], utility)
        return {"rows": len(public[1]), **scores}
    assert cell.epsilon is not None  # of real and public rows alone
    assert cell.adjacency is not None
    named = replace(cell, settings=with_lens(cell.settings))
    make = maker(named, len(images[0]), catalogue)
    row, synthesizer, _ = measure_image_release(
        images,
        make,
        utility,
        release=cell.release,
        epsilon=cell.epsilon,
        delta=delta_of(cell),
        adjacency=cell.adjacency,
        given=public_part(cell, public, catalogue),
        n_compared=cell.n_compared or N_COMPARED,
    )
    return {**counts, **row, **certificate(synthesizer)}


def measure_unlabelled_cell(
    cell: Cell, folder: str, utility: SyntheticUtility, catalogue: Catalogue
) -> dict[str, Any]:
    """Return the row of a cell of images without labels: how near they are."""
    del utility  # without labels no model is trained
    (path,) = files_of(cell.source, folder)
    X, _, of_test, _ = _read_some(cell.source, path)
    counts, n = {"rows": len(X)}, cell.n_compared or N_COMPARED
    real = of_test if len(of_test) >= n else X
    if cell.method == REAL:
        order = np.random.default_rng(0).permutation(len(X))
        return counts | likeness(real[:n], X[order[:n]])
    named = replace(cell, settings=with_lens(cell.settings))
    synthesizer = maker(named, len(X), catalogue)(
        epsilon=cell.epsilon,
        delta=delta_of(cell),
        adjacency=cell.adjacency,
        random_state=cell.release,
    )
    start = time.perf_counter()
    synthesizer.fit(X)
    took = {"fit_seconds": time.perf_counter() - start}
    drawn = synthesizer.sample(n, random_state=cell.release)
    return counts | took | likeness(real[:n], drawn) | certificate(synthesizer)


def _read_some(source: Source, path: Path) -> list[Any]:
    """Return what `read_image_set` does, with as many rows to fit as are asked for."""
    images = read_image_set(path)
    if source.rows is not None:
        check_rows(source, len(images[0]))
        order = np.random.default_rng(source.rows).permutation(len(images[0]))
        images[:2] = [part[order[: source.rows]] for part in images[:2]]
    return images


def likeness(real: Any, drawn: Any) -> dict[str, float]:
    """Return how near images are to real ones, by four measures."""
    near = image_fidelity(real, drawn)
    return {
        "fid": near.fid,
        "precision": near.precision,
        "recall": near.recall,
        "ndb": near.ndb,
    }


def measure_real_images(images: list[Any], utility: SyntheticUtility) -> dict[str, Any]:
    """Train on real images, as many as the synthetic ones would be."""
    X, y, *test = images
    n = utility.n_samples or N_SAMPLES
    order = np.random.default_rng(0).permutation(len(X))[:n]
    return scores_of_models(utility.evaluate((X[order], y[order]), *test))


def measure_image_release(
    images: list[Any],
    make: Callable[..., Any],
    utility: SyntheticUtility,
    *,
    release: int,
    epsilon: float,
    delta: float | None = DELTA,
    adjacency: str,
    given: Mapping[str, Any] = MappingProxyType({}),
    n_compared: int = N_COMPARED,
) -> tuple[dict[str, Any], Any, Any]:
    """Fit and score the release of one number; return a row, the fit, and its images.

    ``images`` are those of :func:`read_image_set`. ``n_compared`` of each side are
    compared; real ones are those to test on if there are enough of them, otherwise
    those to train on, as in papers that compare 60,000.
    """
    X, y, *test = images
    synthesizer = make(
        epsilon=epsilon,
        delta=delta,
        classes=sorted({int(label) for label in test[1]}),
        adjacency=adjacency,
        random_state=release,
    )
    start = time.perf_counter()
    synthesizer.fit(X, y, **given)
    seconds = time.perf_counter() - start
    n_samples = utility.n_samples or N_SAMPLES
    rows = synthesizer.sample(max(n_samples, n_compared), random_state=release)
    first = tuple(part[:n_samples] for part in rows)
    scores = replace(utility, random_state=release).evaluate(first, *test)
    real = test[0] if len(test[0]) >= n_compared else X
    row = {
        "fit_seconds": seconds,
        **scores_of_models(scores),
        **likeness(real[:n_compared], rows[0][:n_compared]),
    }
    return row, synthesizer, rows


def read_image_set(path: Path) -> list[Any]:
    """Return training images, their labels, test images, and their labels.

    They are ``x_train``, ``y_train``, ``x_test`` and ``y_test`` of the file. Instead of
    an array it may hold the images as JPEG, ``jpeg_train`` with ``offset_train`` and so
    on; then rows are shuffled, since such files are sorted by class.
    """
    parts: list[Any] = []
    with np.load(path) as file:
        for part in ("train", "test"):
            y = file[f"y_{part}"]
            if f"x_{part}" in file:
                parts += [file[f"x_{part}"], y]
                continue
            from PIL import Image  # comes with the plots

            content, ends = file[f"jpeg_{part}"].tobytes(), file[f"offset_{part}"]
            images = np.stack(
                [
                    np.asarray(Image.open(BytesIO(content[first:last])))
                    for first, last in pairwise(ends.tolist())
                ]
            )
            if images.ndim == 4:
                images = np.moveaxis(images, -1, 1)
            order = np.random.default_rng(0).permutation(len(y))
            parts += [images[order], y[order]]
    return parts


def scores_of_models(scores: pd.DataFrame) -> dict[str, Any]:
    """Return the accuracy of each model, the mean of twelve, and all scores by model.

    Networks that see rows and columns are not among the twelve.
    """
    by_model: dict[str, Any] = {str(k): float(v) for k, v in scores["accuracy"].items()}
    twelve = [v for name, v in by_model.items() if name in CLASSIFIERS["images"]]
    if len(twelve) == len(CLASSIFIERS["images"]):
        by_model["mean_of_12"] = float(np.mean(twelve))
    kept = [name for name in OF_MODELS if name in scores]
    models = scores[kept].astype(float).to_dict(orient="index")
    return {**by_model, "models": models}


def public_images(images: Any, frame: tuple[int, int]) -> Any:
    """Return images in a larger frame: as large as digits of MNIST are in theirs."""
    factors, margins = [1.0], [(0, 0)]
    for side, now in zip(frame, images.shape[1:], strict=True):
        size = round(side * MNIST_DIGIT)
        before = (side - size) // 2
        factors.append(size / now)
        margins.append((before, side - size - before))
    scaled = zoom(images.astype(float), factors, order=1)
    return np.pad(scaled, margins).round().clip(0, 255).astype(np.uint8)
