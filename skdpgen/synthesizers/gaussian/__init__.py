"""Gaussians in a latent space: of columns' normal scores, or of images' codes."""

from skdpgen.synthesizers.gaussian._copula import measure_copula
from skdpgen.synthesizers.gaussian._lens_choice import choose_lens
from skdpgen.synthesizers.gaussian._lens_map import Pictures, check_lens, encoder
from skdpgen.synthesizers.gaussian._moments import measure_moments
from skdpgen.synthesizers.gaussian._pictures import measure_pictures
from skdpgen.synthesizers.gaussian._prior import (
    MILD,
    choose_prior,
    given_prior,
    vote_share,
)
from skdpgen.synthesizers.gaussian._without_effect import without_effect

__all__ = [
    "MILD",
    "Pictures",
    "check_lens",
    "choose_lens",
    "choose_prior",
    "encoder",
    "given_prior",
    "measure_copula",
    "measure_moments",
    "measure_pictures",
    "vote_share",
    "without_effect",
]
