"""What every other package may use; imports no other package of skdpgen."""

from skdpgen.utils._asked import (
    are_amounts,
    are_whole,
    asked,
    check_asked,
    has_role,
    is_amount,
    is_whole,
    refuse_unless,
)
from skdpgen.utils._counts import check_count
from skdpgen.utils._errors import (
    BudgetExceededError,
    ConfigError,
    IdentifierWarning,
    LargeDeltaWarning,
    NothingLearntWarning,
    NotPrivateWarning,
    PrivacyLeakWarning,
    RareValuesWarning,
    RowsElsewhereError,
    SchemaError,
    SchemaRequiredError,
    SchemaWarning,
    SearchCostWarning,
    SupportWarning,
)
from skdpgen.utils._in_a_line import in_a_line
from skdpgen.utils._key import Key
from skdpgen.utils._one_thread import on_one_thread
from skdpgen.utils._optional import require
from skdpgen.utils._plain import (
    digest_of,
    from_bytes,
    from_plain,
    to_bytes,
    to_plain,
)
from skdpgen.utils._products_of_rows import products_of_rows
from skdpgen.utils._random import (
    pick_device,
    seed_of,
    split_generator,
    torch_generator,
)
from skdpgen.utils._saved import SAVED, saved
from skdpgen.utils._sklearn import Amount, Interval, StrOptions, clone_parametrized
from skdpgen.utils._warn import warn_caller

__all__ = [
    "SAVED",
    "Amount",
    "BudgetExceededError",
    "ConfigError",
    "IdentifierWarning",
    "Interval",
    "Key",
    "LargeDeltaWarning",
    "NotPrivateWarning",
    "NothingLearntWarning",
    "PrivacyLeakWarning",
    "RareValuesWarning",
    "RowsElsewhereError",
    "SchemaError",
    "SchemaRequiredError",
    "SchemaWarning",
    "SearchCostWarning",
    "StrOptions",
    "SupportWarning",
    "are_amounts",
    "are_whole",
    "asked",
    "check_asked",
    "check_count",
    "clone_parametrized",
    "digest_of",
    "from_bytes",
    "from_plain",
    "has_role",
    "in_a_line",
    "is_amount",
    "is_whole",
    "on_one_thread",
    "pick_device",
    "products_of_rows",
    "refuse_unless",
    "require",
    "saved",
    "seed_of",
    "split_generator",
    "to_bytes",
    "to_plain",
    "torch_generator",
    "warn_caller",
]
