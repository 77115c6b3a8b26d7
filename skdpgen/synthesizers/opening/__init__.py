"""Opening a table: what an estimator may know about it, and what pays for that."""

from skdpgen.synthesizers.opening._binning import MAX_BINS, discover_bins
from skdpgen.synthesizers.opening._cell_scales import cell_scales
from skdpgen.synthesizers.opening._classes import n_classes_of, shares_of
from skdpgen.synthesizers.opening._context import Opening, open_rows
from skdpgen.synthesizers.opening._decoding import (
    class_array,
    decode_rows,
    decode_target,
    label_codes,
    target_codes,
)
from skdpgen.synthesizers.opening._facts import Facts
from skdpgen.synthesizers.opening._late_words import LateWords, release_columns
from skdpgen.synthesizers.opening._needs_rows import check_needs
from skdpgen.synthesizers.opening._public_rows import (
    PublicTables,
    count_public,
    count_public_pairs,
)
from skdpgen.synthesizers.opening._statements import IS_CLONE, parameters_stated
from skdpgen.synthesizers.opening._steps_share import steps_share
from skdpgen.synthesizers.opening._unknown_columns import ROWS_COUNTED

__all__ = [
    "IS_CLONE",
    "MAX_BINS",
    "ROWS_COUNTED",
    "Facts",
    "LateWords",
    "Opening",
    "PublicTables",
    "cell_scales",
    "check_needs",
    "class_array",
    "count_public",
    "count_public_pairs",
    "decode_rows",
    "decode_target",
    "discover_bins",
    "label_codes",
    "n_classes_of",
    "open_rows",
    "parameters_stated",
    "release_columns",
    "shares_of",
    "steps_share",
    "target_codes",
]
