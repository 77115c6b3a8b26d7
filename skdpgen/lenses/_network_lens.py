"""Lenses of trained networks: weights, and sizes and colours of images."""

import copy
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load, load_file
from torch import Tensor, nn
from torch.nn.functional import interpolate, normalize

from skdpgen.lenses._lens import (
    SMALLEST_NORM,
    Perceptual,
    Shape,
    clipped,
    finite,
    normalised,
    within_range,
)
from skdpgen.lenses._unit_means import UnitMeans, goes_alone
from skdpgen.networks import VGG, PublicAutoEncoder, ResNet, ResNet20
from skdpgen.utils import (
    saved,
)

# ----------------------------------------------------------------------------
# Weights of the user for a network with known layers.

NOT_USED = "num_batches_tracked"  # counts of batch norm, which only training reads


Weights = str | Path | Mapping[str, Tensor] | nn.Module


def weights_for(network: nn.Module, given: Weights) -> dict[str, Tensor]:
    """Return a copy of the weights that a network needs; others are ignored.

    Parameters
    ----------
    network : nn.Module
        Defines the names and shapes that are needed.
    given : str, path, dict of Tensor or nn.Module
        A file of a state dict (``.pth`` or ``.pt``, read without running code from it,
        or ``.safetensors``), a state dict, or a network that has one.

    Examples
    --------
    >>> small = nn.Linear(2, 1)
    >>> list(weights_for(small, small.state_dict() | {"more": torch.ones(1)}))
    ['weight', 'bias']
    """
    state = _state_of(given)
    needed = {
        name: value.shape
        for name, value in network.state_dict().items()
        if not name.endswith(NOT_USED)
    }
    missing = [name for name in needed if name not in state]
    if missing:
        raise ValueError(
            f"weights must have {len(needed)} entries named as in torchvision. "
            f"{len(missing)} are missing, such as {', '.join(missing[:3])}."
        )
    for name, shape in needed.items():
        if state[name].shape != shape:
            raise ValueError(
                f"Weight {name!r} must have shape {tuple(shape)}. "
                f"Got {tuple(state[name].shape)} instead."
            )
    return {name: _as_float(state[name]) for name in needed}


def _as_float(weight: Tensor) -> Tensor:
    kind = torch.float64 if weight.dtype == torch.float64 else torch.float32
    return weight.detach().to(kind, copy=True)


def _state_of(given: Weights) -> Mapping[str, Tensor]:
    if isinstance(given, nn.Module):
        return given.state_dict()
    state = _read(Path(given)) if isinstance(given, str | Path) else given
    if not isinstance(state, Mapping) or not all(
        isinstance(value, Tensor) for value in state.values()
    ):
        raise ValueError(
            "weights must be a state dict: tensors by name, a file of them, or a "
            f"module that has them. Got {type(state).__name__} instead."
        )
    return state


def _read(path: Path) -> Any:
    if path.suffix != ".safetensors":
        return torch.load(path, weights_only=True, map_location="cpu")
    return load_file(path)


# ----------------------------------------------------------------------------
# Base of lenses of trained networks: weights, sizes and colours of images.

IMAGENET_MEAN = (0.485, 0.456, 0.406)  # of colours, which such networks expect
IMAGENET_STD = (0.229, 0.224, 0.225)
SMALLEST_SIDE = 32  # maps of the last stage would have no pixel below


