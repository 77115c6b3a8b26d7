"""Planted bugs of what a certificate says, and of what else a fit lets hear."""

from tests.planted.bug import SAID, SEARCH, TABLES, Bug, P, S, T

MADE = SAID + "test_what_is_rested_on_is_said_and_nothing_else"
READ_BACK = SAID + "test_alarms_are_read_back"
DELTA = "tests/synthesizers/test_delta.py::"
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
        "lines = [CONDITIONAL] if isinstance(self.schema, str) else []",
        "lines: list[str] = []",
        (MADE,),
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
