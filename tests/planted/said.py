"""Planted bugs of what a certificate says, and of what else a fit lets hear."""

from tests.planted.bug import SAID, SEARCH, TABLES, Bug, P, S, T

ORIGIN = "tests/tables/test_origin.py::test_marks_stay_on_every_route"
MADE = SAID + "test_what_is_rested_on_is_said_and_nothing_else"
READ_BACK = SAID + "test_alarms_are_read_back"
BENCH = "tests/benchmark/test_bench_private.py::"
DTYPES = "tests/synthesizers/test_dtypes.py::"
DELTA = "tests/synthesizers/test_delta.py::"
SEARCHED = "tests/synthesizers/test_search_cost.py::"
GO_ALONG = SAID + "test_alarms_go_along"

COMMAND = "tests/cli/test_command.py::"

WHAT_IS_SAID = (
    Bug(
        "rows-printed-by-the-command",
        "`skdpgen fit` prints how many rows it has read",
        "skdpgen/cli/_fit_command.py",
        "    _fit(synthesizer, rows)\n    write_model(",
        "    _fit(synthesizer, rows)\n"
        '    if kind_of(file) != ".npz":\n'
        '        click.echo(f"Read {sum(map(len, table.pieces()))} rows of {file}.")\n'
        "    write_model(",
        (COMMAND + "test_all_that_fit_shows_and_writes_is_known_by_releases",),
    ),
    Bug(
        "rows-in-the-folder-of-a-model",
        "`skdpgen fit` writes how large the file of the rows was",
        "skdpgen/cli/_fit_command.py",
        "    write_model(out, synthesizer, about)\n",
        "    write_model(out, synthesizer, about)\n"
        '    (out / "size.txt").write_text(str(file.stat().st_size))\n',
        (COMMAND + "test_all_that_fit_shows_and_writes_is_known_by_releases",),
    ),
    Bug(
        "true-n-in-the-warning-of-delta",
        "the warning of a large delta is worded by the true number of rows",
        S + "opening/_context.py",
        "            facts = (budget.delta, 1 / n_rows, default_delta(round(n_rows)))\n",
        "            n = self.rows._open.n_rows\n"
        "            facts = (budget.delta, 1 / n, default_delta(n))\n",
        (DELTA + "test_a_hidden_number_of_rows_is_judged_as_it_was_released",),
    ),
    Bug(
        "rows-in-the-progress-bar",
        "the text of the progress bar says how many rows there are",
        S + "opening/_context.py",
        "        self.progress.set_description(name)\n",
        '        self.progress.set_description(f"{name} of {self.rows._open.n_rows} rows")\n',
        (TABLES,),
    ),
    Bug(
        "rows-in-the-log",
        "the number of rows is logged where labels are discovered",
        S + "opening/_classes.py",
        "    asked, sums = (TARGET,), rows.beforehand\n",
        "    import logging\n\n"
        '    logging.getLogger("skdpgen").info("labels of %d rows", rows._open.n_rows)\n'
        "    asked, sums = (TARGET,), rows.beforehand\n",
        (TABLES,),
    ),
    Bug(
        "too-few-rows-where-private",
        "a table of one row is refused under add/remove",
        S + "opening/_context.py",
        "    if is_size_public:\n        check_size(rows.n_rows)\n",
        "    check_size(rows._open.n_rows)\n    if is_size_public:\n",
        (
            "tests/synthesizers/test_statements.py::"
            "test_with_public_columns_no_chunk_is_a_table_without_rows",
        ),
    ),
    Bug(
        "delta-against-true-n",
        "under add/remove delta is judged by the true number of rows",
        S + "opening/_context.py",
        "        self._judge_delta(n_rows)\n",
        "        self._judge_delta(max(self.rows._open.n_rows, 1))\n",
        (DELTA + "test_a_hidden_number_of_rows_is_judged_as_it_was_released",),
    ),
    Bug(
        "delta-of-true-n",
        "under add/remove delta is chosen by how many rows there are",
        S + "opening/_context.py",
        "default_delta(rows.n_rows if is_size_public else None)",
        "default_delta(rows._open.n_rows)",
        (DELTA + "test_a_hidden_number_of_rows_chooses_nothing",),
    ),
    Bug(
        "silent-large-delta",
        "a delta that may expose a row is not remarked on",
        S + "opening/_context.py",
        "        if budget.is_private and budget.delta > 1 / n_rows:\n",
        "        if budget.is_private and budget.delta > 1:\n",
        (MADE,),
    ),
    Bug(
        "silent-classes",
        "the certificate does not say that class labels were taken as public",
        S + "opening/_context.py",
        '            self.statements.append(f"class labels: {text}")\n',
        "            pass\n",
        (MADE,),
    ),
    Bug(
        "silent-target",
        "bounds of the target may be given without a word",
        S + "opening/_context.py",
        '        lines.append("schema of the target: taken as public")\n',
        "        pass\n",
        (MADE,),
    ),
    Bug(
        "silent-lists-in-chunks",
        "of chunks only the first one is looked at for lists without a dtype",
        T + "_passes.py",
        "            self._has_lists |= are_lists(table, labels)\n",
        "",
        (MADE,),
    ),
    Bug(
        "silent-inference",
        "schema='infer' warns, but the certificate does not say LEAK",
        S + "base/_synthesizer.py",
        "read_off(X, y, task=self.task, origin=INFERRED)",
        'read_off(X, y, task=self.task, origin="")',
        (MADE,),
    ),
    Bug(
        "origin-lost-with-labels",
        "a schema that was read off rows with labels has no mark",
        T + "_schema.py",
        "    return Schema(columns, labels, origin=origin)\n",
        "    return Schema(columns, labels)\n",
        (ORIGIN,),
    ),
    Bug(
        "origin-not-stated",
        "the certificate does not repeat where a schema is from",
        S + "opening/_context.py",
        "    lines += known.origin.splitlines()\n",
        "",
        (ORIGIN,),
    ),
    Bug(
        "origin-lost-when-completed",
        "the schema that a fit completes has none of the marks of the given one",
        S + "opening/_known_columns.py",
        "    return Schema(columns, target, other, origin, rules)\n",
        "    return Schema(columns, target, other, rules=rules)\n",
        ("tests/tables/test_origin.py::test_a_target_alone_carries_the_mark",),
    ),
    Bug(
        "origin-lost-by-columns",
        "a column that is taken out of a schema has no mark",
        T + "_schema.py",
        "            marked = {n: with_origin(c, origin) for n, c in self.columns.items()}\n",
        "            marked = dict(self.columns)\n",
        (ORIGIN,),
    ),
    Bug(
        "origin-lost-of-public-rows",
        "what a fit took from public rows is not marked in its schema",
        S + "opening/_public_schema.py",
        "found[name] = replace(column, origin=FROM_PUBLIC)",
        "found[name] = column",
        (
            "tests/tables/test_origin.py::"
            "test_columns_from_public_rows_are_marked_in_the_schema_of_the_fit",
        ),
    ),
    Bug(
        "last-statement-alone",
        "a statement that is added later takes the place of all others",
        P + "_report.py",
        "replace(self, statements=(*self.statements, line))",
        "replace(self, statements=(line,))",
        (MADE,),
    ),
    Bug(
        "no-alarm-in-the-dict",
        "LEAK and NOT PRIVATE are printed, but not in the dict and the JSON",
        P + "_report.py",
        'content["statements"] = list(self.statements)',
        'content["statements"] = [\n'
        "            s for s in self.statements if not s.startswith(ALARMS)\n"
        "        ]",
        (READ_BACK,),
    ),
    Bug(
        "no-alarm-in-the-file",
        "a saved estimator forgets LEAK and NOT PRIVATE",
        "skdpgen/utils/_plain.py",
        "    if is_dataclass(value) and type(value).__name__ in SAVED:\n",
        '    if type(value).__name__ == "PrivacyReport":\n'
        "        from dataclasses import replace\n\n"
        '        alarms = ("LEAK", "NOT PRIVATE")\n'
        "        said = [s for s in value.statements if not s.startswith(alarms)]\n"
        "        value = replace(value, statements=tuple(said))\n"
        "    if is_dataclass(value) and type(value).__name__ in SAVED:\n",
        (GO_ALONG,),
    ),
    Bug(
        "epsilon-of-what-was-spent",
        "at other deltas a certificate claims what was spent, not what was allowed",
        P + "_report.py",
        "gaussian_epsilon(budget.mu, left) + kept)",
        "gaussian_epsilon(budget.mu * self.spent**0.5, left) + kept)",
        (
            "tests/privacy/test_report.py::"
            "test_nothing_is_promised_below_the_delta_of_selections",
        ),
    ),
    Bug(
        "search-leaks-if-all-do",
        "a search is a LEAK only if all of its candidates inferred their schema",
        S + "tools/_search_cost.py",
        "is_inferred=any(",
        "is_inferred=all(",
        (SEARCH + "test_one_candidate_that_leaks_is_told_of",),
    ),
    Bug(
        "search-believes-a-schema",
        "a schema that was read off the rows before the search is taken for public",
        S + "tools/_search_cost.py",
        "return INFERRED in origin or READ_OFF in origin",
        "return INFERRED in origin",
        (SEARCHED + "test_a_schema_that_was_read_off_before_is_told_of",),
    ),
    Bug(
        "search-as-it-is-now",
        "a search is charged by parameters that were changed after its fit",
        S + "tools/_search_cost.py",
        "    _check_unchanged(search, candidates)\n",
        "",
        (SEARCHED + "test_a_search_that_was_changed_since_has_no_cost",),
    ),
    Bug(
        "search-forgets-its-refit",
        "a refit costs nothing if `refit` was switched off after it",
        S + "tools/_search_cost.py",
        'has_refit = bool(search.refit) or hasattr(search, "best_estimator_")',
        "has_refit = bool(search.refit)",
        (SEARCHED + "test_a_refit_counts_although_it_is_switched_off_afterwards",),
    ),
    Bug(
        "search-at-the-delta-of-the-refit",
        "delta=None counts as what the whole table chooses, not its smaller folds",
        S + "tools/_search_cost.py",
        "        LARGEST_DELTA if delta is None else delta,\n",
        "        LARGEST_DELTA / 10 if delta is None else delta,\n",
        (SEARCHED + "test_folds_that_choose_other_deltas_are_covered",),
    ),
    Bug(
        "results-hold-a-fingerprint",
        "results of a private table hold a digest of it, which confirms a guess",
        "skdpgen/benchmark/_cells.py",
        "hidden = FINGERPRINTS if self.source.is_own else ()",
        "hidden = ()",
        (BENCH + "test_no_guess_at_a_row_is_confirmed_by_results",),
    ),
    Bug(
        "results-without-an-alarm",
        "scores of a private table are written as those of a public one",
        "skdpgen/benchmark/_cells.py",
        'alarm = {"not_private": NOT_PRIVATE} if self.source.is_own else {}',
        "alarm = {}",
        (BENCH + "test_every_row_and_page_of_a_private_table_carries_an_alarm",),
    ),
    Bug(
        "classes-of-a-benchmark-are-public",
        "a certificate calls classes public that the benchmark read off the rows",
        "skdpgen/benchmark/_measure_cell.py",
        "    if cell.source.is_own and report:\n",
        "    if False:\n",
        (BENCH + "test_classes_that_were_read_off_the_rows_are_not_said_to_be_public",),
    ),
    Bug(
        "width-of-bytes-told",
        "an error has the dtype of bytes, and so the length of the longest value",
        T + "_dtypes.py",
        'name = dtype.type.__name__ if dtype.kind in "SV" else dtype',
        "name = dtype",
        (DTYPES + "test_an_error_tells_no_width_of_the_longest_value",),
    ),
    Bug(
        "number-of-rows-told",
        "an error of numpy about a list has the private number of rows",
        T + "_containers.py",
        "    except ValueError:  # its text",
        "    except ZeroDivisionError:  # its text",
        (DTYPES + "test_an_error_tells_no_number_of_rows",),
    ),
    Bug(
        "search-forgets-the-seed",
        "a search whose noise was seeded has a price like any other",
        S + "tools/_search_cost.py",
        "is_seeded=_is_seeded(search)",
        "is_seeded=False",
        (SEARCH + "test_a_search_with_seeded_noise_is_not_private",),
    ),
    Bug(
        "search-forgets-epsilon-of-selections",
        "what selections of a search may fail by is added to delta alone",
        S + "tools/_search_cost.py",
        "    epsilon -= math.fsum(map(math.log1p, map(neg, selections)))\n",
        "",
        (SEARCH + "test_selections_are_paid_for_in_epsilon_and_in_delta",),
    ),
    Bug(
        "refit-of-the-first",
        "the refit of a search is charged as its first candidate, not the dearest",
        S + "tools/_search_cost.py",
        "[max(mus)] * has_refit",
        "[mus[0]] * has_refit",
        (SEARCH + "test_the_cost_is_the_composition_of_all_fits",),
    ),
)
