"""Learn a network of labels of public images, and store it.

``python -m benchmarks.learn_labels "labels beside cars" FOLDER`` takes some ten minutes
of a core; ``benchmarks.public_lenses.LABELLED`` has the names.
"""

import sys
from pathlib import Path

import numpy as np

from benchmarks.image_sets import read_image_set
from benchmarks.public_lenses import LABELLED, store_label_lens
from benchmarks.superclasses import SUPERCLASSES, read_superclass
from skdpgen.lenses import LabelLens

BESIDE = "labels beside "  # and the name of a superclass
GREY_SHARES = np.array([0.299, 0.587, 0.114])  # of red, green and blue
EDGE = 2  # pixels that are left out on each side: 28 remain, as garments have


def learn_labels(name: str, folder: Path) -> LabelLens:
    """Return a network of the labels of one of ``LABELLED``."""
    source, _ = LABELLED[name]
    if name.startswith(BESIDE):
        superclass = SUPERCLASSES[name.removeprefix(BESIDE)]
        paths = [folder / f"{file}.npz" for file in superclass.names]
        split = read_superclass(superclass, paths)
        return LabelLens.learn(split.public, split.labels, source=source, verbose=1)
    images, labels, *_ = read_image_set(folder / "cifar10_jpeg.npz")
    grey = np.tensordot(GREY_SHARES, images / 255.0, axes=(0, 1))
    inner = grey[:, EDGE:-EDGE, EDGE:-EDGE]
    return LabelLens.learn(inner, labels, source=source, verbose=1)


if __name__ == "__main__":
    lens_name, data_folder = sys.argv[1:]
    store_label_lens(learn_labels(lens_name, Path(data_folder)), lens_name)
