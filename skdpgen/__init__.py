"""Differentially private synthetic data as scikit-learn estimators."""

from skdpgen.benchmark import compare
from skdpgen.metrics import SyntheticUtility, total_variation
from skdpgen.privacy import PrivacyReport, insecure_noise_seed
from skdpgen.synthesizers import (
    DPHPSynthesizer,
    DPIndependentSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
    DPPairwiseSynthesizer,
    all_synthesizers,
    load,
    plan,
    search_cost,
    search_generator,
)
from skdpgen.tables import (
    Boolean,
    Categorical,
    Chunks,
    Datetime,
    Drop,
    Integer,
    Numeric,
    Ordinal,
    Regenerate,
    Schema,
)
from skdpgen.utils import (
    BudgetExceededError,
    LargeDeltaWarning,
    NothingLearntWarning,
    NotPrivateWarning,
    PrivacyLeakWarning,
    RareValuesWarning,
    SchemaError,
    SchemaRequiredError,
    SchemaWarning,
    SearchCostWarning,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "Boolean",
    "BudgetExceededError",
    "Categorical",
    "Chunks",
    "DPHPSynthesizer",
    "DPIndependentSynthesizer",
    "DPKernelSynthesizer",
    "DPMERFSynthesizer",
    "DPNTKSynthesizer",
    "DPPairwiseSynthesizer",
    "Datetime",
    "Drop",
    "Integer",
    "LargeDeltaWarning",
    "NotPrivateWarning",
    "NothingLearntWarning",
    "Numeric",
    "Ordinal",
    "PrivacyLeakWarning",
    "PrivacyReport",
    "RareValuesWarning",
    "Regenerate",
    "Schema",
    "SchemaError",
    "SchemaRequiredError",
    "SchemaWarning",
    "SearchCostWarning",
    "SyntheticUtility",
    "all_synthesizers",
    "compare",
    "insecure_noise_seed",
    "load",
    "plan",
    "search_cost",
    "search_generator",
    "total_variation",
]
