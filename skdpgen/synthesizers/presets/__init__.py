"""Presets that fill in parameters that are None: ours, and the papers'."""

from skdpgen.synthesizers.presets import (
    _adversarial_presets,
    _fourier_presets,
    _hermite_presets,
    _kernel_presets,
    _perceptual_presets,
    _tangent_presets,
)
from skdpgen.synthesizers.presets._fourier_presets import (
    PAPER_SIZES,
    column_scales,
    pixel_scales,
)
from skdpgen.synthesizers.presets._hermite_presets import affordable_subsets
from skdpgen.synthesizers.presets._settings import fill

ADVERSARIAL = _adversarial_presets.PRESETS
ADVERSARIAL_IMAGES = _adversarial_presets.IMAGE_PRESETS
FOURIER = _fourier_presets.PRESETS
FOURIER_IMAGES = _fourier_presets.IMAGE_PRESETS
HERMITE = _hermite_presets.PRESETS
HERMITE_IMAGES = _hermite_presets.IMAGE_PRESETS
PERCEPTUAL_IMAGES = _perceptual_presets.IMAGE_PRESETS
TANGENT = _tangent_presets.PRESETS
TANGENT_IMAGES = _tangent_presets.IMAGE_PRESETS
kernel_presets = _kernel_presets.presets

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
