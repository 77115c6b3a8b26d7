"""Scores of synthetic rows. Everything here reads real rows: no privacy guarantee."""

from skdpgen.metrics._alike import FEW_VALUES, ColumnPair, read_alike
from skdpgen.metrics._classifiers import CLASSIFIERS, REGRESSORS, ModelSpec
from skdpgen.metrics._detection import detection_auc
from skdpgen.metrics._encoding import TableEncoder
from skdpgen.metrics._extractors import (
    Extractor,
    inception_features,
    random_features,
)
from skdpgen.metrics._fidelity import marginal_distances, total_variation
from skdpgen.metrics._frames import joined, keys
from skdpgen.metrics._image_fidelity import ImageFidelity, image_fidelity
from skdpgen.metrics._query_error import query_error
from skdpgen.metrics._sampling import draw_samples, unwrap
from skdpgen.metrics._utility import SyntheticUtility
from skdpgen.metrics._yardsticks import yardsticks

__all__ = [
    "CLASSIFIERS",
    "FEW_VALUES",
    "REGRESSORS",
    "ColumnPair",
    "Extractor",
    "ImageFidelity",
    "ModelSpec",
    "SyntheticUtility",
    "TableEncoder",
    "detection_auc",
    "draw_samples",
    "image_fidelity",
    "inception_features",
    "joined",
    "keys",
    "marginal_distances",
    "query_error",
    "random_features",
    "read_alike",
    "total_variation",
    "unwrap",
    "yardsticks",
]
