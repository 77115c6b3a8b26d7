"""Bounded-norm feature maps, one file each."""

from skdpgen.features._encoded import EncodedFeatures
from skdpgen.features._expected import ExpectedFourier
from skdpgen.features._fourier import FourierFeatures
from skdpgen.features._hermite import ExpectedHermite, HermiteFeatures
from skdpgen.features._hermite_pairs import HermitePairs
from skdpgen.features._joint_features import JointFeatures
from skdpgen.features._mehler import hermite_functions
from skdpgen.features._ntk import ModuleNTKFeatures, NTKFeatures
from skdpgen.features._part import Part

__all__ = [
    "EncodedFeatures",
    "ExpectedFourier",
    "ExpectedHermite",
    "FourierFeatures",
    "HermiteFeatures",
    "HermitePairs",
    "JointFeatures",
    "ModuleNTKFeatures",
    "NTKFeatures",
    "Part",
    "hermite_functions",
]
