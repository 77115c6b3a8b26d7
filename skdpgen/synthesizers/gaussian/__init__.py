"""Gaussians in a latent space: of columns' normal scores, or of images' codes."""

from skdpgen.synthesizers.gaussian._copula import measure_copula
from skdpgen.synthesizers.gaussian._lens_map import check_lens
from skdpgen.synthesizers.gaussian._pictures import measure_pictures

__all__ = ["check_lens", "measure_copula", "measure_pictures"]