@dataclass(frozen=True, eq=False)
class NetworkLens:
    """A lens made of a network with public weights; derived classes define the network.

    Parameters
    ----------
    weights : str, path, dict of Tensor or nn.Module
        Kept as a dict of tensors, a copy, with the names that the network needs.
    side : int, default=32
        Smaller images are enlarged until their shorter side has this length.
    """

    weights: Any
    side: int = SMALLEST_SIDE

    is_opaque = False
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def __post_init__(self) -> None:
        if self.side < SMALLEST_SIDE:
            raise ValueError(
                f"side must be at least {SMALLEST_SIDE}. Got {self.side} instead."
            )
        object.__setattr__(self, "weights", weights_for(self._empty(), self.weights))

    @classmethod
    def check_read(cls, values: Mapping[str, object]) -> None:
        """Raise if a saved file names another file in place of weights."""
        if not isinstance(values["weights"], Mapping):
            raise ValueError("A lens in a file must have its weights there.")

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return int(self._shapes(shape)[-1][1])

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        return sum(feature_map[1:].numel() for feature_map in self._shapes(shape))

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return means of the last maps, divided by their norm."""
        return normalised(self._maps(images)[-1].mean(dim=(2, 3)))

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return all maps after a ReLU, flat; differentiable by images."""
        maps = [feature_map.flatten(1) for feature_map in self._maps(images)]
        return finite(torch.cat(maps, dim=1))

    def to(self, device: torch.device) -> Self:
        """Return the same lens on another device."""
        weights = {name: weight.to(device) for name, weight in self.weights.items()}
        return replace(self, weights=weights)

    def double(self) -> Self:
        """Return the same lens in double precision."""
        weights = {name: weight.double() for name, weight in self.weights.items()}
        return replace(self, weights=weights)

    def _empty(self) -> nn.Module:
        """Return the network without weights."""
        raise NotImplementedError

    def _maps(self, images: Tensor) -> list[Tensor]:
        weights = {name: weight.to(images) for name, weight in self.weights.items()}
        network = self._empty()
        network.load_state_dict(weights, strict=False, assign=True)
        inputs = as_inputs(within_range(images), self.side)
        maps: list[Tensor] = network.eval().requires_grad_(False)(inputs)
        return maps

    def _shapes(self, shape: Shape) -> list[torch.Size]:
        inputs = as_inputs(torch.empty(1, *shape, device="meta"), self.side)
        return [maps.shape for maps in self._empty().to("meta").eval()(inputs)]


def as_inputs(images: Tensor, side: int) -> Tensor:
    """Return images in colour, at least ``side`` pixels a side, on ImageNet's scale.

    Examples
    --------
    >>> as_inputs(torch.zeros(2, 1, 8, 16), 32).shape
    torch.Size([2, 3, 32, 64])
    """
    _, channels, height, width = images.shape
    if channels not in (1, 3):
        raise ValueError(f"Images must have 1 or 3 channels. Got {channels} instead.")
    times = side / min(height, width)
    if times > 1:
        size = round(height * times), round(width * times)
        images = interpolate(images, size, mode="bilinear", align_corners=False)
    mean, spread = (
        images.new_tensor(constant)[:, None, None]
        for constant in (IMAGENET_MEAN, IMAGENET_STD)
    )
    return (images - mean) / spread  # grey ones become three equal channels first


# ----------------------------------------------------------------------------
# A lens made of VGG-19.


@saved("lens.vgg19")
@dataclass(frozen=True, eq=False)
class VGG19Lens(NetworkLens):
    """Features of VGG-19, with weights that are public.

    Features are the maps after each of its 16 ReLUs, flat, as DP-MEPF takes them [1]_:
    303,104 numbers of an image of 32 x 32. Weights must come from public images alone;
    they are never trained here.

    *Bound.* Codes are the 512 means of the last maps, divided by their norm.

    Parameters
    ----------
    weights : str, path, dict of Tensor or nn.Module
        A file of torchvision's weights of ``vgg19`` (``.pth``, ``.pt`` or
        ``.safetensors``), its state dict, or the network. Entries of the classifier are
        ignored. A copy is kept.
    side : int, default=32
        Smaller images are enlarged until their shorter side has this length.

    References
    ----------
    .. [1] Harder et al., "Pre-trained perceptual features improve differentially
       private image generation", TMLR 2023.

    Examples
    --------
    >>> from skdpgen.networks import VGG
    >>> lens = VGG19Lens(VGG())  # its weights are empty: bring your own
    >>> lens.n_features((1, 28, 28)), lens.n_latent((1, 28, 28))
    (303104, 512)
    """

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        return "VGG-19, its weights taken as public"

    def _empty(self) -> nn.Module:
        return VGG()


