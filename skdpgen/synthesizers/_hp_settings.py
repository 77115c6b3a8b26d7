"""Settings of DP-HP: ours, and the paper's."""

from dataclasses import dataclass, replace
from typing import Any, Self

from skdpgen.synthesizers._settings import OURS, PAPER, Settings


@dataclass(frozen=True, kw_only=True)
class HermiteSettings(Settings):
    """What one fit was made with; parameters that were None are filled in."""

    order: Any
    product_order: int
    product_size: int
    n_subsets: int | None
    length_scale: float
    gamma: float | None

    def filled(self, given: dict[str, Any]) -> Self:
        """Return these settings with the given ones, unless they are None."""
        result = super().filled(given)
        if result.order == "cells" or result.gamma is not None:
            return result
        return replace(result, gamma=1.0)

    def sharing(self, share: float) -> Self:
        """Return these settings with what features got of a row's squared norm."""
        return replace(self, gamma=self.gamma or share / (1.0 - share))


PRESETS = {
    "default": HermiteSettings(
        order="cells",
        product_order=4,
        product_size=2,
        n_subsets=None,  # all, as far as they can be afforded
        length_scale=0.5,
        gamma=None,  # by the number of rows
        **OURS,
    ),
    "paper": HermiteSettings(
        order=20,
        product_order=9,
        product_size=2,
        n_subsets=None,
        length_scale=0.3,
        gamma=1.0,
        **PAPER,
    ),
}
