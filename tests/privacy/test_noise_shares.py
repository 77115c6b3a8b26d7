"""Noise in shares: how much there is, what colluders are left with, what masks hide."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, norm

from skdpgen.exceptions import BudgetExceededError, RowsElsewhereError
from skdpgen.privacy import (
    Histograms,
    Ledger,
    NoiseShares,
    NoiseWanted,
    PrivacyBudget,
    Query,
    Question,
    Selections,
    Vectors,
    _noise,
    _noisy_share,
    noisy_share,
    noisy_values,
    pair_keys,
)
from skdpgen.privacy._noise import whole_noise
from skdpgen.privacy._noisy_share import about_words, masked, unmasked, whole_sums
from skdpgen.privacy._release import joint_sensitivity, joint_weights
from skdpgen.tables import Encoder
from tests.privacy.test_exact_sum import BLOCKS, N_CLASSES, taken

NAMES = tuple("abcde")
SHARES = NoiseShares(5, 2)
BUDGET = PrivacyBudget(1.0, 1e-5)
WIDTH = 20_000
BLOCK = Histograms((WIDTH,))
SHARE = 0.5


def question(std=None, share=SHARE, name="counts"):
    delta, ledger = math.sqrt(2.0), Ledger(BUDGET)
    std = ledger.noise_std(share=share, sensitivity=delta) if std is None else std
    wanted = NoiseWanted(name, share, {}, std)
    return Question(Query(Encoder({}), {"columns": BLOCK}, 1), (None, None), "", wanted)


def answers(totals, asked, ledgers=None, keys=None):
    keys = keys or pair_keys(NAMES)
    ledgers = ledgers or {name: Ledger(BUDGET) for name in NAMES}
    return [
        noisy_share(
            asked,
            lambda total=total: {"columns": total},
            ledgers[name],
            SHARES,
            name=name,
            keys=keys[name],
        )
        for name, total in zip(NAMES, totals, strict=True)
    ]


def zeros():
    return [np.zeros((1, WIDTH), dtype=np.int64) for _ in NAMES]


def assert_std(found, std):
    """A chi-square test that fails once in a million runs."""
    n = found.size
    low, high = chi2.ppf([5e-7, 1 - 5e-7], n)
    assert low < float(((found / std) ** 2).sum()) < high


@pytest.mark.parametrize("n_colluding", range(5))
def test_what_colluders_are_left_with(n_colluding, monkeypatch):
    """They subtract their own noise from the sum; the rest has what is claimed."""
    own, draw = [], _noise.gaussian_noise

    def spy(shape, std):
        own.append(draw(shape, std))
        return own[-1]

    monkeypatch.setattr(_noise, "gaussian_noise", spy)
    asked = question()
    sent = answers(zeros(), asked)
    std = asked.noise.std
    total = noisy_values(asked, sent, {"columns": std}, SHARES)["columns"]
    left = total - sum(own[:n_colluding], np.zeros((1, WIDTH)))
    honest = len(NAMES) - n_colluding
    assert_std(left, std * math.sqrt(honest / (SHARES.n_parties - SHARES.n_colluding)))
    if n_colluding == 0:
        assert_std(total, std * SHARES.excess)
    if n_colluding == SHARES.n_colluding:
        assert_std(left, std)


@pytest.mark.parametrize("shares", [NoiseShares(5, 2), NoiseShares(4, 0)], ids=repr)
@pytest.mark.parametrize("n_colluding", range(4))
def test_epsilon_of_colluders_by_brute_force(shares, n_colluding):
    """The hockey-stick divergence of what they see, by integration over densities."""
    n_honest = shares.n_parties - n_colluding
    if n_honest < 1:
        assert shares.epsilon(BUDGET, n_colluding) == math.inf
        return
    delta = math.sqrt(2.0)
    std = Ledger(BUDGET).noise_std(share=1.0, sensitivity=delta)
    seen = math.sqrt(n_honest * (std * shares.each) ** 2)
    epsilon = shares.epsilon(BUDGET, n_colluding)

    def excess(z):
        p, q = norm.pdf(z, delta, seen), norm.pdf(z, 0.0, seen)
        return max(p - math.exp(epsilon) * q, 0.0)

    edge = delta / 2 + epsilon * seen**2 / delta  # where the ratio is exp(epsilon)
    found, _ = quad(excess, edge, edge + 12 * seen, epsabs=1e-14, limit=200)
    assert found == pytest.approx(BUDGET.delta, rel=1e-3)
    if n_colluding <= shares.n_colluding:
        assert epsilon <= BUDGET.epsilon * (1 + 1e-9)
    else:
        assert epsilon > BUDGET.epsilon


def test_sums_come_out_whole():
    rng, asked = np.random.default_rng(0), question()
    counts = [rng.integers(0, 10**6, (1, WIDTH)) for _ in NAMES]
    found = noisy_values(
        asked, answers(counts, asked), {"columns": asked.noise.std}, SHARES
    )["columns"]
    assert_std(found - sum(counts), asked.noise.std * SHARES.excess)


def test_a_message_says_nothing_by_itself():
    asked = question()
    (one, *_) = answers([np.full((1, WIDTH), 7) for _ in NAMES], asked)
    seen = np.frombuffer(one.words["columns"], dtype=np.uint8)
    counts = np.bincount(seen, minlength=256)
    expected = len(seen) / 256
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-9, 255)


def test_masks_of_honest_parties_hold_with_keys_of_colluders():
    """Without the keys of two, their numbers are hidden; their sum is not."""
    keys, numbers = pair_keys("abcd"), {name: [ord(name)] * 4096 for name in "abcd"}
    sent = {name: masked(numbers[name], name, keys[name], "1") for name in "abcd"}
    # c and d take their own masks off what a and b sent
    theirs = [
        masked([0] * 4096, name, {"a": keys[name]["a"], "b": keys[name]["b"]}, "1")
        for name in "cd"
    ]
    assert unmasked([sent["a"], sent["b"], *theirs]) == [ord("a") + ord("b")] * 4096
    alone = unmasked([sent["a"], *theirs])
    top_bits = np.array([n >= 0 for n in alone])
    assert abs(top_bits.mean() - 0.5) < 5 * 0.5 / math.sqrt(4096)
    assert len(set(alone)) == 4096


def test_a_mask_is_used_once(monkeypatch):
    """Else two answers to one question tell how their noise differs."""
    draw = "gaussian_noise"
    monkeypatch.setattr(_noise, draw, lambda shape, std: np.zeros(shape))
    asked, keys = question(), pair_keys(NAMES)
    ledgers = {name: Ledger(BUDGET) for name in NAMES}
    first, second = (answers(zeros(), asked, ledgers, keys) for _ in range(2))
    assert (first[0].number, second[0].number) == (1, 2)
    words = (sent[0].words["columns"] for sent in (first, second))
    one, two = (np.frombuffer(own, np.uint64) for own in words)
    assert (one == two).sum() == 0


WEIGHED = {"light": 2.0**-10, "heavy": 2.0**10}


def weighed(share=SHARE):
    """Ask for two blocks of two weights, as a fit would."""
    blocks = dict.fromkeys(WEIGHED, BLOCK)
    delta = joint_sensitivity(blocks, WEIGHED, BUDGET.adjacency)
    std = Ledger(BUDGET).noise_std(share=share, sensitivity=delta)
    wanted = NoiseWanted("both", share, WEIGHED, std)
    return Question(Query(Encoder({}), blocks, 1), (None, None), "", wanted)


def answer_weighed(ledgers, keys):
    asked, none = weighed(), dict.fromkeys(WEIGHED, zeros()[0])
    return asked, [
        noisy_share(asked, lambda: none, ledgers[name], SHARES, name=name, keys=own)
        for name, own in keys.items()
    ]


def test_a_block_has_noise_by_its_weight():
    """Values are sent without the weight, so their noise is divided by it."""
    keys = pair_keys(NAMES)
    asked, sent = answer_weighed({name: Ledger(BUDGET) for name in NAMES}, keys)
    std = {key: asked.noise.std / weight for key, weight in WEIGHED.items()}
    found = noisy_values(asked, sent, std, SHARES)
    for key, weight in WEIGHED.items():
        assert_std(found[key], asked.noise.std / weight * SHARES.excess)


def test_no_two_messages_have_one_mask(monkeypatch):
    """Not two blocks, nor two answers, nor two pairs that were dealt one key."""
    used, words = [], _noisy_share._words

    def spy(key, about, n):
        used.append(about)
        return words(key, about, n)

    monkeypatch.setattr(_noisy_share, "_words", spy)
    ledgers = {name: Ledger(BUDGET) for name in NAMES}
    same = {a: {b: b"k" * 32 for b in NAMES if b != a} for a in NAMES}
    for _ in range(2):
        answer_weighed(ledgers, same)
    n_pairs = math.comb(len(NAMES), 2)
    counts = np.unique(used, return_counts=True)[1]
    assert (counts == 2).all()  # by the two of a pair
    assert len(counts) == n_pairs * 2 * len(WEIGHED)


def test_one_key_for_all_does_not_cancel():
    """A party in the middle would add and subtract the same words: nothing hidden."""
    key = b"k" * 32
    (found,) = np.array([masked([7], "b", {"a": key, "c": key}, "1")])
    assert int.from_bytes(found, "little") != 7


def test_what_words_are_computed_from_distinguishes_all():
    one = ("ab", 1, "x", 4, 1)
    others = ("a", 1, "x", 4, 1), ("ab", 11, "x", 4, 1), ("ab", 1, "x 1", 4, 1)
    others += ("ab", 1, "x", 41, 1), ("ab", 1, "x", 4, 2), ('ab", 1', 1, "x", 4, 1)
    assert len({about_words(*own) for own in (one, *others)}) == 7
    with pytest.raises(TypeError, match="named by text"):
        about_words("ab", 1, 1, 4, 1)


@pytest.mark.parametrize("name", [n for n in BLOCKS if "moments" not in n])
def test_whole_sums_are_the_sums(name):
    """To the last bit, of parts as of the whole, whatever the noise."""
    block, draw = BLOCKS[name]
    rng, n = np.random.default_rng(2), 1500
    parts, labels = draw(rng, n), rng.integers(-1, N_CLASSES, n)
    cut = [slice(0, 400), slice(400, n), slice(None)]
    totals = [
        block.add(block.start(N_CLASSES), taken(parts, some), labels[some])
        for some in cut
    ]
    for std in (0.0, 1e-9, 1.0, 1e9):
        (one, steps), (two, _), (whole, _) = (
            whole_sums(block, total, std) for total in totals
        )
        assert ((one + two) == whole).all()
        assert (whole.astype(float) * steps).tobytes() == (
            block.value(totals[2]).tobytes()
        )
        assert std == 0 or (steps <= std * 2.0**-20).all()


def test_sums_beyond_53_bits_stay_whole():
    block = Vectors(512)
    total = block.start(1)
    assert total.n_bits == 44
    for _ in range(5000):
        total.room_for(1)[:] += 1.0
    total.room_for(1)[:] += total.step
    numbers, steps = whole_sums(block, total, 0.0)
    assert numbers[0, 7] * Fraction(float(steps[7])) == 5000 + Fraction(1, 2**44)


def test_a_party_pays_for_what_it_answers():
    ledgers = {name: Ledger(BUDGET) for name in NAMES}
    for _ in range(2):
        answers(zeros(), question(), ledgers)
    assert ledgers["a"].remaining == pytest.approx(0.0)
    with pytest.raises(BudgetExceededError):
        answers(zeros(), question(), ledgers)


@pytest.mark.parametrize("std", [0.0, 1.0, 1e6])
def test_who_asks_is_not_trusted_with_the_noise(std):
    ledgers = {name: Ledger(BUDGET) for name in NAMES}
    with pytest.raises(ValueError, match="one budget"):
        answers(zeros(), question(std=std), ledgers)
    assert ledgers["a"].remaining == 1.0


def test_words_are_not_counted_without_anyone_to_trust():
    block = Selections(("a",))
    with pytest.raises(RowsElsewhereError, match="schema"):
        whole_sums(block, block.start(1), 1.0)


@pytest.mark.parametrize("name", [n for n in BLOCKS if "moments" in n])
def test_squares_are_not_summed_without_their_weight(name):
    """Whole numbers of steps have no room for it, and sensitivity counts on it."""
    block, _ = BLOCKS[name]
    with pytest.raises(RowsElsewhereError, match="Moments"):
        whole_sums(block, block.start(1), 1.0)


FINE = {
    "features": (Vectors(512), 1.0, 1e-5),
    "a light block": (BLOCK, 2.0**-70, 1.0),
    "a light column": (Histograms((WIDTH,), (1e-15,)), 1.0, 1.0),
}


@pytest.mark.parametrize("name", FINE)
def test_noise_is_random_to_the_last_digit(name):
    """Who adds up sees whole numbers, and floats have 53 bits: noise ended before."""
    block, weight, epsilon = FINE[name]
    budget = PrivacyBudget(epsilon, 1e-6)
    blocks, weights = {"x": block, "y": Histograms((1,))}, {"x": weight}
    heavy = joint_weights(blocks, weights)
    delta = joint_sensitivity(blocks, heavy, budget.adjacency)
    std = Ledger(budget).noise_std(share=1.0, sensitivity=delta)
    wanted = NoiseWanted("all", 1.0, weights, std)
    asked = Question(Query(Encoder({}), blocks, 1), (None, None), "", wanted)
    keys, totals = pair_keys("ab"), {key: one.start(1) for key, one in blocks.items()}
    sent = [
        noisy_share(
            asked,
            lambda: totals,
            Ledger(budget),
            NoiseShares(2, 0),
            name=own,
            keys=keys[own],
        )
        for own in "ab"
    ]
    seen = unmasked([one.words["x"] for one in sent])
    for bit in range(12):
        ones = sum((number >> bit) & 1 for number in seen)
        assert abs(ones / len(seen) - 0.5) < 5 * 0.5 / math.sqrt(len(seen))


@pytest.mark.parametrize("fine", [0, 30, 39, 40, 41, 45, 60, 100])
def test_whole_noise_has_the_spread_of_noise(fine):
    steps = np.full(4, 2.0**-fine)
    found = whole_noise((5000, 4), 3.0, steps) * steps
    assert_std(found.astype(float), math.hypot(3.0, steps[0] / math.sqrt(12)))


def test_steps_that_are_too_fine_are_refused():
    with pytest.raises(ValueError, match="finer"):
        whole_noise((1, 2), 1.0, np.array([1.0, 2.0**-110]))


@pytest.mark.parametrize("given", [(2, 1), (1, 0), (3, -1), (3, 3)])
def test_someone_must_be_honest(given):
    with pytest.raises(ValueError, match="n_colluding"):
        NoiseShares(*given)
