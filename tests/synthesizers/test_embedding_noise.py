"""How far noise moves embeddings and losses: formulas against simulation and fits.

All noise is seeded. Tolerances of averages are six standard errors or more.
"""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

from skdpgen import (
    Boolean,
    Categorical,
    DPMERFSynthesizer,
    Generator,
    Schema,
    embedding_noise,
    plan,
)
from skdpgen.privacy import (
    GivenBatches,
    Ledger,
    NonNegative,
    PrivacyBudget,
    SideBySide,
    Signed,
    Vectors,
    Weighted,
    WithCounts,
    release,
)
from skdpgen.synthesizers import EmbeddingNoise
from tests._seeded import same_noise
from tests.planted.bug import Bug

RARE = 1e-9  # a bound with this probability of failure holds in every simulation
SMALL = EmbeddingNoise(500, 20, 3, noise_std=15.0, norm=1.0, diameter=2.0)
COUNTED = replace(SMALL, count_std=60.0)
TINY = EmbeddingNoise(1, 1, 1, noise_std=1.0, norm=100.0, diameter=200.0)
CASES = {"public": SMALL, "private number of rows": COUNTED, "one number": TINY}
each_case = pytest.mark.parametrize("noise", CASES.values(), ids=CASES.keys())


def errors(noise, n_draws, seed=0, mean=None):
    """Draw errors of a released mean, (n_draws, D); the mean has the largest norm."""
    rng = np.random.default_rng(seed)
    size = noise.n_features * noise.classes
    sums = rng.normal(0.0, noise.noise_std, (n_draws, size))
    rows = noise.n + rng.normal(0.0, noise.count_std, (n_draws, 1))
    if mean is None:
        mean = np.full(size, noise.norm / math.sqrt(size))
    return (noise.n * mean + sums) / rows - mean


def lengths(vectors):
    return np.linalg.norm(vectors, axis=1)


# ------------------------------------------------------------ how far noise moves


BLOCKS = {
    "signed": (Vectors(8000, 1.0), Signed()),
    "long": (Vectors(8000, 3.0), Signed(3.0)),
    "not negative": (Vectors(8000, is_nonnegative=True), NonNegative()),
    "two parts": (
        SideBySide((Vectors(3000, 0.6), Vectors(5000, 0.8, is_nonnegative=True))),
        Weighted((Signed(), NonNegative()), (0.6, 0.8)),
    ),
}


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("kind", BLOCKS)
def test_the_mean_square_is_that_of_releases(kind, adjacency):
    """Numbers are 24,000, so a squared length varies by .9 %."""
    block, structure = BLOCKS[kind]
    ledger = Ledger(PrivacyBudget(2.0, 1e-5, adjacency))
    rows = SimpleNamespace(
        labels=np.arange(30) % 3, parts={"x": np.full((30, 8000), 1e-4)}
    )
    with same_noise(1):
        found = release(
            GivenBatches([rows]),
            {"x": block},
            name="",
            ledger=ledger,
            share=0.4,
            n_classes=3,
        ).values["x"]
    error = np.linalg.norm(found - 10 * 1e-4) / 30
    given = {"adjacency": adjacency, "classes": 3, "structure": structure}
    expected = embedding_noise(30, 8000, 2.0, 1e-5, share=0.4, **given)
    exact_count = replace(expected, count_std=0.0)
    assert error == pytest.approx(exact_count.distance, rel=0.03)
    assert exact_count.mean_square == pytest.approx(exact_count.distance**2)
    assert expected.norm == structure.bound
    assert (expected.count_std > 0) == (adjacency == "add_remove")


def test_counts_beside_features_cost_what_their_structure_says():
    given = {"epsilon": 1.0, "delta": 1e-5}
    bare = embedding_noise(100, 10, **given)
    free = embedding_noise(100, 10, **given, structure=WithCounts(Signed(), 1.0))
    paid = embedding_noise(100, 10, **given, structure=WithCounts(NonNegative(), 1.0))
    assert free.noise_std == bare.noise_std
    assert paid.noise_std == pytest.approx(bare.noise_std)
    assert paid.diameter == pytest.approx(2.0)


@each_case
def test_the_mean_square_is_that_of_simulated_errors(noise):
    noise = replace(noise, n=100 * noise.n)  # so that the first order is enough
    squares = lengths(errors(noise, 20_000)) ** 2
    standard_error = squares.std() / math.sqrt(len(squares))
    assert abs(squares.mean() - noise.mean_square) < 6 * standard_error
    assert lengths(errors(noise, 20_000)).mean() <= noise.distance


