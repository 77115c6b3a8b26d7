"""Turns a release into a generator; never sees a table."""

from skdpgen.training._adversarial import (
    Generated,
    PublicDescent,
    play,
    score_real,
)
from skdpgen.training._checkpoints import Checkpoints
from skdpgen.training._classifier import train_classifier
from skdpgen.training._columns_together import Related, columns_together
from skdpgen.training._conditional import (
    ClassConditional,
    class_conditional_model,
    column_counts,
)
from skdpgen.training._covariance import (
    class_correlations,
    class_covariances,
    class_variances,
    nearest_correlation,
    shrink_symmetric,
)
from skdpgen.training._denoised_cells import denoised_histogram, project_to_total
from skdpgen.training._density_ratio import (
    Told,
    effective_size,
    log_ratios,
    weighed,
)
from skdpgen.training._descent import descend
from skdpgen.training._embedding import shrink_embedding
from skdpgen.training._latents import Latents, normal, sobol, strata
from skdpgen.training._matching import LossWeight, match_embedding
from skdpgen.training._mixture import PairTarget, fit_mixture
from skdpgen.training._pairs import PairPrior, fit_pair, smooth_pair
from skdpgen.training._pairs_of_bins import smooth_bins
from skdpgen.training._parity_moments import (
    ParityTarget,
    mean_signs,
    mixture_parities,
    stand_out,
)
from skdpgen.training._private_descent import (
    PrivateDescent,
    descend_privately,
    private_descent,
)
from skdpgen.training._public_columns import Seen, public_shares, raked, with_public
from skdpgen.training._row_slopes import RowSlopes
from skdpgen.training._smoothing import (
    class_totals,
    conditional_histogram,
    without_empty_cells,
)
from skdpgen.training._trust import pooled_trust

__all__ = [
    "Checkpoints",
    "ClassConditional",
    "Generated",
    "Latents",
    "LossWeight",
    "PairPrior",
    "PairTarget",
    "ParityTarget",
    "PrivateDescent",
    "PublicDescent",
    "Related",
    "RowSlopes",
    "Seen",
    "Told",
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
    "pooled_trust",
    "private_descent",
    "project_to_total",
    "public_shares",
    "raked",
    "score_real",
    "shrink_embedding",
    "shrink_symmetric",
    "smooth_bins",
    "smooth_pair",
    "sobol",
    "stand_out",
    "strata",
    "train_classifier",
    "weighed",
    "with_public",
    "without_empty_cells",
]
