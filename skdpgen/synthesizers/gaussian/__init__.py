"""Gaussians in a latent space: of columns' normal scores, or of images' codes."""

from skdpgen.synthesizers.gaussian._copula import measure_copula
from skdpgen.synthesizers.gaussian._lens_map import Pictures, check_lens
from skdpgen.synthesizers.gaussian._pictures import measure_pictures
from skdpgen.synthesizers.gaussian._prior import CHOICES, choose_prior, vote_share

__all__ = [
    "CHOICES",
    "Pictures",
    "check_lens",
    "choose_prior",
    "measure_copula",
    "measure_pictures",
    "vote_share",
]
