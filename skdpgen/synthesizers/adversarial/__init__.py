"""A generator against a discriminator that DP-SGD trains on rows."""

from skdpgen.synthesizers.adversarial._frame import game_share, release_start
from skdpgen.synthesizers.adversarial._game import train_against

__all__ = ["game_share", "release_start", "train_against"]
