"""A lens of the user: any module, or two functions."""

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d

from skdpgen.lenses._lens import Shape, clipped, finite, normalised, within_range
from skdpgen.utils import (
    saved,
)

PUBLIC_BY_USER = ", given by the user and taken as public"


@dataclass(frozen=True, eq=False)
class ModuleLens:
    """An encoder of the user, with or without a decoder.

    The module must be public: random, or trained on public images only. It must also be
    pure: it runs on private rows, and state that it stores about them is not accounted
    for. Rows of a batch may influence each other in it,
    so the lens ``is_opaque``: private rows are mapped one at a time.

    *Bound.* The output of the module for an image is flattened, divided by the radius,
    and clipped to norm 1.

    Modules, and modules whose methods are given, are copied and set to evaluate. They
    are not trained, and run in the precision that their weights have. A lens with a
    module can be pickled, but not written by ``save``.

    Parameters
    ----------
    encoder : nn.Module or callable
        From images (n, channels, height, width) in [0, 1] to a Tensor (n, ...).
    decoder : nn.Module, callable or None, default=None
        From flattened outputs of the encoder, (n, n_latent), to images.
    name : str, default="an encoder"
        Name in the certificate, which adds that it is the user's.
    radius : float, default=1.0
        A public constant: norm of the encoder's outputs that is still not clipped.
    layers : tuple of str or None, default=None
        Parts of the encoder, by their names in ``named_modules()``, whose outputs are
        features to compare images by. None is every ``nn.ReLU`` that it has.

    Examples
    --------
    >>> lens = ModuleLens(lambda images: images.mean(dim=(2, 3)), name="mean colour")
    >>> lens.encode(torch.full((2, 3, 8, 8), 0.5))
    tensor([[0.5000, 0.5000, 0.5000],
            [0.5000, 0.5000, 0.5000]])
    >>> lens.name
    'mean colour, given by the user and taken as public'
    """

    encoder: Callable[[Tensor], Tensor]
    decoder: Callable[[Tensor], Tensor] | None = None
    name: str = "an encoder"
    radius: float = 1.0
    layers: tuple[str, ...] | None = None

    is_opaque = True

    def __post_init__(self) -> None:
        for role, given in (("encoder", self.encoder), ("decoder", self.decoder)):
            if not callable(given) and not (role == "decoder" and given is None):
                raise TypeError(f"{role} must be callable. Got {given!r} instead.")
            object.__setattr__(self, role, _copied(given))
        if not 0 < self.radius < math.inf:
            raise ValueError(f"radius must be positive. Got {self.radius!r} instead.")
        self._parts()
        if not self.name.endswith(PUBLIC_BY_USER):
            object.__setattr__(self, "name", self.name + PUBLIC_BY_USER)

    @property
    def has_decoder(self) -> bool:
        """Whether there is a decoder."""
        return self.decoder is not None

    @property
    def has_features(self) -> bool:
        """Whether the encoder has layers to compare images by."""
        return len(self._parts()) > 0

    @property
    def is_nonnegative(self) -> bool:
        """Whether all features are at least 0: those of ReLUs are."""
        return all(isinstance(part, nn.ReLU) for part in self._parts())

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has; tries it on a black one."""
        return self.encode(self._black(shape)).shape[1]

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has; tries a black one."""
        with torch.no_grad():
            return self.features(self._black(shape)).shape[1]

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return outputs of the layers, flat, in the order they run; differentiable."""
        outputs: list[Tensor] = []

        def note(part: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            outputs.append(output.reshape(len(images), -1))

        hooks = [part.register_forward_hook(note) for part in self._parts()]
        try:
            _run(self.encoder, within_range(images), "encoder")
        finally:
            for hook in hooks:
                hook.remove()
        return finite(torch.cat(outputs, dim=1).to(images.dtype))

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        with torch.no_grad():
            codes = _run(self.encoder, within_range(images), "encoder")
        flat = codes[:, None] if codes.ndim == 1 else codes.flatten(1)
        return clipped(flat / self.radius)

    def decode(self, codes: Tensor, shape: Shape) -> Tensor:
        """Return images in [0, 1]."""
        if self.decoder is None:
            raise ValueError("This lens has no way back. Give it a `decoder`.")
        with torch.no_grad():
            images = _run(self.decoder, codes * self.radius, "decoder")
        if images[0:1].numel() != math.prod(shape) and len(images):
            raise ValueError(
                f"decoder must return images of shape (n, {', '.join(map(str, shape))})"
                f". Got {tuple(images.shape)} instead."
            )
        return images.reshape(-1, *shape).clamp(0.0, 1.0)

    def to(self, device: torch.device) -> "ModuleLens":
        """Return the same lens with its modules on another device."""
        encoder, decoder = _copied(self.encoder, device), _copied(self.decoder, device)
        return replace(self, encoder=encoder, decoder=decoder)

    def _black(self, shape: Shape) -> Tensor:
        weight = next(_weights(self.encoder), torch.empty(0))
        return torch.zeros(1, *shape, device=weight.device)

    def _parts(self) -> list[nn.Module]:
        """Return the layers that features are taken from."""
        owner = _owner(self.encoder)
        if self.layers is None:
            modules = [] if owner is None else owner.modules()
            return [part for part in modules if isinstance(part, nn.ReLU)]
        if owner is None:
            raise TypeError("layers must be None unless the encoder is a module.")
        return [owner.get_submodule(name) for name in self.layers]

    def double(self) -> "ModuleLens":
        """Return a copy in its own precision; it may keep state about its inputs."""
        return replace(self)


def _owner(given: object) -> nn.Module | None:
    """Return the module that is given, or one of whose methods is."""
    for candidate in (given, getattr(given, "__self__", None)):
        if isinstance(candidate, nn.Module):
            return candidate
    return None


def _copied(given: Any, device: torch.device | None = None) -> Any:
    """Return a copy in which nothing is trained; functions as they are."""
    owner = _owner(given)
    if owner is None:
        return given
    copied = copy.deepcopy(owner).to(device).eval().requires_grad_(False)
    return copied if given is owner else getattr(copied, given.__name__)


def _weights(given: object) -> Iterator[Tensor]:
    """Yield weights of the module that is given, if it is one."""
    owner = _owner(given)
    if owner is not None:
        yield from (
            weight for weight in owner.parameters() if weight.is_floating_point()
        )


def _run(module: Callable[[Tensor], object], inputs: Tensor, role: str) -> Tensor:
    """Return the outputs of a module for each row, in the precision of the inputs."""
    weight = next(_weights(module), inputs)
    outputs = module(inputs.to(weight.dtype))
    if not isinstance(outputs, Tensor):
        raise TypeError(
            f"{role} must return one tensor. Got {type(outputs).__name__} instead."
        )
    if outputs.ndim == 0 or len(outputs) != len(inputs):
        raise ValueError(
            f"{role} must return one row for each of {len(inputs)} given. "
            f"Got a tensor of shape {tuple(outputs.shape)} instead."
        )
    return outputs.to(inputs.dtype)


# ----------------------------------------------------------------------------
# A lens of random filters, which respond to strokes and edges; nothing is trained.

FIRST_SIDE, NEXT_SIDE = 5, 3  # pixels of filters, in the first layer and later
FILTER_NORM = 2.0
# Part of a first filter's mean that is subtracted: edges count more than tones.
LEVELLED_PART = 0.5
THRESHOLD = 0.5  # at most, of a ReLU


@saved("lens.random")
@dataclass(frozen=True)
class RandomLens:
    r"""A convolutional network whose filters are random and fixed.

    .. math:: f_1 = (A_1 \star x - t_1)_+, \qquad f_2 = (A_2 \star f_1 - t_2)_+, \dots

    The first layer sees every pixel, each further one every second place of the one
    before. Thresholds t differ, so that the means of ReLUs describe the distribution of
    values, not only their mean.

    *Bound.* Codes are the features, divided by their norm.

    Parameters
    ----------
    n_filters : tuple of int, default=(24, 48)
        Of each layer.
    seed : int, default=0
        Public; draws filters and thresholds.

    Examples
    --------
    >>> RandomLens().n_features((1, 14, 14))  # 24 * 14 * 14 + 48 * 7 * 7
    7056
    """

    n_filters: tuple[int, ...] = (24, 48)
    seed: int = 0

    is_opaque = False
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def __post_init__(self) -> None:
        if not self.n_filters or min(self.n_filters) < 1:
            raise ValueError(
                f"n_filters must be positive. Got {self.n_filters!r} instead."
            )

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        many = " and ".join(map(str, self.n_filters))
        return f"random filters, {many}, seed {self.seed}"

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        _, *sides = shape
        n_features = 0
        for k, n in enumerate(self.n_filters):
            sides = [-(-side // 2) if k else side for side in sides]
            n_features += n * sides[0] * sides[1]
        return n_features

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return self.n_features(shape)

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        return normalised(self.features(images))

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return the flattened features of all layers; differentiable."""
        maps, features = within_range(images), []
        layers = _drawn_for(
            images.dtype, images.device, self.n_filters, images.shape[1], self.seed
        )
        for k, (weight, bias) in enumerate(layers):
            half = weight.shape[2] // 2
            if k:
                maps = conv2d(maps, weight, bias, stride=2, padding=half).relu()
            elif images.is_cuda:
                maps = conv2d(maps, weight, bias, padding=half).relu()
            else:
                maps = _first_layer(maps, weight, bias).relu()
            features.append(maps.flatten(1))
        return finite(torch.cat(features, dim=1))

    def to(self, device: torch.device) -> "RandomLens":
        """Return itself: filters go where images are."""
        return self

    def double(self) -> "RandomLens":
        """Return itself: filters have the precision of images."""
        return self


