"""What every other package may use; imports no other package of skdpgen."""

from skdpgen.utils import _html as html
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
from skdpgen.utils._errors import (
    in_a_line,
    warn_caller,
)
from skdpgen.utils._imports import (
    Amount,
    Interval,
    StrOptions,
    clone_parametrized,
    require,
)
from skdpgen.utils._key import Key
from skdpgen.utils._numbers import (
    check_count,
    on_one_thread,
    pick_device,
    products_of_rows,
    seed_of,
    split_generator,
    torch_generator,
)
from skdpgen.utils._plain import (
    SAVED,
    digest_of,
    from_bytes,
    from_plain,
    saved,
    to_bytes,
    to_plain,
)
from skdpgen.utils._progress import progress_bar, training_bar
from skdpgen.utils._types import (
    Frame,
    Images,
    Labels,
    RandomState,
    Rows,
    Synthesizer,
    Table,
)

__all__ = [
    "SAVED",
    "Amount",
    "Frame",
    "Images",
    "Interval",
    "Key",
    "Labels",
    "RandomState",
    "Rows",
    "StrOptions",
    "Synthesizer",
    "Table",
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
    "html",
    "in_a_line",
    "is_amount",
    "is_whole",
    "on_one_thread",
    "pick_device",
    "products_of_rows",
    "progress_bar",
    "refuse_unless",
    "require",
    "saved",
    "seed_of",
    "split_generator",
    "to_bytes",
    "to_plain",
    "torch_generator",
    "training_bar",
    "warn_caller",
]
