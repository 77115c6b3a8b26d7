"""Bugs that were planted to see whether a test catches each: patches of a few lines.

``old`` is replaced by ``new`` in what ``where`` names, in whichever file it is
(:mod:`tests.planted.source`). ``tests`` are those that are about the bug; the first
one is what the docs name.

A test file may have bugs of its own, beside the test that catches them: each
``tests/**/test_*.py`` with a tuple ``PLANTED`` at its top level joins the list here.
"""

import importlib

from tests.planted.beside import WHAT_PUBLIC_ROWS_LET_IN
from tests.planted.bug import (
    IMAGES,
    JOINTLY,
    LEFT,
    NOISE,
    NOISE_OF_IMAGES,
    NOISE_OF_TABLES,
    TABLES,
    Bug,
)
from tests.planted.elsewhere import WHAT_OTHERS_SUM
from tests.planted.games import WHAT_A_GAME_IS_TOLD
from tests.planted.moves import HOW_FAR_ROWS_MOVE
from tests.planted.open import WHAT_ROWS_LEAVE_OPEN
from tests.planted.public import WHAT_PUBLIC_ROWS_DO
from tests.planted.read import WHAT_A_RECORD_DECIDES
from tests.planted.said import WHAT_IS_SAID
from tests.planted.sampled import WHO_IS_DRAWN
from tests.planted.source import ROOT


def bugs_beside_tests() -> tuple[Bug, ...]:
    """Return the bugs that test files have in ``PLANTED``, in the order of files."""
    bugs: list[Bug] = []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        if "\nPLANTED = (" in file.read_text("utf-8"):
            name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            bugs += importlib.import_module(name).PLANTED
    return tuple(bugs)


