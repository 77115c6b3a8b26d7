"""Settings where parameters are None: of a generator, of DP-GAN and of DP-DRE."""

import math
from dataclasses import dataclass, fields, replace
from numbers import Integral, Number
from typing import Any, Self

import numpy as np

from skdpgen.utils import saved

OURS: dict[str, Any] = {
    "hidden_layer_sizes": (256, 256),
    "n_latent": 8,
    "max_iter": 400,
    "batch_size": 512,
    "learning_rate": 1e-2,
    "batch_norm": False,
}
OF_COLUMNS = OURS | {"max_iter": 200}  # features that start from columns by class
OURS_IMAGES: dict[str, Any] = {
    "models": "auto",
    "hidden_layer_sizes": (256, 256),
    "n_latent": 20,
    "max_iter": 4000,
    "batch_size": 500,
    "learning_rate": 1e-2,
    "network": "full",
    "pooling": "auto",
    "precision": "float32",
}
PER_COLUMN = "per_column"  # of hidden layers: 4 and 2 units for each column of a table
HIDDEN = {  # where it is not given
    "full": (256, 256),
    "upsample": (256, 256),
    "decoder": (128,),
    "residual": (128,),
    "private": (256, 256),
}
GENERATOR = {
    "hidden_layer_sizes",
    "n_latent",
    "max_iter",
    "batch_size",
    "learning_rate",
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a generator's training; estimators add those of their features."""

    hidden_layer_sizes: Any  # a tuple of integers, or PER_COLUMN
    n_latent: int
    max_iter: int
    batch_size: float  # not an integer: a part of the rows
    learning_rate: float
    schedule: str = "one_cycle"
    optimizer: str = "adam"

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        names = self.names()
        chosen = {k: v for k, v in given.items() if k in names and v is not None}
        if not isinstance(chosen.get("hidden_layer_sizes", ""), str):
            chosen["hidden_layer_sizes"] = tuple(
                np.asarray(chosen["hidden_layer_sizes"], object).tolist()
            )
        result = replace(self, **chosen)
        result.check()
        return result

    @classmethod
    def names(cls) -> set[str]:
        """Return the names of the settings."""
        return {field.name for field in fields(cls)}

    def sharing(self, share: float) -> Self:
        """Return these settings with the part of the squared norm that features got."""
        del share
        return self

    def check(self) -> None:
        """Raise for settings with which no table could be fitted."""
        sizes = self.hidden_layer_sizes
        for units in () if isinstance(sizes, str) else sizes:
            if not isinstance(units, Integral) or units < 1:
                raise ValueError(
                    "hidden_layer_sizes must hold numbers of units, each an integer of "
                    f"at least 1. Got {self.hidden_layer_sizes!r} instead."
                )
        least = {"max_iter": 0, "batch_size": 1, "n_latent": 1}
        for name, lowest in least.items():
            number = getattr(self, name)
            if name == "batch_size" and isinstance(number, float) and 0 < number < 1:
                continue
            if not isinstance(number, Integral) or number < lowest:
                raise ValueError(
                    f"{name} must be an integer of at least {lowest}. Got {number!r} "
                    "instead."
                )
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(
                "learning_rate must be positive and finite. Got "
                f"{self.learning_rate!r} instead."
            )

    def for_generator(self, given: dict[str, Any]) -> Self:
        """Return these settings with new ones for the generator only."""
        if not given.keys() <= GENERATOR:
            raise TypeError(
                f"Only {', '.join(sorted(GENERATOR))} can change without new rows. "
                f"Got {', '.join(sorted(given.keys() - GENERATOR))}; use `fit`."
            )
        return self.filled(given)


@dataclass(frozen=True, kw_only=True)
class TableSettings(Settings):
    """Settings of a generator of tables."""

    batch_norm: bool
    early_stopping: bool = True


@dataclass(frozen=True, kw_only=True)
class ImageSettings(Settings):
    """Settings of a generator of images."""

    models: str
    network: str
    pooling: int | str
    precision: str

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        chosen = given.get("network")
        if (
            chosen not in (None, self.network)
            and given.get("hidden_layer_sizes") is None
        ):
            given = given | {"hidden_layer_sizes": HIDDEN[chosen]}
        return super().filled(given)

    def check(self) -> None:
        """Raise for settings with which no images could be fitted."""
        super().check()
        if self.hidden_layer_sizes == PER_COLUMN:
            raise ValueError(
                "hidden_layer_sizes must be numbers of units for images, which have no "
                f"columns. Got {PER_COLUMN!r} instead."
            )
        if (
            self.network in ("decoder", "residual")
            and len(self.hidden_layer_sizes) != 1
        ):
            raise ValueError(
                "hidden_layer_sizes must be one number, of channels, for network="
                f"{self.network!r}. Got {self.hidden_layer_sizes!r} instead."
            )


def fill(
    given: dict[str, Any],
    defaults: dict[str, Any],
    *,
    of_tables: Settings | None,
    of_images: Settings | None,
    is_image: bool,
) -> Settings:
    """Return the settings of one kind of data; others must have their defaults.

    Settings are None for a kind of data that the estimator does not take.
    """
    settings, others = (of_images, of_tables) if is_image else (of_tables, of_images)
    assert settings is not None  # estimators check the kind of data before
    foreign_names = others.names() - settings.names() if others else set()
    kind, other_kind = ("images", "tables") if is_image else ("tables", "images")
    for name in sorted(foreign_names & given.keys()):
        if not is_default(given[name], defaults[name]):
            raise ValueError(
                f"{name} must be {defaults[name]!r} for {kind}: it is for "
                f"{other_kind}. Got {given[name]!r} instead."
            )
    return settings.filled(given)


def is_default(value: Any, default: Any) -> bool:
    """Return whether a parameter has its default, which is a number, a text or None.

    Examples
    --------
    >>> is_default(None, None), is_default(2.0, 2), is_default([2], 2)
    (True, True, False)
    """
    return value is default or (
        isinstance(value, str | Number)
        and isinstance(default, str | Number)
        and bool(value == default)
    )


# ----------------------------------------------------------------------------
# Settings of DP-GAN.


@dataclass(frozen=True, kw_only=True)
class _Game(Settings):
    """Settings of DP-GAN; the same for tables and images.

    ``max_iter`` are steps of the discriminator.
    """

    sampling_rate: float
    max_grad_norm: float
    steps_per_generator_step: int
    discriminator_layer_sizes: tuple[int, ...]
    discriminator_learning_rate: float
    public_iter: int
    start: str
    discriminator_optimizer: str = "adam"
    discriminator_schedule: str = "one_cycle"
    discriminator_loss: str = "logistic"
    spectral_norm: float = 1.0

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        sizes = given.get("discriminator_layer_sizes")
        if sizes is None:
            return super().filled(given)
        sizes = tuple(sizes)
        if not all(isinstance(units, Integral) and int(units) >= 1 for units in sizes):
            raise ValueError(
                "hidden_layer_sizes of the discriminator must hold numbers of units, "
                f"each an integer of at least 1. Got {sizes!r} instead."
            )
        given = given | {"discriminator_layer_sizes": None}
        return replace(super().filled(given), discriminator_layer_sizes=sizes)

    def check(self) -> None:
        """Raise for settings with which no game could be played."""
        super().check()
        if not isinstance(self.batch_size, Integral):
            raise ValueError(
                "batch_size of the generator of DPGANSynthesizer must be an integer. "
                f"Got {self.batch_size!r} instead."
            )


@saved("settings.gan")
@dataclass(frozen=True, kw_only=True)
class GANSettings(_Game, TableSettings):
    """Settings of one fit of a table; parameters that were None are filled in."""


@saved("settings.gan_images")
@dataclass(frozen=True, kw_only=True)
class GANImageSettings(_Game, ImageSettings):
    """Settings of one fit of images; parameters that were None are filled in."""


# Of tables and images alike: the cost of a search must not depend on which they are.
GAME: dict[str, Any] = {
    "sampling_rate": 0.08,
    "max_iter": 800,
    "max_grad_norm": 1.0,
    "steps_per_generator_step": 2,
    "discriminator_learning_rate": 5e-3,
    "learning_rate": 5e-3,
    "public_iter": 1000,
}
OF_IMAGES: dict[str, Any] = {
    "steps_per_generator_step": 1,
    "learning_rate": 3e-3,
    "batch_size": 300,
}
ADVERSARIAL = GANSettings(
    start="columns",
    discriminator_layer_sizes=(64, 64),
    **OURS | {"n_latent": 16} | GAME,
)
ADVERSARIAL_IMAGES = GANImageSettings(
    start="means",
    discriminator_layer_sizes=(128,),
    **OURS_IMAGES | {"models": "conditional"} | GAME | OF_IMAGES,
)


# ----------------------------------------------------------------------------
# Settings of the steps of DP-DRE; they are not saved.


@dataclass(frozen=True, kw_only=True)
class RatioSettings:
    """Settings of a discriminator of private against public rows."""

    discriminator_layer_sizes: tuple[int, ...]
    max_iter: int
    discriminator_learning_rate: float
    sampling_rate: float
    max_grad_norm: float
    discriminator_optimizer: str = "adam"
    discriminator_schedule: str = "one_cycle"

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        names = {field.name for field in fields(self)}
        chosen = {k: v for k, v in given.items() if k in names and v is not None}
        return replace(self, **chosen)


RATIO = RatioSettings(
    discriminator_layer_sizes=(16,),
    max_iter=500,
    discriminator_learning_rate=0.01,
    sampling_rate=0.02,
    max_grad_norm=1.0,
)
