"""Kernels: rows and images as bounded vectors, and what is made of their mean."""

from skdpgen.synthesizers.embedding._feature_map import FeatureMap, Mapper
from skdpgen.synthesizers.embedding._image_kernel import (
    ImageKernel,
    n_seen,
    pooling_of,
)
from skdpgen.synthesizers.embedding._point_rows import PointRows
from skdpgen.synthesizers.embedding._private_encoder import (
    RATE,
    STEPS,
    code_scale,
    train_autoencoder,
)
from skdpgen.synthesizers.embedding._row_kernel import RowKernel

__all__ = [
    "RATE",
    "STEPS",
    "FeatureMap",
    "ImageKernel",
    "Mapper",
    "PointRows",
    "RowKernel",
    "code_scale",
    "n_seen",
    "pooling_of",
    "train_autoencoder",
]