class _FirstLayer(torch.autograd.Function):
    """A convolution with few channels below, whose slopes are quick on a processor.

    The library takes five times as long for the slopes of one channel as for the maps.
    Here a product has what each pixel of a filter gives back, and shifts of it add up.
    """

    @staticmethod
    def forward(context: Any, images: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return maps of the size of the images."""
        context.save_for_backward(weight)
        return conv2d(images, weight, bias, padding=weight.shape[2] // 2)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        """Return the slopes of the images; filters are fixed."""
        (gradient,), (weight,) = gradients, context.saved_tensors
        n, _, height, width = gradient.shape
        n_channels, side = weight.shape[1:3]
        parts = weight.flatten(1).T @ gradient.flatten(2)
        parts = parts.view(n, n_channels, side, side, height, width)
        half = side // 2
        padded = gradient.new_zeros(n, n_channels, height + 2 * half, width + 2 * half)
        for i, j in product(range(side), repeat=2):
            padded[:, :, i : i + height, j : j + width] += parts[:, :, i, j]
        return padded[:, :, half : half + height, half : half + width], None, None


_first_layer: Callable[[Tensor, Tensor, Tensor], Tensor] = _FirstLayer.apply


@cache
def _drawn(
    n_filters: tuple[int, ...], n_channels: int, seed: int
) -> tuple[tuple[Tensor, Tensor], ...]:
    """Return filters of norm 2 and their biases, layer by layer."""
    rng = torch.Generator().manual_seed(seed)
    layers = []
    for k, n in enumerate(n_filters):
        side = NEXT_SIDE if k else FIRST_SIDE
        filters = torch.randn(n, n_channels, side, side, generator=rng)
        if not k:
            filters = filters - LEVELLED_PART * filters.mean(
                dim=(1, 2, 3), keepdim=True
            )
        norms = filters.flatten(1).norm(dim=1)[:, None, None, None]
        below = -THRESHOLD * torch.rand(n, generator=rng)
        layers.append((FILTER_NORM * filters / norms, below))
        n_channels = n
    return tuple(layers)


@cache
def _drawn_for(
    dtype: torch.dtype, device: torch.device, *drawn: Any
) -> tuple[tuple[Tensor, Tensor], ...]:
    """Return what :func:`_drawn` does, where images are and in their precision."""
    return tuple(
        (filters.to(device, dtype), below.to(device, dtype))
        for filters, below in _drawn(*drawn)
    )
