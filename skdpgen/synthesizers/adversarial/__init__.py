"""A generator against a discriminator that DP-SGD trains on rows."""

from skdpgen.synthesizers.adversarial._game import (
    Labelled,
    check_public,
    game_share,
    has_images,
    images_stated,
    lens_of_game,
    public_pair,
    release_start,
    train_against,
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