def test_sampling_moves_a_mean_by_the_bound_if_its_expectation_is_0():
    rng = np.random.default_rng(0)
    noise = replace(SMALL, n=50)
    rows = rng.normal(size=(4000, 50, 8))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    centred = lengths(rows.mean(axis=1)) ** 2
    assert abs(centred.mean() - noise.sampling**2) < 6 * centred.std() / 4000**0.5
    rows[:, :, 0] = np.abs(rows[:, :, 0])
    around = lengths(rows.mean(axis=1) - rows.mean(axis=(0, 1))) ** 2
    assert around.mean() < noise.sampling**2


def test_from_enough_rows_on_noise_moves_less_than_sampling():
    for noise in (SMALL, COUNTED):
        many = replace(noise, n=noise.enough_rows)
        assert many.distance == pytest.approx(many.sampling)
        assert many.enough_rows == pytest.approx(noise.enough_rows)


@each_case
@pytest.mark.parametrize("failure", [0.5, 0.05, 0.001])
def test_the_bound_on_a_distance_fails_as_often_as_it_may(noise, failure):
    n_failed = (lengths(errors(noise, 50_000)) > noise.distance_bound(failure)).sum()
    assert n_failed <= binom.isf(1e-7, 50_000, failure)
    if not noise.count_std:  # then it is exact
        assert n_failed >= binom.ppf(1e-7, 50_000, failure)


def test_a_number_of_rows_that_may_be_0_has_no_bound():
    few = replace(COUNTED, n=20)
    assert few.distance_bound() == few.loss_change_bound(0.1) == math.inf
    assert few.excess_loss_bound() == few.diameter**2


@pytest.mark.parametrize("fraction", [0.5, 0.02])
def test_the_mean_of_a_class_is_divided_by_its_rows(fraction):
    rng = np.random.default_rng(0)
    noise = replace(SMALL, n=100_000, n_features=4000)
    rows = fraction * noise.n
    moved = np.linalg.norm(rng.normal(0.0, noise.noise_std, 4000)) / rows
    assert noise.of_class(fraction).distance == pytest.approx(moved, rel=0.07)
    ratio = noise.of_class(fraction).distance / noise.distance
    assert ratio == pytest.approx(1 / (fraction * math.sqrt(3)))
    assert noise.of_class(fraction, 50.0).distance > noise.of_class(fraction).distance


# -------------------------------------------------------- how far losses are moved


def directions(size, n, seed=1):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, size))
    return rows / lengths(rows)[:, None]


def changes(noise, distance, n_draws=20_000):
    """Return the change of the loss of one generator, in each of many fits."""
    error = errors(noise, n_draws)
    far = distance * directions(error.shape[1], 1)[0]
    return lengths(far + error) ** 2 - distance**2


@each_case
@pytest.mark.parametrize("distance", [0.0, 0.3, 2.0])
def test_the_mean_change_of_a_loss_is_within_its_bound(noise, distance):
    if noise.count_std:
        noise = replace(noise, n=100 * noise.n)
    change = changes(noise, distance)
    mean = np.abs(change).mean()
    standard_error = np.abs(change).std() / math.sqrt(len(change))
    bound = noise.mean_loss_change(distance)
    assert mean < bound + 6 * standard_error
    if not noise.count_std:
        assert bound < 1.5 * mean
        assert abs(change.mean() - noise.mean_square) < 6 * change.std() / 20_000**0.5
    if not distance:
        assert noise.mean_loss_change(0.0) == pytest.approx(noise.mean_square)


@each_case
@pytest.mark.parametrize("distance", [0.0, 0.3, 2.0])
def test_the_loss_of_one_generator_changes_within_its_bound(noise, distance):
    change = np.abs(changes(noise, distance, 50_000))
    assert change.max() <= noise.loss_change_bound(distance, RARE)
    n_failed = (change > noise.loss_change_bound(distance)).sum()
    assert n_failed <= binom.isf(1e-7, 50_000, 0.05)


