"""How much likelier a public item is among private rows: told once, or by steps."""

from skdpgen.synthesizers.ratio._learning import learn_ratio
from skdpgen.synthesizers.ratio._public_side import given_items
from skdpgen.synthesizers.ratio._support import calibration, tell_support

__all__ = ["calibration", "given_items", "learn_ratio", "tell_support"]
