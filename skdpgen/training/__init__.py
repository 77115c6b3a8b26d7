"""Turns a release into a generator; never sees a table."""

from skdpgen.training._adversarial import (
    Anchor,
    ClassWeights,
    Generated,
    PublicDescent,
    Rules,
    play,
    score_real,
)
from skdpgen.training._columns_together import RelatedColumns, columns_together
from skdpgen.training._covariance import (
    class_correlations,
    class_covariances,
    class_variances,
    nearest_correlation,
    shrink_symmetric,
)
from skdpgen.training._density_ratio import (
    ReleasedMeans,
    effective_size,
    log_ratios,
    ratio_weights,
)
from skdpgen.training._matching import (
    Checkpoints,
    Goal,
    LossWeight,
    Steps,
    descend,
    match_embedding,
    shrink_embedding,
)
from skdpgen.training._mixture import (
    PairTarget,
    ParityTarget,
    fit_mixture,
    mean_signs,
    mixture_parities,
    significant_parities,
)
from skdpgen.training._pairs import PairPrior, fit_pair, smooth_bins, smooth_pair
from skdpgen.training._private_descent import (
    PrivateDescent,
    RowSlopes,
    descend_privately,
    private_descent,
)
from skdpgen.training._public_columns import (
    ClassConditional,
    NoisyColumn,
    class_conditional_model,
    column_counts,
    pooled_noise,
    public_shares,
    raked,
    shrunk_to_public,
)
from skdpgen.training._single_columns import (
    class_totals,
    conditional_histogram,
    denoised_histogram,
    project_to_total,
    without_empty_cells,
)
from skdpgen.training._steps import Latents, normal, sobol, strata, train_classifier
from skdpgen.training._trust import pooled_trust

__all__ = [
    "Anchor",
    "Checkpoints",
    "ClassConditional",
    "ClassWeights",
    "Generated",
    "Goal",
    "Latents",
    "LossWeight",
    "NoisyColumn",
    "PairPrior",
    "PairTarget",
    "ParityTarget",
    "PrivateDescent",
    "PublicDescent",
    "RelatedColumns",
    "ReleasedMeans",
    "RowSlopes",
    "Rules",
    "Steps",
    "class_conditional_model",
    "class_correlations",
    "class_covariances",
    "class_totals",
    "class_variances",
    "column_counts",
    "columns_together",
    "conditional_histogram",
    "denoised_histogram",
    "descend",
    "descend_privately",
    "effective_size",
    "fit_mixture",
    "fit_pair",
    "log_ratios",
    "match_embedding",
    "mean_signs",
    "mixture_parities",
    "nearest_correlation",
    "normal",
    "play",
    "pooled_noise",
    "pooled_trust",
    "private_descent",
    "project_to_total",
    "public_shares",
    "raked",
    "ratio_weights",
    "score_real",
    "shrink_embedding",
    "shrink_symmetric",
    "shrunk_to_public",
    "significant_parities",
    "smooth_bins",
    "smooth_pair",
    "sobol",
    "strata",
    "train_classifier",
    "without_empty_cells",
]