@each_case
def test_no_generator_changes_its_loss_further_and_one_comes_near(noise):
    error = errors(noise, 50_000)
    for distance in (0.1 * noise.diameter, noise.diameter):
        worst = distance * error / lengths(error)[:, None]
        change = lengths(worst + error) ** 2 - distance**2
        assert change.max() <= noise.loss_change_bound(failure=RARE)
        n_failed = (change > noise.loss_change_bound()).sum()
        assert n_failed <= binom.isf(1e-7, 50_000, 0.05)
    if not noise.count_std:
        assert n_failed >= binom.ppf(1e-7, 50_000, 0.05)


def excess(noise, embeddings, error):
    """Return how much more loss the private minimiser has, in each of many fits.

    ``embeddings`` are T - E of the generators, (n_draws, n_generators, D).
    """
    losses = (embeddings**2).sum(axis=2)
    private = ((embeddings + error[:, None]) ** 2).sum(axis=2)
    chosen = np.take_along_axis(losses, private.argmin(axis=1)[:, None], axis=1)[:, 0]
    return chosen - losses.min(axis=1), np.sqrt(losses.min(axis=1))


@pytest.mark.parametrize("noise", [SMALL, COUNTED], ids=["public", "private"])
@pytest.mark.parametrize("best", [0.0, 0.2])
def test_the_private_minimiser_is_nearly_the_best_one(noise, best):
    error = errors(noise, 3000)
    size = error.shape[1]
    far = np.linspace(best, noise.diameter / 2, 30)
    random = far[:, None] * directions(size, 30)
    towards = -far[None, :, None] * (error / lengths(error)[:, None])[:, None]
    family = np.concatenate([np.broadcast_to(random, towards.shape), towards], axis=1)
    family[:, 30] = -family[:, 30]  # the best one is on the other side
    more, least = excess(noise, family, error)
    assert least == pytest.approx(best)
    assert more.max() > 0
    assert more.max() <= noise.excess_loss_bound(best, RARE)
    assert more.max() <= noise.excess_loss_bound(None, RARE)
    n_failed = (more > noise.excess_loss_bound(best)).sum()
    assert n_failed <= binom.isf(1e-7, 3000, 0.05)


def test_no_smaller_factor_than_4_bounds_the_excess():
    """Of a perfect generator and one that is off by twice the noise, either may win."""
    noise = replace(SMALL, noise_std=2.0)
    error = errors(noise, 50_000)
    perfect = np.zeros_like(error)
    worse = -2.0 * (1.0 - 1e-9) * error
    more, _ = excess(noise, np.stack([perfect, worse], axis=1), error)
    n_failed = (more > noise.excess_loss_bound(0.0) * (1 + 1e-6)).sum()
    n_nearly = (more > noise.excess_loss_bound(0.0) * (1 - 1e-6)).sum()
    assert n_failed <= binom.isf(1e-7, 50_000, 0.05)
    assert n_nearly >= binom.ppf(1e-7, 50_000, 0.05)
    assert more.max() <= noise.excess_loss_bound(0.0, RARE)


# ------------------------------------------------------------ what the paper states


def paper(noise, failure, distance=0.5):
    """Return the bounds of appendix A, with their constants: A.1 to A.5.

    The paper's B is the norm; two embeddings are at most 2 B apart.
    """
    variance = (noise.noise_std / noise.n) ** 2
    size = noise.n_features * noise.classes
    trace, frobenius, largest = size * variance, math.sqrt(size) * variance, variance
    along = math.sqrt(variance) * distance
    log, b = math.log(2 / failure), noise.norm
    root = math.sqrt(log)
    a1 = trace + 2 * math.sqrt(2 / math.pi) * along
    a2 = trace + math.sqrt(2 / math.pi) * along
    a2 += 2 * (frobenius + math.sqrt(2) * along) * root + 2 * largest * log
    a3 = trace + 4 * b * math.sqrt(trace)
    a3 += 2 * (frobenius + 2 * b * math.sqrt(largest)) * root + 2 * largest * log
    a5 = 9 * trace + 4 * math.sqrt(trace) * distance
    a5 += 2 * (9 * frobenius + 2 * math.sqrt(2 * largest) * distance) * root
    a5 += 18 * largest * log
    return a1, a2, a3, 2 * a3, a5


@pytest.mark.parametrize("noise", [SMALL, TINY], ids=["60 numbers", "one number"])
@pytest.mark.parametrize("failure", [0.1, 1e-3, 1e-6])
def test_bounds_are_below_those_of_the_paper_that_hold(noise, failure):
    a1, a2, a3, a4, a5 = paper(noise, failure)
    assert noise.mean_loss_change(0.5) <= a1
    assert noise.loss_change_bound(0.5, failure) <= a2
    assert noise.excess_loss_bound(None, failure) <= 0.6 * a4
    assert noise.excess_loss_bound(0.5, failure) <= 0.6 * a5
    if (noise, failure) != (TINY, 1e-6):
        assert noise.loss_change_bound(None, failure) <= a3