BUGS = (
    # ------------------------------------------------------ noise that is missing
    Bug(
        "exact-class-counts",
        "class counts beside features are released exactly",
        "skdpgen.privacy:release",
        "values[key] = add_noise(exact, noise_std[key])",
        """
            bare = isinstance(block, Counts)
            values[key] = add_noise(exact, noise_std[key] * (not bare))
        """,
        (
            NOISE_OF_IMAGES,
            NOISE + "test_counts_of_three_classes_have_all_of_their_noise",
        ),
    ),
    Bug(
        "exact-columns-beside-features",
        "histograms get no noise if features are released with them",
        "skdpgen.privacy:release",
        "values[key] = add_noise(exact, noise_std[key])",
        """
            beside = key == "columns" and "features" in blocks
            values[key] = add_noise(exact, noise_std[key] * (not beside))
        """,
        (NOISE_OF_TABLES,),
    ),
    Bug(
        "half-the-noise-on-counts",
        "class counts get half of their noise",
        "skdpgen.privacy:release",
        "values[key] = add_noise(exact, noise_std[key])",
        """
            half = 0.5 if isinstance(block, Counts) else 1.0
            values[key] = add_noise(exact, noise_std[key] * half)
        """,
        (NOISE + "test_counts_of_three_classes_have_all_of_their_noise",),
    ),
    Bug(
        "one-noise-for-all-classes",
        "the noise of one class is added to every class",
        "skdpgen.privacy:add_noise",
        "gaussian_noise(exact.shape, std)",
        "gaussian_noise(exact.shape[1:], std) + np.zeros(exact.shape)",
        (NOISE_OF_TABLES,),
    ),
    Bug(
        "noise-used-again-after-a-chunk",
        "coordinates beyond 2^18 get the noise of the first ones",
        "skdpgen.privacy:gaussian_noise",
        "part[:] = _standard_normal(part.size)",
        "part[:] = noise[: part.size] / std if start else _standard_normal(part.size)",
        (NOISE + "test_noise_of_one_chunk_says_nothing_about_the_next",),
    ),
    Bug(
        "last-digits-of-one-class-for-all",
        "what noise has below the last digit of a float is the same in every class",
        "skdpgen.privacy:whole_noise",
        "words = _random_words(noise.size).reshape(shape).astype(object)",
        "words = _random_words(shape[1]).astype(object)",
        (
            "tests/privacy/test_noise.py::"
            "test_noise_in_whole_steps_is_drawn_independently_beyond_a_chunk",
        ),
    ),
    Bug(
        "noise-by-random-state-of-numpy",
        "numpy's global seed decides the noise",
        "skdpgen.privacy:_random_words",
        "data = os.urandom(8 * n) if seeded is None else seeded.bytes(8 * n)",
        "data = np.random.bytes(8 * n) if seeded is None else seeded.bytes(8 * n)",
        ("tests/privacy/test_noise.py::test_global_seeds_have_no_effect",),
    ),
    Bug(
        "exact-count-of-shown-values",
        "values that are shown are shown with their exact count",
        "skdpgen.privacy:_select",
        "(value, float(count))",
        "(value, float(counts.get(value, 0)))",
        (
            "tests/privacy/test_selection.py::"
            "test_a_value_is_shown_as_often_as_its_noise_says",
            NOISE_OF_TABLES,
        ),
    ),
    Bug(
        "selection-by-exact-counts",
        "the exact count decides whether a value is shown",
        "skdpgen.privacy:_select",
        "count > thresholds.get(value, threshold)",
        "counts.get(value, 0) > thresholds.get(value, threshold)",
        (
            "tests/privacy/test_selection.py::"
            "test_a_value_is_shown_as_often_as_its_noise_says",
        ),
    ),
    Bug(
        "slopes-with-less-noise",
        "slopes of the kernel mean get noise over the root of their number",
        "skdpgen.privacy:functional_oracle",
        "slopes[selected] += sigma * slope_noise(points[selected], scales)",
        """
            n = len(selected)
            slopes[selected] += sigma * slope_noise(points[selected], scales) / n**0.5
        """,
        (NOISE_OF_TABLES + "[DPKernelSynthesizer, steps-frame-replace]",),
    ),
    Bug(
        "slopes-of-near-points-with-one-noise",
        "points that differ little, beside others far away, get the same noise",
        "skdpgen.privacy:orthonormal",
        """
    _, _, right = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(right.T)
        """,
        """
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(right[values > 1e-10 * values.max()].T)
        """,
        (
            "tests/privacy/test_functional.py::"
            "test_far_points_take_no_noise_from_a_pair_of_near_ones",
        ),
    ),
    # ------------------------------------------------------------- what is charged
    Bug(
        "gaussians-ignored-beside-steps",
        "sub-sampled steps are calibrated as if nothing else was released",
        "skdpgen.privacy:Ledger.charge_subsampled",
        "self.mu * math.sqrt(max(0.0, remaining - share))",
        "0.0",
        (JOINTLY,),
    ),
    Bug(
        "shares-of-mu",
        "shares are taken of mu, and not of its square",
        "skdpgen.privacy:Ledger.noise_std",
        "return sensitivity / (self.mu * math.sqrt(share))",
        "return sensitivity / (self.mu * share**0.25)",
        (JOINTLY,),
    ),
    Bug(
        "wrong-block-weight",
        "noise of a block is multiplied by its weight instead of divided",
        "skdpgen.privacy:noise_of_blocks",
        "return {key: std / weight for key, weight in weights.items()}",
        "return {key: std * weight for key, weight in weights.items()}",
        (TABLES,),
    ),
    Bug(
        "less-noise-for-mini-batches",
        "each of k mini-batches gets the noise of the whole over root k",
        "skdpgen.privacy:release",
        "noise_std = noise_of_blocks(std, weights)",
        "noise_std = noise_of_blocks(std / math.sqrt(n_minibatches), weights)",
        (TABLES + "[DPMERFSynthesizer, mini-batches-frame-replace]",),
    ),
    Bug(
        "first-look-for-nothing",
        "what text says and how many values there are is charged to nobody",
        "skdpgen.synthesizers.opening:release_text_types",
        "batches: Any = rows.batches(grids, distinct=names)",
        """
            batches: Any = rows.batches(grids, distinct=names)
            ledger = type(ledger)(ledger.budget)
        """,
        (
            "tests/synthesizers/test_sensitivity.py::"
            "test_every_stage_of_a_fit_keeps_its_claim",
            JOINTLY,
        ),
    ),
    Bug(
        "identifiers-by-exact-numbers",
        "the exact number of values decides whether text is an identifier",
        "skdpgen.synthesizers.opening:release_text_types",
        "estimates = counted.estimate(released.values[Key.DISTINCT][0], std)",
        """
            total = counted.start(1)
            for batch in rows.batches({}, distinct=names):
                total = counted.add(total, batch.parts[Key.DISTINCT], batch.labels)
            estimates = counted.estimate(counted.value(total)[0], std)
        """,
        (TABLES + "[DPMERFSynthesizer-text that says more-replace]",),
    ),
    Bug(
        "whole-numbers-by-exact-counts",
        "the exact number of values decides whether whole numbers are identifiers",
        "skdpgen.synthesizers.opening:count_whole_numbers",
        "estimates, noise = block.estimate(released.values[Key.DISTINCT][0], std)",
        """
            total = block.start(1)
            for batch in rows.batches({}, distinct=names):
                total = block.add(total, batch.parts[Key.DISTINCT], batch.labels)
            estimates, noise = block.estimate(block.value(total)[0], 0 * std)
        """,
        ("tests/synthesizers/test_identifiers.py::test_only_released_numbers_decide",),
    ),
    Bug(
        "whole-numbers-for-nothing",
        "different values of whole numbers are charged to nobody",
        "skdpgen.synthesizers.opening:count_whole_numbers",
        "std = ledger.noise_std(share=share, sensitivity=delta)",
        """
            std = ledger.noise_std(share=share, sensitivity=delta)
            ledger = type(ledger)(ledger.budget)
        """,
        (
            "tests/synthesizers/test_sensitivity.py::"
            "test_every_stage_of_a_fit_keeps_its_claim",
        ),
    ),
    Bug(
        "delta-of-selection-once",
        "each of several selections may fail with all of what is reserved for them",
        "skdpgen.privacy:selection_threshold",
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
        "skdpgen.privacy:PrivacyBudget.gaussian",
        """
            epsilon = self.epsilon + math.log1p(-self.delta_selection)
            return epsilon, self.delta - self.delta_selection
        """,
        "return self.epsilon, self.delta",
        (JOINTLY,),
    ),
    Bug(
        "search-forgets-a-fold",
        "a search is charged for one training set less",
        "skdpgen.synthesizers.tools:_n_training_sets",
        "return int(search.n_splits_) - 1",
        "return int(search.n_splits_) - 2",
        ("tests/test_sklearn.py::test_the_cost_is_the_composition_of_all_fits",),
    ),
    Bug(
        "one-sample-for-all-steps",
        "rows are drawn once, and looked at in every step",
        "skdpgen.privacy:functional_oracle",
        "sample = opened.take(poisson_sample(len(opened), sampling_rate))",
        """
            if n_done == 1:
                step.drawn = poisson_sample(len(opened), sampling_rate)
            sample = opened.take(step.drawn)
        """,
        ("tests/privacy/test_functional.py::test_the_divisor_is_the_expected_batch",),
    ),
    Bug(
        "a-fifth-more-than-the-budget",
        "a release may take 1.2 of what is left",
        "skdpgen.privacy:Ledger._admit",
        "share > remaining + SHARE_ROUNDING",
        "share > 1.2 * remaining + SHARE_ROUNDING",
        ("tests/privacy/test_report.py::test_nobody_gets_more_than_is_left",),
    ),
    Bug(
        "replaced-as-removed",
        "losses of a replaced row are those of a row that is removed",
        "skdpgen.privacy:pld_epsilon",
        "NeighboringRelation.REPLACE_ONE",
        "NeighboringRelation.ADD_OR_REMOVE_ONE",
        ("tests/privacy/test_accounting.py::test_subsampled_is_never_below_pld",),
    ),
    Bug(
        "losses-rounded-down",
        "what lies between two cells of the grid of losses goes to the lower one",
        "skdpgen.privacy:pld_epsilon",
        "from_gaussian = privacy_loss_distribution.from_gaussian_mechanism",
        "from_gaussian = lambda s, **a: privacy_loss_distribution"
        ".from_gaussian_mechanism("
        "s, pessimistic_estimate=False, use_connect_dots=False, **a)",
        (
            "tests/privacy/test_pld.py::"
            "test_losses_are_never_below_the_reference_and_near_it",
        ),
    ),
    Bug(
        "rounding-of-transforms",
        "what dp-accounting rounds by is not left out of delta",
        "skdpgen.privacy:pld_epsilon",
        "DELTA_ROUNDING * (n_steps + 10)",
        "0.0 * (n_steps + 10)",
        (
            "tests/privacy/test_pld.py::"
            "test_where_losses_cannot_be_composed_renyi_curves_take_over",
        ),
    ),
    Bug(
        "moments-without-the-upper-end",
        "moments of a replaced row leave out what lies beyond the last place",
        "skdpgen.privacy:moments",
        "[below, _binomial_moment(a, s, q, 1, lower=edge)]",
        "[below]",
        (
            "tests/privacy/test_pld.py::"
            "test_moments_of_a_replaced_row_are_those_of_its_pair",
        ),
    ),
    Bug(
        "two-subsampled-releases",
        "a ledger takes a second sub-sampled release, calibrated as if alone",
        "skdpgen.privacy:Ledger.charge_subsampled",
        "earlier",
        "()",
        (
            "tests/privacy/test_report.py"
            "::test_several_subsampled_releases_cost_the_budget_together",
        ),
    ),
    *WHO_IS_DRAWN,
    # ----------------------------------------------------- how far a row moves sums
    *WHAT_A_GAME_IS_TOLD,
    *HOW_FAR_ROWS_MOVE,
    *WHAT_ROWS_LEAVE_OPEN,
    # ------------------------------------------------------------- what goes around
    Bug(
        "steps-share-by-labels",
        "what steps get depends on whether released labels look like a number",
        "skdpgen.synthesizers.opening:steps_share",
        "opening.opened",
        "opening.known",
        (
            "tests/guards/test_steps_share.py"
            "::test_nor_has_it_a_say_whether_y_turns_out_to_be_a_number",
        ),
    ),
    Bug(
        "dtype-of-labels-by-their-values",
        "pandas infers the dtype of an extension array of labels from all of them",
        "skdpgen.tables:_target_series",
        "pd.Series(y, name=None, dtype=y.dtype)",
        "pd.Series(y, name=None)",
        (
            "tests/tables/test_row_by_row.py::"
            "test_the_kind_of_a_target_is_that_of_its_dtype",
        ),
    ),
    Bug(
        "text-of-numbers-by-its-values",
        "pandas infers how text of a numeric target is stored, and may refuse a cell",
        "skdpgen.tables:read_text_of_numbers",
        "pd.Series(cells, dtype=object)",
        "pd.Series(cells)",
        (
            "tests/tables/test_row_by_row.py::"
            "test_text_of_numbers_reads_as_its_rows_do_alone",
        ),
    ),
    Bug(
        "text-compared-as-it-came",
        "cells of text are compared before they are cleaned: one renames others",
        "skdpgen.tables:_read_tokens",
        "codes, distinct = _numbered(marked)",
        """
            places = pd.factorize(series.to_numpy(dtype=object))[0].tolist()
            codes, distinct = _numbered([marked[places.index(one)] for one in places])
        """,
        ("tests/tables/test_row_by_row.py::test_text_reads_as_its_rows_do_alone",),
    ),
    Bug(
        "true-n-for-the-share",
        "the true number of rows decides what features get, under add/remove",
        "skdpgen.synthesizers.embedding:RowKernel.with_share",
        "noise = (std / opening.facts.n_rows) ** 2 / RICH_SHARE",
        "noise = (std / opening.rows._open.n_rows) ** 2 / RICH_SHARE",
        (TABLES + "[DPHPSynthesizer-frame-add_remove]",),
    ),
    Bug(
        "a-private-number-for-whoever-asks",
        "rows tell how many they are where nobody may know",
        "skdpgen.tables:Rows.n_rows",
        "not self._is_size_public",
        "False",
        (
            "tests/tables/test_row_by_row.py::"
            "test_nobody_is_told_a_number_of_rows_that_is_private",
        ),
    ),
    Bug(
        "voters-by-the-true-n",
        "the true number of rows decides how much the networks of a vote learn from",
        "skdpgen.synthesizers.gaussian:choose_augmentation",
        "rows.opening.facts.n_rows",
        "rows.opening.rows._open.n_rows",
        (
            "tests/synthesizers/test_mge_privacy.py::"
            "test_networks_of_a_vote_learn_from_as_many_pictures_as_are_known",
        ),
    ),
    Bug(
        "true-n-for-class-totals",
        "sums of codes are divided by the true number of rows, under add/remove",
        "skdpgen.synthesizers.gaussian:_ImageReleases.means",
        "opening.facts.public_total(release.adjacency, self.rows.labels)",
        "opening.rows._open.n_rows",
        (
            "tests/synthesizers/test_mge_privacy.py::"
            "test_no_picture_moves_a_release_further[add_remove-float32]",
        ),
    ),
    Bug(
        "stopping-for-free",
        "what training stops at is computed from private rows and not released",
        "skdpgen.synthesizers.embedding:perceptual_kernel",
        "return replace("
        "kernel, stopping=stopping.values[Key.FEATURES], codes=coded.phi)",
        """
            block, rows = coded.phi.block, opening.rows.batches(cells, labels)
            total = block.start(n_classes_of(labels))
            for batch in coded.encode(rows, device):
                part = batch.parts[Key.FEATURES]
                total = block.add(total, part, batch.labels)
            total = block.value(total)
            return replace(kernel, stopping=total, codes=coded.phi)
        """,
        (IMAGES + "[DPMEPFSynthesizer, stopping-images-replace]",),
    ),
    Bug(
        "signed-features-for-root-two",
        "signed features beside their squares are charged as if none were negative",
        "skdpgen.privacy:SideBySide.structure",
        "structures = tuple(part.structure for part in self.parts)",
        """
            structures = tuple(
                Vectors(p.width, p.bound, True).structure for p in self.parts
            )
        """,
        (
            "tests/synthesizers/test_sensitivity.py::"
            "test_the_bound_holds_and_is_attained[side by side-replace]",
        ),
    ),
    Bug(
        "means-by-private-counts",
        "features are divided by how many rows their class has, which is private",
        "skdpgen.privacy:release",
        "exact = block.value(totals.pop(key))",
        """
            exact = block.value(totals.pop(key))
            if key == "features" and "classes" in totals:
                n = np.maximum(totals["classes"], 1.0)
                exact = exact / n * n.mean()
        """,
        (NOISE_OF_IMAGES,),
    ),
    Bug(
        "true-n-for-the-steps",
        "slopes are divided by the true number of rows, under add/remove",
        "skdpgen.synthesizers.embedding:train_by_slopes",
        "opening.facts.n_rows",
        "float(opening.rows._open.n_rows)",
        (TABLES + "[DPKernelSynthesizer, steps-frame-add_remove]",),
    ),
    Bug(
        "statistic-in-the-loss-curve",
        "the loss curve begins with the number of rows",
        "skdpgen.synthesizers.base:EmbeddingSynthesizer.fit",
        """
            del X, y, opening
            return self.retrain()
        """,
        """
            first = len(X) if hasattr(X, "__len__") else 0
            del X, y, opening
            self.retrain().loss_curve_.insert(0, first)
            return self
        """,
        (TABLES + "[DPHPSynthesizer-frame-add_remove]", IMAGES),
    ),
    Bug(
        "warning-by-value",
        "values that are not finite are warned of",
        "skdpgen.tables:read_values",
        "return Numbers(np.where(np.isfinite(values), values, np.nan))",
        """
            if np.isinf(values).any() or np.nanmax(np.abs(values)) > 1e200:
                import warnings

                warnings.warn("huge values", stacklevel=2)
            return Numbers(np.where(np.isfinite(values), values, np.nan))
        """,
        (TABLES,),
    ),
    Bug(
        "error-with-a-count",
        "the error about classes says how many labels there are",
        "skdpgen.synthesizers.opening:discover_classes",
        "return counts, threshold",
        """
            if not counts:
                (batch,) = rows.batches({}, tokens=(TARGET,))
                n = len(batch.parts["tokens"][TARGET].values)
                raise SchemaRequiredError(f"None of {n} labels stood out: `classes=`")
            return counts, threshold
        """,
        (TABLES,),
    ),
    Bug(
        "progress-by-rows",
        "the progress bar counts rows",
        "skdpgen.synthesizers.opening:open_rows",
        "N_STAGES",
        "rows._open.n_rows",
        (TABLES, IMAGES),
    ),
    Bug(
        "attribute-of-a-failed-fit",
        "a fit that fails leaves what it has seen behind",
        "skdpgen.synthesizers.base:BaseSynthesizer._opened",
        "opening.statements += self._stated(public_data)",
        """
            opening.statements += self._stated(public_data)
            self._shape = getattr(X, 'shape', None)
        """,
        (LEFT + "test_a_fit_that_fails_leaves_its_certificate_alone",),
    ),
    Bug(
        "cache-of-rows",
        "a module remembers the table that was read last",
        "skdpgen.tables:WholeTable.__init__",
        "self._columns = part.columns(part.layout)",
        """
            self._columns = part.columns(part.layout)
            WholeTable.latest = self._columns
        """,
        (LEFT + "test_the_rows_are_let_go_of",),
    ),
    Bug(
        "cache-of-words",
        "a module remembers the words of the columns of text that were read",
        "skdpgen.tables:TextKinds.encode",
        "marks = values.marks or (Mark.TEXT,) * len(values.values)",
        """
            known = [*vars(TextKinds).get('words', ()), *values.values]
            TextKinds.words = known
            marks = values.marks or (Mark.TEXT,) * len(values.values)
        """,
        (LEFT + "test_the_rows_are_let_go_of[DPIndependentSynthesizer]",),
    ),
    Bug(
        "cache-that-survives-clone",
        "a clone takes the bins of its original along",
        "skdpgen.synthesizers.base:BaseSynthesizer.__sklearn_clone__",
        "copy._is_clone = True",
        """
            copy._is_clone = True
            copy._known = vars(self).get("cells_")
        """,
        (LEFT + "test_a_clone_takes_nothing_along",),
    ),
    Bug(
        "parts-of-the-rows",
        "parts of cells that hold many rows are counted again, without noise",
        "skdpgen.synthesizers.opening:_release_finer_parts",
        "counts = dict(zip(grids, parts, strict=True))",
        """
            (batch, *_) = opening.rows.batches({}, asked=Asked(grids, words))
            codes = batch.parts[Key.OPEN].codes
            for j, (name, grid) in enumerate(grids.items()):
                known = codes[codes[:, j] >= 0, j]
                counts[name] = np.bincount(known, minlength=grid.n_cells)
        """,
        (TABLES,),
    ),
    Bug(
        "order-of-appearance",
        "categories are listed in the order in which rows have them",
        "skdpgen.privacy:_select",
        "values = sorted({*counts, *public})",
        "values = list(dict.fromkeys([*counts, *public]))",
        (LEFT + "test_the_order_of_the_rows_does_not_show",),
    ),
    Bug(
        "categories-of-the-dtype",
        "the certificate lists the categories of a dtype as read",
        "skdpgen.synthesizers.opening:_stated",
        "lines.append(dtypes_stated(rows.layout, rows.target_layout))",
        """
            lines.append(dtypes_stated(rows.layout, rows.target_layout))
            if hasattr(X, "select_dtypes"):
                for name in X.select_dtypes("category"):
                    lines.append(str(list(X[name].dtype.categories)))
        """,
        (TABLES,),
    ),
    Bug(
        "integers-told-from-floats",
        "whole numbers of float dtype are not discovered as integers",
        "skdpgen.tables:DigitCells.step",
        "return None if finest > MOST_DECIMALS else float(10.0**-finest)",
        """
            is_none = finest in (0, MOST_DECIMALS + 1)
            return None if is_none else float(10.0**-finest)
        """,
        (
            "tests/synthesizers/test_statements.py::"
            "test_one_missing_value_does_not_change_what_is_discovered",
        ),
    ),
    Bug(
        "certificate-lost-by-an-interrupt",
        "an interrupted fit closes the rows and forgets what it has paid",
        "skdpgen.synthesizers.base:BaseSynthesizer._opened",
        "fitted.certificate.releases",
        "fitted.certificate.releases and fitted.measured",
        ("tests/guards/test_interrupts.py::test_each_charge_is_in_the_certificate",),
    ),
    Bug(
        "old-release-beside-a-new-certificate",
        "an interrupted second fit keeps the release of the first",
        "skdpgen.synthesizers.base:BaseSynthesizer._keep",
        "self._fitted = fitted",
        """
            from dataclasses import replace

            before = getattr(self, "_fitted", None)
            kept = fitted.measured or (before and before.measured)
            self._fitted = replace(fitted, measured=kept)
        """,
        ("tests/guards/test_interrupts.py::test_each_charge_is_in_the_certificate",),
    ),
    Bug(
        "ratio-by-the-exact-number-of-rows",
        "DP-DRE divides released sums by how many private rows there are",
        "skdpgen.synthesizers.ratio:learn_from_means",
        "released = ReleasedMeans(values / facts.n_rows, variances, units)",
        """
            exact = sum(len(b.labels) for b in opening.rows.batches({}, labels))
            released = ReleasedMeans(values / exact, variances, units)
        """,
        (
            "tests/guards/test_public_rows.py::"
            "test_a_table_is_known_by_its_releases_alone",
        ),
    ),
    *WHAT_A_RECORD_DECIDES,
    *WHAT_PUBLIC_ROWS_LET_IN,
    *WHAT_OTHERS_SUM,
    # ---------------------------------------------------------------- what is said
    *WHAT_PUBLIC_ROWS_DO,
    *WHAT_IS_SAID,
    # -------------------------------------------------- beside the test of a method
    *bugs_beside_tests(),
)
