"""Counts of what is still open: a row moves them by the square root of K at most."""

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skdpgen.privacy import (
    Adjacency,
    ClippedCounts,
    GivenBatches,
    Histograms,
    Ledger,
    PrivacyBudget,
    _release,
    insecure_noise_seed,
    release,
    sensitivity,
)
from skdpgen.privacy._value_counts import selection_threshold

LIMITS = (1.0, 1.5, 2.7, 5.0)
SIZES = (3, 2, 4, 1, 2)
NAMES = ("job", "town", "code")
WORDS = ("a", "b", "c", "d")
N_PLACES = len(SIZES) + len(NAMES)
SLACK = 1 + 1e-12

not_private = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows: codes of cells, (n, len(SIZES)), and of words, (n, len(NAMES))."""

    cells: np.ndarray
    words: np.ndarray

    @property
    def part(self):
        tokens = {
            name: SimpleNamespace(codes=self.words[:, j], values=WORDS)
            for j, name in enumerate(NAMES)
        }
        return SimpleNamespace(codes=self.cells, tokens=tokens)

    @property
    def labels(self):
        return np.zeros(len(self.cells), dtype=np.int64)

    def __getitem__(self, some):
        return Rows(self.cells[some], self.words[some])

    @classmethod
    def of(cls, *rows):
        codes = np.array(rows, dtype=np.int64).reshape(-1, N_PLACES)
        return cls(codes[:, : len(SIZES)], codes[:, len(SIZES) :])

    @classmethod
    def random(cls, n, seed, low=-2, beyond=2):
        """Draw codes, some of which mean nothing: below 0, or beyond the sizes."""
        rng = np.random.default_rng(seed)
        highs = [*(size + beyond for size in SIZES), *(len(WORDS) + beyond,) * 3]
        return cls.of(*rng.integers(low, highs, (n, N_PLACES)))


def block_of(limit):
    return ClippedCounts(SIZES, NAMES, limit)


def summed(block, *parts):
    total = block.start(1)
    for rows in parts:
        total = block.add(total, rows.part, rows.labels)
    return total


def vector(block, *parts):
    """Return the exact value as one vector: cells, then the words of each column."""
    value = block.value(summed(block, *parts))
    words = [value["words"][name].get(word, 0.0) for name in NAMES for word in WORDS]
    return np.concatenate([value["cells"][0], words])


def n_open(row):
    highs = (*SIZES, *(len(WORDS),) * len(NAMES))
    return sum(0 <= code < high for code, high in zip(row, highs, strict=True))


NOTHING = (-1,) * N_PLACES
EVERYTHING = (0,) * N_PLACES
EXTREMES = [
    NOTHING,
    EVERYTHING,
    (*(size - 1 for size in SIZES), 3, 3, 3),  # all open, all elsewhere
    (0, *NOTHING[1:]),
    (1, *NOTHING[1:]),
    (*NOTHING[:-1], 0),
    (*NOTHING[:-1], 1),
    *((0,) * k + (-1,) * (N_PLACES - k) for k in range(2, N_PLACES)),
    *((1, 1, 1, 0, 1, 1, 1, 1)[:k] + (-1,) * (N_PLACES - k) for k in range(2, 9)),
]
SOME = [
    tuple(map(int, row)) for row in np.random.default_rng(0).integers(-1, 3, (60, 8))
]


@pytest.mark.parametrize("limit", LIMITS)
def test_no_row_moves_the_counts_further(limit):
    """Many pairs of rows, and extreme ones; the others of the table do not matter."""
    block = block_of(limit)
    values = [vector(block, Rows.of(row)) for row in [*EXTREMES, *SOME]]
    most_added = max(np.linalg.norm(value) for value in values)
    most_replaced = max(np.linalg.norm(a - b) for a in values for b in values)
    for adjacency, found in (("add_remove", most_added), ("replace", most_replaced)):
        claim = sensitivity(block.structure, Adjacency(adjacency))
        assert found <= claim * SLACK
        assert found >= 0.995 * claim  # and no smaller claim would hold


@pytest.mark.parametrize("limit", LIMITS)
def test_the_claim_is_the_root_of_the_limit(limit):
    structure = block_of(limit).structure
    assert sensitivity(structure, Adjacency.ADD_REMOVE) == pytest.approx(limit**0.5)
    assert sensitivity(structure, Adjacency.REPLACE) == pytest.approx(
        (2 * limit) ** 0.5
    )


@pytest.mark.parametrize("limit", LIMITS)
def test_other_rows_do_not_change_what_a_row_adds(limit):
    block, table = block_of(limit), Rows.random(50, seed=1)
    for place in range(50):
        others = np.delete(np.arange(50), place)
        move = vector(block, table) - vector(block, table[others])
        np.testing.assert_array_equal(move, vector(block, table[[place]]))


@pytest.mark.parametrize("limit", LIMITS)
def test_weights_are_those_of_the_definition_rounded_down(limit):
    block = block_of(limit)
    for row in [*EXTREMES, *SOME]:
        value, k = vector(block, Rows.of(row)), n_open(row)
        assert (value > 0).sum() == k
        if k:
            wanted = min(1.0, math.sqrt(limit / k))
            weights = set(value[value > 0].tolist())
            assert len(weights) == 1  # alike in all places
            assert wanted - 2**-10 <= weights.pop() <= wanted


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("row", EXTREMES)
def test_no_count_of_one_row_exceeds_1(limit, row):
    """So the threshold of partition selection holds for words that are clipped."""
    assert vector(block_of(limit), Rows.of(row)).max() <= 1.0


def test_codes_that_mean_nothing_count_as_nothing():
    """They are no open places either: a row counts whole beside them."""
    block = block_of(1.0)
    beyond = (*SIZES[:-1], 0, 4, 7, -9)  # one cell is there, all else is not
    rows = Rows.of(beyond, tuple(-2 - j for j in range(N_PLACES)))
    expected = np.zeros(sum(SIZES) + len(NAMES) * len(WORDS))
    expected[sum(SIZES[:-1])] = 1.0
    np.testing.assert_array_equal(vector(block, rows), expected)


@pytest.mark.parametrize("limit", LIMITS)
def test_parts_merge_to_the_whole_in_any_order(limit):
    block, table = block_of(limit), Rows.random(400, seed=2)
    whole = summed(block, table)
    rng = np.random.default_rng(3)
    for _ in range(10):
        order = rng.permutation(400)
        cuts = np.sort(rng.integers(0, 400, 6))
        parts = [summed(block, table[some]) for some in np.split(order, cuts)]
        total = block.start(1)
        for part in parts:
            total = block.merge(part, total)
        np.testing.assert_array_equal(total["cells"], whole["cells"])
        assert total["cells"].dtype == np.int64  # whole numbers: nothing is rounded
        assert total["words"] == whole["words"]
        kept = {name: dict(counts) for name, counts in whole["words"].items()}
        block.merge(whole, parts[0])
        assert whole["words"] == kept  # merging changes neither part


def test_a_column_is_named_once():
    """Named twice, each row would count twice and be charged once."""
    with pytest.raises(ValueError, match="a name twice"):
        ClippedCounts((2,), ("job", "town", "job"), 1.0)


@pytest.mark.parametrize("limit", [0.0, 0.999, -1.0, math.inf, math.nan])
def test_a_limit_below_1_is_refused(limit):
    with pytest.raises(ValueError, match="limit must be in"):
        ClippedCounts((2,), (), limit)


def test_rows_of_another_shape_are_refused():
    """What broadcasts would count a row many times."""
    block, rows = block_of(1.0), Rows.random(5, seed=4)
    part = rows.part
    for codes, labels in (
        (part.codes[:, :-1], rows.labels),
        (part.codes, rows.labels[:-1]),
        (part.codes[:1], rows.labels),
    ):
        broken = SimpleNamespace(codes=codes, tokens=part.tokens)
        with pytest.raises(ValueError, match="per row"):
            block.add(block.start(1), broken, labels)
    short = {
        n: SimpleNamespace(codes=t.codes[:1], values=WORDS)
        for n, t in part.tokens.items()
    }
    with pytest.raises(ValueError, match="per row"):
        block.add(
            block.start(1), SimpleNamespace(codes=part.codes, tokens=short), rows.labels
        )


# --------------------------------------------------------------------- releases


def new_ledger():
    return Ledger(PrivacyBudget.reserving(4.0, 1e-3, Adjacency.ADD_REMOVE, len(NAMES)))


def released(block, table, ledger=None):
    part = SimpleNamespace(labels=table.labels, parts={"open": table.part})
    given: Any = {"name": "what is open", "share": 1.0}
    rows = GivenBatches([part])
    return release(rows, {"open": block}, ledger=ledger or new_ledger(), **given)


def test_cells_have_the_noise_that_is_declared():
    """Means and variances over 4,000 draws are within 6 standard errors."""
    block, table = block_of(2.7), Rows.random(30, seed=5)
    exact = block.value(summed(block, table))["cells"]
    noise = []
    for _ in range(4000 // exact.size + 1):
        found = released(block, table)
        std = found.noise_std["open"]
        assert std == pytest.approx(2.7**0.5 / new_ledger().mu)
        noise.append((found.values["open"]["cells"] - exact) / std)
    z = np.array(noise)
    assert abs(z.mean()) < 6 / z.size**0.5
    assert abs((z**2).mean() - 1) < 6 * (2 / z.size) ** 0.5


def word_of(n_rows):
    """Return rows of which some have the word "a" in one column, and nothing else."""
    rows = np.full((max(n_rows, 1), N_PLACES), -1, dtype=np.int64)
    rows[:n_rows, len(SIZES)] = 0
    return Rows.of(*rows)


def test_a_word_is_shown_only_above_the_threshold():
    """At the threshold half of 400 releases show it; 130 to 270 do but for 1e-11."""
    ledger = new_ledger()
    std = ledger.noise_std(share=1.0, sensitivity=1.0)
    threshold = selection_threshold(std, ledger.budget.delta_selection, len(NAMES))
    n_rows = round(threshold)
    found = []
    for _ in range(400):
        words = released(block_of(1.0), word_of(n_rows)).values["open"]["words"]
        found += words["job"].values()
        assert not words["town"]
    assert 130 < len(found) < 270
    assert min(found) > threshold
    assert len(set(found)) > 0.99 * len(found)  # each with its noise


def test_clipped_words_reserve_their_part_of_delta():
    ledger = new_ledger()
    released(block_of(1.0), word_of(3), ledger)
    with pytest.raises(Exception, match="partition selections"):
        ledger.admit_selection(1, 1.0)


def test_cells_alone_need_no_selection():
    rows = Rows.random(20, seed=6)
    part = SimpleNamespace(codes=rows.cells, tokens={})
    batch = SimpleNamespace(labels=rows.labels, parts={"open": part})
    ledger = Ledger(PrivacyBudget(1.0, 1e-5, Adjacency.REPLACE))
    found = release(
        GivenBatches([batch]),
        {"open": ClippedCounts(SIZES, (), 2.0)},
        name="cells",
        ledger=ledger,
        share=1.0,
    )
    assert found.values["open"]["cells"].shape == (1, sum(SIZES))
    assert found.values["open"]["words"] == {}


@not_private
def test_a_public_word_is_noised_whether_or_not_a_row_has_it(monkeypatch):
    """Some of them pass 3.5 noise stds by chance: the seeds make it certain."""
    monkeypatch.setattr(_release, "EVIDENCE", 3.5)
    public = tuple(f"word {i:03d}" for i in range(300))
    block = ClippedCounts(SIZES, NAMES, 1.0, public)
    nobody = Rows.of(NOTHING)
    by_chance = 0
    for seed in range(15):
        with insecure_noise_seed(seed):
            found = released(block, nobody)
        for counts in found.values["open"]["words"].values():
            by_chance += len(counts)
            assert set(counts) <= set(public)
            assert all(c > 3.5 * found.noise_std["open"] for c in counts.values())
    assert 1 <= by_chance <= 10  # of 13,500 draws 3.1 are expected


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_blocks_of_half_the_weight_are_charged_and_have_twice_the_noise(adjacency):
    """Octaves and decimals of numbers: as in the first release of discovery.

    Variances over 3,000 draws are within 6 standard errors.
    """
    rng = np.random.default_rng(7)
    parts = {
        "columns": rng.integers(0, 5, (40, 3)),
        "digits": rng.integers(0, 2, (40, 2)),
    }
    batch = SimpleNamespace(labels=np.zeros(40, dtype=np.int64), parts=parts)
    blocks = {"columns": Histograms((5, 5, 5)), "digits": Histograms((2, 2))}
    norm = (3 + 2 * 0.5**2) ** 0.5 * (1 if adjacency == "add_remove" else 2**0.5)
    noise: dict[str, list[Any]] = {key: [] for key in blocks}
    for _ in range(750):
        ledger = Ledger(PrivacyBudget(2.0, 1e-5, adjacency))
        found = release(
            GivenBatches([batch]),
            blocks,
            weights={"digits": 0.5},
            name="octaves and decimals",
            ledger=ledger,
            share=1.0,
        )
        assert found.sensitivity == pytest.approx(norm)
        for key, block in blocks.items():
            total = block.add(block.start(1), parts[key], batch.labels)
            noise[key].append(found.values[key] - block.value(total))
    std = norm / Ledger(PrivacyBudget(2.0, 1e-5, adjacency)).mu
    for key, wanted in (("columns", std), ("digits", 2 * std)):
        assert found.noise_std[key] == pytest.approx(wanted)
        z = np.array(noise[key]) / wanted
        assert abs((z**2).mean() - 1) < 6 * (2 / z.size) ** 0.5
