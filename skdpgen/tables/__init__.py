"""Schema, encoding, and rows that can be read chunk by chunk."""

from skdpgen.tables._arrow_files import ArrowFile, as_arrow
from skdpgen.tables._cells import (
    CategoryCells,
    Cells,
    MixedCells,
    NumberCells,
    are_classes,
    bounds,
    class_of,
    code_or_none,
    form_of_column,
    simple_cells,
    step_of,
    with_codes,
)
from skdpgen.tables._chunks import Chunks, as_chunks
from skdpgen.tables._columns import (
    NUMBERS,
    Boolean,
    Categorical,
    Column,
    Datetime,
    Integer,
    Numeric,
    Ordinal,
)
from skdpgen.tables._containers import read_table
from skdpgen.tables._draw import draw_values, regenerate, with_named
from skdpgen.tables._elsewhere import Elsewhere, is_dask, stands_elsewhere
from skdpgen.tables._encoder import Batches, EncodedBatch, Encoder
from skdpgen.tables._groups import (
    CellGroups,
    each_cell,
    each_group,
    group_cells,
    join_groups,
)
from skdpgen.tables._images import (
    ImageLayout,
    InRange,
    as_pixels,
    image_size,
    is_image,
    range_codes,
)
from skdpgen.tables._inferring import infer_column
from skdpgen.tables._layout import EPOCH, Kind, Layout, lists_categories
from skdpgen.tables._left_out_columns import Drop, Regenerate
from skdpgen.tables._like import like_of
from skdpgen.tables._line import (
    FINE_PARTS,
    DigitCells,
    Line,
    asked_cells,
    divided,
    divided_again,
    is_settled,
    joined_gaps,
    joined_parts,
    line_between,
    line_of_octaves,
    octave_edges,
    refined,
    worth_dividing,
)
from skdpgen.tables._line_bins import (
    bins_of,
    outside_of,
    smoothed,
    summary_of,
    with_range_of,
    within_limits,
    without_outer_gaps,
)
from skdpgen.tables._number_forms import NumberForm, NumbersOf, numbers_of, read_number
from skdpgen.tables._obeying import obey
from skdpgen.tables._passes import layouts_of, read_part
from skdpgen.tables._points import cell_points
from skdpgen.tables._public_rows import public_rows
from skdpgen.tables._restoring import restore_series, restore_table
from skdpgen.tables._role import TARGET
from skdpgen.tables._rows import Rows, holds_images
from skdpgen.tables._rule_order import check_rules
from skdpgen.tables._rules import Determines, LessEqual, MissingIf, Rule, SumOf
from skdpgen.tables._schema import (
    FROM_PUBLIC,
    INFERRED,
    READ_OFF,
    Schema,
    read_off,
)
from skdpgen.tables._spelling import read_time
from skdpgen.tables._text_columns import (
    hinted_kind,
    is_written,
    read_column,
    with_hint,
    write_text,
)
from skdpgen.tables._text_kinds import (
    DATES,
    ISO,
    NUMBERS_FROM,
    Says,
    TextKinds,
    plausible_codes,
)
from skdpgen.tables._time_forms import chosen_form, chosen_iso_form
from skdpgen.tables._told_apart import Asked, OpenWords
from skdpgen.tables._values import as_numbers, as_seconds, read_values

__all__ = [
    "DATES",
    "EPOCH",
    "FINE_PARTS",
    "FROM_PUBLIC",
    "INFERRED",
    "ISO",
    "NUMBERS",
    "NUMBERS_FROM",
    "READ_OFF",
    "TARGET",
    "ArrowFile",
    "Asked",
    "Batches",
    "Boolean",
    "Categorical",
    "CategoryCells",
    "CellGroups",
    "Cells",
    "Chunks",
    "Column",
    "Datetime",
    "Determines",
    "DigitCells",
    "Drop",
    "Elsewhere",
    "EncodedBatch",
    "Encoder",
    "ImageLayout",
    "InRange",
    "Integer",
    "Kind",
    "Layout",
    "LessEqual",
    "Line",
    "MissingIf",
    "MixedCells",
    "NumberCells",
    "NumberForm",
    "NumbersOf",
    "Numeric",
    "OpenWords",
    "Ordinal",
    "Regenerate",
    "Rows",
    "Rule",
    "Says",
    "Schema",
    "SumOf",
    "TextKinds",
    "are_classes",
    "as_arrow",
    "as_chunks",
    "as_numbers",
    "as_pixels",
    "as_seconds",
    "asked_cells",
    "bins_of",
    "bounds",
    "cell_points",
    "check_rules",
    "chosen_form",
    "chosen_iso_form",
    "class_of",
    "code_or_none",
    "divided",
    "divided_again",
    "draw_values",
    "each_cell",
    "each_group",
    "form_of_column",
    "group_cells",
    "hinted_kind",
    "holds_images",
    "image_size",
    "infer_column",
    "is_dask",
    "is_image",
    "is_settled",
    "is_written",
    "join_groups",
    "joined_gaps",
    "joined_parts",
    "layouts_of",
    "like_of",
    "line_between",
    "line_of_octaves",
    "lists_categories",
    "numbers_of",
    "obey",
    "octave_edges",
    "outside_of",
    "plausible_codes",
    "public_rows",
    "range_codes",
    "read_column",
    "read_number",
    "read_off",
    "read_part",
    "read_table",
    "read_time",
    "read_values",
    "refined",
    "regenerate",
    "restore_series",
    "restore_table",
    "simple_cells",
    "smoothed",
    "stands_elsewhere",
    "step_of",
    "summary_of",
    "with_codes",
    "with_hint",
    "with_named",
    "with_range_of",
    "within_limits",
    "without_outer_gaps",
    "worth_dividing",
    "write_text",
]