# ----------------------------------------------------------------------------
# A lens made of ResNet-18.


@saved("lens.resnet18")
@dataclass(frozen=True, eq=False)
class ResNet18Lens(NetworkLens):
    """Features of ResNet-18, with weights that are public.

    Features are the maps after each of its 17 ReLUs, flat. Batch norm takes the means
    and spreads that stand in the weights, so images do not influence each other.
    Weights must come from public images alone; they are never trained here.

    *Bound.* Codes are the 512 means of the last maps, divided by their norm.

    Parameters
    ----------
    weights : str, path, dict of Tensor or nn.Module
        A file of torchvision's weights of ``resnet18`` (``.pth``, ``.pt`` or
        ``.safetensors``), its state dict, or the network. Entries of the last layer,
        ``fc``, are ignored. A copy is kept.
    side : int, default=32
        Smaller images are enlarged until their shorter side has this length.

    Examples
    --------
    >>> from skdpgen.networks import ResNet
    >>> lens = ResNet18Lens(ResNet())  # its weights are empty: bring your own
    >>> lens.n_features((1, 28, 28)), lens.n_latent((1, 28, 28))
    (47104, 512)
    """

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        return "ResNet-18, its weights taken as public"

    def _empty(self) -> nn.Module:
        return ResNet()


# ----------------------------------------------------------------------------
# A lens made of a classifier that DP-SGD trains on private images.


@saved("lens.classifier_training")
@dataclass(frozen=True)
class PrivateClassifier:
    """How DPMEPFSynthesizer trains a classifier on private images, to be its lens.

    It is a ResNet-20, as in appendix F of DP-MEPF [1]_, where a classifier got an ε of
    2, 5 or 8 of 10, and was trained for 7, 49 or 98 epochs.

    Parameters
    ----------
    budget : float, default=0.5
        Part of the budget, in (0, 1).
    n_steps : int, default=2450
        Steps of DP-SGD: 49 epochs.
    sampling_rate : float, default=0.02
        Probability that a step samples an image.
    max_grad_norm : float, default=0.01
        Norm to which the gradient of each image is clipped.
    learning_rate : float, default=0.001
        Of Adam.

    References
    ----------
    .. [1] Harder et al., "Pre-trained perceptual features improve differentially
       private image generation", TMLR 2023, appendix F.

    Examples
    --------
    >>> PrivateClassifier(n_steps=100)
    PrivateClassifier(budget=0.5, n_steps=100, sampling_rate=0.02, ...
    """

    budget: float = 0.5
    n_steps: int = 2450
    sampling_rate: float = 0.02
    max_grad_norm: float = 0.01
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        """Check what would fail only after budget was used."""
        for name, least, most in (
            ("budget", 0.0, 1.0),
            ("sampling_rate", 0.0, 1.0),
            ("max_grad_norm", 0.0, math.inf),
            ("learning_rate", 0.0, math.inf),
        ):
            value = getattr(self, name)
            if not least < value < most:
                raise ValueError(
                    f"{name} must be in ({least:g}, {most:g}). Got {value!r} instead."
                )
        is_whole = isinstance(self.n_steps, Integral) and type(self.n_steps) is not bool
        if not is_whole or self.n_steps < 1:
            raise ValueError(
                f"n_steps must be an integer of at least 1. Got {self.n_steps!r}."
            )


@saved("lens.classifier")
@dataclass(frozen=True, eq=False)
class ClassifierLens(NetworkLens):
    """Features of a ResNet-20 that DP-SGD trained to classify private images.

    Features are its maps after each unit, 0 where they would be negative. Its weights
    are a release: what is computed from them uses no more budget.
    """

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        return "ResNet-20, trained by DP-SGD"

    def _empty(self) -> nn.Module:
        return ResNet20()

    def _maps(self, images: Tensor) -> list[Tensor]:
        return [maps.clamp_min(0.0) for maps in super()._maps(images)]


