"""Images of one superclass to protect, among public images of every kind (DP-DRE)."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.image_sets import (
    N_COMPARED,
    likeness,
    public_images,
    read_image_set,
)
from benchmarks.public_lenses import with_lens
from skdpgen.benchmark._cells import PUBLIC, REAL, Catalogue, Cell
from skdpgen.benchmark._measure_cell import certificate, delta_of, maker, public_part
from skdpgen.benchmark._own_table import files_of
from skdpgen.metrics import SyntheticUtility

Images = NDArray[np.uint8]


@dataclass(frozen=True)
class Superclass:
    """Which images of a file are private, and which of this and others are public.

    Parameters
    ----------
    file : str
        The file, without its ending, that private images are from.
    classes : tuple of int
        Its labels that are the superclass.
    n_private, n_public, n_others : int
        Images of the superclass to protect, others of it that are public, and public
        images of the other classes.
    beside : dict of str to int
        Other files, and how many of their images are public.
    """

    file: str
    classes: tuple[int, ...]
    n_private: int
    n_public: int
    n_others: int
    beside: dict[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all files, in the order of :func:`read_superclass`."""
        return self.file, *self.beside


SUPERCLASSES = {
    "shoes": Superclass(
        file="fashion_mnist",
        classes=(5, 7, 9),  # sandals, sneakers, ankle boots
        n_private=8_000,
        n_public=4_000,
        n_others=16_000,
        beside={
            "notmnist_10k": 6_000,
            "omniglot_small_28x28": 4_000,
            "mnist": 6_000,
            "usps": 4_000,
        },
    ),
    "cars": Superclass(
        file="cifar10_jpeg",
        classes=(1, 9),  # automobiles, trucks
        n_private=5_992,  # as many as the paper has of cars
        n_public=4_008,
        n_others=35_992,
        beside={},
    ),
}


@dataclass(frozen=True, eq=False)
class SuperclassSplit:
    """Private images, others of the superclass to test on, and public images.

    Parameters
    ----------
    private, test, public : ndarray of images
        No image is in two of them.
    is_superclass : ndarray of bool
        Which public images are of the superclass.
    labels : ndarray of int
        Of public images: those of different files are different.
    """

    private: Images
    test: Images
    public: Images
    is_superclass: NDArray[np.bool_]
    labels: NDArray[np.int64]


def read_superclass(superclass: Superclass, paths: list[Path]) -> SuperclassSplit:
    """Read the images of a superclass from its files, the first one first.

    Private images, and public ones of the superclass, are other rows of the training
    part; those to test on are the test part. Smaller public images get a frame.
    """
    X, y, X_test, y_test = read_image_set(paths[0])
    rng = np.random.default_rng(0)
    is_within = np.isin(y, superclass.classes)
    within = rng.permutation(np.flatnonzero(is_within))
    others = rng.permutation(np.flatnonzero(~is_within))
    last = superclass.n_private + superclass.n_public
    chosen = within[superclass.n_private : last], others[: superclass.n_others]
    parts, labels = [X[rows] for rows in chosen], [y[rows] for rows in chosen]
    for path, n in zip(paths[1:], superclass.beside.values(), strict=True):
        with np.load(path) as file:
            images, kinds = file["x_train"], file["y_train"]
        rows = rng.permutation(len(images))[:n]
        images = images[rows]
        if images.shape[1:] != X.shape[1:]:
            images = public_images(images, X.shape[1:])
        parts.append(images)
        labels.append(kinds[rows].astype(np.int64) + 1 + max(map(np.max, labels)))
    public = np.concatenate(parts)
    return SuperclassSplit(
        X[within[: superclass.n_private]],
        X_test[np.isin(y_test, superclass.classes)],
        public,
        np.arange(len(public)) < len(parts[0]),
        np.concatenate(labels).astype(np.int64),
    )


def measure_superclass_cell(
    cell: Cell, folder: str, utility: SyntheticUtility, catalogue: Catalogue
) -> dict[str, Any]:
    """Return the row of a cell: the weight on the superclass, and how near images are.

    There are no labels, so no classifier is trained. Public rows as they are have the
    share of the superclass as its weight.
    """
    paths = files_of(cell.source, folder)
    split = read_superclass(SUPERCLASSES[cell.source.name], paths)
    row: dict[str, Any] = {"rows": len(split.private)}
    order = np.random.default_rng(0).permutation
    n = min(utility.n_samples or N_COMPARED, N_COMPARED)
    if cell.method == REAL:
        drawn = split.private[order(len(split.private))[:n]]
        return row | likeness(split.test[:N_COMPARED], drawn)
    if cell.method == PUBLIC:
        drawn = split.public[order(len(split.public))[:n]]
        row["superclass_weight"] = float(split.is_superclass.mean())
        return row | likeness(split.test[:N_COMPARED], drawn)
    named = replace(cell, settings=with_lens(cell.settings))
    synthesizer = maker(named, len(split.private), catalogue)(
        epsilon=cell.epsilon,
        delta=delta_of(cell),
        adjacency=cell.adjacency,
        random_state=cell.release,
    )
    start = time.perf_counter()
    synthesizer.fit(split.private, **public_part(cell, split.public, catalogue))
    row["fit_seconds"] = time.perf_counter() - start
    weights = getattr(
        synthesizer, "weights_", None
    )  # of methods that weigh public rows
    if weights is not None:
        row["superclass_weight"] = float(weights[split.is_superclass].sum())
        row["effective_size"] = float(synthesizer.effective_size_)
    drawn = synthesizer.sample(n, random_state=cell.release)
    return row | likeness(split.test[:N_COMPARED], drawn) | certificate(synthesizer)
