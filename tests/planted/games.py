"""Planted bugs by which a game is told more of rows than its releases say."""

from tests.planted.bug import IMAGES, TABLES, Bug

WHAT_A_GAME_IS_TOLD = (
    Bug(
        "discriminator-centred-by-rows",
        "the discriminator subtracts the exact mean of private rows",
        "skdpgen.synthesizers.adversarial:private_steps",
        "points = PointRows(kernel, batches)",
        """
            points = PointRows(kernel, batches)
            everyone = points.take(list(range(len(points))))
            discriminator.centre.copy_(torch.as_tensor(everyone.x.mean(axis=0)))
        """,
        (TABLES + "[DPGANSynthesizer-frame-replace]",),
    ),
    Bug(
        "anchored-to-exact-means",
        "a generator of images starts from mean images without noise",
        "skdpgen.synthesizers.adversarial:release_start",
        "return learn_start(opening, kernel, released)",
        """
            if settings.start == "means":
                exact = np.zeros_like(released.values[Key.FEATURES])
                rows = opening.rows.batches(cells, labels)
                for batch in discriminator_inputs(kernel, rows):
                    known = np.asarray(batch.labels) >= 0
                    x = np.asarray(batch.parts[Key.FEATURES])[known]
                    np.add.at(exact, np.asarray(batch.labels)[known], x)
                released.values[Key.FEATURES] = exact
            return learn_start(opening, kernel, released)
        """,
        (IMAGES + "[DPGANSynthesizer-images-replace]",),
    ),
    Bug(
        "balanced-by-exact-labels",
        "class_weight='balanced' weighs by how many private rows have each label",
        "skdpgen.synthesizers.adversarial:train_adversarially",
        "products = denoised.shares * factors",
        """
            batches = opening.rows.batches({}, measured.labels)
            y = torch.cat([torch.as_tensor(b.labels) for b in batches])
            n_rows = torch.bincount(y.clamp_min(0), minlength=n_classes)
            products = denoised.shares / n_rows.clamp_min(1).numpy()
        """,
        (
            "tests/guards/test_replay.py::"
            "test_weights_of_classes_are_those_of_released_counts[DPGANSynthesizer]",
        ),
    ),
    Bug(
        "codes-as-if-they-had-one-sign",
        "means of codes get the noise of vectors that are not negative",
        "skdpgen.synthesizers.adversarial:release_start",
        "Vectors(kernel.width, is_nonnegative=lens is None)",
        "Vectors(kernel.width, is_nonnegative=True)",
        (
            "tests/synthesizers/test_gan.py"
            "::test_a_game_in_codes_says_through_which_lens",
        ),
    ),
)