# ----------------------------------------------------------------------------
# The lens that comes with the package: small networks trained on public images.

KINDS_BY_CHANNELS = {1: "grey", 3: "colour"}
NORMS_BY_CHANNELS = {1: 40.0, 3: 47.0}  # of the codes of 99 % of public images

LAYER_WEIGHTS = 1.5, 1.2, 0.5  # fine places get most of a feature's norm


@saved("lens.shipped")
@dataclass(frozen=True)
class ShippedLens:
    """A small auto-encoder, trained on public images, that is part of the package.

    Grey images go through a network that has seen letters and photographs, coloured
    ones through one that has seen photographs; :doc:`the model card </model_card>` says
    which. Features are what its three convolutions see, at the size of the image, half
    of it and a quarter, weighed so that most of their norm is in the first. Codes are
    made of 28 x 28 pixels, and decode to as many.

    *Bound.* Codes are divided by a public radius and clipped. Features are outputs of
    ReLUs and so at least 0. No layer mixes images.

    Parameters
    ----------
    version : str, default=""
        Version of the weights, stored in files of saved estimators; weights of another
        version are refused. Empty is the installed version.

    Examples
    --------
    >>> lens = ShippedLens()
    >>> lens.n_features((1, 14, 14)), lens.n_latent((1, 28, 28))
    (8592, 64)
    """

    version: str = ""

    is_opaque = False
    has_decoder = True
    has_features = True
    is_nonnegative = True

    def __post_init__(self) -> None:
        if not self.version:
            object.__setattr__(self, "version", installed())
        elif self.version != installed():
            raise ValueError(
                f"version must be {installed()!r}, which is installed. Got "
                f"{self.version!r}: install the skdpgen that this lens came with."
            )

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        return f"the network that comes with skdpgen, version {self.version}"

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return int(network(shape[0]).codes.out_features)

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        images = torch.empty(1, *shape, device="meta")
        maps = PublicAutoEncoder(shape[0]).to("meta").maps(images)
        return sum(feature_map.numel() for feature_map in maps)

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return the flattened outputs of the convolutions; differentiable."""
        images = within_range(images)
        maps = network(images.shape[1], images).maps(images)
        parts = [
            a * feature_map.flatten(1)
            for a, feature_map in zip(LAYER_WEIGHTS, maps, strict=True)
        ]
        return finite(torch.cat(parts, dim=1))

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        images = within_range(images)
        channels = images.shape[1]
        return clipped(
            network(channels, images).encode(images) / NORMS_BY_CHANNELS[channels]
        )

    def decode(self, codes: Tensor, shape: Shape) -> Tensor:
        """Return images in [0, 1], of this shape."""
        channels, *sides = shape
        images = network(channels, codes).decode(codes * NORMS_BY_CHANNELS[channels])
        if images.shape[2:] == tuple(sides):
            return images
        return interpolate(images, tuple(sides), mode="bilinear", align_corners=False)

    def to(self, device: torch.device) -> "ShippedLens":
        """Return itself: weights go where images are."""
        return self

    def double(self) -> "ShippedLens":
        """Return itself: weights have the precision of images."""
        return self


def network(n_channels: int, like: Tensor | None = None) -> PublicAutoEncoder:
    """Return the network for a number of channels, in the precision of a tensor."""
    if n_channels not in KINDS_BY_CHANNELS:
        raise ValueError(f"Images must have 1 or 3 channels. Got {n_channels} instead.")
    if like is None:
        return _network(n_channels, torch.float32, torch.device("cpu"))
    return _network(n_channels, like.dtype, like.device)


@cache
def _network(
    n_channels: int, dtype: torch.dtype, device: torch.device
) -> PublicAutoEncoder:
    network = PublicAutoEncoder(n_channels)
    network.load_state_dict(load(_content(KINDS_BY_CHANNELS[n_channels])))
    return network.to(device=device, dtype=dtype).eval().requires_grad_(False)


@cache
def installed() -> str:
    """Return the installed version: the first digits of a checksum."""
    constants = repr((sorted(NORMS_BY_CHANNELS.items()), LAYER_WEIGHTS)).encode()
    content = constants + b"".join(
        _content(kind) for kind in KINDS_BY_CHANNELS.values()
    )
    return hashlib.sha256(content).hexdigest()[:8]


def _content(kind: str) -> bytes:
    return files("skdpgen.lenses").joinpath(f"weights/{kind}.safetensors").read_bytes()


# ----------------------------------------------------------------------------
# The features of a lens as one bounded vector, with their squares.


@saved("features.perceptual")
@dataclass(frozen=True, eq=False)
class PerceptualMap:
    r"""Features f of a lens and, beside them, their squares.

    .. math:: \phi = \Big[ a\,\frac{f}{\|f\|} ;\; b\,\frac{f^2}{\|f^2\|} \Big],
              \qquad a^2 + b^2 = 1

    *Bound.* Each part is divided by its own norm, so that :math:`\|\phi\| \le 1` for
    every image, up to rounding; privacy clips each part once more. Squares are never
    negative, features of most lenses neither.

    Parameters
    ----------
    lens : Perceptual
    shape : tuple of int
        Channels, height and width of the images that come in flat.
    squares : float, default=0.5
        The number b²; 0 leaves squares out.

    Examples
    --------
    >>> from skdpgen.lenses import ScatteringLens
    >>> phi = PerceptualMap(ScatteringLens(order=1), (1, 8, 8))
    >>> phi(torch.rand(3, 64)).norm(dim=1).round(decimals=3)
    tensor([1., 1., 1.])
    """

    lens: Perceptual
    shape: Shape
    squares: float = 0.5

    norm_bound = 1.0

    @property
    def is_opaque(self) -> bool:
        """Whether rows must be mapped one at a time."""
        return goes_alone(self.lens)

    @property
    def n_features(self) -> int:
        """Number of features, with squares."""
        return sum(width for width, *_ in self.parts)

    @property
    def row_size(self) -> int:
        """How many numbers one row takes, about: more than it ends with."""
        return 2 * self.n_features + math.prod(self.shape)

    @property
    def parts(self) -> tuple[tuple[int, float, bool], ...]:
        """Length and norm of each part, and whether it is never negative."""
        n = int(self.lens.n_features(self.shape))
        first = n, math.sqrt(1.0 - self.squares), bool(self.lens.is_nonnegative)
        second = n, math.sqrt(self.squares), True
        return (first, second) if self.squares else (first,)

    def __call__(self, x: Tensor) -> Tensor:  # (n, n_inputs) -> (n, n_features)
        """Map flat images; differentiable."""
        return torch.cat(self._parts(x), dim=1)

    def _parts(self, x: Tensor) -> list[Tensor]:
        """Return features and their squares, each normalised separately."""
        features = self.lens.features(x.reshape(-1, *self.shape)).flatten(1)
        unit = normalize(features, dim=1, eps=SMALLEST_NORM)
        parts = [math.sqrt(1.0 - self.squares) * unit]
        if self.squares:
            squared = normalize(unit.square(), dim=1, eps=SMALLEST_NORM**2)
            parts.append(math.sqrt(self.squares) * squared)
        return parts

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of equal groups of rows, (n_parts, n_features)."""
        features = self.lens.features(x.reshape(-1, *self.shape)).flatten(1)
        means: Tensor = UnitMeans.apply(  # type: ignore[no-untyped-call]
            features, n_parts, self.squares, SMALLEST_NORM
        )
        return means

    def expected(self, points: Sequence[Tensor]) -> None:
        """Return None: a mean over rows has no closed form."""

    def to(self, device: torch.device) -> "PerceptualMap":
        """Return the same map on another device."""
        return replace(self, lens=self.lens.to(device))

    def double(self) -> "PerceptualMap":
        """Return the same map in double precision, with a lens of its own.

        It reads private rows: a lens may store state about them and must not be kept.
        """
        return replace(self, lens=copy.deepcopy(self.lens.double()))
