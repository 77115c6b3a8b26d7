"""Settings of the methods with a mean embedding, where parameters are None."""

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np

from skdpgen.features import ARCHITECTURES
from skdpgen.synthesizers.presets._settings import (
    OF_COLUMNS,
    OURS,
    OURS_IMAGES,
    ImageSettings,
    Settings,
    TableSettings,
)
from skdpgen.utils import (
    saved,
)

# ----------------------------------------------------------------------------
# Settings of DP-MERF.

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
    feature_norm: float | str | None  # "length" until it is known
    n_minibatches: int

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
        if isinstance(self.feature_norm, str):
            return replace(self, feature_norm=share)
        return replace(self, feature_norm=self.feature_norm or share)


@saved("settings.fourier_images")
@dataclass(frozen=True, kw_only=True)
class FourierImageSettings(Waves, ImageSettings):
    """Settings of one fit of images; parameters that were None are filled in."""

    n_minibatches: int


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


FOURIER = FourierSettings(
    numeric_encoding="binned",
    n_features=1000,
    length_scale=(0.2, 0.5, 1.5),
    interaction_degree=2,
    feature_norm=None,  # by the number of rows
    n_minibatches=1,
    **OF_COLUMNS,
)
FOURIER_IMAGES = FourierImageSettings(
    n_features=4000, length_scale="public", n_minibatches=1, **OURS_IMAGES
)


# ----------------------------------------------------------------------------
# Settings of DP-HP.

MOST_FEATURES = 4000  # of products, unless `n_subsets` is given


@dataclass(frozen=True, kw_only=True)
class _Functions(Settings):
    """Settings of Hermite features; the same for tables and images."""

    order: tuple[int | str, int]  # of single columns, and of columns in products
    interaction_degree: int
    n_subsets: int | None
    length_scale: float
    product_weight: float | None

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        order = given.get("order")
        if order is not None:
            given = given | {"order": checked_orders(order)}
        return super().filled(given)


def checked_orders(order: Any) -> tuple[int | str, int]:
    """Return the highest functions of single columns and of products, after checks."""
    orders = tuple(order)
    is_pair = len(orders) == 2 and (orders[0] == "cells" or _is_order(orders[0]))
    if not is_pair or not _is_order(orders[1]):
        raise ValueError(
            "order must be a pair: of single columns an integer from 0 to 1000 or "
            f"'cells', and of products such an integer. Got {order!r} instead."
        )
    return orders[0], orders[1]


def _is_order(value: Any) -> bool:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    return is_whole and 0 <= int(value) <= 1000