def test_the_constant_of_proposition_a3_is_too_small():
    """Its proof has 4 sqrt(2) B where the statement has 4 B, beside the logarithm.

    One number has norms of up to B = 100 and noise z of std 1, so the supremum is
    z² + 4 B |z|: it is larger than the statement more often than it may be.
    """
    failure, b = 1e-6, TINY.norm
    stated = paper(TINY, failure)[2]
    length = -2 * b + math.sqrt(4 * b**2 + stated)  # z² + 4 B z = stated
    assert 2 * norm.sf(length) > 1.2 * failure
    log = math.log(2 / failure)
    of_the_proof = stated + 4 * b * (math.sqrt(2) - 1) * math.sqrt(log)
    assert TINY.loss_change_bound(None, failure) <= of_the_proof


# ------------------------------------------------------------------- of real fits

N = 3000
SCHEMA = Schema(
    {
        "a": Categorical(["x", "y", "z"]),
        "b": Boolean(),
        "c": Categorical(["k", "l", "m", "n"]),
    }
)


def table():
    rng = np.random.default_rng(0)
    b = rng.random(N) < 0.4
    X = pd.DataFrame(
        {
            "a": rng.choice(["x", "y", "z"], N),
            "b": b,
            "c": np.where(b, "k", rng.choice(["l", "m", "n"], N)),
        }
    )
    return X, np.where(rng.random(N) < 0.3, "yes", "no")


def fitted(epsilon, adjacency="replace", n_features=400):
    synth = DPMERFSynthesizer(
        epsilon,
        adjacency=adjacency,
        schema=SCHEMA,
        classes=["no", "yes"],
        n_features=n_features,
        feature_norm=0.25,
        generator=Generator(max_iter=1),
        random_state=0,
    )
    with same_noise(3):
        return synth.fit(*table())


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_error_of_a_fit_is_the_expected_one(adjacency):
    """Numbers of features are 800, so a squared length varies by 5 %."""
    noisy, exact = fitted(1.0, adjacency), fitted(math.inf, adjacency)
    n_cells = sum(cells.n_cells for cells in noisy.cells_.values())
    kernel = noisy.kernel_
    difference = {
        key: weight * (noisy.release_.values[key] - exact.release_.values[key]) / N
        for key, weight in kernel.weights.items()
    }
    features, columns = Signed(), NonNegative(math.hypot(*kernel.scales))
    expected = embedding_noise(
        N,
        400 + n_cells,
        adjacency=adjacency,
        classes=2,
        share=share_of(noisy),
        structure=Weighted((features, columns), (0.5, math.sqrt(0.75))),
    )
    joint = np.concatenate([*difference.values()], axis=1)
    exact_count = replace(expected, count_std=0.0)
    assert np.linalg.norm(joint) == pytest.approx(exact_count.distance, rel=0.15)
    assert np.linalg.norm(joint) < exact_count.distance_bound(RARE)
    assert expected.noise_std == pytest.approx(
        0.5 * noisy.release_.noise_std["features"]
    )


def share_of(synth):
    """Return the fraction of the budget that the certificate states."""
    return synth.privacy_.releases[-1].share


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_number_of_rows_has_the_noise_of_its_release(adjacency):
    noise = embedding_noise(N, 10, adjacency=adjacency)
    counts = [
        entry.noise_std
        for entry in fitted(1.0, adjacency).privacy_.releases
        if entry.name == "number of rows"
    ]
    assert counts == pytest.approx([noise.count_std] * (adjacency == "add_remove"))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_plan_has_the_noise_of_a_fit(adjacency):
    """A public schema of categories needs no bins, for which the plan keeps 3 %."""
    planned = plan(N, 3, 1.0, adjacency=adjacency, is_schema_public=True)
    synth = DPMERFSynthesizer(
        1.0,
        adjacency=adjacency,
        schema=SCHEMA,
        classes=["no", "yes"],
        feature_norm=0.1,
        generator=Generator(max_iter=1),
        random_state=0,
    ).fit(*table())
    features = synth.release_.values["features"].shape
    assert features == (planned.embedding.classes, planned.embedding.n_features)
    std = synth.release_.noise_std["features"]
    assert planned.embedding.noise_std == pytest.approx(std, rel=0.02)
    assert str(planned.embedding) in str(planned)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_plan_hopes_where_noise_is_smaller_than_usual_relationships(adjacency):
    planned = plan(20_000, 10, adjacency=adjacency)
    moved = replace(planned.embedding, count_std=0.0).mean_square
    assert planned.relations == pytest.approx(moved / 5e-3)


