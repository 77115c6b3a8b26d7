"""How much likelier a public item is among private rows: told once, or by steps."""

from skdpgen.synthesizers.ratio._learning import (
    LearntRatio,
    calibration,
    learn_ratio,
    tell_support,
)
from skdpgen.synthesizers.ratio._public_side import given_items

__all__ = [
    "LearntRatio",
    "calibration",
    "given_items",
    "learn_ratio",
    "tell_support",
]
