"""Bugs that were planted to see whether a test catches each: patches of a few lines.

A patch replaces ``old``, which must stand once in ``file``, by ``new``. ``tests`` are
those that are about it; the first one is what the docs name.
"""

from dataclasses import dataclass

REPLAY = "tests/guards/test_replay.py::"
NOISE = "tests/guards/test_noise_of_fits.py::"
SUMS = "tests/guards/test_sums.py::"
LEFT = "tests/guards/test_nothing_left.py::"
TABLES = REPLAY + "test_a_table_is_known_by_its_releases_alone"
IMAGES = REPLAY + "test_images_are_known_by_their_releases_alone"
NOISE_OF_TABLES = NOISE + "test_tables_are_released_with_the_declared_noise"
NOISE_OF_IMAGES = NOISE + "test_images_are_released_with_the_declared_noise"
JOINTLY = "tests/synthesizers/test_certificates.py"
P, S, T = "skdpgen/privacy/", "skdpgen/synthesizers/", "skdpgen/tables/"


@dataclass(frozen=True)
class Bug:
    """One patch, and the tests that must fail with it."""

    name: str
    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


BUGS = (
    # ------------------------------------------------------ noise that is missing
    Bug(
        "exact-class-counts",
        "class counts beside features are released exactly",
        P + "_release.py",
        "values[key] = add_noise(totals[key], noise_std[key])",
        "exact = isinstance(block, Counts)\n"
        "            values[key] = add_noise(totals[key], noise_std[key] * (not exact))",
        (
            NOISE_OF_IMAGES,
            NOISE + "test_counts_of_three_classes_have_all_of_their_noise",
        ),
    ),
    Bug(
        "exact-columns-beside-features",
        "histograms get no noise if features are released with them",
        P + "_release.py",
        "values[key] = add_noise(totals[key], noise_std[key])",
        'beside = key == "columns" and "features" in blocks\n'
        "            values[key] = add_noise(totals[key], noise_std[key] * (not beside))",
        (NOISE_OF_TABLES,),
    ),
    Bug(
        "half-the-noise-on-counts",
        "class counts get half of their noise",
        P + "_release.py",
        "values[key] = add_noise(totals[key], noise_std[key])",
        "half = 0.5 if isinstance(block, Counts) else 1.0\n"
        "            values[key] = add_noise(totals[key], noise_std[key] * half)",
        (NOISE + "test_counts_of_three_classes_have_all_of_their_noise",),
    ),
    Bug(
        "one-noise-for-all-classes",
        "the noise of one class is added to every class",
        P + "_noise.py",
        "    noise = gaussian_noise(exact.shape, std)\n    if std == 0:",
        "    noise = gaussian_noise(exact.shape[1:], std) + np.zeros(exact.shape)\n"
        "    if std == 0:",
        (NOISE_OF_TABLES,),
    ),
    Bug(
        "noise-used-again-after-a-chunk",
        "coordinates beyond 2^18 get the noise of the first ones",
        P + "_noise.py",
        "            part[:] = _standard_normal(part.size)\n",
        "            part[:] = noise[: part.size] / std if start else "
        "_standard_normal(part.size)\n",
        (NOISE + "test_noise_of_one_chunk_says_nothing_about_the_next",),
    ),
    Bug(
        "noise-by-random-state-of-numpy",
        "numpy's global seed decides the noise",
        P + "_noise.py",
        "    data = os.urandom(8 * n) if seeded is None else seeded.bytes(8 * n)",
        "    data = np.random.bytes(8 * n) if seeded is None else seeded.bytes(8 * n)",
        ("tests/privacy/test_noise.py::test_global_seeds_have_no_effect",),
    ),
    Bug(
        "exact-count-of-shown-values",
        "values that are shown are shown with their exact count",
        P + "_release.py",
        "(value, float(count))\n",
        "(value, float(counts[value]))\n",
        (
            "tests/privacy/test_selection.py::"
            "test_a_value_is_shown_as_often_as_its_noise_says",
            NOISE_OF_TABLES,
        ),
    ),
    Bug(
        "selection-by-exact-counts",
        "the exact count decides whether a value is shown",
        P + "_release.py",
        "if count > threshold",
        "if counts[value] > threshold",
        (
            "tests/privacy/test_selection.py::"
            "test_a_value_is_shown_as_often_as_its_noise_says",
        ),
    ),
    Bug(
        "slopes-with-less-noise",
        "slopes of the kernel mean get noise over the root of their number",
        P + "_functional.py",
        "slopes[mine] += sigma * slope_noise(points[mine], scales)",
        "slopes[mine] += sigma * slope_noise(points[mine], scales) / len(mine) ** 0.5",
        (NOISE_OF_TABLES,),
    ),
    # ------------------------------------------------------------- what is charged
    Bug(
        "gaussians-ignored-beside-steps",
        "sub-sampled steps are calibrated as if nothing else was released",
        P + "_ledger.py",
        "gaussian_mu=self.mu * math.sqrt(1.0 - share),",
        "gaussian_mu=0.0,",
        (JOINTLY,),
    ),
    Bug(
        "shares-of-mu",
        "shares are taken of mu, and not of its square",
        P + "_ledger.py",
        "return sensitivity / (self.mu * math.sqrt(share))",
        "return sensitivity / (self.mu * share**0.25)",
        (JOINTLY,),
    ),
    Bug(
        "wrong-block-weight",
        "noise of a block is multiplied by its weight instead of divided",
        P + "_release.py",
        "noise_std = {key: std / weights[key] for key in blocks}",
        "noise_std = {key: std * weights[key] for key in blocks}",
        (TABLES,),
    ),
    Bug(
        "less-noise-for-mini-batches",
        "each of k mini-batches gets the noise of the whole over root k",
        P + "_release.py",
        "noise_std = {key: std / weights[key] for key in blocks}",
        "noise_std = {\n"
        "        key: std / weights[key] / math.sqrt(n_groups) for key in blocks\n"
        "    }",
        (TABLES,),
    ),
    Bug(
        "delta-of-selection-once",
        "each of several selections may fail with all of what is reserved for them",
        P + "_selection.py",
        "p = -math.expm1(math.log1p(-failure) / n_columns)",
        "p = failure",
        (
            "tests/privacy/test_selection.py::"
            "test_a_value_of_one_row_is_shown_as_rarely_as_delta_says",
        ),
    ),
    Bug(
        "selection-for-nothing",
        "delta and epsilon of selections are not taken off the Gaussian part",
        P + "_budget.py",
        "        epsilon = self.epsilon + math.log1p(-self.delta_selection)\n"
        "        return epsilon, self.delta - self.delta_selection",
        "        return self.epsilon, self.delta",
        (JOINTLY,),
    ),
    Bug(
        "search-forgets-a-fold",
        "a search is charged for one training set less",
        S + "tools/_search_cost.py",
        "return int(search.n_splits_) - 1",
        "return int(search.n_splits_) - 2",
        ("tests/test_sklearn.py::test_the_cost_is_the_composition_of_all_fits",),
    ),
    # ----------------------------------------------------- how far a row moves sums
    Bug(
        "pairs-shift",
        "rows are paired under add/remove, so that one row shifts all pairs",
        S + "embedding/_private_encoder.py",
        'is_paired = adjacency == "replace"',
        "is_paired = True",
        (IMAGES,),
    ),
    Bug(
        "pairs-by-label",
        "rows are sorted by label before they are paired",
        S + "embedding/_private_encoder.py",
        "return self._rows.take(2 * indices), self._rows.take(2 * indices + 1)",
        'order = np.argsort(self._rows._labels, kind="stable")\n'
        "        one, two = order[2 * indices], order[2 * indices + 1]\n"
        "        return self._rows.take(one), self._rows.take(two)",
        (IMAGES,),
    ),
    Bug(
        "centred-by-the-batch",
        "inputs of features are centred by the mean of their batch",
        S + "embedding/_row_kernel.py",
        "        return np.concatenate(x, axis=1)\n\n    def points(",
        "        x = np.concatenate(x, axis=1)\n"
        "        return x - x.mean(axis=0)\n\n    def points(",
        (TABLES,),
    ),
    Bug(
        "single-precision-before-the-clip",
        "rows are cast to float32 before they are clipped and summed",
        P + "_blocks.py",
        "part = rows[start : start + block].detach().to(torch.float64, copy=True)",
        "part = rows[start : start + block].detach().float().double()",
        (SUMS + "test_features_are_those_of_the_row_in_double_precision",),
    ),
    Bug(
        "no-clip",
        "rows beyond the bound are not cut",
        P + "_blocks.py",
        "        return self.bound / norms.clamp_min(self.bound)",
        "        return torch.ones_like(norms)",
        ("tests/synthesizers/test_sensitivity.py::test_no_row_moves_the_sum_further",),
    ),
    Bug(
        "labels-of-other-rows",
        "after the first chunk labels are joined to the rows one place on",
        T + "_rows.py",
        "yield some, None if target is None else target[rows]",
        "wrong = slice(max(start - 1, 0), start - 1 + part.at_once)\n"
        "                last = start + part.at_once >= part.n_rows\n"
        "                wrong = rows if not (start and last) else "
        "slice(start - 1, part.n_rows - 1)\n"
        "                yield some, None if target is None else target[wrong]",
        (SUMS + "test_each_row_is_counted_once_with_its_own_label",),
    ),
    Bug(
        "a-row-twice-at-the-edge",
        "the last row of a chunk is in the next one, too",
        T + "_rows.py",
        "                rows = slice(start, start + part.at_once)\n",
        "                rows = slice(max(start - 1, 0), start + part.at_once)\n",
        (SUMS + "test_each_row_is_counted_once_with_its_own_label",),
    ),
    Bug(
        "divided-by-the-sample",
        "steps are divided by the number of rows that were drawn",
        P + "_oracle.py",
        "        return noisy / (sampling_rate * expected_rows)",
        "        return noisy / max(len(indices), 1)",
        ("tests/privacy/test_oracle.py::test_the_divisor_is_the_expected_batch",),
    ),
    # ------------------------------------------------------------- what goes around
    Bug(
        "true-n-for-the-share",
        "the true number of rows decides what features get, under add/remove",
        S + "embedding/_row_kernel.py",
        "noise = (std / opening.facts.n_rows) ** 2 / RICH",
        "noise = (std / opening.rows.n_rows) ** 2 / RICH",
        (TABLES,),
    ),
    Bug(
        "true-n-for-the-steps",
        "slopes are divided by the true number of rows, under add/remove",
        S + "_dp_kernel.py",
        "expected_rows=opening.facts.n_rows,",
        "expected_rows=float(opening.rows.n_rows),",
        (TABLES, IMAGES),
    ),
    Bug(
        "statistic-in-the-loss-curve",
        "the loss curve begins with the number of rows",
        S + "base/_embedding_synthesizer.py",
        "        del X, y, opening  # private data ends here; what follows is post-processing\n"
        "        return self.refit()",
        "        first = opening.rows.n_rows\n"
        "        del X, y, opening\n"
        "        self.refit().loss_curve_.insert(0, first)\n"
        "        return self",
        (TABLES, IMAGES),
    ),
    Bug(
        "warning-by-value",
        "values that are not finite are warned of",
        T + "_values.py",
        "        return Numbers(np.where(np.isfinite(values), values, np.nan))\n",
        "        if np.isinf(values).any() or np.nanmax(np.abs(values)) > 1e200:\n"
        "            import warnings\n\n"
        '            warnings.warn("huge values", stacklevel=2)\n'
        "        return Numbers(np.where(np.isfinite(values), values, np.nan))\n",
        (TABLES,),
    ),
    Bug(
        "error-with-a-count",
        "the error about classes says how many labels there are",
        S + "opening/_classes.py",
        '    return list(released.values["tokens"][TARGET])',
        '    found = list(released.values["tokens"][TARGET])\n'
        "    if not found:\n"
        "        (batch,) = rows.batches({}, tokens=(TARGET,))\n"
        '        n = len(batch.parts["tokens"][TARGET].values)\n'
        '        raise SchemaRequiredError(f"None of {n} labels stood out: `classes=`")\n'
        "    return found",
        (TABLES,),
    ),
    Bug(
        "progress-by-rows",
        "the progress bar counts rows",
        S + "opening/_context.py",
        "progress = tqdm(total=N_STAGES, disable=not verbose,",
        "progress = tqdm(total=rows.n_rows, disable=not verbose,",
        (TABLES, IMAGES),
    ),
    Bug(
        "attribute-of-a-failed-fit",
        "a fit that fails leaves what it has seen behind",
        S + "base/_synthesizer.py",
        "        opening.statements += self._stated()\n",
        "        opening.statements += self._stated()\n"
        "        self._shape = getattr(X, 'shape', None)\n",
        (LEFT + "test_a_fit_that_fails_leaves_its_certificate_alone",),
    ),
    Bug(
        "cache-of-rows",
        "a module remembers the table that was read last",
        T + "_rows.py",
        "        columns = part.columns(part.layout)\n",
        "        columns = part.columns(part.layout)\n"
        "        Rows.latest = columns  # type: ignore[attr-defined]\n",
        (LEFT + "test_the_rows_are_let_go_of",),
    ),
    Bug(
        "cache-that-survives-clone",
        "a clone takes the bins of its original along",
        S + "base/_synthesizer.py",
        "        copy._is_clone = True\n",
        "        copy._is_clone = True\n"
        '        copy._known = vars(self).get("cells_")\n',
        (LEFT + "test_a_clone_takes_nothing_along",),
    ),
    Bug(
        "order-of-appearance",
        "categories are listed in the order in which rows have them",
        P + "_release.py",
        "values = sorted(counts)  # the order of rows must not show",
        "values = list(counts)",
        (LEFT + "test_the_order_of_the_rows_does_not_show",),
    ),
    Bug(
        "categories-of-the-dtype",
        "the certificate lists the categories of a dtype as read",
        S + "opening/_context.py",
        "    lines.append(dtypes_stated(rows.layout, rows.target_layout))\n",
        "    lines.append(dtypes_stated(rows.layout, rows.target_layout))\n"
        '    if hasattr(X, "select_dtypes"):\n'
        '        for name in X.select_dtypes("category"):\n'
        "            lines.append(str(list(X[name].dtype.categories)))\n",
        (TABLES,),
    ),
    Bug(
        "integers-told-from-floats",
        "whole numbers of float dtype are not discovered as integers",
        T + "_discovery.py",
        "    if kind is Kind.FLOAT and finest == 0:",
        "    if kind is Kind.FLOAT and finest == -1:",
        (
            "tests/synthesizers/test_statements.py::"
            "test_one_missing_value_does_not_change_what_is_discovered",
        ),
    ),
    Bug(
        "certificate-lost-by-an-interrupt",
        "an interrupted fit closes the rows and forgets what it has paid",
        S + "base/_synthesizer.py",
        "        finally:\n            facts, report = opening.close()\n"
        "            if report.releases:",
        "        finally:\n            facts, report = opening.close()\n"
        "            if report.releases and opening.kept:",
        ("tests/guards/test_interrupts.py::test_each_charge_is_in_the_certificate",),
    ),
    Bug(
        "old-release-beside-a-new-certificate",
        "an interrupted second fit keeps the release of the first",
        S + "base/_synthesizer.py",
        "                delattr(self, name)\n",
        '                None if name == "release_" else delattr(self, name)\n',
        ("tests/guards/test_interrupts.py::test_each_charge_is_in_the_certificate",),
    ),
)
