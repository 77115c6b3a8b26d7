"""Public rows as a discriminator sees them, to begin the game with (DP-GAN-FT)."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from skdpgen.synthesizers.embedding import ImageKernel
from skdpgen.synthesizers.opening import Opening
from skdpgen.tables import ImageLayout, as_pixels

Game = tuple[Tensor, Tensor]  # points, one-hot labels


def public_points(
    opening: Opening, given: Any, shares: Any, rng: torch.Generator
) -> Game:
    """Return public rows, and their labels as one-hot numbers.

    Rows without labels get some at random, as often as classes were released: the game
    then begins with what rows look like, and nothing of how classes differ.
    """
    kept = opening.kept
    kernel, n_classes = kept["kernel_"], len(shares)
    if isinstance(kernel, ImageKernel):
        x, labels = _images(given, kernel, opening.facts.classes)
    else:
        assert opening.public is not None
        batches = list(opening.public.codes(kept["cells_"], kept["_labels"]))
        x = np.concatenate([kernel.inputs(codes) for codes, _ in batches])
        labels = np.concatenate([known for _, known in batches])
        labels = labels if opening.public.has_labels else None
    if labels is None:
        weights = torch.as_tensor(shares, dtype=torch.float64)
        drawn = torch.multinomial(weights, len(x), replacement=True, generator=rng)
        labels = drawn.numpy()
    known = np.arange(n_classes) == np.asarray(labels)[:, None]
    return torch.from_numpy(x).float(), torch.from_numpy(known).float()


def check_public(given: Any, layout: Any) -> None:
    """Raise, before anything is paid, for public images that are unlike the private."""
    if not isinstance(layout, ImageLayout):
        return
    pixels, labels = _pair(given)
    shape = tuple(np.shape(pixels))[1:]
    shape = (1, *shape) if len(shape) == 2 else shape
    if shape != tuple(layout.size):
        raise ValueError(
            f"public_data must hold images of shape {tuple(layout.size)}, as X does. "
            f"Got {shape}."
        )
    if labels is not None and len(labels) != len(pixels):
        raise ValueError(
            f"public_data must have a label for each of its {len(pixels)} images. Got "
            f"{len(labels)}."
        )


def _images(given: Any, kernel: ImageKernel, classes: Any) -> tuple[Any, Any]:
    """Return public images as points, and the places of their labels."""
    pixels, labels = _pair(given)
    array = np.asarray(pixels)
    x = kernel.inputs(as_pixels(array.reshape(len(array), -1)))
    if labels is None or classes is None:
        return x, None
    places = {str(one): place for place, one in enumerate(classes)}
    found = np.array([places.get(str(one), -1) for one in np.asarray(labels)])
    return x, found


def _pair(given: Any) -> tuple[Any, Any]:
    is_pair = isinstance(given, tuple) and len(given) == 2
    return given if is_pair else (given, None)
