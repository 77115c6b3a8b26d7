"""Planted bugs of steps on secret samples: who is drawn, and what all of them cost."""

from tests.planted.bug import Bug

SHARES = "tests/guards/test_steps_share.py::"
FACTS = SHARES + "test_a_share_is_what_public_facts_say"
CLASSIFIER = SHARES + "test_the_share_of_a_classifier_is_what_public_facts_say"
KNOWN = SHARES + "test_a_search_knows_what_a_fit_will_sample"
ACCOUNTING = "tests/privacy/test_accounting.py::"
WHICHEVER = ACCOUNTING + "test_each_of_two_entries_counts_whichever_comes_last"

WHO_IS_DRAWN = (
    Bug(
        "the-same-rows-of-every-chunk",
        "secret samples take the same rows of every chunk of 2^18",
        "skdpgen.privacy:poisson_sample",
        "words = _random_words(min(CHUNK, n - start))",
        "words = words[: n - start] if start else _random_words(min(n, CHUNK))",
        (
            "tests/privacy/test_noise.py::"
            "test_rows_beyond_a_chunk_are_drawn_independently",
        ),
    ),
    Bug(
        "the-same-noise-in-every-step",
        "the noise of the first step is added in every step",
        "skdpgen.privacy:private_oracle",
        "noisy = add_noise(block.value(total)[0], noise_multiplier * norm_bound)",
        """
            std = noise_multiplier * norm_bound
            if n_done == 1:
                step.noise = add_noise(np.zeros(width), std)
            noisy = block.value(total)[0] + step.noise
        """,
        (
            "tests/privacy/test_oracle.py::"
            "test_updates_are_independent_of_the_data_when_noise_swamps_it",
        ),
    ),
    Bug(
        "seeded-steps-are-not-told-of",
        "noise of steps may be seeded, and the certificate does not say so",
        "skdpgen.privacy:private_oracle",
        """
            if is_noise_insecure():
                ledger.mark_insecure()
        """,
        "pass",
        ("tests/privacy/test_oracle.py::test_seeded_noise_is_told_to_the_ledger",),
    ),
    Bug(
        "all-rows-bound-of-one-entry",
        "the bound by which all rows take part leaves out all entries but the last",
        "skdpgen.privacy:_cost",
        "math.hypot(*mus, gaussian_mu)",
        "math.hypot(mus[0], gaussian_mu)",
        (WHICHEVER,),
    ),
    Bug(
        "moments-of-one-entry",
        "Rényi divergences of all entries but the last are left out",
        "skdpgen.privacy:_renyi_cost",
        "steps_curve(*steps, adjacency)",
        "steps_curve(*steps, adjacency) * (steps == all_steps[0])",
        (WHICHEVER,),
    ),
    Bug(
        "a-search-forgets-steps-of-a-ratio",
        "DP-DRE does not tell a search that it draws secret samples",
        "skdpgen.synthesizers:DPDRESynthesizer._subsampling",
        "return Subsampling(steps.sampling_rate, steps.max_iter, share)",
        "return None",
        (KNOWN + "[DPDRESynthesizer, steps-frame]",),
    ),
    Bug(
        "a-search-forgets-a-private-lens",
        "DP-MEPF does not tell a search that its lens draws secret samples",
        "skdpgen.synthesizers:DPMEPFSynthesizer._subsampling",
        "return Subsampling(RATE, STEPS, ENCODER_SHARE) if self._is_private else None",
        "return None",
        (KNOWN + "[DPMEPFSynthesizer, private lens-images]",),
    ),
    Bug(
        "a-search-knows-a-smaller-share",
        "a search takes it that every game starts from columns, which leave steps half",
        "skdpgen.synthesizers:DPGANSynthesizer._subsampling",
        'part = game_share("nothing")',
        'part = game_share("columns")',
        (KNOWN + "[DPGANSynthesizer, steps alone-frame]",),
    ),
    Bug(
        "a-share-of-another-mu",
        "at an unknown delta steps are taken to have no larger share than at the known",
        "skdpgen.synthesizers.tools:_steps",
        "return replace(steps, largest_share=1.0)",
        "return steps",
        (
            "tests/synthesizers/test_delta.py::"
            "test_steps_at_an_unknown_delta_may_have_any_share",
        ),
    ),
    Bug(
        "a-share-by-another-name",
        "steps of a game that starts from nothing get the share of one with columns",
        "skdpgen.synthesizers:DPGANSynthesizer.fit",
        "steps_share(opening, game_share(settings.start))",
        'steps_share(opening, game_share("columns"))',
        (FACTS + "[DPGANSynthesizer, steps alone-frame-replace]",),
    ),
    Bug(
        "a-share-after-a-release",
        "what a private lens gets depends on what discovery happened to spend",
        "skdpgen.synthesizers:DPMEPFSynthesizer._kernel_of_images",
        "share = steps_share(opening, ENCODER_SHARE)",
        "share = ENCODER_SHARE * opening.ledger.remaining",
        (
            FACTS
            + "[DPMEPFSynthesizer, private lens-images, numbers as target-replace]",
        ),
    ),
    Bug(
        "a-share-of-a-classifier-after-a-release",
        "what a classifier gets depends on what discovery happened to spend",
        "skdpgen.synthesizers:DPMEPFSynthesizer._kernel_of_images",
        "steps_share(opening, by_label.budget)",
        "by_label.budget * opening.ledger.remaining",
        (CLASSIFIER + "[images, numbers as target-replace]",),
    ),
    Bug(
        "a-search-knows-other-steps-of-a-classifier",
        "a search takes the steps of a classifier for those of an auto-encoder",
        "skdpgen.synthesizers:DPMEPFSynthesizer._subsampling",
        """Subsampling(
                by_label.sampling_rate, by_label.n_steps, by_label.budget
            )""",
        "Subsampling(RATE, STEPS, ENCODER_SHARE)",
        (CLASSIFIER + "[images-replace]",),
    ),
    Bug(
        "a-share-of-a-ratio-after-a-release",
        "what a discriminator of DP-DRE gets depends on what discovery spent",
        "skdpgen.synthesizers.ratio:learn_ratio",
        'share = steps_share(opening, game_share("nothing"))',
        'share = game_share("nothing") * opening.ledger.remaining',
        (FACTS + "[DPDRESynthesizer, steps-frame-replace]",),
    ),
)
