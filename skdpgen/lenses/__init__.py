"""Public views of images, fixed before anything private is read."""

from skdpgen.lenses._cosine import CosineLens
from skdpgen.lenses._label_lens import LabelLens
from skdpgen.lenses._lens import Decoding, Lens, Perceptual, clipped
from skdpgen.lenses._lens_of import lens_of
from skdpgen.lenses._module_lens import ModuleLens, RandomLens
from skdpgen.lenses._network_lens import (
    ClassifierLens,
    PerceptualMap,
    PrivateClassifier,
    ResNet18Lens,
    ShippedLens,
    VGG19Lens,
    as_inputs,
)
from skdpgen.lenses._patch_lens import PatchLens
from skdpgen.lenses._scattering import ScatteringLens
from skdpgen.lenses._unit_means import check_map, check_pure, each_alone, goes_alone

__all__ = [
    "ClassifierLens",
    "CosineLens",
    "Decoding",
    "LabelLens",
    "Lens",
    "ModuleLens",
    "PatchLens",
    "Perceptual",
    "PerceptualMap",
    "PrivateClassifier",
    "RandomLens",
    "ResNet18Lens",
    "ScatteringLens",
    "ShippedLens",
    "VGG19Lens",
    "as_inputs",
    "check_map",
    "check_pure",
    "clipped",
    "each_alone",
    "goes_alone",
    "lens_of",
]
