"""A lens for colour images, learnt from the photographs that other packages bring.

Two are of scikit-learn, one of matplotlib, and five of scikit-image, if it is there.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.lenses import PatchLens

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
LENSES = ("photographs",)  # that settings of a configuration may name


def with_lens(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the lens itself in place of its name.

    Examples
    --------
    >>> with_lens({"lens": "random"})
    {'lens': 'random'}
    """
    if settings.get("lens") in LENSES:
        return {**settings, "lens": photograph_lens()}
    return dict(settings)


@cache
def photograph_lens(n_filters: int = 128) -> PatchLens:
    """Return filters learnt from crops of all photographs that are there."""
    photographs = read_photographs()
    source = f"{N_CROPS:,} crops of {len(photographs)} photographs"
    return PatchLens.learn(crops(photographs), n_filters, source=source)


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
