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
from skdpgen.utils._random import (
    pick_device,
    seed_of,
    split_generator,
    torch_generator,
)
from skdpgen.utils._saved import SAVED, saved
from skdpgen.utils._sklearn import Amount, Interval, StrOptions, clone_parametrized

__all__ = [
    "SAVED",
    "Amount",
    "BudgetExceededError",
    "Interval",
    "NotPrivateWarning",
    "PrivacyLeakWarning",
    "SchemaError",
    "SchemaRequiredError",
    "SearchCostWarning",
    "StrOptions",
    "clone_parametrized",
    "pick_device",
    "require",
    "saved",
    "seed_of",
    "split_generator",
    "torch_generator",
]
