"""Lenses that a configuration may name: of photographs, of labels, and ResNet-20.

The photographs come with other packages: two with scikit-learn, one with matplotlib,
and five with scikit-image. Filters that were learnt from all of them are stored beside
this module, so no run needs scikit-image; ``python -m benchmarks.public_lenses`` learns
them again. Networks of labels of public images are stored in half precision;
``benchmarks.learn_labels`` learns them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Generator

from skdpgen.lenses import ClassifierLens, LabelLens, PatchLens, PrivateClassifier
from skdpgen.networks import ResNet20

# package, file, and what it shows; licences are those of the packages' own notes
PHOTOGRAPHS = (
    ("sklearn", "datasets/images/china.jpg"),  # a temple
    ("sklearn", "datasets/images/flower.jpg"),
    ("matplotlib", "mpl-data/sample_data/grace_hopper.jpg"),
    ("skimage", "data/astronaut.png"),
    ("skimage", "data/chelsea.png"),  # a cat
    ("skimage", "data/coffee.png"),
    ("skimage", "data/motorcycle_left.png"),
    ("skimage", "data/rocket.jpg"),
)
N_CROPS, SIDE = 10_000, 32
SMALLEST = 1.5  # side of a crop, before it is made smaller, in sides after
STORED = Path(__file__).parent / "photographs.safetensors"
# of what a lens learnt the labels, as its certificate says it, and the stored file
LABELLED = {
    "labels beside cars": ("the public images beside cars", "labels_cars"),
    "labels beside shoes": ("the public images beside shoes", "labels_shoes"),
    "labels of CIFAR-10": ("the images of CIFAR-10 in grey", "labels_cifar10_grey"),
}
# DP-MEPF, table 19: an epsilon of 10 is divided between a classifier and the means. The
# share is that of mu², so that the classifier alone has an epsilon of 2, 5 or 8.
CLASSIFIERS = {
    "classifier at 2 of 10": PrivateClassifier(0.063, n_steps=350),
    "classifier at 5 of 10": PrivateClassifier(0.314, n_steps=2450),
    "classifier at 8 of 10": PrivateClassifier(0.694, n_steps=4900),
}


@dataclass(frozen=True, eq=False)
class UntrainedClassifier(ClassifierLens):
    """The same layers with their first weights, which saw nothing."""

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        return "ResNet-20, untrained"


def with_lens(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the lens itself in place of its name.

    Examples
    --------
    >>> with_lens({"lens": "random"})
    {'lens': 'random'}
    """
    name = settings.get("lens")
    if name == "photographs":
        return {**settings, "lens": photograph_lens()}
    if isinstance(name, str) and name in LABELLED:
        return {**settings, "lens": label_lens(name)}
    if name == "untrained classifier":
        return {**settings, "lens": untrained_classifier()}
    return {**settings, **({"lens": CLASSIFIERS[name]} if name in CLASSIFIERS else {})}


def photograph_lens() -> PatchLens:
    """Return the stored filters."""
    stored = load_file(STORED)
    source = f"{N_CROPS:,} crops of {len(PHOTOGRAPHS)} public photographs"
    return PatchLens(stored["filters"], stored["thresholds"], source=source)


def label_lens(name: str) -> LabelLens:
    """Return the stored network of one of ``LABELLED``."""
    source, file = LABELLED[name]
    stored = load_file(_path_of(file))
    n_layers = len(stored) // 2
    filters, biases = (
        [stored[f"{part}.{k}"].float() for k in range(n_layers)]
        for part in ("filters", "biases")
    )
    return LabelLens(filters, biases, source=source)


def store_label_lens(lens: LabelLens, name: str) -> None:
    """Keep a network of labels, in half precision."""
    parts = {"filters": lens.filters, "biases": lens.biases}
    stored = {
        f"{name}.{k}": part.half()
        for name, tensors in parts.items()
        for k, part in enumerate(tensors)
    }
    save_file(stored, _path_of(LABELLED[name][1]))


def _path_of(file: str) -> Path:
    return Path(__file__).parent / f"{file}.safetensors"


def untrained_classifier() -> UntrainedClassifier:
    """Return a ResNet-20 that was not trained."""
    return UntrainedClassifier(ResNet20(Generator().manual_seed(0)))


def learn_photograph_lens(n_filters: int = 128) -> PatchLens:
    """Return filters learnt from crops of all photographs, which must be there."""
    photographs = read_photographs()
    if len(photographs) < len(PHOTOGRAPHS):
        raise FileNotFoundError(
            "Install scikit-learn, matplotlib and scikit-image, which bring the "
            f"photographs. Found {len(photographs)} of {len(PHOTOGRAPHS)}."
        )
    return PatchLens.learn(crops(photographs), n_filters)


def read_photographs() -> list[NDArray[np.uint8]]:
    """Return the photographs of packages that are installed, (height, width, 3)."""
    from PIL import Image  # comes with matplotlib

    found = []
    for package, file in PHOTOGRAPHS:
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            path = Path(spec.origin).parent / file
            if path.exists():
                found.append(np.asarray(Image.open(path).convert("RGB")))
    return found


def crops(
    photographs: Sequence[NDArray[np.uint8]],
    n: int = N_CROPS,
    side: int = SIDE,
    random_state: int = 0,
) -> NDArray[np.uint8]:
    """Return squares of many sizes, made small, as (n, 3, side, side).

    Examples
    --------
    >>> crops([np.zeros((80, 60, 3), np.uint8)], 5, side=16).shape
    (5, 3, 16, 16)
    """
    from PIL import Image

    rng, squares = np.random.default_rng(random_state), []
    for k in range(n):
        photograph = photographs[k % len(photographs)]
        height, width = photograph.shape[:2]
        sizes = np.log([SMALLEST * side, min(height, width)])
        size = int(np.exp(rng.uniform(*sizes)))
        top, left = rng.integers(height - size + 1), rng.integers(width - size + 1)
        square = photograph[top : top + size, left : left + size]
        small = Image.fromarray(square).resize((side, side), Image.Resampling.LANCZOS)
        squares.append(np.asarray(small)[:, :: rng.choice([-1, 1])])
    return np.moveaxis(np.stack(squares), -1, 1).copy()


if __name__ == "__main__":
    lens = learn_photograph_lens()
    save_file({"filters": lens.filters, "thresholds": lens.thresholds}, STORED)
