"""Gaussians in a latent space: of columns' normal scores, or of images' codes."""

from skdpgen.synthesizers.gaussian._copula import measure_copula
from skdpgen.synthesizers.gaussian._lens_map import (
    Pictures,
    check_lens,
    choose_lens,
    encoder,
)
from skdpgen.synthesizers.gaussian._measured import MeasuredMixture
from skdpgen.synthesizers.gaussian._pictures import (
    MILD,
    choose_prior,
    given_prior,
    measure_moments,
    measure_pictures,
    vote_share,
    without_effect,
)

__all__ = [
    "MILD",
    "MeasuredMixture",
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
