"""Opening a table: public facts, private discovery of the others, and its cost."""

from skdpgen.synthesizers.opening._binning import MAX_BINS, discover_bins, steps_share
from skdpgen.synthesizers.opening._facts import Facts
from skdpgen.synthesizers.opening._fitted import Fitted, Measured
from skdpgen.synthesizers.opening._known_columns import (
    check_needs,
    n_classes_of,
    shares_of,
)
from skdpgen.synthesizers.opening._main_release import (
    LateWords,
    cell_scales,
    class_histograms,
    pools_gaps,
    release_columns,
    with_shared_gaps,
)
from skdpgen.synthesizers.opening._opening import (
    IS_CLONE,
    Fitting,
    Opening,
    columns_lost,
    open_rows,
    parameters_stated,
)
from skdpgen.synthesizers.opening._public_rows import (
    PublicTables,
    count_public,
    count_public_pairs,
)
from skdpgen.synthesizers.opening._unknown_columns import ROWS_COUNTED

__all__ = [
    "IS_CLONE",
    "MAX_BINS",
    "ROWS_COUNTED",
    "Facts",
    "Fitted",
    "Fitting",
    "LateWords",
    "Measured",
    "Opening",
    "PublicTables",
    "cell_scales",
    "check_needs",
    "class_histograms",
    "columns_lost",
    "count_public",
    "count_public_pairs",
    "discover_bins",
    "n_classes_of",
    "open_rows",
    "parameters_stated",
    "pools_gaps",
    "release_columns",
    "shares_of",
    "steps_share",
    "with_shared_gaps",
]
