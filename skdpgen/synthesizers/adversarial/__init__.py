"""A generator against a discriminator that DP-SGD trains on rows."""

from skdpgen.synthesizers.adversarial._frame import game_share, release_start
from skdpgen.synthesizers.adversarial._game import train_against
from skdpgen.synthesizers.adversarial._looks import Labelled
from skdpgen.synthesizers.adversarial._public import (
    check_public,
    has_images,
    images_stated,
    lens_of_game,
    public_pair,
    without_game,
)

__all__ = [
    "Labelled",
    "check_public",
    "game_share",
    "has_images",
    "images_stated",
    "lens_of_game",
    "public_pair",
    "release_start",
    "train_against",
    "without_game",
]
