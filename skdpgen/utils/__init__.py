"""What every other package may use; imports nothing of ours."""

from skdpgen.utils._errors import (
    BudgetExceededError,
    NotPrivateWarning,
    PrivacyLeakWarning,
    SchemaError,
    SchemaRequiredError,
    SearchCostWarning,
)
from skdpgen.utils._optional import require
from skdpgen.utils._random import split_generator
from skdpgen.utils._sklearn import Interval, StrOptions, clone_parametrized

__all__ = [
    "BudgetExceededError",
    "Interval",
    "NotPrivateWarning",
    "PrivacyLeakWarning",
    "SchemaError",
    "SchemaRequiredError",
    "SearchCostWarning",
    "StrOptions",
    "clone_parametrized",
    "require",
    "split_generator",
]
