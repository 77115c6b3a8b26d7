"""A lens of a network that learnt the labels of public images."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn.functional import conv2d

from skdpgen.lenses._lens import Shape, finite, normalised, within_range
from skdpgen.networks import drawn_layer, train_classifier
from skdpgen.utils import pick_device, saved

# Of each convolution: channels in multiples of the width, and the step of its filters.
LAYERS = ((1, 1), (2, 2), (2, 1), (4, 2), (4, 1))
SIDE = 3  # of a filter
GREY = 0.5  # which is taken off pixels
BATCH = 128
LEAST_SIDE = 4  # of an image: the last maps have a pixel at least


@saved("lens.labels")
@dataclass(frozen=True, eq=False)
class LabelLens:
    """A small network that learnt the labels of public images.

    Five convolutions, each followed by a ReLU. What distinguishes public labels also
    distinguishes private images of similar kinds; so papers use networks that learnt
    ImageNet. :meth:`learn` takes minutes, and reads nothing private.

    *Bound.* Codes are the means of the last maps, divided by their norm. The network
    runs in single precision, where the rounding of an image may depend on those beside
    it. So the lens ``is_opaque``, and private images are mapped one at a time.

    Parameters
    ----------
    filters : sequence of five Tensors of shape (channels, channels before, 3, 3)
    biases : sequence of five Tensors of shape (channels,)
    source : str, default="public images"
        What the network was trained on, for the certificate.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> images, labels = rng.random((64, 3, 8, 8)), np.arange(64) % 2
    >>> lens = LabelLens.learn(images, labels, width=4, n_epochs=1, source="noise")
    >>> lens.name
    'a network that learnt the labels of noise, taken as public'
    >>> lens.n_latent((3, 8, 8)), lens.encode(torch.rand(2, 3, 8, 8)).shape
    (16, torch.Size([2, 16]))
    """

    filters: Sequence[Tensor]
    biases: Sequence[Tensor]
    source: str = "public images"

    is_opaque = True
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def __post_init__(self) -> None:
        filters, biases = tuple(self.filters), tuple(self.biases)
        object.__setattr__(self, "filters", filters)
        object.__setattr__(self, "biases", biases)
        shapes, of_biases = (
            [tuple(getattr(part, "shape", ())) for part in parts]
            for parts in (filters, biases)
        )
        n_outputs = [shape[:1] for shape in shapes]
        is_chain = (
            len(shapes) == len(LAYERS)
            and all(len(shape) == 4 and shape[2:] == (SIDE, SIDE) for shape in shapes)
            and [shape[1:2] for shape in shapes[1:]] == n_outputs[:-1]
            and of_biases == n_outputs
        )
        if not is_chain:
            raise ValueError(
                f"filters must be {len(LAYERS)} tensors of shape (channels, channels "
                f"before, {SIDE}, {SIDE}), with as many biases of shape (channels,). "
                f"Got filters of shapes {shapes}."
            )

    @classmethod
    def learn(
        cls,
        images: ArrayLike,
        labels: ArrayLike,
        *,
        width: int = 32,
        n_epochs: int = 12,
        is_mirrored: bool = True,
        source: str = "public images",
        random_state: int = 0,
        device: str = "auto",
        verbose: int = 0,
    ) -> Self:
        """Train the network on public images and labels; never on private ones.

        40,000 images of 32 x 32 pixels in colour take about ten minutes of a core.

        Parameters
        ----------
        images : array of shape (n, channels, height, width) or (n, height, width)
            uint8, or floats in [0, 1]. They should be of the size of the private ones.
        labels : array of shape (n,)
            Two or more kinds.
        width : int, default=32
            Channels of the first convolution; the last one has four times as many,
            which is the number of codes.
        n_epochs : int, default=12
            How often each image is seen.
        is_mirrored : bool, default=True
            Whether a mirror image has the same label: not of letters and digits.
        source
            As of the class.
        random_state : int, default=0
            Public.
        device : str, default="auto"
            "auto" takes a GPU if there is one. The lens itself starts on the processor.
        verbose : int, default=0
            1 shows a progress bar.
        """
        if width < 1 or n_epochs < 1:
            raise ValueError(
                f"width and n_epochs must be positive. Got {width!r} and {n_epochs!r}."
            )
        chosen, rng = pick_device(device), np.random.default_rng(random_state)
        pixels = _as_pixels(images).to(chosen)
        kinds, codes = np.unique(np.asarray(labels), return_inverse=True)
        if codes.shape != (len(pixels),) or len(kinds) < 2:
            raise ValueError(
                f"labels must be of two or more kinds, one for each of {len(pixels)} "
                f"images. Got {len(kinds)} in an array of shape {codes.shape}."
            )
        convolutions, norms = _layers(pixels.shape[1], width, rng)
        last = drawn_layer(nn.Linear, width * LAYERS[-1][0], len(kinds), rng=rng)
        network = nn.Sequential(convolutions, norms, last).to(chosen)
        n_batch = min(BATCH, len(pixels))

        def scores(part: Tensor) -> Tensor:
            maps = part.contiguous(memory_format=torch.channels_last)
            for convolution, norm in zip(convolutions, norms, strict=True):
                maps = norm(convolution(maps)).relu()
            return last(maps.mean(dim=(2, 3)))

        train_classifier(
            scores,
            network.parameters(),
            (pixels - GREY, torch.from_numpy(codes).to(chosen)),
            n_epochs * max(len(pixels) // n_batch, 1),
            n_batch,
            rng=rng,
            is_mirrored=is_mirrored,
            is_shown=bool(verbose),
        )
        network.cpu()
        parts = [
            _folded(convolution, norm)
            for convolution, norm in zip(convolutions, norms, strict=True)
        ]
        filters, biases = zip(*parts, strict=True)
        return cls(filters, biases, source)

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        return f"a network that learnt the labels of {self.source}, taken as public"

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        self._check(shape)
        _, *sides = shape
        n_features = 0
        for part, (_, step) in zip(self.filters, LAYERS, strict=True):
            sides = [-(-side // step) for side in sides]
            n_features += len(part) * sides[0] * sides[1]
        return n_features

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        self._check(shape)
        return len(self.filters[-1])

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm 1."""
        return normalised(self._maps(images)[-1].mean(dim=(2, 3)))

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return all maps after a ReLU, flat; differentiable by images."""
        maps = [part.flatten(1) for part in self._maps(images)]
        return finite(torch.cat(maps, dim=1))

    def to(self, device: torch.device) -> Self:
        """Return the same lens on another device."""
        filters, biases = (
            tuple(part.to(device) for part in parts)
            for parts in (self.filters, self.biases)
        )
        return replace(self, filters=filters, biases=biases)

    def double(self) -> Self:
        """Return itself: the network runs in single precision."""
        return self

    def _maps(self, images: Tensor) -> list[Tensor]:
        """Return the maps after each ReLU, in the precision of the images."""
        self._check(tuple(images.shape[1:]))
        maps, found = within_range(images).float() - GREY, []
        for filters, bias, (_, step) in zip(
            self.filters, self.biases, LAYERS, strict=True
        ):
            weights = filters.to(maps), bias.to(maps)
            maps = conv2d(maps, *weights, stride=step, padding=SIDE // 2).relu()
            found.append(maps.to(images.dtype))
        return found

    def _check(self, shape: Sequence[int]) -> None:
        channels = self.filters[0].shape[1]
        if shape[0] != channels or min(shape[1:]) < LEAST_SIDE:
            raise ValueError(
                f"Images must have {channels} channels, as those that the network "
                f"learnt from, and {LEAST_SIDE} pixels a side or more. Got "
                f"{tuple(shape)} (channels, height, width)."
            )


def _layers(
    n_channels: int, width: int, rng: np.random.Generator
) -> tuple[nn.ModuleList, nn.ModuleList]:
    """Return untrained convolutions, and what levels the outputs of each."""
    convolutions, norms = nn.ModuleList(), nn.ModuleList()
    for times, step in LAYERS:
        settings = {"stride": step, "padding": SIDE // 2, "bias": False}
        sizes = n_channels, times * width, SIDE
        convolutions.append(drawn_layer(nn.Conv2d, *sizes, rng=rng, **settings))
        norms.append(nn.BatchNorm2d(times * width))
        n_channels = times * width
    return convolutions, norms


def _folded(convolution: Any, norm: Any) -> tuple[Tensor, Tensor]:
    """Return the filters and biases of a convolution and of the norm behind it."""
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    filters = convolution.weight * scale[:, None, None, None]
    bias = norm.bias - norm.running_mean * scale
    return filters.detach().contiguous(), bias.detach()


def _as_pixels(images: ArrayLike) -> Tensor:
    """Return public images in [0, 1], (n, channels, height, width)."""
    pixels: NDArray[Any] = np.asarray(images)
    scale = 255.0 if pixels.dtype.kind in "ui" else 1.0
    if pixels.ndim == 3:
        pixels = pixels[:, None]
    if pixels.ndim != 4 or not len(pixels) or min(pixels.shape[2:]) < LEAST_SIDE:
        raise ValueError(
            "images must be of shape (n, channels, height, width) or (n, height, "
            f"width), of {LEAST_SIDE} pixels a side or more. Got {pixels.shape}."
        )
    scaled = np.asarray(pixels, np.float32) / scale
    least, most = float(scaled.min()), float(scaled.max())
    if not (least >= 0.0 and most <= 1.0):
        raise ValueError(
            "Pixels must be whole numbers from 0 to 255 or floats from 0 to 1. Got "
            f"{least * scale:g} to {most * scale:g} as {pixels.dtype}."
        )
    return torch.from_numpy(scaled)
