"""DP-Pairwise with many classes: counted in parts, few components, one training."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
from skdpgen.metrics import total_variation
from skdpgen.synthesizers.pairwise import _measuring
from skdpgen.synthesizers.pairwise._pair_model import parts_of_target
from skdpgen.synthesizers.pairwise._parities import ParityRelease
from skdpgen.training import ClassConditional
from skdpgen.utils import Key
from tests._seeded import same_noise

N_CLASSES = 20
LABELS = [f"c{c:02d}" for c in range(N_CLASSES)]


def table(n=20_000, seed=0):
    """Return rows of classes of three kinds: columns and their relation differ."""
    rng = np.random.default_rng(seed)
    y = rng.integers(N_CLASSES, size=n)
    kind = y % 3
    a = rng.random(n) < 0.2 + 0.3 * kind
    b = np.where(rng.random(n) < 0.9, a ^ (kind == 1), rng.random(n) < 0.5)
    X = pd.DataFrame({"a": a, "b": b}).astype(int)
    for name in "cdef":
        X[name] = rng.integers(4, size=n)
    return X, pd.Series(np.array(LABELS)[y])


def columns_of(conditionals, totals):
    tables = {"a": np.asarray(conditionals)}
    return ClassConditional(np.asarray(totals, dtype=float), 1.0, tables, tables)


def agreement(X, y, kind):
    of_kind = np.array([LABELS.index(label) % 3 == kind for label in y])
    return float((X["a"] == X["b"])[of_kind].mean())


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    with pytest.MonkeyPatch.context() as patch, same_noise():
        patch.setattr(_measuring, "affordable_parts", lambda *_: 3)
        synthesizer = DPPairwiseSynthesizer(3.0, classes=LABELS, random_state=0)
        return synthesizer.fit(X, y)


def test_classes_that_are_alike_are_counted_together(fitted):
    _, last = fitted.pair_releases_
    assert len(last.released.values[Key.PAIRS]) == 3
    kinds = np.arange(N_CLASSES) % 3
    assert len(set(zip(kinds, last.of_class, strict=True))) == 3


def test_what_differs_between_kinds_of_classes_is_learnt(fitted):
    X, y = table(seed=1)
    drawn = fitted.sample(20_000, random_state=0)
    for kind in range(3):
        assert agreement(*drawn, kind) == pytest.approx(agreement(X, y, kind), abs=0.1)


def test_many_classes_have_few_components_and_one_training(fitted):
    assert fitted._model.n_components == 100
    assert fitted.n_iter_ <= 600  # of one training; parities that lack start another


def test_classes_join_their_nearest_first_and_small_ones_sooner():
    tables = [[0.9, 0.1], [0.5, 0.5], [0.88, 0.12], [0.1, 0.9]]
    parts = [
        parts_of_target(columns_of(tables, [9, 9, 9, small]), "classification", n)
        for n, small in ((3, 9), (2, 9), (2, 0.1), (4, 9))
    ]
    assert parts[3] is None
    assert [part.tolist() for part in parts[:3]] == [
        [0, 1, 0, 2],
        [0, 1, 0, 1],
        [0, 1, 0, 1],
    ]
    one = parts_of_target(columns_of(tables, [9, 9, 9, 9]), "classification", 1)
    assert one.tolist() == [0] * 4


def test_a_number_is_cut_along_itself():
    tables = [[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.1, 0.9]]
    part = parts_of_target(columns_of(tables, [5, 5, 5, 5]), "regression", 2)
    assert part.tolist() == [0, 0, 1, 1]


# ----------------------------------------------------- parities that pairs explain


def lacking(sums, trained, sign=0.0, n_classes=10):
    """Return which parities a mixture lacks of three coins; the third one has a sign.

    Sums are of the sets 01, 02, 12 and 012, in 1000 rows.
    """
    signs = (np.array([1.0, -1.0]),) * 3
    released = SimpleNamespace(
        values={Key.PARITIES: np.array([sums])}, noise_std={Key.PARITIES: 10.0}
    )
    one = ParityRelease(signs, (2, 3), np.zeros(n_classes, np.int64), released)
    row = [0.5, 0.5, 0.5, 0.5, (1 + sign) / 2, (1 - sign) / 2]
    tables, totals = np.tile(row, (n_classes, 4, 1)), np.full(n_classes, 100.0)
    target = one.target(tables, [2, 2, 2], totals, trained)
    return set() if target is None else set(target.subsets)


def test_what_a_pair_lacks_starts_no_training_with_parities():
    every = {(0, 1), (0, 2), (1, 2)}
    assert lacking([800.0, 0.0, 600.0, 0.0], ()) == {(0, 1), (1, 2)}
    assert lacking([800.0, 0.0, 600.0, 0.0], {(0, 1)}) == {(1, 2)}
    assert lacking([800.0, 0.0, 600.0, 0.0], every) == set()
    assert lacking([0.0] * 4, ()) == set()


def test_what_no_pair_explains_is_lacking_still():
    every = {(0, 1), (0, 2), (1, 2)}
    assert lacking([0.0, 0.0, 0.0, 700.0], every) == {(0, 1, 2)}
    assert lacking([800.0, 0.0, 0.0, 700.0], every) == {(0, 1, 2)}
    assert lacking([400.0, 0.0, 0.0, 360.0], every, sign=0.9) == set()
    assert lacking([400.0, 0.0, 0.0, 360.0], {(0, 2)}, sign=0.9) == {
        (0, 1),
        (0, 1, 2),
    }


@pytest.mark.parametrize("method", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
def test_classes_that_no_row_has_do_no_harm(method):
    """Each of 97 empty classes had the noise of a histogram of every column."""
    rng = np.random.default_rng(0)
    y = pd.Series(rng.choice(["a", "b", "c"], 20_000, p=[0.6, 0.3, 0.1]), name="y")
    place = y.map({"a": 0.0, "b": 1.0, "c": 2.0})
    X = pd.DataFrame({f"x{j}": rng.normal(place * j, 1) for j in range(4)})
    distances = []
    for more in (0, 97):
        classes = ["a", "b", "c", *(f"none {i}" for i in range(more))]
        with same_noise(1):
            synth = method(classes=classes, random_state=0).fit(X, y)
        drawn = synth.sample(20_000, random_state=0)
        distances.append(total_variation((X, y), drawn))
        assert drawn[1].isin(["a", "b", "c"]).mean() > 0.98
    assert distances[1] < distances[0] + 0.01
