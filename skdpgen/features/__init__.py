"""Bounded-norm feature maps, one file each."""

from skdpgen.features._fourier import FourierFeatures
from skdpgen.features._hermite import (
    ExpectedHermite,
    HermiteFeatures,
    HermitePairs,
    hermite_functions,
)
from skdpgen.features._ntk import (
    ARCHITECTURES,
    ModuleNTKFeatures,
    NetworkNTKFeatures,
    NTKFeatures,
)
from skdpgen.features._parts import (
    EncodedFeatures,
    ExpectedFourier,
    JointFeatures,
    Part,
)

__all__ = [
    "ARCHITECTURES",
    "EncodedFeatures",
    "ExpectedFourier",
    "ExpectedHermite",
    "FourierFeatures",
    "HermiteFeatures",
    "HermitePairs",
    "JointFeatures",
    "ModuleNTKFeatures",
    "NTKFeatures",
    "NetworkNTKFeatures",
    "Part",
    "hermite_functions",
]
