"""Lenses of thin networks, for speed, with random weights."""

from dataclasses import dataclass

import torch

from skdpgen.lenses import ResNet18Lens, VGG19Lens
from skdpgen.networks import VGG, ResNet
from skdpgen.utils import saved


@saved("test.thin_vgg")
@dataclass(frozen=True, eq=False)
class ThinVGG(VGG19Lens):
    def _empty(self):
        return VGG((2, 3, 4, 5, 6))


@saved("test.thin_resnet")
@dataclass(frozen=True, eq=False)
class ThinResNet(ResNet18Lens):
    def _empty(self):
        return ResNet((2, 3, 4, 5))


def randomised(network, seed=0):
    """A state dict of random weights; spreads of batch norm are positive."""
    rng = torch.Generator().manual_seed(seed)
    state = network.state_dict()
    for name, value in state.items():
        if not value.is_floating_point():
            continue
        fan_in = max(value[0].numel(), 1) if value.ndim > 1 else 10
        drawn = torch.randn(value.shape, generator=rng) * (2 / fan_in) ** 0.5
        state[name] = 0.5 + drawn.abs() if name.endswith("var") else drawn
    return state


THIN = {
    "vgg": ThinVGG(randomised(VGG((2, 3, 4, 5, 6)))),
    "resnet": ThinResNet(randomised(ResNet((2, 3, 4, 5)))),
}
