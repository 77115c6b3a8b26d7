"""Fourier features of columns and of pixels, as DP-MERF and DP-Kernel draw them."""

from typing import Any

from torch import Generator

from skdpgen.features import FourierFeatures
from skdpgen.synthesizers.embedding._row_kernel import Draw
from skdpgen.synthesizers.presets import column_scales, pixel_scales


def waves_of_columns(
    settings: Any, rng: Generator, n_together: int | None = None
) -> Draw:
    """Return what draws features for given columns; all of them together for None."""

    def draw(widths: Any, are_numbers: Any) -> FourierFeatures:
        return FourierFeatures.draw(
            widths,
            settings.n_features,
            length_scale=column_scales(settings.length_scale, len(are_numbers)),
            n_together=n_together,
            rng=rng,
        )

    return draw


def waves_of_pixels(n_pixels: int, settings: Any, rng: Generator) -> FourierFeatures:
    """Draw features of all pixels together."""
    return FourierFeatures.draw(
        (n_pixels,),
        settings.n_features,
        length_scale=pixel_scales(settings.length_scale, n_pixels),
        rng=rng,
    )
