"""Around the estimators: plans, the cost of a search, generators compared for free."""

from skdpgen.synthesizers.tools._plan import Plan, plan
from skdpgen.synthesizers.tools._search_cost import SearchCost, search_cost
from skdpgen.synthesizers.tools._search_generator import (
    GeneratorSearch,
    search_generator,
)

__all__ = [
    "GeneratorSearch",
    "Plan",
    "SearchCost",
    "plan",
    "search_cost",
    "search_generator",
]
