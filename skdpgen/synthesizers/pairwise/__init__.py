"""Pairs of columns: how many can be afforded, measuring them, what they say."""

from skdpgen.synthesizers.pairwise._affordable import (
    affordable_pairs,
    nearest_pairs,
    pair_groups,
    worth_measuring,
)
from skdpgen.synthesizers.pairwise._given_columns import read_given
from skdpgen.synthesizers.pairwise._measuring import measure_pairs
from skdpgen.synthesizers.pairwise._pair_rounds import (
    PairModel,
    PairRelease,
    release_pairs,
)
from skdpgen.synthesizers.pairwise._training import train_mixture, usual_components

__all__ = [
    "PairModel",
    "PairRelease",
    "affordable_pairs",
    "measure_pairs",
    "nearest_pairs",
    "pair_groups",
    "read_given",
    "release_pairs",
    "train_mixture",
    "usual_components",
    "worth_measuring",
]
