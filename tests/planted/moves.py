"""Planted bugs by which one row moves a sum further than it is charged for."""

from tests.planted.bug import IMAGES, SUMS, TABLES, Bug

MGE = "tests/synthesizers/test_mge_privacy.py::"
ALONE = "tests/lenses/test_alone.py::"

HOW_FAR_ROWS_MOVE = (
    Bug(
        "half-the-noise-on-numbers-of-values",
        "the number of values of a column counts as if a row moved it by a half",
        "skdpgen.privacy:Distinct.replace",
        """
            def replace(self) -> float:
                return math.sqrt(self.n_columns)
        """,
        """
            def replace(self) -> float:
                return 0.5 * math.sqrt(self.n_columns)
        """,
        ("tests/synthesizers/test_sensitivity.py::test_no_row_moves_the_sum_further",),
    ),
    Bug(
        "numbers-of-values-by-chunk",
        "values are told apart within a chunk, and count again in the next",
        "skdpgen.privacy:Seen.add",
        "np.union1d(self.first, hashes)",
        "np.append(self.first, np.unique(hashes) + np.uint64(len(self.first)))",
        (
            "tests/privacy/test_distinct.py::"
            "test_how_rows_are_cut_into_chunks_does_not_matter",
        ),
    ),
    Bug(
        "a-value-in-two-slots",
        "of many rows a value takes two slots, and is charged for one",
        "skdpgen.privacy:Seen.add",
        "_take(self.slots[level], slots)",
        """
            _take(self.slots[level], slots)
            _take(self.slots[level], (slots + np.uint64(1)) % np.uint64(SLOTS_OF_LEVEL))
        """,
        (
            "tests/privacy/test_distinct_of_many.py::"
            "test_one_row_moves_each_number_by_1_at_most",
        ),
    ),
    Bug(
        "sums-beforehand-of-all-columns",
        "histograms that were made beforehand have more columns than are charged",
        "skdpgen.privacy:SummedHistograms.start",
        "return np.array(self.total(n_classes)[:, self.places])",
        """
            every = self.total(n_classes)[:, : len(self.places)]
            return np.array(self.total(n_classes)[:, self.places] + every)
        """,
        (
            "tests/synthesizers/test_sensitivity.py::"
            "test_every_stage_of_a_fit_keeps_its_claim",
        ),
    ),
    Bug(
        "parities-as-if-not-negative",
        "products of signs count as if none were negative",
        "skdpgen.privacy:SignProducts.replace",
        "return math.sqrt(2.0 * self.width - 2.0 * min(least, 0))",
        "return math.sqrt(2.0 * self.width - 0.0 * min(least, 0))",
        (
            "tests/privacy/test_products.py::"
            "test_the_worst_of_all_rows_moves_the_sum_as_far_as_is_claimed",
        ),
    ),
    Bug(
        "signs-beyond-the-codes",
        "a code of a column that is no half counts as a half",
        "skdpgen.privacy:Parities.add",
        "signs = codes[labels == label] == 1",
        "signs = codes[labels == label] != 0",
        ("tests/privacy/test_products.py::test_sums_are_those_of_the_definition",),
    ),
    Bug(
        "halves-of-the-rows-themselves",
        "parities cut columns at the middle of private rows, not of what was released",
        "skdpgen.synthesizers.pairwise:measure_parities",
        "step = SignCodes(tuple(groups), tuple(signs), of_class)",
        """
            (whole,) = list(opening.rows.batches(cells, labels))[:1]
            signs = tuple(
                halves(one, np.bincount(one.encode(codes), minlength=one.n_groups))
                for one, codes in zip(
                    groups, np.maximum(whole.parts[Key.COLUMNS].T, 0), strict=True
                )
            )
            step = SignCodes(tuple(groups), tuple(signs), of_class)
        """,
        (TABLES + "[DPPairwiseSynthesizer-frame in chunks-replace]",),
    ),
    Bug(
        "pairs-shift",
        "rows are paired under add/remove, so that one row shifts all pairs",
        "skdpgen.synthesizers.embedding:train_autoencoder",
        'is_paired = adjacency == "replace"',
        "is_paired = True",
        (IMAGES + "[DPMERFSynthesizer, encoder-images-add_remove]",),
    ),
    Bug(
        "pairs-by-label",
        "rows are sorted by label before they are paired",
        "skdpgen.synthesizers.embedding:Pairs.take",
        "return self._rows.take(2 * indices), self._rows.take(2 * indices + 1)",
        """
            order = np.argsort(self._rows._labels, kind="stable")
            one, two = order[2 * indices], order[2 * indices + 1]
            return self._rows.take(one), self._rows.take(two)
        """,
        (IMAGES + "[DPMERFSynthesizer, encoder-images-replace]",),
    ),
    Bug(
        "centred-by-the-batch",
        "inputs of features are centred by the mean of their batch",
        "skdpgen.synthesizers.embedding:RowKernel.inputs",
        "return x",
        "return x - x.mean(axis=0)",
        (TABLES + "[DPHPSynthesizer-frame without labels-add_remove]",),
    ),
    Bug(
        "single-precision-before-the-clip",
        "rows are cast to float32 before they are clipped and summed",
        "skdpgen.privacy:Vectors.add",
        "batch = rows[start : start + block].detach()",
        "batch = rows[start : start + block].detach().float()",
        (SUMS + "test_features_are_those_of_the_row_in_double_precision",),
    ),
    Bug(
        "no-clip",
        "rows beyond the bound are not cut",
        "skdpgen.privacy:Vectors._clip",
        "return below(self.width) * self.bound / step / norms.clamp_min(self.bound)",
        "return below(self.width) * torch.ones_like(norms) / step",
        ("tests/synthesizers/test_sensitivity.py::test_no_row_moves_the_sum_further",),
    ),
    Bug(
        "rounded-to-the-nearest",
        "entries of clipped rows are rounded to the nearest step, which may be up",
        "skdpgen.privacy:Vectors.add",
        "cut_digits(part)",
        "part.round_()",
        ("tests/privacy/test_exact_sum.py::test_no_row_is_longer_than_is_paid_for",),
    ),
    Bug(
        "sums-in-the-order-of-rows",
        "entries of clipped rows are added as they are, so that sums are rounded",
        "skdpgen.privacy:Vectors.add",
        "cut_digits(part)",
        "pass",
        (SUMS + "test_chunks_add_up_to_the_whole",),
    ),
    Bug(
        "more-rows-than-there-is-room-for",
        "twice as many rows are added before a carry as are exact",
        "skdpgen.privacy:most_rows",
        "return int(2 ** (DIGITS - n_bits)) - 1",
        "return 2 * int(2 ** (DIGITS - n_bits)) - 1",
        ("tests/privacy/test_exact_sum.py::test_a_billion_rows_do_not_overflow",),
    ),
    Bug(
        "labels-of-other-rows",
        "after the first chunk labels are joined to the rows one place on",
        "skdpgen.tables:_cut",
        "yield cut, None if target is None else target[rows]",
        """
            last = start + at_once >= n_rows
            wrong = rows if not (start and last) else slice(start - 1, n_rows - 1)
            yield cut, None if target is None else target[wrong]
        """,
        (SUMS + "test_each_row_is_counted_once_with_its_own_label",),
    ),
    Bug(
        "a-row-twice-at-the-edge",
        "the last row of a chunk is in the next one, too",
        "skdpgen.tables:_cut",
        "rows = slice(start, start + at_once)",
        "rows = slice(max(start - 1, 0), start + at_once)",
        (SUMS + "test_each_row_is_counted_once_with_its_own_label",),
    ),
    Bug(
        "divided-by-the-sample",
        "steps are divided by the number of rows that were drawn",
        "skdpgen.privacy:private_oracle",
        "return noisy / (sampling_rate * expected_rows)",
        "return noisy / max(len(indices), 1)",
        ("tests/privacy/test_oracle.py::test_the_divisor_is_the_expected_batch",),
    ),
    Bug(
        "clipped-by-the-mean-norm",
        "gradients are clipped by the mean norm of their batch",
        "skdpgen.privacy:Layers._scale",
        "return margin / squares.sqrt().clamp_min(1.0), squares.isfinite()",
        """
            mean = squares.nanmean().expand(n)
            return margin / mean.sqrt().clamp_min(1.0), squares.isfinite()
        """,
        (
            "tests/training/test_private_descent.py::"
            "test_one_row_moves_a_step_by_the_norm_bound_at_most",
            "tests/privacy/test_row_layers.py::"
            "test_one_row_moves_the_sum_by_the_bound_at_most",
        ),
    ),
    Bug(
        "places-that-cancel",
        "the norm of a gradient by factors is not rounded up",
        "skdpgen.privacy:_squared_norms",
        "return exact.clamp_min(0.0) + rounding * lengths.square() + vanished",
        "return exact.clamp_min(0.0) + 0.0 * rounding + vanished",
        (
            "tests/privacy/test_row_layers.py::"
            "test_places_that_cancel_do_not_hide_a_long_row",
        ),
    ),
    Bug(
        "factors-whose-squares-vanish",
        "the norm of a factor is 0 where its square is",
        "skdpgen.privacy:_squared_norms",
        "a, b = (_layer_norms(u) + lost_u, _layer_norms(v) + lost_v)",
        "a, b = (_layer_norms(u), _layer_norms(v))",
        (
            "tests/privacy/test_row_layers.py::"
            "test_no_scales_of_two_factors_take_a_row_beyond_the_bound",
        ),
    ),
    Bug(
        "codes-above-the-last-cell",
        "a code above the last cell counts in a cell of another column",
        "skdpgen.privacy:Histograms.add",
        "np.where((codes[:, j] < 0) | (codes[:, j] >= size), size, codes[:, j])",
        "np.where(codes[:, j] < 0, size, codes[:, j])",
        (
            "tests/privacy/test_histograms.py::"
            "test_each_row_is_in_one_cell_of_a_histogram_or_in_none",
        ),
    ),
    Bug(
        "the-last-rows-as-they-come",
        "the last rows of a step are mapped as they are, fewer than the others",
        "skdpgen.training:RowSlopes._filled",
        "missing = self.at_once - len(batch)",
        "missing = 0 * len(batch)",
        (
            "tests/training/test_private_descent.py::"
            "test_rows_are_mapped_in_batches_of_one_shape",
        ),
    ),
    Bug(
        "one-signed-layer",
        "outer products count as non-negative if one of their layers is",
        "skdpgen.privacy:OuterProducts.structure",
        "any(signed)",
        "all(signed)",
        ("tests/privacy/test_outer.py::test_layers_move_as_far_as_their_kinds_allow",),
    ),
    Bug(
        "batches-as-they-come",
        "the last batch is mapped as it is, smaller than the others",
        "skdpgen.synthesizers.embedding:padded",
        "more = n - len(rows)",
        "more = 0 * n",
        (SUMS + "test_rows_are_mapped_in_batches_of_one_shape",),
    ),
    Bug(
        "opaque-maps-in-batches",
        "rows go together through a network of which nothing is known",
        "skdpgen.synthesizers.embedding:Mapper.__call__",
        'getattr(self.phi, "is_opaque", False)',
        "False",
        (SUMS + "test_rows_go_alone_through_a_map_of_which_nothing_is_known",),
    ),
    Bug(
        "column-selected-from-twice",
        "a column may be named twice, and is charged once",
        "skdpgen.privacy:Selections.__post_init__",
        "len(set(self.columns)) < len(self.columns)",
        "False",
        ("tests/privacy/test_selection.py::test_a_column_is_selected_from_once",),
    ),
    Bug(
        "pixels-by-their-maximum",
        "float pixels are divided by the largest of their batch if it exceeds 1",
        "skdpgen.tables:as_pixels",
        "return np.clip(rows, 0.0, 1.0).astype(np.float32)",
        """
            rows = rows.clip(0.0) / max(rows.max(initial=0.0), 1.0)
            return rows.astype(np.float32)
        """,
        ("tests/tables/test_images.py::test_an_image_reads_as_it_does_alone", IMAGES),
    ),
    Bug(
        "brightest-pixel-of-the-batch",
        "images that leave their range are counted by the brightest of their batch",
        "skdpgen.tables:range_codes",
        "brightest = rows.max(axis=1).astype(np.float64) / unit",
        "brightest = np.full(len(rows), float(rows.max()) / unit)",
        (
            "tests/synthesizers/test_lost_rows.py::"
            "test_where_pixels_are_follows_from_each_image_alone",
        ),
    ),
    Bug(
        "pairs-wrap-around",
        "of an odd number of rows the last is paired with the first",
        "skdpgen.synthesizers.embedding:Pairs",
        '''
            def __len__(self) -> int:
                """Return the number of pairs."""
                return len(self._rows) // 2

            def take(self, indices: NDArray[np.intp]) -> tuple[Points, Points]:
                """Return both rows of the pairs at ``indices``."""
                return self._rows.take(2 * indices), self._rows.take(2 * indices + 1)
        ''',
        """
            def __len__(self) -> int:
                return (len(self._rows) + 1) // 2

            def take(self, indices: NDArray[np.intp]) -> tuple[Points, Points]:
                other = (2 * indices + 1) % len(self._rows)
                return self._rows.take(2 * indices), self._rows.take(other)
        """,
        (
            "tests/synthesizers/test_images.py::"
            "test_pairs_are_disjoint_and_go_by_place_alone",
        ),
    ),
    Bug(
        "centred-at-the-mean-of-the-batch",
        "codes of images are taken from the mean of their batch, not from prototypes",
        "skdpgen.synthesizers.gaussian:from_centres",
        "return codes - centres[np.maximum(labels, 0), indices], indices",
        "return codes - codes.mean(axis=0), indices",
        (MGE + "test_no_picture_moves_a_release_further",),
    ),
    Bug(
        "borders-by-the-last-digit",
        "which prototype is nearest is decided by how a product was rounded",
        "skdpgen.synthesizers.gaussian:nearest",
        "(np.round(np.clip(x, -1, 1) / CODE_GRID) * CODE_GRID for x in "
        "(codes, centres))",
        "(codes, centres)",
        (MGE + "test_ties_are_decided_alike_in_any_company",),
    ),
    Bug(
        "lens-of-a-user-in-batches",
        "images go together through a lens of which nothing is known",
        "skdpgen.synthesizers.gaussian:encoder.encode",
        "is_alone",
        "False",
        (MGE + "test_a_row_is_read_alike_wherever_it_stands",),
    ),
    Bug(
        "lens-class-believed",
        "a class of a user says that rows of a batch do not influence each other",
        "skdpgen.lenses:goes_alone",
        "return bool(lens.is_opaque) or not is_ours",
        "return bool(lens.is_opaque)",
        (ALONE + "test_a_class_of_a_user_sees_images_one_by_one_whatever_it_says",),
    ),
    Bug(
        "lens-error-told",
        "the error of a lens on one private image is passed on",
        "skdpgen.lenses:each_alone",
        "Exception",
        "ZeroDivisionError",
        (ALONE + "test_a_lens_that_fails_on_one_image_says_nothing_of_it",),
    ),
    Bug(
        "lens-warning-shown",
        "the warning of a lens on one private image is shown",
        "skdpgen.lenses:each_alone",
        'warnings.simplefilter("ignore")',
        "pass",
        (ALONE + "test_a_lens_that_fails_on_one_image_says_nothing_of_it",),
    ),
    Bug(
        "lens-not-tried",
        "a lens that remembers images, or draws random numbers, is used",
        "skdpgen.lenses:check_pure",
        "again.shape != first.shape or not (again - first).abs().max() <= largest",
        "again.shape != first.shape and not (again - first).abs().max() <= largest",
        (ALONE + "test_a_lens_that_is_not_pure_is_refused_before_anything_is_paid",),
    ),
    Bug(
        "last-images-as-they-come",
        "the last batch of images is encoded as it is, smaller than the others",
        "skdpgen.synthesizers.gaussian:_in_one_shape",
        """
            pixels = np.zeros((IMAGES_AT_ONCE, n_pixels))
            pixels[: len(labels)] = as_pixels(images[part])
            padded = np.full(IMAGES_AT_ONCE, -1, dtype=np.int64)
        """,
        """
            pixels = as_pixels(images[part]).astype(np.float64)
            padded = np.full(len(labels), -1, dtype=np.int64)
        """,
        (MGE + "test_a_row_is_read_alike_wherever_it_stands",),
    ),
    Bug(
        "scores-by-the-ranks-of-the-batch",
        "normal scores of columns are centred by the rows of their batch",
        "skdpgen.synthesizers.models:ScoresOfRows.__call__",
        "v = torch.from_numpy(rows / math.sqrt(self.room))",
        "v = torch.from_numpy((rows - rows.mean(axis=0)) / math.sqrt(self.room))",
        (
            MGE + "test_scores_are_those_of_the_row_alone",
            SUMS + "test_chunks_add_up_to_the_whole[DPMGESynthesizer-frame, public]",
        ),
    ),
    Bug(
        "days-first-if-any-is",
        "dates are read day-first if one cell of the column can be read no other way",
        "skdpgen.tables:TextKinds.encode",
        "table = [type_of_text(text, mark) for text, mark in pairs]",
        """
            table = [type_of_text(text, mark) for text, mark in pairs]
            form = {DATES + k: cell for k, cell in enumerate(FORM_CELLS)}
            certain = {form.get(code, ("",))[0] for code in table}
            for k, code in enumerate(table):
                first = form.get(code, ("",))[0].split("|")[0]
                if first and first in certain:
                    table[k] = DATES + PLACES[(first, *form[code][1:])]
        """,
        (
            "tests/tables/test_text_kinds.py::"
            "test_one_row_does_not_decide_which_number_of_a_date_is_the_day",
            "tests/tables/test_text_kinds.py::test_each_date_says_what_it_says_alone",
        ),
    ),
    Bug(
        "months-first-if-none-is-read",
        "if no date of a chunk has the form of its column, months and days are swapped",
        "skdpgen.tables:read_text",
        "parsed = [read_time(text, form) for text in texts]",
        """
            parsed = [read_time(text, form) for text in texts]
            if np.isnan(parsed).all():
                form = form.replace("%d", "%_").replace("%m", "%d")
                form = form.replace("%_", "%m")
                parsed = [read_time(text, form) for text in texts]
        """,
        ("tests/tables/test_spelling.py::test_dates_are_read_row_by_row",),
    ),
    Bug(
        "decimal-comma-if-no-number-is-read",
        "if no number of a chunk has the decimal mark of its column, it takes another",
        "skdpgen.tables:read_text",
        "parsed = [read_number(text) for text in texts]",
        """
            parsed = [read_number(text) for text in texts]
            if np.isnan(parsed).all():
                other = NumberForm("," if written.format is None else ".")
                parsed = [other.read(text) for text in texts]
        """,
        ("tests/tables/test_spelling.py::test_amounts_are_read_row_by_row",),
    ),
    Bug(
        "squares-by-the-largest-of-the-batch",
        "squares of codes are divided by the largest norm of their batch",
        "skdpgen.synthesizers.gaussian:_ImageReleases._squares",
        "return self._from_centres(labels, z) ** 2",
        """
            found = self._from_centres(labels, z) ** 2
            return found / np.linalg.norm(found, axis=1).max()
        """,
        (MGE + "test_no_option_lets_a_picture_move_a_release_further",),
    ),
    Bug(
        "codes-to-stop-by-relative-to-the-batch",
        "codes that training stops by are divided by the largest norm of their batch",
        "skdpgen.synthesizers.embedding:CodeMap.__call__",
        "return codes",
        "return codes / codes.norm(dim=1).max().clamp_min(1e-6)",
        (IMAGES + "[DPMEPFSynthesizer, stopping-images-replace]",),
    ),
    Bug(
        "codes-to-stop-by-of-the-rows-themselves",
        "training stops by the exact means of codes, not by what was released",
        "skdpgen.synthesizers.embedding:perceptual_kernel",
        "stopping.values[Key.FEATURES]",
        """
            sum(
                coded.phi.block.value(
                    coded.phi.block.add(
                        coded.phi.block.start(n_classes_of(labels)),
                        torch.as_tensor(batch.parts[Key.FEATURES]),
                        batch.labels,
                    )
                )
                for batch in Encoding(coded, device)(
                    opening.rows.batches(cells, labels)
                )
            )
        """,
        (IMAGES + "[DPMEPFSynthesizer, stopping-images-replace]",),
    ),
    Bug(
        "squares-of-codes-as-if-free",
        "squares of codes to stop by are twice as long, and cost nothing",
        "skdpgen.privacy:Moments.value",
        "moments[:, self.width :] *= self.b",
        "moments[:, self.width :] *= 2.0 * self.b",
        ("tests/synthesizers/test_mepf.py::test_both_moments_of_codes_are_released",),
    ),
    Bug(
        "public-basis-centred-by-the-batch",
        "codes along public directions are centred by the mean of their batch",
        "skdpgen.synthesizers.gaussian:PublicBasis.encode",
        "return clipped((z - torch.from_numpy(self.mean).to(z)) @ matrix)",
        "return clipped((z - z.mean(dim=0)) @ matrix)",
        (MGE + "test_a_row_is_read_alike_wherever_it_stands",),
    ),
)
