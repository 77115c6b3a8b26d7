"""Presets that fill in parameters that are None: ours, and the papers'."""

from skdpgen.synthesizers.presets._adversarial_presets import (
    ADVERSARIAL,
    ADVERSARIAL_IMAGES,
)
from skdpgen.synthesizers.presets._fourier_presets import (
    FOURIER,
    FOURIER_IMAGES,
    PAPER_SIZES,
    column_scales,
    pixel_scales,
)
from skdpgen.synthesizers.presets._hermite_presets import (
    HERMITE,
    HERMITE_IMAGES,
    affordable_subsets,
)
from skdpgen.synthesizers.presets._kernel_presets import kernel_presets
from skdpgen.synthesizers.presets._perceptual_presets import PERCEPTUAL_IMAGES
from skdpgen.synthesizers.presets._settings import fill
from skdpgen.synthesizers.presets._tangent_presets import TANGENT, TANGENT_IMAGES

__all__ = [
    "ADVERSARIAL",
    "ADVERSARIAL_IMAGES",
    "FOURIER",
    "FOURIER_IMAGES",
    "HERMITE",
    "HERMITE_IMAGES",
    "PAPER_SIZES",
    "PERCEPTUAL_IMAGES",
    "TANGENT",
    "TANGENT_IMAGES",
    "affordable_subsets",
    "column_scales",
    "fill",
    "kernel_presets",
    "pixel_scales",
]
