"""A lens made of VGG-19."""

from dataclasses import dataclass

from torch import nn

from skdpgen.lenses._network_lens import NetworkLens
from skdpgen.networks import VGG
from skdpgen.utils import saved


@saved
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
        Smaller images are enlarged until their shorter side has so many pixels.

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
        """What a certificate says about the lens."""
        return "VGG-19, its weights taken as public"

    def _empty(self) -> nn.Module:
        return VGG()
