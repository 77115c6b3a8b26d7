"""A generator against a discriminator that DP-SGD trains on rows."""

from skdpgen.synthesizers.adversarial._game import (
    check_public,
    check_start,
    game_share,
    has_images,
    lens_of_game,
    parameters_without_effect,
    private_steps,
    public_image_statements,
    public_pair,
    release_start,
    train_adversarially,
)

__all__ = [
    "check_public",
    "check_start",
    "game_share",
    "has_images",
    "lens_of_game",
    "parameters_without_effect",
    "private_steps",
    "public_image_statements",
    "public_pair",
    "release_start",
    "train_adversarially",
]
