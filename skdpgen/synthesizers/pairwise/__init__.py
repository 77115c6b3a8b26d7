"""Pairs of columns: how many are affordable, their release, a model, a mixture."""

from skdpgen.synthesizers.pairwise._affordable import (
    affordable_pairs,
    nearest_pairs,
    pair_groups,
    rows_for_pairs,
    usual_pair_budget,
    worth_measuring,
)
from skdpgen.synthesizers.pairwise._conditions import check_given, read_given
from skdpgen.synthesizers.pairwise._focus import (
    focus_weights,
    share_with_stratum,
    stratum_of,
    with_stratum,
)
from skdpgen.synthesizers.pairwise._measuring import (
    BY_CLASS,
    budget_of_pairs,
    measure_columns,
    measure_pairs,
    number_of_pairs,
    pair_share,
    share_of_cells,
)
from skdpgen.synthesizers.pairwise._mixtures import (
    mixture_of_columns,
    mixture_of_pairs,
    train_mixture,
    usual_components,
    usual_rates,
)
from skdpgen.synthesizers.pairwise._pair_model import PairModel, known_pairs
from skdpgen.synthesizers.pairwise._pair_release import PairRelease, release_pairs
from skdpgen.synthesizers.pairwise._parities import ParityRelease

__all__ = [
    "BY_CLASS",
    "PairModel",
    "PairRelease",
    "ParityRelease",
    "affordable_pairs",
    "budget_of_pairs",
    "check_given",
    "focus_weights",
    "known_pairs",
    "measure_columns",
    "measure_pairs",
    "mixture_of_columns",
    "mixture_of_pairs",
    "nearest_pairs",
    "number_of_pairs",
    "pair_groups",
    "pair_share",
    "read_given",
    "release_pairs",
    "rows_for_pairs",
    "share_of_cells",
    "share_with_stratum",
    "stratum_of",
    "train_mixture",
    "usual_components",
    "usual_pair_budget",
    "usual_rates",
    "with_stratum",
    "worth_measuring",
]
