"""Settings of DP-HP: ours, and the paper's."""

import math
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

MOST_FEATURES = 4000  # of products, unless more subsets are asked for


@dataclass(frozen=True, kw_only=True)
class _Functions(Settings):
    """What Hermite features of tables and of images have in common."""

    order: Any
    product_order: int
    product_size: int
    n_subsets: int | None
    length_scale: float
    product_weight: float | None


@saved
@dataclass(frozen=True, kw_only=True)
class HermiteSettings(_Functions, TableSettings):
    """What one fit was made with; parameters that were None are filled in."""

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


@saved
@dataclass(frozen=True, kw_only=True)
class HermiteImageSettings(_Functions, ImageSettings):
    """What one fit of images was made with."""

    def check(self) -> None:
        """Raise for settings with which no images could be fitted."""
        super().check()
        if self.order == "cells":
            raise ValueError(
                "order must be an integer for images: pixels have no cells. Got "
                "'cells' instead."
            )


def affordable_subsets(n_columns: int, n_together: int, order: int) -> int:
    """Return how many subsets there are, or as many as ``MOST_FEATURES`` allow.

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
        product_size=2,
        n_subsets=None,  # all, as far as they can be afforded
        length_scale=0.5,
        product_weight=None,  # by the number of rows
        **OF_COLUMNS,
    ),
    "paper": HermiteSettings(
        order=20,
        product_order=9,
        product_size=2,
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
        product_size=2,
        n_subsets=None,  # all pairs
        length_scale=0.2,
        product_weight=5.0,
        **OURS_IMAGES | {"n_latent": 10, "batch_size": 250},
    ),
    "paper": HermiteImageSettings(
        order=100,
        product_order=20,
        product_size=2,
        n_subsets=10,
        length_scale=0.15,
        product_weight=5.0,
        **PAPER_IMAGES,
    ),
}
