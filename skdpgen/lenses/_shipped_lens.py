"""The lens that comes with the package: small networks that saw public images."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import torch
from safetensors.torch import load
from torch import Tensor
from torch.nn.functional import interpolate

from skdpgen.lenses._clipping import clipped, finite, within_range
from skdpgen.lenses._lens import Shape
from skdpgen.networks import PublicAutoEncoder
from skdpgen.utils import saved

KINDS = {1: "grey", 3: "colour"}  # by the number of channels
RADIUS = {1: 40.0, 3: 47.0}  # norm of the codes of 99 % of public images

BALANCE = 1.5, 1.2, 0.5  # of layers: fine places get most of a feature's norm


@saved
@dataclass(frozen=True)
class ShippedLens:
    """A small auto-encoder that was trained on public images and comes along.

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
        Says which weights are meant, in a file of a saved estimator; weights of another
        version are refused. Empty is what is installed.

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
        """What a certificate says about the lens."""
        return f"the network that comes with skdpgen, version {self.version}"

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return int(network(shape[0]).codes.out_features)

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        images = torch.empty(1, *shape, device="meta")
        maps = PublicAutoEncoder(shape[0]).to("meta").maps(images)
        return sum(one.numel() for one in maps)

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return what the convolutions see, flat; differentiable by images."""
        images = within_range(images)
        maps = network(images.shape[1], images).maps(images)
        parts = [a * one.flatten(1) for a, one in zip(BALANCE, maps, strict=True)]
        return finite(torch.cat(parts, dim=1))

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        images = within_range(images)
        channels = images.shape[1]
        return clipped(network(channels, images).encode(images) / RADIUS[channels])

    def decode(self, codes: Tensor, shape: Shape) -> Tensor:
        """Return images in [0, 1], of this shape."""
        channels, *sides = shape
        images = network(channels, codes).decode(codes * RADIUS[channels])
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
    """Return the network for so many channels, with the precision of a tensor."""
    if n_channels not in KINDS:
        raise ValueError(f"Images must have 1 or 3 channels. Got {n_channels} instead.")
    if like is None:
        return _network(n_channels, torch.float32, torch.device("cpu"))
    return _network(n_channels, like.dtype, like.device)


@cache
def _network(
    n_channels: int, dtype: torch.dtype, device: torch.device
) -> PublicAutoEncoder:
    found = PublicAutoEncoder(n_channels)
    found.load_state_dict(load(_content(KINDS[n_channels])))
    return found.to(device=device, dtype=dtype).eval().requires_grad_(False)


@cache
def installed() -> str:
    """Return what is installed: the first digits of a checksum of all that counts."""
    constants = repr((sorted(RADIUS.items()), BALANCE)).encode()
    content = constants + b"".join(_content(kind) for kind in KINDS.values())
    return hashlib.sha256(content).hexdigest()[:8]


def _content(kind: str) -> bytes:
    return files("skdpgen.lenses").joinpath(f"weights/{kind}.safetensors").read_bytes()
