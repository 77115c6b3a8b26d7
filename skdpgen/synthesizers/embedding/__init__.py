"""Kernels: rows and images as bounded vectors, and what is made from their mean."""

from skdpgen.synthesizers.embedding._encoded_kernel import encoded_kernel
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
)
from skdpgen.synthesizers.embedding._row_kernel import RowKernel
from skdpgen.synthesizers.embedding._slope_steps import (
    kernel_without_features,
    train_by_slopes,
)

__all__ = [
    "RATE",
    "STEPS",
    "FeatureMap",
    "ImageKernel",
    "Mapper",
    "PointRows",
    "RowKernel",
    "encoded_kernel",
    "kernel_without_features",
    "n_seen",
    "pooling_of",
    "train_by_slopes",
]
