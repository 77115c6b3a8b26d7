"""Planted bugs in what rows leave open: clipped counts, and words of public lists."""

from tests.planted.bug import TABLES, Bug

CLIPPED = "tests/privacy/test_clipped.py::"
SELECTION = "tests/privacy/test_selection.py::"
MIXED = "tests/tables/test_mixed.py::"
LATE = "tests/synthesizers/test_late_words.py::"
WEIGHTS = (
    CLIPPED + "test_blocks_of_half_the_weight_are_charged_and_have_twice_the_noise"
)
FURTHER = CLIPPED + "test_no_row_moves_the_counts_further"

WATCHED = (
    "tests/synthesizers/test_lost_rows.py::"
    "test_one_row_moves_what_is_watched_no_further_than_is_paid"
)

WHAT_ROWS_LEAVE_OPEN = (
    Bug(
        "pooled-cells-count-twice",
        "a row in a pooled cell counts in the first class, and in its own",
        "skdpgen.privacy:Histograms.add",
        "total[:, start : start + size] += counts.reshape(-1, size)",
        """
            total[:, start : start + size] += counts.reshape(-1, size)
            if pooled:
                places = labels[~unlabelled], codes[~unlabelled, subset[0]]
                is_pooled = np.isin(places[1], pooled) & (places[0] > 0)
                rows, cells = places[0][is_pooled], places[1][is_pooled]
                np.add.at(total[:, start : start + size], (rows, cells % size), 1)
        """,
        (
            "tests/synthesizers/test_sensitivity.py::test_the_bound_holds_and_is_attained",
        ),
    ),
    Bug(
        "watched-columns-count-in-full",
        "rows count in full in columns of a small weight",
        "skdpgen.privacy:Histograms.value",
        "np.repeat(scales, self.widths)",
        "np.repeat([1.0] * len(scales), self.widths)",
        (WATCHED,),
    ),
    Bug(
        "unread-text-counted-without-noise",
        "the share of text that cannot be read is counted outside the release",
        "skdpgen.synthesizers.opening:_release_parts",
        "float(column_counts[name][line.n_cells]) / n_rows",
        """
            sum(
                int((codes[:, [*grids].index(name)] == line.n_cells).sum())
                for codes in (b.parts[Key.COLUMNS] for b in opening.rows.batches(grids))
            ) / n_rows
        """,
        (TABLES,),
    ),
    Bug(
        "no-delta-for-late-words",
        "delta is reserved for two searches for words, and there are three",
        "skdpgen.synthesizers.opening:SEARCHES",
        "SEARCHES = 3",
        "SEARCHES = 2",
        (LATE + "test_no_row_moves_histograms_and_words_further_than_is_charged",),
    ),
    Bug(
        "open-places-not-clipped",
        "a row counts 1 in every open place, however many it has",
        "skdpgen.privacy:ClippedCounts._weights",
        "min(UNITS_OF_ROW, math.isqrt(squared_limit // max(k, 1)))",
        "UNITS_OF_ROW",
        (FURTHER,),
    ),
    Bug(
        "weights-rounded-up",
        "the weight of a row with many open places is rounded up",
        "skdpgen.privacy:ClippedCounts._weights",
        "math.isqrt(squared_limit // max(k, 1))",
        "math.isqrt(squared_limit // max(k, 1)) + 1",
        (FURTHER,),
    ),
    Bug(
        "limit-of-open-places-forgotten",
        "the norm of a row counts as 1, whatever its limit is",
        "skdpgen.privacy:ClippedCounts.structure",
        "return NonNegative(math.sqrt(self.limit))",
        "return NonNegative()",
        (FURTHER,),
    ),
    Bug(
        "open-words-for-nothing",
        "words do not count among the open places of a row",
        "skdpgen.privacy:ClippedCounts.add",
        "n_open = n_open + ((token.codes >= 0) & (token.codes < len(token.values)))",
        "n_open = n_open.copy()",
        (FURTHER,),
    ),
    Bug(
        "clipping-by-the-batch",
        "rows are clipped by the mean number of open places in their batch",
        "skdpgen.privacy:ClippedCounts.add",
        "weights = self._weights()[n_open]",
        "weights = self._weights()[np.full(len(n_open), round(n_open.mean()))]",
        (CLIPPED + "test_other_rows_do_not_change_what_a_row_adds",),
    ),
    Bug(
        "open-column-named-twice",
        "a column of open words may be named twice, and is charged once",
        "skdpgen.privacy:ClippedCounts.__post_init__",
        "len(set(self.columns)) < len(self.columns)",
        "False",
        (CLIPPED + "test_a_column_is_named_once",),
    ),
    Bug(
        "clipped-words-without-a-threshold",
        "every word that a row has is taken for one of the public list",
        "skdpgen.privacy:release",
        '_select(exact["words"], noise_std[key], ledger, block.public)',
        """
            _select(
                exact["words"],
                noise_std[key],
                ledger,
                [w for words in exact["words"].values() for w in words],
            )
        """,
        (CLIPPED + "test_a_word_is_shown_only_above_the_threshold",),
    ),
    Bug(
        "public-words-without-noise",
        "words of the public list that no row has are left out, not noised",
        "skdpgen.privacy:_select",
        "sorted({*counts, *public})",
        "sorted(counts)",
        (SELECTION + "test_public_words_that_no_row_has_get_noise",),
    ),
    Bug(
        "public-words-by-exact-counts",
        "a word of the public list is kept if a row has it, whatever its noise",
        "skdpgen.privacy:_select",
        "count > thresholds.get(value, threshold)",
        "count > (-1e9 if value in {*public} & {*counts} else threshold)",
        (SELECTION + "test_a_row_with_a_public_word_changes_its_count_alone",),
    ),
    Bug(
        "weight-of-digits-forgotten",
        "a block of half the weight gets the noise of one with all of it",
        "skdpgen.privacy:noise_of_blocks",
        "return {key: std / weight for key, weight in weights.items()}",
        "return {key: std / max(weight, 1.0) for key, weight in weights.items()}",
        (WEIGHTS,),
    ),
    Bug(
        "digits-for-nothing",
        "numbers of decimals are released beside octaves and charged to nobody",
        "skdpgen.privacy:_structure",
        "not isinstance(block, Counts)",
        'not isinstance(block, Counts) and key != "digits"',
        (WEIGHTS,),
    ),
    Bug(
        "cells-that-nobody-asked-for",
        "a number outside the cells that are asked for counts in the first of them",
        "skdpgen.tables:AskedCells.encode",
        "return np.where(np.isnan(x), -1, self.places[cell])",
        "return np.where(np.isnan(x), -1, np.maximum(self.places[cell], 0))",
        (MIXED + "test_cells_that_are_not_asked_for_have_no_code",),
    ),
    Bug(
        "words-known-by-the-batch",
        "the first open word of a batch counts as one that has a name",
        "skdpgen.tables:OpenWords.of",
        "named = set(self.known)",
        "named = {*self.known, *tokens.values[:1]}",
        (MIXED + "test_what_is_open_in_a_row_does_not_depend_on_other_rows",),
    ),
)
