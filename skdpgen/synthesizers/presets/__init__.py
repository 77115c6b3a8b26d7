"""Presets that fill in parameters that are None: ours, and the papers'."""

from skdpgen.synthesizers.presets._kernel_presets import (
    FOURIER,
    FOURIER_IMAGES,
    HERMITE,
    HERMITE_IMAGES,
    PAPER_SIZES,
    PERCEPTUAL_IMAGES,
    TANGENT,
    TANGENT_IMAGES,
    affordable_subsets,
    column_scales,
    kernel_presets,
    pixel_scales,
)
from skdpgen.synthesizers.presets._settings import (
    ADVERSARIAL,
    ADVERSARIAL_IMAGES,
    fill,
)

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
