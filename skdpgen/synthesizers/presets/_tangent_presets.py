"""Settings of DP-NTK: ours, and the paper's."""

from dataclasses import dataclass, replace
from typing import Any, Self

from skdpgen.synthesizers.presets._settings import (
    OF_COLUMNS,
    OURS_IMAGES,
    PAPER,
    PAPER_IMAGES,
    ImageSettings,
    Settings,
    TableSettings,
)
from skdpgen.utils import saved


@dataclass(frozen=True, kw_only=True)
class _Network(Settings):
    """What tangent features of tables and of images have in common."""

    architecture: Any
    width: int
    depth: int


@saved
@dataclass(frozen=True, kw_only=True)
class TangentSettings(_Network, TableSettings):
    """What one fit was made with; parameters that were None are filled in."""

    tangent_norm: float | None

    def sharing(self, share: float) -> Self:
        """Return these settings with the part of the squared norm that features got."""
        return replace(self, tangent_norm=self.tangent_norm or share)


@saved
@dataclass(frozen=True, kw_only=True)
class TangentImageSettings(_Network, ImageSettings):
    """What one fit of images was made with."""


TANGENT = {
    "default": TangentSettings(
        architecture="mlp",
        width=20,
        depth=1,
        tangent_norm=None,  # by the number of rows
        **OF_COLUMNS | {"batch_size": 2048},
    ),
    "paper": TangentSettings(
        architecture="layer_norm",
        width=100,
        depth=1,
        tangent_norm=1.0,
        **PAPER,
    ),
}
TANGENT_IMAGES = {
    "default": TangentImageSettings(
        architecture="mlp",
        width=800,
        depth=1,
        **OURS_IMAGES | {"n_latent": 10, "max_iter": 1000},
    ),
    "paper": TangentImageSettings(
        architecture="layer_norm", width=800, depth=1, **PAPER_IMAGES
    ),
}
