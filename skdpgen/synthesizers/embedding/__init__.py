"""Kernels: rows and images as bounded vectors, and models trained on their mean."""

from skdpgen.synthesizers.embedding._feature_map import FeatureMap, Mapper
from skdpgen.synthesizers.embedding._image_kernel import (
    ImageKernel,
    Labelled,
    PointRows,
    n_seen,
    pooling_of,
    size_seen,
)
from skdpgen.synthesizers.embedding._measured import MeasuredEmbedding
from skdpgen.synthesizers.embedding._perceptual_kernel import (
    CodeMap,
    PerceptualKernel,
    early_model,
    perceptual_kernel,
    private_lens,
)
from skdpgen.synthesizers.embedding._private_classifier import (
    classifier_lens,
    without_labels,
)
from skdpgen.synthesizers.embedding._private_encoder import (
    ENCODER_SHARE,
    RATE,
    SLOPES_SHARE,
    STEPS,
    Encoding,
    encoded_kernel,
    keep_points,
    release_counts,
    train_by_slopes,
)
from skdpgen.synthesizers.embedding._row_kernel import (
    RowKernel,
    waves_of_columns,
    waves_of_pixels,
)

__all__ = [
    "ENCODER_SHARE",
    "RATE",
    "SLOPES_SHARE",
    "STEPS",
    "CodeMap",
    "Encoding",
    "FeatureMap",
    "ImageKernel",
    "Labelled",
    "Mapper",
    "MeasuredEmbedding",
    "PerceptualKernel",
    "PointRows",
    "RowKernel",
    "classifier_lens",
    "early_model",
    "encoded_kernel",
    "keep_points",
    "n_seen",
    "perceptual_kernel",
    "pooling_of",
    "private_lens",
    "release_counts",
    "size_seen",
    "train_by_slopes",
    "waves_of_columns",
    "waves_of_pixels",
    "without_labels",
]
