"""Scores of synthetic rows. Everything here reads real rows: no privacy guarantee."""

from skdpgen.metrics._detection import detection_auc
from skdpgen.metrics._fidelity import (
    FEW_VALUES,
    ColumnPair,
    marginal_distances,
    query_error,
    read_alike,
    total_variation,
)
from skdpgen.metrics._frames import TableEncoder, draw_samples, joined, keys, unwrap
from skdpgen.metrics._image_fidelity import (
    Extractor,
    ImageFidelity,
    image_fidelity,
    inception_features,
    random_features,
)
from skdpgen.metrics._models import CLASSIFIERS, PROTOCOLS, REGRESSORS, ModelSpec
from skdpgen.metrics._nist import k_marginal_score, pmse, pmse_ratio
from skdpgen.metrics._rule_violations import Rules, rule_violations
from skdpgen.metrics._sdmetrics import require_sdmetrics, sdmetrics_quality
from skdpgen.metrics._utility import SyntheticUtility, yardsticks

__all__ = [
    "CLASSIFIERS",
    "FEW_VALUES",
    "PROTOCOLS",
    "REGRESSORS",
    "ColumnPair",
    "Extractor",
    "ImageFidelity",
    "ModelSpec",
    "Rules",
    "SyntheticUtility",
    "TableEncoder",
    "detection_auc",
    "draw_samples",
    "image_fidelity",
    "inception_features",
    "joined",
    "k_marginal_score",
    "keys",
    "marginal_distances",
    "pmse",
    "pmse_ratio",
    "query_error",
    "random_features",
    "read_alike",
    "require_sdmetrics",
    "rule_violations",
    "sdmetrics_quality",
    "total_variation",
    "unwrap",
    "yardsticks",
]