# ------------------------------------------------------------------------ in words


def test_noise_in_words():
    noise = embedding_noise(50_000, 1000, classes=10)
    assert "1000 features x 10 classes by about 0.017" in str(noise)
    assert "1000 features by about" in str(embedding_noise(50_000, 1000))
    assert embedding_noise(100, 10, math.inf).distance == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 0}, "n must be"),
        ({"n_features": 2.5}, "n_features must be"),
        ({"classes": 0}, "classes must be"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"adjacency": "both"}, "adjacency must be"),
        ({"structure": 1.0}, "structure must be"),
        ({"share": 0.0}, "share must be"),
        ({"share": 1.0, "adjacency": "add_remove"}, "share must be"),
    ],
)
def test_wrong_quantities_raise(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        embedding_noise(**{"n": 10, "n_features": 10} | given)


def test_wrong_questions_raise():
    for failure in (0.0, 1.0):
        with pytest.raises(ValueError, match="failure must be"):
            SMALL.distance_bound(failure)
        with pytest.raises(ValueError, match="failure must be"):
            SMALL.loss_change_bound(0.1, failure)
    for distance in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="distance must be"):
            SMALL.mean_loss_change(distance)
        with pytest.raises(ValueError, match="distance must be"):
            SMALL.excess_loss_bound(distance)
    with pytest.raises(ValueError, match="fraction must be"):
        SMALL.of_class(0.0)


# -------------------------------------------------------------------- planted bugs

HERE = "tests/synthesizers/test_embedding_noise.py::"
TOOLS = "skdpgen.synthesizers.tools:"
PLANTED = (
    Bug(
        "expected-noise-of-added-rows",
        "expected noise under replace is that of a row that is added: half as much",
        TOOLS + "embedding_noise",
        "sensitivity(structure, neighbours)",
        "structure.bound",
        (
            HERE + "test_the_mean_square_is_that_of_releases",
            HERE + "test_the_error_of_a_fit_is_the_expected_one",
        ),
    ),
    Bug(
        "expected-noise-of-one-class",
        "expected noise counts the numbers of one class only",
        TOOLS + "EmbeddingNoise._n_numbers",
        "self.n_features * self.classes",
        "self.n_features",
        (
            HERE + "test_the_mean_square_is_that_of_simulated_errors",
            HERE + "test_the_bound_on_a_distance_fails_as_often_as_it_may",
        ),
    ),
    Bug(
        "expected-noise-without-a-root",
        "the expected distance of an embedding is its square",
        TOOLS + "EmbeddingNoise.distance",
        "math.sqrt(self.mean_square)",
        "self.mean_square",
        (HERE + "test_the_mean_square_is_that_of_releases",),
    ),
    Bug(
        "expected-noise-of-all-the-budget",
        "expected noise ignores that other releases have a share of the budget",
        TOOLS + "embedding_noise",
        "ledger.noise_std(share=share, sensitivity=sensitivity(structure, neighbours))",
        "ledger.noise_std(share=1.0, sensitivity=sensitivity(structure, neighbours))",
        (HERE + "test_the_mean_square_is_that_of_releases",),
    ),
    Bug(
        "expected-noise-of-an-exact-number-of-rows",
        "a bound ignores that the private number of rows is noisy",
        TOOLS + "EmbeddingNoise.distance_bound",
        "rows = self._rows_bound(failure / 2)",
        "rows = 0.0",
        (HERE + "test_the_bound_on_a_distance_fails_as_often_as_it_may",),
    ),
    Bug(
        "too-small-a-factor-of-the-excess",
        "the bound on the loss of the private minimiser has 3 instead of 4",
        TOOLS + "EmbeddingNoise.excess_loss_bound",
        "4.0 * length**2",
        "3.0 * length**2",
        (HERE + "test_no_smaller_factor_than_4_bounds_the_excess",),
    ),
)
