"""The only package that draws noise, draws secret samples, or sums private rows."""

from skdpgen.privacy._accounting import (
    compose_mu,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
)
from skdpgen.privacy._blocks import (
    Batch,
    Counts,
    Histograms,
    Parities,
    Tokens,
    Vectors,
    shortened,
)
from skdpgen.privacy._budget import (
    LARGEST_DELTA,
    Adjacency,
    PrivacyBudget,
    default_delta,
)
from skdpgen.privacy._ledger import Ledger
from skdpgen.privacy._noise import insecure_noise_seed
from skdpgen.privacy._noisy_share import (
    NoisyShare,
    check_keys,
    fit_name,
    noisy_share,
    noisy_values,
    pair_keys,
)
from skdpgen.privacy._oracle import functional_oracle, kernel_slopes, private_oracle
from skdpgen.privacy._query import NoiseShares, NoiseWanted, PartialSum, Query, Question
from skdpgen.privacy._release import Beforehand, Release, release, sum_beforehand
from skdpgen.privacy._report import LedgerEntry, PrivacyReport
from skdpgen.privacy._sensitivity import (
    Distinct,
    NonNegative,
    OneHot,
    Signed,
    SignProducts,
    Structure,
    Weighted,
    WithCounts,
    WithSquares,
    sensitivity,
)
from skdpgen.privacy._subsampled import (
    Subsampling,
    fit_curve,
    renyi_epsilon,
    subsampled_epsilon,
    subsampled_noise_multiplier,
)
from skdpgen.privacy._value_counts import (
    ClippedCounts,
    DistinctCounts,
    Selections,
    selection_threshold,
)
from skdpgen.privacy._vector_sums import (
    Layer,
    Layers,
    Moments,
    OuterProducts,
    SideBySide,
)

__all__ = [
    "LARGEST_DELTA",
    "Adjacency",
    "Batch",
    "Beforehand",
    "ClippedCounts",
    "Counts",
    "Distinct",
    "DistinctCounts",
    "Histograms",
    "Layer",
    "Layers",
    "Ledger",
    "LedgerEntry",
    "Moments",
    "NoiseShares",
    "NoiseWanted",
    "NoisyShare",
    "NonNegative",
    "OneHot",
    "OuterProducts",
    "Parities",
    "PartialSum",
    "PrivacyBudget",
    "PrivacyReport",
    "Query",
    "Question",
    "Release",
    "Selections",
    "SideBySide",
    "SignProducts",
    "Signed",
    "Structure",
    "Subsampling",
    "Tokens",
    "Vectors",
    "Weighted",
    "WithCounts",
    "WithSquares",
    "check_keys",
    "compose_mu",
    "default_delta",
    "fit_curve",
    "fit_name",
    "functional_oracle",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "insecure_noise_seed",
    "kernel_slopes",
    "noisy_share",
    "noisy_values",
    "pair_keys",
    "private_oracle",
    "release",
    "renyi_epsilon",
    "selection_threshold",
    "sensitivity",
    "shortened",
    "subsampled_epsilon",
    "subsampled_noise_multiplier",
    "sum_beforehand",
]
