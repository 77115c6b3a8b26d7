"""Planted bugs by which a game is told more of rows than its releases say."""

from tests.planted.bug import IMAGES, TABLES, Bug, S

WHAT_A_GAME_IS_TOLD = (
    Bug(
        "discriminator-centred-by-rows",
        "the discriminator subtracts the exact mean of private rows",
        S + "adversarial/_game.py",
        "    points = PointRows(kernel, batches)\n",
        "    points = PointRows(kernel, batches)\n"
        "    everyone = points.take(list(range(len(points))))\n"
        "    look.centre.copy_(torch.as_tensor(everyone.x.mean(axis=0)))\n",
        (TABLES + "[DPGANSynthesizer-frame-replace]",),
    ),
    Bug(
        "anchored-to-exact-means",
        "a generator of images starts from mean images without noise",
        S + "adversarial/_frame.py",
        "    return learn_start(opening, kernel, released)\n",
        '    if settings.start == "means":\n'
        "        exact = np.zeros_like(released.values[Key.FEATURES])\n"
        "        for batch in shown(kernel, opening.rows.batches(cells, labels)):\n"
        "            known = np.asarray(batch.labels) >= 0\n"
        "            x = np.asarray(batch.parts[Key.FEATURES])[known]\n"
        "            np.add.at(exact, np.asarray(batch.labels)[known], x)\n"
        "        released.values[Key.FEATURES] = exact\n"
        "    return learn_start(opening, kernel, released)\n",
        (IMAGES + "[DPGANSynthesizer-images-replace]",),
    ),
    Bug(
        "balanced-by-exact-labels",
        "class_weight='balanced' weighs by how many private rows have each label",
        S + "adversarial/_game.py",
        "    counts = torch.full_like(shares, 1 / n_classes) if is_balanced else "
        "shares\n",
        "    counts = shares\n"
        "    if is_balanced:\n"
        '        batches = opening.rows.batches({}, kept["_labels"])\n'
        "        y = torch.cat([torch.as_tensor(b.labels) for b in batches])\n"
        "        n_rows = torch.bincount(y.clamp_min(0), minlength=n_classes)\n"
        "        counts = (1.0 / n_rows.clamp_min(1)).float()\n"
        "        counts = counts / counts.sum()\n",
        (
            "tests/guards/test_replay.py::"
            "test_weights_of_classes_are_those_of_released_counts[DPGANSynthesizer]",
        ),
    ),
    Bug(
        "codes-as-if-they-had-one-sign",
        "means of codes get the noise of vectors that are not negative",
        S + "adversarial/_frame.py",
        "is_nonnegative=lens is None",
        "is_nonnegative=True",
        (
            "tests/synthesizers/test_gan.py"
            "::test_a_game_in_codes_says_through_which_lens",
        ),
    ),
)
