"""Planted bugs of sums that are formed elsewhere, and of noise that comes in shares."""

from tests.planted.bug import Bug, P, T

DECEIVED = "tests/test_parties_deceived.py::"
DASK, PARTIES = "tests/synthesizers/test_dask.py::", "tests/test_parties.py::"
MERGED, SHARES = (
    "tests/privacy/test_merged_sums.py::",
    "tests/privacy/test_noise_shares.py::",
)

WHAT_OTHERS_SUM = (
    Bug(
        "merged-without-carry",
        "sums of parts are added as they are, with what is left over beyond 53 bits",
        P + "_exact_sum.py",
        "        both._carry()\n        more._carry()\n",
        "",
        (MERGED + "test_two_full_sums_merge_without_rounding",),
    ),
    Bug(
        "a-partition-twice",
        "a task of the tree adds up the first sum of its neighbour, too",
        T + "_dask_rows.py",
        "sums[i : i + FAN_IN]",
        "sums[i : i + FAN_IN + 1]",
        (DASK + "test_what_leaves_a_partition_are_sums",),
    ),
    Bug(
        "a-party-twice",
        "sums that share a source are added up",
        P + "_partial_sum.py",
        "        twice = sorted(set(self.sources) & set(other.sources))\n",
        "        twice: list[str] = []\n",
        (PARTIES + "test_no_row_counts_twice",),
    ),
    Bug(
        "noise-as-if-all-were-honest",
        "shares of noise are those of no colluders",
        P + "_noise_shares.py",
        "return 1.0 / math.sqrt(self.n_parties - self.n_colluding)",
        "return 1.0 / math.sqrt(self.n_parties)",
        (SHARES + "test_what_colluders_are_left_with",),
    ),
    Bug(
        "noise-as-who-asks-says",
        "a party adds the noise that it is asked for, and not what it works out",
        P + "_noisy_share.py",
        "    std = ledger.noise_std(share=wanted.share, sensitivity=delta)\n",
        "    std = wanted.std\n",
        (SHARES + "test_who_asks_is_not_trusted_with_the_noise",),
    ),
    Bug(
        "a-mask-twice",
        "masks of a party are the same for a question that is asked again",
        P + "_noisy_share.py",
        'about = f"{question.digest} {number} {key}"',
        'about = f"{question.digest} {key}"',
        (SHARES + "test_a_mask_is_used_once",),
    ),
    Bug(
        "noise-of-53-bits",
        "noise in shares ends where a float does, and digits of the sum below it show",
        P + "_noise.py",
        "    return units * sizes + words % sizes\n",
        "    return units * sizes\n",
        (SHARES + "test_noise_is_random_to_the_last_digit",),
    ),
    Bug(
        "squares-without-weight",
        "parties send squares that were not multiplied by their weight",
        P + "_whole_sums.py",
        "    elif isinstance(block, Vectors):\n",
        "    elif isinstance(total, ExactSum):\n",
        (SHARES + "test_squares_are_not_summed_without_their_weight",),
    ),
    Bug(
        "sums-of-any-form",
        "sums of a party with more classes than asked for are added to those of others",
        P + "_checked_sums.py",
        "return found.shape == empty.shape and bool((np.abs(found) <= most).all())",
        "return True",
        (DECEIVED + "test_sums_of_another_form_are_refused",),
    ),
    Bug(
        "a-question-that-fails-again",
        "a party can be asked row by row whether a question fails",
        "skdpgen/parties/_guarded_party.py",
        "            self._is_closed = True\n",
        "",
        (DECEIVED + "test_a_question_that_fails_at_a_row_is_the_last",),
    ),
)
