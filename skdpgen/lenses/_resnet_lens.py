"""A lens made of ResNet-18."""

from dataclasses import dataclass

from torch import nn

from skdpgen.lenses._network_lens import NetworkLens
from skdpgen.networks import ResNet
from skdpgen.utils import saved


@saved
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
        Smaller images are enlarged until their shorter side has so many pixels.

    Examples
    --------
    >>> from skdpgen.networks import ResNet
    >>> lens = ResNet18Lens(ResNet())  # its weights are empty: bring your own
    >>> lens.n_features((1, 28, 28)), lens.n_latent((1, 28, 28))
    (47104, 512)
    """

    @property
    def name(self) -> str:
        """What a certificate says about the lens."""
        return "ResNet-18, its weights taken as public"

    def _empty(self) -> nn.Module:
        return ResNet()
