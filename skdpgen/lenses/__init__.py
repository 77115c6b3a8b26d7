"""Public views of images, fixed before anything private is read."""

from skdpgen.lenses._alone import check_pure, each_alone, goes_alone
from skdpgen.lenses._clipping import clipped
from skdpgen.lenses._cosine import CosineLens
from skdpgen.lenses._lens import Decoding, Lens, Perceptual
from skdpgen.lenses._lens_of import lens_of
from skdpgen.lenses._module_lens import ModuleLens
from skdpgen.lenses._perceptual_map import PerceptualMap
from skdpgen.lenses._random_lens import RandomLens
from skdpgen.lenses._resnet_lens import ResNet18Lens
from skdpgen.lenses._scattering import ScatteringLens
from skdpgen.lenses._shipped_lens import ShippedLens
from skdpgen.lenses._vgg_lens import VGG19Lens

__all__ = [
    "CosineLens",
    "Decoding",
    "Lens",
    "ModuleLens",
    "Perceptual",
    "PerceptualMap",
    "RandomLens",
    "ResNet18Lens",
    "ScatteringLens",
    "ShippedLens",
    "VGG19Lens",
    "check_pure",
    "clipped",
    "each_alone",
    "goes_alone",
    "lens_of",
]
