"""Settings of the methods with a mean embedding: ours, and the papers'."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skdpgen.synthesizers.presets._settings import (
    OF_COLUMNS,
    OURS,
    OURS_IMAGES,
    PAPER,
    PAPER_IMAGES,
    ImageSettings,
    Settings,
    TableSettings,
)
from skdpgen.utils import (
    saved,
)

# ----------------------------------------------------------------------------
# Settings of DP-MERF: ours, and the paper's.

PIXEL_SCALE = 0.18  # of the root of the number of pixels
SHORTEST, LONGEST = 1e-3, 1e6  # length scales; angles are exact enough between


@dataclass(frozen=True, kw_only=True)
class Waves(Settings):
    """Settings of Fourier features; the same for tables and images."""

    n_features: int
    length_scale: str | tuple[float, ...]

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        given = dict(given)
        scale = given.get("length_scale")
        if scale is not None and not isinstance(scale, str):
            given["length_scale"] = tuple(np.asarray(scale, float).ravel().tolist())
        return super().filled(given)

    def check(self) -> None:
        """Raise for settings with which nothing could be fitted."""
        super().check()
        if self.n_features % 2:
            raise ValueError(
                f"n_features must be even: cosines and sines come in pairs. Got "
                f"{self.n_features} instead."
            )
        scales = self.length_scale
        if not isinstance(scales, str) and not (
            scales and all(SHORTEST <= scale <= LONGEST for scale in scales)
        ):
            raise ValueError(
                f"length_scale must be in [{SHORTEST:g}, {LONGEST:g}], one or several. "
                f"Got {scales!r} instead."
            )


@saved("settings.fourier")
@dataclass(frozen=True, kw_only=True)
class FourierSettings(Waves, TableSettings):
    """Settings of one fit; parameters that were None are filled in."""

    numeric_encoding: str
    interaction_degree: (
        int | str | None
    )  # "all" while parameters are filled in, then None
    fourier_norm: float | None

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        result = super().filled(given)
        return (
            replace(result, interaction_degree=None)
            if result.interaction_degree == "all"
            else result
        )

    def sharing(self, share: float) -> Self:
        """Return these settings with the part of the squared norm that features got."""
        return replace(self, fourier_norm=self.fourier_norm or share)


@saved("settings.fourier_images")
@dataclass(frozen=True, kw_only=True)
class FourierImageSettings(Waves, ImageSettings):
    """Settings of one fit of images; parameters that were None are filled in."""


def column_scales(
    length_scale: str | tuple[float, ...], n_columns: int
) -> float | tuple[float, ...]:
    """Return length scales of columns; "public" is the paper's median of distances.

    It is the median for rows with independent and uniform columns.

    Examples
    --------
    >>> column_scales("public", 6), column_scales((0.5,), 6)
    (1.0, (0.5,))
    """
    return math.sqrt(n_columns / 6) if isinstance(length_scale, str) else length_scale


def pixel_scales(
    length_scale: str | tuple[float, ...], n_pixels: int
) -> tuple[float, ...]:
    """Return length scales of pixels; "public" is 5 for 784, and grows like the root.

    Examples
    --------
    >>> pixel_scales("public", 784), pixel_scales((6.0,), 784)
    ((5.04,), (6.0,))
    """
    if isinstance(length_scale, str):
        return (PIXEL_SCALE * math.sqrt(n_pixels),)
    return tuple(length_scale)


FOURIER = {
    "default": FourierSettings(
        numeric_encoding="binned",
        n_features=1000,
        length_scale=(0.2, 0.5, 1.5),
        interaction_degree=2,
        fourier_norm=None,  # by the number of rows
        **OF_COLUMNS,
    ),
    "paper": FourierSettings(
        numeric_encoding="fourier",
        n_features=2000,
        length_scale="public",
        interaction_degree=None,
        fourier_norm=0.5,
        **PAPER | {"max_iter": 4000},
    ),
}
FOURIER_IMAGES = {
    "default": FourierImageSettings(
        n_features=4000, length_scale="public", **OURS_IMAGES
    ),
    "paper": FourierImageSettings(
        n_features=10_000, length_scale=(10.24,), **PAPER_IMAGES
    ),
}


# ----------------------------------------------------------------------------
# Settings of DP-HP: ours, and the paper's.

MOST_FEATURES = 4000  # of products, unless `n_subsets` is given


@dataclass(frozen=True, kw_only=True)
class _Functions(Settings):
    """Settings of Hermite features; the same for tables and images."""

    order: int | str
    product_order: int
    interaction_degree: int
    n_subsets: int | None
    length_scale: float
    product_weight: float | None


@saved("settings.hermite")
@dataclass(frozen=True, kw_only=True)
class HermiteSettings(_Functions, TableSettings):
    """Settings of one fit; parameters that were None are filled in."""

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        result = super().filled(given)
        if result.order == "cells" or result.product_weight is not None:
            return result
        return replace(result, product_weight=1.0)

    def sharing(self, share: float) -> Self:
        """Return these settings with the part of the squared norm that features got."""
        return replace(
            self, product_weight=self.product_weight or share / (1.0 - share)
        )


@saved("settings.hermite_images")
@dataclass(frozen=True, kw_only=True)
class HermiteImageSettings(_Functions, ImageSettings):
    """Settings of one fit of images; parameters that were None are filled in."""

    def check(self) -> None:
        """Raise for settings with which no images could be fitted."""
        super().check()
        if self.order == "cells":
            raise ValueError(
                "order must be an integer for images: pixels have no cells. Got "
                "'cells' instead."
            )


def affordable_subsets(n_columns: int, n_together: int, order: int) -> int:
    """Return the number of subsets, or of those that ``MOST_FEATURES`` allow.

    Examples
    --------
    >>> affordable_subsets(14, 2, 4), affordable_subsets(100, 2, 4)
    (91, 160)
    """
    each = (order + 1) ** n_together
    return max(min(math.comb(n_columns, n_together), MOST_FEATURES // each), 1)


HERMITE = {
    "default": HermiteSettings(
        order="cells",
        product_order=4,
        interaction_degree=2,
        n_subsets=None,  # all, as far as they can be afforded
        length_scale=0.5,
        product_weight=None,  # by the number of rows
        **OF_COLUMNS,
    ),
    "paper": HermiteSettings(
        order=20,
        product_order=9,
        interaction_degree=2,
        n_subsets=None,
        length_scale=0.3,
        product_weight=1.0,
        **PAPER,
    ),
}
HERMITE_IMAGES = {
    "default": HermiteImageSettings(
        order=3,
        product_order=1,
        interaction_degree=2,
        n_subsets=None,  # all pairs
        length_scale=0.2,
        product_weight=5.0,
        **OURS_IMAGES | {"n_latent": 10, "batch_size": 250},
    ),
    "paper": HermiteImageSettings(
        order=100,
        product_order=20,
        interaction_degree=2,
        n_subsets=10,
        length_scale=0.15,
        product_weight=5.0,
        **PAPER_IMAGES,
    ),
}


# ----------------------------------------------------------------------------
# Settings of DP-NTK: ours, and the paper's.


@dataclass(frozen=True, kw_only=True)
class _Network(Settings):
    """Settings of tangent features; the same for tables and images."""

    architecture: Any  # a name, or the network of a user
    width: int
    depth: int


@saved("settings.tangent")
@dataclass(frozen=True, kw_only=True)
class TangentSettings(_Network, TableSettings):
    """Settings of one fit; parameters that were None are filled in."""

    tangent_norm: float | None

    def sharing(self, share: float) -> Self:
        """Return these settings with the part of the squared norm that features got."""
        return replace(self, tangent_norm=self.tangent_norm or share)


@saved("settings.tangent_images")
@dataclass(frozen=True, kw_only=True)
class TangentImageSettings(_Network, ImageSettings):
    """Settings of one fit of images; parameters that were None are filled in."""


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


# ----------------------------------------------------------------------------
# Settings of DP-MEPF: ours, and the paper's.


@saved("settings.perceptual")
@dataclass(frozen=True, kw_only=True)
class PerceptualSettings(ImageSettings):
    """Settings of one fit; parameters that were None are filled in."""

    second_norm: float
    pixel_norm: float
    loss: str
    stopping_budget: float


PERCEPTUAL_IMAGES = {
    "default": PerceptualSettings(
        second_norm=0.5,
        pixel_norm=0.75,
        loss="distance",
        stopping_budget=0.0,
        **OURS_IMAGES | {"max_iter": 2000, "batch_size": 200},
    ),
    "paper": PerceptualSettings(
        second_norm=0.5,
        pixel_norm=0.0,
        loss="moving_average",
        stopping_budget=0.01,
        **PAPER_IMAGES
        | {"network": "residual", "hidden_layer_sizes": (128,), "n_latent": 100},
    ),
}


# ----------------------------------------------------------------------------
# Settings of DP-Kernel: ours, and the paper's.


@dataclass(frozen=True, kw_only=True)
class _Steps(Settings):
    """Settings of private steps; the same for tables and images."""

    sampling_rate: float
    n_points: int

    def check_steps(self) -> None:
        """Raise, before anything is paid, for settings that allow no step."""
        if self.max_iter < 1:
            raise ValueError(
                "max_iter must be at least 1 for algorithm='per_step'. Got "
                f"{self.max_iter!r} instead."
            )


@saved("settings.kernel")
@dataclass(frozen=True, kw_only=True)
class KernelSettings(_Steps, Waves, TableSettings):
    """Settings of one fit; parameters that were None are filled in."""

    layout: str  # "binned" counts cells of all columns as well, "whole" none


@saved("settings.kernel_images")
@dataclass(frozen=True, kw_only=True)
class KernelImageSettings(_Steps, Waves, ImageSettings):
    """Settings of one fit of images; parameters that were None are filled in."""


BANDWIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)  # the paper's 1 to 16, for pixels in [-1, 1]
FEW = {"sampling_rate": 0.1, "n_points": 8}
MANY = {"sampling_rate": 1e-3, "n_points": 6}


def kernel_presets(
    release: str,
) -> dict[str, dict[str, KernelSettings] | dict[str, KernelImageSettings]]:
    """Return the presets of tables and of images for a way to release."""
    steps = {"max_iter": 1000} if release == "per_step" else {}
    ours: dict[str, Any] = {"n_features": 4000, **FEW}
    paper: dict[str, Any] = {"n_features": 10_000, **MANY}
    all_steps = {"max_iter": 200_000} if release == "per_step" else {}
    return {
        "tables": {
            "default": KernelSettings(
                length_scale=(0.3, 1.0, 3.0),
                layout="binned",
                **ours,
                **OURS | steps,
            ),
            "paper": KernelSettings(
                length_scale=BANDWIDTHS, layout="whole", **paper, **PAPER | all_steps
            ),
        },
        "images": {
            "default": KernelImageSettings(
                length_scale="public", **ours, **OURS_IMAGES | steps
            ),
            "paper": KernelImageSettings(
                length_scale=BANDWIDTHS,
                **paper,
                **PAPER_IMAGES
                | all_steps
                | {"network": "decoder", "hidden_layer_sizes": (128,)},
            ),
        },
    }
