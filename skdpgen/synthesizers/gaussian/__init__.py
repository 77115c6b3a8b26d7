"""Gaussians in a latent space: of columns' normal scores, or of images' codes."""

from skdpgen.synthesizers.gaussian._copula import measure_copula
from skdpgen.synthesizers.gaussian._lens_choice import choose_lens
from skdpgen.synthesizers.gaussian._moments import measure_moments
from skdpgen.synthesizers.gaussian._pictures import measure_pictures
from skdpgen.synthesizers.gaussian._without_effect import without_effect

__all__ = [
    "choose_lens",
    "measure_copula",
    "measure_moments",
    "measure_pictures",
    "without_effect",
]
