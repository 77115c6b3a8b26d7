"""Planted bugs of what a certificate says, and of what else a fit lets hear."""

from tests.planted.bug import SAID, SEARCH, TABLES, Bug

ORIGIN = "tests/tables/test_origin.py::test_marks_stay_on_every_route"
MADE = SAID + "test_what_is_rested_on_is_said_and_nothing_else"
READ_BACK = SAID + "test_alarms_are_read_back"
BENCH = "tests/benchmark/test_bench_private.py::"
DTYPES = "tests/synthesizers/test_dtypes.py::"
DELTA = "tests/synthesizers/test_delta.py::"
INTERCHANGE = "tests/tables/test_interchange.py::"
SEARCHED = "tests/synthesizers/test_search_cost.py::"
GO_ALONG = SAID + "test_alarms_go_along"

COMMAND = "tests/cli/test_command.py::"

WHAT_IS_SAID = (
    Bug(
        "rows-printed-by-the-command",
        "`skdpgen fit` prints how many rows it has read",
        "skdpgen.cli:command",
        "_fit(synthesizer, rows)",
        """
            _fit(synthesizer, rows)
            if kind_of(file) != ".npz":
                click.echo(f"Read {sum(map(len, table.pieces()))} rows of {file}.")
        """,
        (COMMAND + "test_all_that_fit_shows_and_writes_is_known_by_releases",),
    ),
    Bug(
        "rows-in-the-folder-of-a-model",
        "`skdpgen fit` writes how large the file of the rows was",
        "skdpgen.cli:command",
        "write_model(out, synthesizer, description)",
        """
            write_model(out, synthesizer, description)
            (out / "size.txt").write_text(str(file.stat().st_size))
        """,
        (COMMAND + "test_all_that_fit_shows_and_writes_is_known_by_releases",),
    ),
    Bug(
        "true-n-in-the-warning-of-delta",
        "the warning of a large delta is worded by the true number of rows",
        "skdpgen.synthesizers.opening:Opening._judge_delta",
        "facts = (budget.delta, 1 / n_rows, default_delta(round(n_rows)))",
        """
            n = self.rows._open.n_rows
            facts = (budget.delta, 1 / n, default_delta(n))
        """,
        (DELTA + "test_a_hidden_number_of_rows_is_judged_as_it_was_released",),
    ),
    Bug(
        "rows-in-the-progress-bar",
        "the text of the progress bar says how many rows there are",
        "skdpgen.synthesizers.opening:Opening.step",
        "self.progress.set_description(name)",
        'self.progress.set_description(f"{name} of {self.rows._open.n_rows} rows")',
        (TABLES,),
    ),
    Bug(
        "rows-in-the-log",
        "the number of rows is logged where labels are discovered",
        "skdpgen.synthesizers.opening:discover_classes",
        "columns, sums = (TARGET,), rows.beforehand",
        """
            import logging

            logging.getLogger("skdpgen").info("labels of %d rows", rows._open.n_rows)
            columns, sums = (TARGET,), rows.beforehand
        """,
        (TABLES,),
    ),
    Bug(
        "too-few-rows-where-private",
        "a table of one row is refused under add/remove",
        "skdpgen.synthesizers.opening:open_rows",
        "ledger = Ledger(budget)",
        """
            ledger = Ledger(budget)
            check_size(rows._open.n_rows)
        """,
        (
            "tests/synthesizers/test_statements.py::"
            "test_with_public_columns_no_chunk_is_a_table_without_rows",
        ),
    ),
    Bug(
        "delta-against-true-n",
        "under add/remove delta is judged by the true number of rows",
        "skdpgen.synthesizers.opening:Opening.learn_schema",
        "self._judge_delta(n_rows)",
        "self._judge_delta(max(self.rows._open.n_rows, 1))",
        (DELTA + "test_a_hidden_number_of_rows_is_judged_as_it_was_released",),
    ),
    Bug(
        "delta-of-true-n",
        "under add/remove delta is chosen by how many rows there are",
        "skdpgen.synthesizers.opening:open_rows",
        "default_delta(rows.n_rows if is_size_public else None)",
        "default_delta(rows._open.n_rows)",
        (DELTA + "test_a_hidden_number_of_rows_chooses_nothing",),
    ),
    Bug(
        "silent-large-delta",
        "a delta that may expose a row is not remarked on",
        "skdpgen.synthesizers.opening:Opening._judge_delta",
        "budget.is_private and budget.delta > 1 / n_rows",
        "budget.is_private and budget.delta > 1",
        (MADE,),
    ),
    Bug(
        "silent-classes",
        "the certificate does not say that class labels were taken as public",
        "skdpgen.synthesizers.opening:Opening.learn_schema",
        'self.statements.append(f"class labels: {text}")',
        "pass",
        (MADE,),
    ),
    Bug(
        "silent-target",
        "bounds of the target may be given without a word",
        "skdpgen.synthesizers.opening:_stated",
        'lines.append("schema of the target: taken as public")',
        "pass",
        (MADE,),
    ),
    Bug(
        "silent-lists-in-chunks",
        "of chunks only the first one is looked at for lists without a dtype",
        "skdpgen.tables:ChunkPasses.__call__",
        "self._has_lists |= are_lists(table, labels)",
        "pass",
        (MADE,),
    ),
    Bug(
        "silent-inference",
        "a schema that Schema.infer read off rows has no mark",
        "skdpgen.tables:Schema.infer",
        "read_off(frame, y, task=task, origin=READ_OFF)",
        'read_off(frame, y, task=task, origin="")',
        (MADE,),
    ),
    Bug(
        "origin-lost-with-labels",
        "a schema that was read off rows with labels has no mark",
        "skdpgen.tables:read_off",
        "return Schema(columns, labels, origin=origin)",
        "return Schema(columns, labels)",
        (ORIGIN,),
    ),
    Bug(
        "origin-not-stated",
        "the certificate does not repeat where a schema is from",
        "skdpgen.synthesizers.opening:_stated",
        "lines += known.origin.splitlines()",
        "pass",
        (ORIGIN,),
    ),
    Bug(
        "origin-lost-when-completed",
        "the schema that a fit completes has none of the marks of the given one",
        "skdpgen.synthesizers.opening:complete_schema",
        "return Schema(columns, target, known.other, known.origin, known.rules)",
        "return Schema(columns, target, known.other, rules=known.rules)",
        ("tests/tables/test_origin.py::test_a_target_alone_carries_the_mark",),
    ),
    Bug(
        "origin-lost-by-columns",
        "a column that is taken out of a schema has no mark",
        "skdpgen.tables:Schema._mark",
        "marked = {n: with_origin(c, origin) for n, c in self.columns.items()}",
        "marked = dict(self.columns)",
        (ORIGIN,),
    ),
    Bug(
        "origin-lost-of-public-rows",
        "what a fit took from public rows is not marked in its schema",
        "skdpgen.synthesizers.opening:public_columns",
        "column = replace(column, nullable=True, origin=FROM_PUBLIC)",
        "column = replace(column, nullable=True)",
        (
            "tests/tables/test_origin.py::"
            "test_columns_from_public_rows_are_marked_in_the_schema_of_the_fit",
        ),
    ),
    Bug(
        "last-statement-alone",
        "a statement that is added later takes the place of all others",
        "skdpgen.privacy:PrivacyReport.stating",
        "replace(self, statements=(*self.statements, line))",
        "replace(self, statements=(line,))",
        (MADE,),
    ),
    Bug(
        "no-alarm-in-the-dict",
        "LEAK and NOT PRIVATE are printed, but not in the dict and the JSON",
        "skdpgen.privacy:PrivacyReport.to_dict",
        'content["statements"] = list(self.statements)',
        """
            content["statements"] = [
                s for s in self.statements if not s.startswith(ALARMS)
            ]
        """,
        (READ_BACK,),
    ),
    Bug(
        "no-alarm-in-the-file",
        "a saved estimator forgets LEAK and NOT PRIVATE",
        "skdpgen.synthesizers.base:write_estimator",
        "certificate = fitted.certificate.to_dict()",
        """
            certificate = fitted.certificate.to_dict()
            certificate["statements"] = [
                said
                for said in certificate["statements"]
                if not said.startswith(("LEAK", "NOT PRIVATE"))
            ]
        """,
        (GO_ALONG,),
    ),
    Bug(
        "epsilon-of-what-was-spent",
        "at other deltas a certificate claims what was spent, not what was allowed",
        "skdpgen.privacy:PrivacyReport.epsilon_at",
        "min(promised, gaussian_epsilon(budget.mu, delta_left) + epsilon_kept)",
        """min(
            promised,
            gaussian_epsilon(budget.mu * self.spent**0.5, delta_left) + epsilon_kept,
        )""",
        (
            "tests/privacy/test_report.py::"
            "test_nothing_is_promised_below_the_delta_of_selections",
        ),
    ),
    Bug(
        "search-leaks-if-all-do",
        "a search is a LEAK only if all of its candidates inferred their schema",
        "skdpgen.synthesizers.tools:search_cost",
        "any(_is_inferred(candidate.schema) for candidate in candidates)",
        "all(_is_inferred(candidate.schema) for candidate in candidates)",
        (SEARCH + "test_one_candidate_that_leaks_is_told_of",),
    ),
    Bug(
        "search-believes-a-schema",
        "a schema that was read off the rows before the search is taken for public",
        "skdpgen.synthesizers.tools:_is_inferred",
        "return any(mark in origin for mark in TO_BE_PUBLIC)",
        "return any(mark in origin for mark in TO_BE_PUBLIC[1:])",
        (SEARCHED + "test_a_schema_that_was_read_off_before_is_told_of",),
    ),
    Bug(
        "sdv-believed",
        "metadata that may have been detected from the rows is taken for public",
        "skdpgen.tables:Schema.from_sdv",
        'schema = cls(columns, found, origin=FROM_SDV if detected else "")',
        "schema = cls(columns, found)",
        (INTERCHANGE + "test_certificates_repeat_the_mark",),
    ),
    Bug(
        "sdv-in-a-search",
        "the cost of a search does not say that its schema may have been detected",
        "skdpgen.synthesizers.tools:_is_inferred",
        "return any(mark in origin for mark in TO_BE_PUBLIC)",
        "return TO_BE_PUBLIC[0] in origin",
        (INTERCHANGE + "test_a_search_says_that_its_schema_may_be_detected",),
    ),
    Bug(
        "search-as-it-is-now",
        "a search is charged by parameters that were changed after its fit",
        "skdpgen.synthesizers.tools:search_cost",
        "_check_unchanged(search, all_candidates)",
        "pass",
        (SEARCHED + "test_a_search_that_was_changed_since_has_no_cost",),
    ),
    Bug(
        "search-forgets-its-refit",
        "a refit costs nothing if `refit` was switched off after it",
        "skdpgen.synthesizers.tools:search_cost",
        'has_refit = bool(search.refit) or hasattr(search, "best_estimator_")',
        "has_refit = bool(search.refit)",
        (SEARCHED + "test_a_refit_counts_although_it_is_switched_off_afterwards",),
    ),
    Bug(
        "search-at-the-delta-of-the-refit",
        "delta=None counts as what the whole table chooses, not its smaller folds",
        "skdpgen.synthesizers.tools:_budget",
        "LARGEST_DELTA",
        "LARGEST_DELTA / 10",
        (SEARCHED + "test_folds_that_choose_other_deltas_are_covered",),
    ),
    Bug(
        "results-hold-a-fingerprint",
        "results of a private table hold a digest of it, which confirms a guess",
        "skdpgen.benchmark:Cell.shared",
        "hidden = FINGERPRINTS if self.source.is_own else ()",
        "hidden = ()",
        (BENCH + "test_no_guess_at_a_row_is_confirmed_by_results",),
    ),
    Bug(
        "results-without-an-alarm",
        "scores of a private table are written as those of a public one",
        "skdpgen.benchmark:Cell.about",
        'alarm = {"not_private": NOT_PRIVATE} if self.source.is_own else {}',
        "alarm = {}",
        (BENCH + "test_every_row_and_page_of_a_private_table_carries_an_alarm",),
    ),
    Bug(
        "classes-of-a-benchmark-are-public",
        "a certificate calls classes public that the benchmark read off the rows",
        "skdpgen.benchmark:_numbers",
        "cell.source.is_own and report",
        "False",
        (BENCH + "test_classes_that_were_read_off_the_rows_are_not_said_to_be_public",),
    ),
    Bug(
        "width-of-bytes-told",
        "an error has the dtype of bytes, and so the length of the longest value",
        "skdpgen.tables:_numpy_kind",
        'name = dtype.type.__name__ if dtype.kind in "SV" else dtype',
        "name = dtype",
        (DTYPES + "test_an_error_tells_no_width_of_the_longest_value",),
    ),
    Bug(
        "number-of-rows-told",
        "an error of numpy about a list has the private number of rows",
        "skdpgen.tables:plain_array",
        "return np.asarray(values)",
        """
            what = f"{len(values)} rows. {what}"
            return np.asarray(values)
        """,
        (DTYPES + "test_an_error_tells_no_number_of_rows",),
    ),
    Bug(
        "search-forgets-the-seed",
        "a search whose noise was seeded has a price like any other",
        "skdpgen.synthesizers.tools:search_cost",
        "_is_seeded(search)",
        "False",
        (SEARCH + "test_a_search_with_seeded_noise_is_not_private",),
    ),
    Bug(
        "search-forgets-epsilon-of-selections",
        "what selections of a search may fail by is added to delta alone",
        "skdpgen.synthesizers.tools:search_cost",
        "epsilon -= math.fsum(map(math.log1p, map(neg, selections)))",
        "pass",
        (SEARCH + "test_selections_are_paid_for_in_epsilon_and_in_delta",),
    ),
    Bug(
        "refit-of-the-first",
        "the refit of a search is charged as its first candidate, not the dearest",
        "skdpgen.synthesizers.tools:_compose",
        "[max(mus)] * has_refit",
        "[mus[0]] * has_refit",
        (SEARCH + "test_the_cost_is_the_composition_of_all_fits",),
    ),
)
