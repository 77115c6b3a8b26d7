"""Gaussians in a latent space: of columns' normal scores, or of images."""

from skdpgen.synthesizers.gaussian._copula import CopulaSpace

__all__ = ["CopulaSpace"]
