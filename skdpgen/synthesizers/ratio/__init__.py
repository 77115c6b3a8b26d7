"""How much likelier a public item is among private rows: told once, or by steps."""

from skdpgen.synthesizers.ratio._by_steps import learn_by_steps
from skdpgen.synthesizers.ratio._one_shot import learn_at_once
from skdpgen.synthesizers.ratio._public_side import PublicSide, given_items
from skdpgen.synthesizers.ratio._support import calibration, tell_support

__all__ = [
    "PublicSide",
    "calibration",
    "given_items",
    "learn_at_once",
    "learn_by_steps",
    "tell_support",
]
