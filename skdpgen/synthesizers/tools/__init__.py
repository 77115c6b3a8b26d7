"""Around the estimators: plans, expected noise, costs, generators compared for free."""

from skdpgen.synthesizers.tools._embedding_noise import (
    EmbeddingNoise,
    embedding_noise,
)
from skdpgen.synthesizers.tools._plan import Plan, plan
from skdpgen.synthesizers.tools._search_cost import SearchCost, search_cost
from skdpgen.synthesizers.tools._search_generator import (
    GeneratorSearch,
    search_generator,
)

__all__ = [
    "EmbeddingNoise",
    "GeneratorSearch",
    "Plan",
    "SearchCost",
    "embedding_noise",
    "plan",
    "search_cost",
    "search_generator",
]
