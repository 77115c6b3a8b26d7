"""Planted bugs of sums that are formed elsewhere, and of noise that comes in shares."""

from tests.planted.bug import Bug, P, T

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
)
