"""Planted bugs of readers: one record of a file decides about more than its row."""

from tests.planted.bug import Bug

RECORDS = "tests/cli/test_text_records.py::"
ONE_ROW = RECORDS + "test_one_changed_record_changes_one_row"
NO_RECORD_DECIDES = RECORDS + "test_no_record_decides_how_a_fit_ends"
SOURCES = "tests/tables/test_sources.py::"
LENSES = "tests/lenses/test_alone.py::"

WHAT_A_RECORD_DECIDES = (
    Bug(
        "empty-lines-are-no-records",
        "empty lines of a CSV are skipped, so the public number of rows tells how many",
        "skdpgen.cli:Records._lines",
        "*lines, rest = rest.split(end) if end else [rest]",
        """
            *lines, rest = rest.split(end) if end else [rest]
            lines = [line for line in lines if line]
        """,
        (ONE_ROW, RECORDS + "test_empty_lines_of_one_column_are_counted"),
    ),
    Bug(
        "an-open-quote-goes-on",
        "a quote that is never closed swallows the lines after it",
        "skdpgen.cli:Records._records",
        "not self.dialect.is_multiline",
        "False",
        (ONE_ROW,),
    ),
    Bug(
        "lines-that-pandas-refuses",
        "pandas gets each line as it is, and raises at one with a cell too many",
        "skdpgen.cli:table_of",
        "is_plain or (n_separators >= 0 and well_formed(record))",
        "True",
        (NO_RECORD_DECIDES, ONE_ROW),
    ),
    Bug(
        "bytes-that-are-no-text-raise",
        "a byte that is not UTF-8 ends the fit",
        "skdpgen.cli:Records._texts",
        "codecs.getincrementaldecoder(encoding)(ERRORS)",
        'codecs.getincrementaldecoder(encoding)("strict")',
        (NO_RECORD_DECIDES, ONE_ROW),
    ),
    Bug(
        "types-of-parquet-by-its-cells",
        "a missing cell of Parquet turns truth values into objects",
        "skdpgen.cli:_with_arrow_types",
        "made.to_pandas(types_mapper=pd.ArrowDtype)",
        "made.to_pandas()",
        (RECORDS + "test_a_missing_cell_of_parquet_changes_no_type",),
    ),
    Bug(
        "numbers-to-predict-by-exact-counts",
        "whether a target of text says numbers is decided by its cells without noise",
        "skdpgen.synthesizers.opening:target_says_numbers",
        "counts = by_column(released, {TARGET: grid})[TARGET]",
        """
            counts = 0 * by_column(released, {TARGET: grid})[TARGET]
            for batch in rows.batches({TARGET: grid}):
                for code in batch.parts[Key.COLUMNS][:, 0].tolist():
                    counts[code] += 1
        """,
        (
            "tests/synthesizers/test_text_targets.py::"
            "test_released_counts_decide_and_not_the_rows",
        ),
    ),
    Bug(
        "errors-of-engines-as-they-are",
        "the error of a query quotes the value that it cannot parse",
        "skdpgen.tables:_answer",
        "(FileNotFoundError, PermissionError, MemoryError)",
        "Exception",
        (SOURCES + "test_errors_of_engines_are_raised_without_their_texts",),
    ),
    Bug(
        "types-of-files-are-cast",
        "a value that does not fit the types of the first file ends the fit",
        "skdpgen.tables:_check_files",
        "is_cast or not (is_alone or _always_fits(stored.type, declared))",
        "False",
        (SOURCES + "test_files_whose_values_might_not_fit_are_refused",),
    ),
    Bug(
        "numbers-that-warn",
        "a huge number is divided by a small step, and numpy warns",
        "skdpgen.synthesizers.opening:Outside.encode",
        'np.errstate(all="ignore")',
        'np.errstate(over="warn")',
        (
            "tests/synthesizers/test_public_rows.py::"
            "test_no_private_number_makes_a_warning",
        ),
    ),
    Bug(
        "codes-to-stop-by-are-not-tried",
        "codes of a lens that depend on earlier images move a release too far",
        "skdpgen.synthesizers:DPMEPFSynthesizer._fill_settings",
        "check_map(CodeMap(perceptual), seen)",
        "CodeMap(perceptual)",
        (LENSES + "test_codes_to_stop_by_are_tried_as_features_are",),
    ),
)
