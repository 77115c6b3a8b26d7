"""The density ratio of private to public rows, from one release or by DP-SGD."""

from skdpgen.synthesizers.ratio._learning import (
    NOT_MEASURED,
    SUPPORT_LINES,
    LearntRatio,
    calibration,
    cell_names,
    fourier_features,
    learn_ratio,
    least_lacking,
    warn_about_support,
)
from skdpgen.synthesizers.ratio._public_codes import PIXELS, check_public_data

__all__ = [
    "NOT_MEASURED",
    "PIXELS",
    "SUPPORT_LINES",
    "LearntRatio",
    "calibration",
    "cell_names",
    "check_public_data",
    "fourier_features",
    "learn_ratio",
    "least_lacking",
    "warn_about_support",
]
