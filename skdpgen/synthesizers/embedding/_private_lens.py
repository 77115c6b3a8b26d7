"""A lens that is learnt from private images, by DP-SGD: where no public one serves."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from skdpgen.lenses import clipped
from skdpgen.synthesizers.embedding._encoded_kernel import encoder_of
from skdpgen.synthesizers.embedding._image_kernel import ImageKernel, pooling_of
from skdpgen.synthesizers.opening import Opening
from skdpgen.tables import Cells
from skdpgen.utils import saved


@saved
@dataclass(frozen=True, eq=False)
class PrivateLens:
    """The layers of an auto-encoder that was trained by DP-SGD: a release.

    Features are its hidden units and its codes, moved from [-1, 1] to [0, 1].

    Parameters
    ----------
    weights : tuple of Tensor
        Weight and bias of the first layer, and of the second.
    """

    weights: tuple[Tensor, ...]

    name = "layers of an auto-encoder, trained by DP-SGD"
    is_opaque = False
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def n_features(self, shape: tuple[int, int, int]) -> int:
        """Return how many features an image has."""
        del shape
        return len(self.weights[1]) + len(self.weights[3])

    def n_latent(self, shape: tuple[int, int, int]) -> int:
        """Return how many codes an image has."""
        return self.n_features(shape)

    def features(self, images: Tensor) -> Tensor:
        """Return features, between 0 and 1; differentiable."""
        first, bias, second, other = (one.to(images) for one in self.weights)
        units = torch.tanh(images.flatten(1) @ first.T + bias)
        codes = torch.tanh(units @ second.T + other)
        return (1.0 + torch.cat([units, codes], dim=1)) / 2.0

    def encode(self, images: Tensor) -> Tensor:
        """Return the same, of norm 1 at most."""
        found = self.features(images)
        return clipped(found / found.shape[1] ** 0.5)

    def to(self, device: torch.device) -> "PrivateLens":
        """Return the same lens on another device."""
        return replace(self, weights=tuple(one.to(device) for one in self.weights))

    def double(self) -> "PrivateLens":
        """Return the same lens in double precision."""
        return replace(self, weights=tuple(one.double() for one in self.weights))


def private_lens(
    opening: Opening,
    labels: Cells | None,
    settings: Any,
    *,
    share: float,
    rng: Generator,
) -> PrivateLens:
    """Pay ``share`` for a lens of what ``pooling`` shows of images."""
    layout: Any = opening.facts.layout
    bare = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    network = encoder_of(opening, labels, bare, share=share, rng=rng)
    first, _, second, _ = network.encoder
    weights = first.weight, first.bias, second.weight, second.bias
    return PrivateLens(tuple(weight.detach() for weight in weights))
