"""Gaussians in a latent space: of normal scores of columns, or of codes of images."""

from skdpgen.synthesizers.gaussian._kinds import (
    GaussianMethod,
    ImageGaussians,
    TableCopula,
)
from skdpgen.synthesizers.gaussian._lens_map import (
    Pictures,
    check_lens,
    encode_images,
    encoder,
)
from skdpgen.synthesizers.gaussian._measured import MeasuredMixture
from skdpgen.synthesizers.gaussian._pictures import (
    MILD_CHOICES,
    choose_augmentation,
    given_augmentation,
    vote_share,
)

__all__ = [
    "MILD_CHOICES",
    "GaussianMethod",
    "ImageGaussians",
    "MeasuredMixture",
    "Pictures",
    "TableCopula",
    "check_lens",
    "choose_augmentation",
    "encode_images",
    "encoder",
    "given_augmentation",
    "vote_share",
]
