"""Settings of DP-GAN: ours, and those of the papers."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

from skdpgen.synthesizers.presets._settings import (
    OURS,
    OURS_IMAGES,
    PAPER,
    PAPER_IMAGES,
    ImageSettings,
    Settings,
    TableSettings,
)
from skdpgen.utils import saved


@dataclass(frozen=True, kw_only=True)
class _Game(Settings):
    """What the settings of tables and of images have in common."""

    sampling_rate: float
    norm_bound: float
    n_between: int
    discriminator_layer_sizes: tuple[int, ...]
    discriminator_rate: float
    public_iter: int
    start: str

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        sizes = given.get("discriminator_layer_sizes")
        if sizes is None:
            return super().filled(given)
        sizes = tuple(sizes)
        if not all(isinstance(units, Integral) and units >= 1 for units in sizes):
            raise ValueError(
                "discriminator_layer_sizes must hold numbers of units, each an integer "
                f"of at least 1. Got {sizes!r} instead."
            )
        given = given | {"discriminator_layer_sizes": None}
        return replace(super().filled(given), discriminator_layer_sizes=sizes)

    def check_steps(self) -> None:
        """Raise, before anything is paid, for settings that allow no step."""
        if self.max_iter < 1:
            raise ValueError(
                "max_iter must be at least 1: a discriminator learns by private "
                f"steps. Got {self.max_iter!r} instead."
            )


@saved
@dataclass(frozen=True, kw_only=True)
class GANSettings(_Game, TableSettings):
    """What one fit was made with; parameters that were None are filled in."""


@saved
@dataclass(frozen=True, kw_only=True)
class GANImageSettings(_Game, ImageSettings):
    """What one fit of images was made with."""


GAME = {  # of tables and images alike: a search knows the cost before it sees which
    "sampling_rate": 0.08,
    "max_iter": 800,
    "norm_bound": 1.0,
    "n_between": 2,
    "discriminator_rate": 5e-3,
    "learning_rate": 5e-3,
    "public_iter": 1000,
}
FEW = {  # DP-CGAN: a discriminator step to each of the generator, small batches
    "sampling_rate": 0.01,
    "max_iter": 10_000,
    "hidden_layer_sizes": (128,),
    "norm_bound": 1.1,
    "n_between": 1,
    "discriminator_rate": 1e-3,
    "learning_rate": 1e-3,
    "public_iter": 1000,
}

OF_IMAGES = {"n_between": 1, "learning_rate": 3e-3, "batch_size": 300}

ADVERSARIAL = {
    "default": GANSettings(
        start="columns",
        discriminator_layer_sizes=(64, 64),
        **OURS | {"n_latent": 16} | GAME,
    ),
    "paper": GANSettings(
        start="nothing",
        discriminator_layer_sizes=(128,),
        **PAPER | FEW,
    ),
}
ADVERSARIAL_IMAGES = {
    "default": GANImageSettings(
        start="means",
        discriminator_layer_sizes=(128,),
        **OURS_IMAGES | {"models": "conditional"} | GAME | OF_IMAGES,
    ),
    "paper": GANImageSettings(
        start="nothing",
        discriminator_layer_sizes=(128,),
        **PAPER_IMAGES | {"generator": "full"} | FEW,
    ),
}
