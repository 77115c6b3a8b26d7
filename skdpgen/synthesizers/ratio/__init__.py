"""The density ratio of private to public rows, from one release or by DP-SGD."""

from skdpgen.synthesizers.ratio._learning import (
    LearntRatio,
    calibration,
    fourier_features,
    learn_ratio,
    warn_about_support,
)
from skdpgen.synthesizers.ratio._public_codes import PIXELS, check_public_data

__all__ = [
    "PIXELS",
    "LearntRatio",
    "calibration",
    "check_public_data",
    "fourier_features",
    "learn_ratio",
    "warn_about_support",
]
