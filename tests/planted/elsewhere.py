"""Planted bugs of sums that are formed elsewhere, and of noise that comes in shares."""

from tests.planted.bug import Bug

DECEIVED = "tests/test_parties_deceived.py::"
ATTACKED, REPORT = "tests/test_parties_attacked.py::", "tests/privacy/test_report.py::"
DASK, PARTIES = "tests/synthesizers/test_dask.py::", "tests/test_parties.py::"
MERGED, SHARES = (
    "tests/privacy/test_merged_sums.py::",
    "tests/privacy/test_noise_shares.py::",
)
ABOUT = """
    about_words(
        question.digest, number, key, shares.n_parties, shares.n_colluding
    )
"""

WHAT_OTHERS_SUM = (
    Bug(
        "merged-without-carry",
        "sums of parts are added as they are, with what is left over beyond 53 bits",
        "skdpgen.privacy:ExactSum.merge",
        """
            merged._carry()
            addend._carry()
        """,
        "pass",
        (MERGED + "test_two_full_sums_merge_without_rounding",),
    ),
    Bug(
        "a-partition-twice",
        "a task of the tree adds up the first sum of its neighbour, too",
        "skdpgen.tables:DaskRows.total",
        "sums[i : i + FAN_IN]",
        "sums[i : i + FAN_IN + 1]",
        (DASK + "test_what_leaves_a_partition_are_sums",),
    ),
    Bug(
        "a-party-twice",
        "sums that share a source are added up",
        "skdpgen.privacy:PartialSum.__add__",
        "twice = sorted(set(self.sources) & set(other.sources))",
        "twice: list[str] = []",
        (PARTIES + "test_no_row_counts_twice",),
    ),
    Bug(
        "noise-as-if-all-were-honest",
        "shares of noise are those of no colluders",
        "skdpgen.privacy:NoiseShares.each",
        "return 1.0 / math.sqrt(self.n_parties - self.n_colluding)",
        "return 1.0 / math.sqrt(self.n_parties)",
        (SHARES + "test_what_colluders_are_left_with",),
    ),
    Bug(
        "noise-as-who-asks-says",
        "a party adds the noise that it is asked for, and not what it works out",
        "skdpgen.privacy:noisy_share",
        "std = ledger.noise_std(share=noise.share, sensitivity=delta)",
        "std = noise.std",
        (SHARES + "test_who_asks_is_not_trusted_with_the_noise",),
    ),
    Bug(
        "a-mask-twice",
        "masks of a party are the same for a question that is asked again",
        "skdpgen.privacy:noisy_share",
        ABOUT,
        ABOUT.replace("number", "1"),
        (SHARES + "test_a_mask_is_used_once",),
    ),
    Bug(
        "parities-of-any-number",
        "a party takes a question about products of signs of any number of columns",
        "skdpgen.privacy:Parities.check_asked",
        "is_whole(n, 1, MOST_COLUMNS)",
        "is_whole(n, 1)",
        (ATTACKED + "test_parities_of_too_many_columns_are_refused_by_their_number",),
    ),
    Bug(
        "noise-of-53-bits",
        "noise in shares ends where a float does, and digits of the sum below it show",
        "skdpgen.privacy:whole_noise",
        "return units * sizes + words % sizes",
        "return units * sizes",
        (SHARES + "test_noise_is_random_to_the_last_digit",),
    ),
    Bug(
        "squares-without-weight",
        "parties send squares that were not multiplied by their weight",
        "skdpgen.privacy:whole_sums",
        "steps_of(block, std)",
        """
            if isinstance(total, ExactSum):
                return _exact(total), np.full(total.low.shape[1], total.step)
            steps_of(block, std)
        """,
        (SHARES + "test_squares_are_not_summed_without_their_weight",),
    ),
    Bug(
        "sums-of-any-form",
        "sums of a party with more classes than asked for are added to those of others",
        "skdpgen.privacy:_is_array_like",
        "return array.shape == empty.shape and bool((np.abs(array) <= limit).all())",
        "return True",
        (DECEIVED + "test_sums_of_another_form_are_refused",),
    ),
    Bug(
        "a-question-that-fails-again",
        "a party can be asked row by row whether a question fails",
        "skdpgen.parties:GuardedParty._sums",
        "self._is_closed = True",
        "pass",
        (ATTACKED + "test_a_question_that_fails_at_rows_is_paid_for_and_the_last",),
    ),
    Bug(
        "two-blocks-under-one-mask",
        "blocks of one answer have the same mask, so that their difference shows",
        "skdpgen.privacy:noisy_share",
        ABOUT,
        ABOUT.replace("key", '""'),
        (SHARES + "test_no_two_messages_have_one_mask",),
    ),
    Bug(
        "one-mask-for-all-pairs",
        "masks do not name the pair: of one key, a party adds and subtracts the same",
        "skdpgen.privacy:masked",
        "pair = json.dumps([*sorted((name, partner)), about])",
        "pair = about",
        (SHARES + "test_one_key_for_all_does_not_cancel",),
    ),
    Bug(
        "masks-without-shares",
        "answers add up although parties disagree about how much noise each adds",
        "skdpgen.privacy:noisy_share",
        ABOUT,
        ABOUT.replace("shares.n_parties, shares.n_colluding", "2, 0"),
        (ATTACKED + "test_parties_that_disagree_about_shares_cannot_be_read",),
    ),
    Bug(
        "a-key-twice",
        "a party takes one key for two others",
        "skdpgen.parties:GuardedParty.__init__",
        "check_keys(keys)",
        "pass",
        (ATTACKED + "test_keys_that_cancel_are_refused",),
    ),
    Bug(
        "weights-forgotten-in-shares",
        "parties add the noise of a block as if its weight were 1",
        "skdpgen.privacy:noisy_share",
        "numbers, steps = whole_sums(blocks[key], totals[key], std_of_block)",
        """
            std_of_block = std * shares.each
            numbers, steps = whole_sums(blocks[key], totals[key], std_of_block)
        """,
        (
            SHARES + "test_a_block_has_noise_by_its_weight",
            ATTACKED + "test_no_question_gets_less_noise_than_is_paid_for",
        ),
    ),
    Bug(
        "weights-of-any-size",
        "weights may be so small that a sensitivity is 0, or so large that it is none",
        "skdpgen.privacy:joint_weights",
        'check_accurate("weights", weight, LIGHTEST, HEAVIEST)',
        "weight",
        (REPORT + "test_no_release_has_weights_that_float64_cannot_hold",),
    ),
    Bug(
        "sensitivity-of-nothing",
        "a ledger takes a sensitivity of 0, for which there is no noise",
        "skdpgen.privacy:Ledger.charge",
        'sensitivity = check_accurate("sensitivity", sensitivity)',
        "pass",
        (REPORT + "test_no_ledger_takes_what_float64_cannot_hold",),
    ),
    Bug(
        "steps-of-no-norm",
        "a ledger takes sub-sampled steps with a norm bound of 0",
        "skdpgen.privacy:Ledger.charge_subsampled",
        'norm_bound = check_accurate("norm_bound", norm_bound)',
        "pass",
        (REPORT + "test_no_ledger_takes_what_float64_cannot_hold",),
    ),
    Bug(
        "selected-without-noise",
        "values are selected with noise of 0, so all are shown",
        "skdpgen.privacy:Ledger.admit_selection",
        "self.budget.is_private or noise_std != 0",
        "noise_std < 0",
        (REPORT + "test_nothing_is_selected_without_noise",),
    ),
    Bug(
        "rounding-again-and-again",
        "what rounding allows beyond the budget is allowed again when all is spent",
        "skdpgen.privacy:Ledger._admit",
        "remaining = self.remaining",
        "remaining = max(self.remaining, SMALLEST_SHARE)",
        (REPORT + "test_nothing_is_admitted_once_all_is_spent",),
    ),
    Bug(
        "questions-for-nothing",
        "a party answers questions that cost a billionth of its budget",
        "skdpgen.privacy:noisy_share",
        "not LEAST_SHARE <= noise.share <= 1",
        "not 0 < noise.share <= 1",
        (ATTACKED + "test_questions_cost_a_least_share_and_are_few",),
    ),
    Bug(
        "questions-without-end",
        "a party answers as many questions as there are",
        "skdpgen.privacy:noisy_share",
        "len(ledger.entries) >= MOST_QUESTIONS",
        "len(ledger.entries) < 0",
        (ATTACKED + "test_questions_cost_a_least_share_and_are_few",),
    ),
    Bug(
        "rows-before-the-charge",
        "a question that fails at the rows of a party costs nothing",
        "skdpgen.privacy:noisy_share",
        """
            std = ledger.charge(noise.name, share=noise.share, sensitivity=delta)
            number, words, totals = len(ledger.entries), {}, sums()
        """,
        """
            totals = sums()
            std = ledger.charge(noise.name, share=noise.share, sensitivity=delta)
            number, words = len(ledger.entries), {}
        """,
        (ATTACKED + "test_a_question_that_fails_at_rows_is_paid_for_and_the_last",),
    ),
    Bug(
        "questions-of-any-type",
        "a party answers questions with any objects in them, and any fields",
        "skdpgen.parties:GuardedParty._checked",
        "check_asked(question)",
        "pass",
        (ATTACKED + "test_what_is_not_what_it_says_is_refused",),
    ),
    Bug(
        "not-tried-on-public-rows",
        "a question is not tried before private rows are asked",
        "skdpgen.parties:GuardedParty._checked",
        "question.query.try_out(chunk, n_rows)",
        "pass",
        (ATTACKED + "test_rows_that_come_twice_are_seen_on_public_rows",),
    ),
    Bug(
        "a-group-without-a-sign",
        "a step fails at a cell that was left out, which tells that some row has it",
        "skdpgen.synthesizers.pairwise:SignCodes.__call__",
        "code_or_none(grouping.encode(codes[:, j]), len(sign))",
        "grouping.encode(codes[:, j])",
        (ATTACKED + "test_a_maximum_is_not_found_by_questions_that_fail",),
    ),
    Bug(
        "a-label-without-a-class",
        "a step fails at a label that no class is for",
        "skdpgen.tables:class_of",
        "np.append(of_class, -1)[code_or_none(labels, len(of_class))]",
        "np.append(of_class, -1)[labels]",
        (ATTACKED + "test_no_cell_and_no_label_makes_a_step_fail",),
    ),
    Bug(
        "sums-of-nobody",
        "sums that name no source are taken, and may be added twice",
        "skdpgen.parties:_is_of",
        "return bool(sources) and set(sources) == {name}",
        "return set(sources) <= {name}",
        (DECEIVED + "test_sums_name_whose_they_are",),
    ),
)
