"""Features to compare images by, from a network that was never trained on them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from skdpgen.tables import as_pixels, image_size
from skdpgen.utils import require

AT_ONCE = 256
WIDTHS = (32, 64, 128)
INCEPTION_SIDE = 299


@dataclass(frozen=True)
class Extractor:
    """A named map of images to features; scores under different names do not compare.

    Parameters
    ----------
    name : str
        Says which features; results carry it.
    module : callable
        From a Tensor (n, channels, height, width) in [0, 1] to one (n, d).

    Examples
    --------
    >>> mean = Extractor("mean colour", lambda images: images.mean(dim=(2, 3)))
    >>> mean(np.ones((2, 8, 8))).tolist()
    [[1.0], [1.0]]
    """

    name: str
    module: Callable[[Tensor], Tensor]

    def __call__(self, images: Any) -> NDArray[np.float64]:
        """Return the features of images, a few at a time."""
        size, found = image_size(images), []
        if not len(images):
            raise ValueError("There must be at least 1 image. Got none.")
        for start in range(0, len(images), AT_ONCE):
            pixels = as_pixels(images[start : start + AT_ONCE])
            with torch.no_grad():
                part = self.module(torch.from_numpy(pixels).unflatten(1, size))
            found.append(part.flatten(1).cpu().double().numpy())
        return np.concatenate(found)


def random_features(n_channels: int = 1) -> Extractor:
    """Return an extractor that needs no file: three layers of fixed random filters.

    Each layer normalises its maps, so all images count alike; the features are the mean
    and the spread of every map of every layer, 448 numbers. They distinguish images by
    strokes and textures, not by what they show.

    Examples
    --------
    >>> random_features()(np.zeros((2, 8, 8))).shape
    (2, 448)
    """
    rng = torch.Generator().manual_seed(0)
    layers, before = [], n_channels
    for after in WIDTHS:
        layer = nn.utils.skip_init(nn.Conv2d, before, after, 3, padding=1, bias=False)
        nn.init.orthogonal_(layer.weight, generator=rng)
        layers.append(layer)
        before = after

    def features(images: Tensor) -> Tensor:
        found, maps = [], 2.0 * images - 1.0
        for layer in layers:
            maps = layer(maps).relu()
            found += [maps.mean(dim=(2, 3)), maps.std(dim=(2, 3))]
            maps = nn.functional.avg_pool2d(maps, 2, ceil_mode=True)
            maps = maps / maps.square().mean(dim=(1, 2, 3), keepdim=True).sqrt().add(
                0.1
            )
        return torch.cat(found, dim=1)

    return Extractor("random-convolutions-1", features)


def inception_features(weights: Any) -> Extractor:
    """Return the extractor of published FIDs, from a file of torchvision's weights.

    Parameters
    ----------
    weights : str or path
        A state dict of ``torchvision.models.inception_v3``. Most published numbers rest
        on another set of weights, TensorFlow's: compare with care.
    """
    models = require("torchvision.models", extra="images")
    with torch.device("meta"):  # no weights are drawn, so the global random state stays
        network = models.inception_v3(weights=None, init_weights=False)
    state = torch.load(weights, weights_only=True, map_location="cpu")
    network.load_state_dict(state, assign=True)
    network.fc = nn.Identity()
    network.eval()

    def features(images: Tensor) -> Tensor:
        images = images.expand(-1, 3, -1, -1) if images.shape[1] == 1 else images
        side = (INCEPTION_SIDE, INCEPTION_SIDE)
        large = nn.functional.interpolate(images, side, mode="bilinear")
        found: Tensor = network(2.0 * large - 1.0)
        return found

    return Extractor("torchvision-inception-v3", features)