@saved("settings.hermite")
@dataclass(frozen=True, kw_only=True)
class HermiteSettings(_Functions, TableSettings):
    """Settings of one fit; parameters that were None are filled in."""

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        result = super().filled(given)
        if result.order[0] == "cells" or result.product_weight is not None:
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
        if self.order[0] == "cells":
            raise ValueError(
                "order must be a pair of integers for images, which have no cells. Got "
                f"{self.order!r} instead."
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


HERMITE = HermiteSettings(
    order=("cells", 4),
    interaction_degree=2,
    n_subsets=None,  # all, as far as they can be afforded
    length_scale=0.5,
    product_weight=None,  # by the number of rows
    **OF_COLUMNS,
)
HERMITE_IMAGES = HermiteImageSettings(
    order=(3, 1),
    interaction_degree=2,
    n_subsets=None,  # all pairs
    length_scale=0.2,
    product_weight=5.0,
    **OURS_IMAGES | {"n_latent": 10, "batch_size": 250},
)


# ----------------------------------------------------------------------------
# Settings of DP-NTK.


@dataclass(frozen=True, kw_only=True)
class _Network(Settings):
    """Settings of tangent features; the same for tables and images."""

    architecture: Any  # a name, or the network of a user
    width: int | tuple[int, ...]
    depth: int

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings, replaced where a given one is not None."""
        width = given.get("width")
        if width is not None and not isinstance(width, Integral):
            given = given | {"width": tuple(np.asarray(width, object).tolist())}
        return super().filled(given)

    def check(self) -> None:
        """Raise for settings with which no network could be made."""
        super().check()
        name, width = self.architecture, self.width
        n_needed = ARCHITECTURES.get(name, 1) if isinstance(name, str) else 1
        widths = width if isinstance(width, tuple) else (width,)
        is_whole = all(isinstance(units, Integral) and units >= 1 for units in widths)
        if isinstance(width, tuple) and name not in ARCHITECTURES:
            is_whole = False
        if len(widths) != n_needed or not is_whole:
            raise ValueError(
                f"width must be {n_needed} numbers of units, each an integer of at "
                f"least 1, for architecture={name!r}. Got {width!r} instead."
            )


@saved("settings.tangent")
@dataclass(frozen=True, kw_only=True)
class TangentSettings(_Network, TableSettings):
    """Settings of one fit; parameters that were None are filled in."""

    feature_norm: float | None

    def sharing(self, share: float) -> Self:
        """Return these settings with the part of the squared norm that features got."""
        return replace(self, feature_norm=self.feature_norm or share)


@saved("settings.tangent_images")
@dataclass(frozen=True, kw_only=True)
class TangentImageSettings(_Network, ImageSettings):
    """Settings of one fit of images; parameters that were None are filled in."""


TANGENT = TangentSettings(
    architecture="mlp",
    width=20,
    depth=1,
    feature_norm=None,  # by the number of rows
    **OF_COLUMNS | {"batch_size": 2048},
)
TANGENT_IMAGES = TangentImageSettings(
    architecture="mlp",
    width=800,
    depth=1,
    **OURS_IMAGES | {"n_latent": 10, "max_iter": 1000},
)


# ----------------------------------------------------------------------------
# Settings of DP-MEPF.


@saved("settings.perceptual")
@dataclass(frozen=True, kw_only=True)
class PerceptualSettings(ImageSettings):
    """Settings of one fit; parameters that were None are filled in."""

    second_norm: float
    pixel_norm: float
    loss: str
    moving_rate: float
    stopping_budget: float


PERCEPTUAL_IMAGES = PerceptualSettings(
    second_norm=0.5,
    pixel_norm=0.75,
    loss="distance",
    moving_rate=1e-3,
    stopping_budget=0.0,
    **OURS_IMAGES | {"max_iter": 2000, "batch_size": 200},
)


# ----------------------------------------------------------------------------
# Settings of DP-Kernel.


LEAST_POINTS, MOST_POINTS = 2, 64  # of a class and step


@dataclass(frozen=True, kw_only=True)
class _Steps(Settings):
    """Settings of private steps; the same for tables and images."""

    sampling_rate: float

    def check_steps(self) -> None:
        """Raise, before anything is paid, for settings that allow no step."""
        if self.max_iter < 1:
            raise ValueError(
                "max_iter must be at least 1 for algorithm='per_step'. Got "
                f"{self.max_iter!r} instead."
            )
        if not LEAST_POINTS <= self.batch_size <= MOST_POINTS:
            raise ValueError(
                f"batch_size must be from {LEAST_POINTS} to {MOST_POINTS}, of each "
                f"class, for algorithm='per_step'. Got {self.batch_size!r} instead."
            )


@saved("settings.kernel")
@dataclass(frozen=True, kw_only=True)
class KernelSettings(_Steps, Waves, TableSettings):
    """Settings of one fit; parameters that were None are filled in."""

    feature_norm: float | None

    def sharing(self, share: float) -> Self:
        """Return these settings with the part of the squared norm that features got."""
        return replace(self, feature_norm=self.feature_norm or share)


@saved("settings.kernel_images")
@dataclass(frozen=True, kw_only=True)
class KernelImageSettings(_Steps, Waves, ImageSettings):
    """Settings of one fit of images; parameters that were None are filled in."""


PRIVATE_STEPS = {"max_iter": 1000}  # of "per_step"
POINTS, POINTS_OF_IMAGES = {"batch_size": 8}, {"batch_size": 24}  # of a class


def kernel_settings(algorithm: str) -> tuple[KernelSettings, KernelImageSettings]:
    """Return the settings of tables and of images for an algorithm."""
    ours: dict[str, Any] = {"n_features": 4000, "sampling_rate": 0.1}
    tables, images = OURS, OURS_IMAGES
    if algorithm == "per_step":
        tables = tables | PRIVATE_STEPS | POINTS
        images = images | PRIVATE_STEPS | POINTS_OF_IMAGES
    return (
        KernelSettings(
            length_scale=(0.3, 1.0, 3.0), feature_norm=None, **ours, **tables
        ),
        KernelImageSettings(length_scale="public", **ours, **images),
    )
