"""Noisy slopes of a kernel mean: how far a row moves them, their noise, no leak."""

import math
import warnings

import numpy as np
import pytest
import torch
from scipy import optimize, stats
from torch import nn

from skdpgen.exceptions import BudgetExceededError, NotPrivateWarning
from skdpgen.privacy import _oracle
from skdpgen.privacy._budget import Adjacency, PrivacyBudget
from skdpgen.privacy._ledger import Ledger
from skdpgen.privacy._noise import gaussian_noise, insecure_noise_seed
from skdpgen.privacy._oracle import functional_oracle, kernel_slopes, slope_noise
from skdpgen.privacy._subsampled import subsampled_noise_multiplier
from skdpgen.training import descend

ALPHA = 1e-6
JITTER = 1e-9  # of the mean variance: the independent noise on top
REACH = {"add_remove": 1.0, "replace": math.sqrt(2)}
AUDITED = 2.0  # the epsilon that the audit is to disprove


class FakeLedger:
    def __init__(self, noise_multiplier):
        self.noise_multiplier = noise_multiplier
        self.charges = []
        self.is_insecure = False

    def charge_subsampled(self, name, **charge):
        self.charges.append((name, charge))
        return self.noise_multiplier

    def mark_insecure(self):
        self.is_insecure = True


class Cloud:
    """Rows: points and their labels."""

    def __init__(self, x, labels=None):
        self.x = np.asarray(x)
        labels = np.zeros(len(self.x)) if labels is None else labels
        self.labels = np.asarray(labels, dtype=np.int64)

    def __len__(self):
        return len(self.x)

    def take(self, indices):
        return Cloud(self.x[indices], self.labels[indices])


def opened(rows, noise_multiplier=0.0, ledger=None, **changes):
    settings = {
        "name": "slopes",
        "share": 1.0,
        "sampling_rate": 1.0,
        "n_steps": 1,
        "length_scales": (1.0,),
        "width": rows.x.shape[1],
        "expected_rows": 1.0,
    }
    ledger = ledger or FakeLedger(noise_multiplier)
    return functional_oracle(rows, ledger, **settings | changes)


def exact_slopes(rows, points, labels, scales):
    with opened(rows, length_scales=scales) as step:
        return step(points, labels)


def exact_covariance(points, scales):
    """Of all slopes of the process, entry by entry as the formula has it."""
    m, width = points.shape
    whole = np.zeros((m, width, m, width))
    for i in range(m):
        for j in range(m):
            gap = points[i] - points[j]
            for h in scales:
                kernel = math.exp(-(gap @ gap) / (2 * h * h)) / len(scales)
                block = np.eye(width) / h**2 - np.outer(gap, gap) / h**4
                whole[i, :, j] += kernel * block
    return whole.reshape(m * width, m * width)


def with_jitter(covariance):
    mean = np.trace(covariance) / len(covariance)
    return covariance + JITTER * mean * np.eye(len(covariance))


def distance(move, points, labels, scales):
    """How many standard deviations of the noise a field of slopes has moved."""
    total = 0.0
    for label in set(labels):
        mine = labels == label
        root = np.linalg.cholesky(with_jitter(exact_covariance(points[mine], scales)))
        total += (np.linalg.solve(root, move[mine].ravel()) ** 2).sum()
    return math.sqrt(total)


def clouds_of_points(rng):
    """In general position, on a line, near each other, coincident, far apart."""
    near = rng.normal(size=3) + 1e-7 * rng.normal(size=(5, 3))
    pair = rng.normal(size=(5, 3))
    pair[4] = pair[1]
    return {
        "one": rng.normal(size=(1, 4)),
        "general": rng.normal(size=(5, 3)),
        "wide": rng.normal(size=(4, 20)) / 2,
        "on a line": np.linspace(-2, 2, 6)[:, None] * rng.normal(size=3),
        "nearly on a line": rng.normal(size=(5, 3)) * [1.0, 1e-5, 1e-8],
        "close": 0.1 * rng.normal(size=(5, 3)),
        "nearly coincident": near,
        "a pair coincides": pair,
        "all coincide": np.tile(rng.normal(size=3), (4, 1)),
        "far apart": 100 * rng.normal(size=(4, 3)),
    }


POINTS = clouds_of_points(np.random.default_rng(0))
SCALES = [(1.0,), (0.3, 1.0, 3.0), (5.0, 10.0)]
each_cloud = pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
each_scale = pytest.mark.parametrize("scales", SCALES, ids=str)


# ------------------------------------------------------- how far one row moves them


def strange_rows(points, rng):
    width = points.shape[1]
    at = points[rng.integers(len(points))]
    aside = rng.normal(size=width)
    aside *= 10.0 ** rng.uniform(-3, 1) / np.linalg.norm(aside)
    one_bad = at.copy()
    one_bad[0] = math.nan
    return [
        at,
        at + aside,
        at - aside,
        at + 500.0,
        points.mean(axis=0) + 1e-9 * aside,
        one_bad,
        *(np.full(width, bad) for bad in (math.inf, -math.inf, 1e30, -1e30, -0.0)),
    ]


def largest_move(points, scales, adjacency, rng, n=30):
    """Search neighbours: any row for any other, labels 0, 1 and none included."""
    labels = np.arange(len(points)) % 2
    rest_x = points[rng.integers(len(points), size=4)] + rng.normal(
        size=(4, points.shape[1])
    )
    rest_y = rng.integers(0, 2, size=4)
    worst = 0.0
    for _ in range(n):
        tables = []
        for is_there in (True, adjacency == "replace"):
            strange = strange_rows(points, rng)
            row = strange[rng.integers(len(strange))]
            more = [row] * is_there
            label = [rng.choice([0, 0, 1, 1, -1, 7])] * is_there
            x = np.vstack([rest_x, *more])
            tables.append(Cloud(x, np.concatenate([rest_y, label])))
        one, other = (exact_slopes(t, points, labels, scales) for t in tables)
        worst = max(worst, distance(one - other, points, labels, scales))
    return worst


@each_cloud
@each_scale
@pytest.mark.parametrize("adjacency", REACH)
def test_no_neighbour_is_further_away_than_declared(points, scales, adjacency):
    rng = np.random.default_rng(1)
    worst = largest_move(points, scales, adjacency, rng)
    assert 0.0 < worst <= REACH[adjacency] * (1 + 1e-6)


@each_scale
def test_climbing_finds_no_row_beyond_the_declared_norm(scales):
    rng = np.random.default_rng(2)
    best = 0.0
    for name in ("general", "close", "on a line", "nearly coincident"):
        points = POINTS[name]
        labels = np.zeros(len(points), dtype=int)
        root = np.linalg.cholesky(with_jitter(exact_covariance(points, scales)))

        def short(x, points=points, root=root):
            slopes = kernel_slopes(x[None], points, np.asarray(scales))
            return -np.linalg.norm(np.linalg.solve(root, slopes.ravel()))

        start = points[0] + scales[0] * rng.normal(size=points.shape[1])
        found = optimize.minimize(short, start, method="Nelder-Mead")
        rows = Cloud(found.x[None])
        slopes = exact_slopes(rows, points, labels, scales)
        best = max(best, distance(slopes, points, labels, scales))
    assert 0.3 < best <= 1 + 1e-6


def line(spacing):
    """64 points along a line: the slopes there say nearly all of a function."""
    return (np.arange(64) - 31.5)[:, None] * spacing


@pytest.mark.parametrize("adjacency", REACH)
def test_some_neighbours_are_nearly_as_far_away_as_declared(adjacency):
    points, labels = line(0.8), np.zeros(64, dtype=int)
    moved = exact_slopes(Cloud([[0.0]]), points, labels, (1.0,))
    if adjacency == "replace":
        moved -= exact_slopes(Cloud([[15.0]]), points, labels, (1.0,))
    found = distance(moved, points, labels, (1.0,))
    assert 0.95 * REACH[adjacency] < found <= REACH[adjacency] * (1 + 1e-6)


@pytest.mark.parametrize("adjacency", REACH)
def test_the_ledger_declares_no_less(adjacency):
    ledger = Ledger(PrivacyBudget(1.0, 1e-5, Adjacency(adjacency)))
    rows = Cloud(np.zeros((3, 2)))
    with opened(rows, ledger=ledger, expected_rows=3.0) as step:
        assert np.isfinite(step(np.zeros((2, 2)), np.array([0, 1]))).all()
    (entry,) = ledger.entries
    assert entry.sensitivity >= REACH[adjacency]
    budget = ledger.budget
    multiplier = subsampled_noise_multiplier(*budget.gaussian, 1.0, 1, adjacency)
    assert entry.noise_std == pytest.approx(multiplier, rel=1e-6)


@pytest.mark.parametrize("offset", [0.0, 900.0])
@pytest.mark.parametrize("h", [10.0**k for k in range(-9, 2)])
def test_a_length_scale_is_refused_or_rounding_does_no_harm(h, offset):
    """One point has covariance I / h², and a row at distance r h moves it by r k(r)."""
    rng, width, labels = np.random.default_rng(3), 784, np.zeros(1)
    for size in (1.0, 2.0, 4.0, 8.0):
        row = offset + rng.random((1, width))
        aside = rng.normal(size=(1, width))
        points = row + h * size * aside / np.linalg.norm(aside)
        ledger = FakeLedger(0.0)
        try:
            with opened(Cloud(row), ledger=ledger, length_scales=(h,)) as step:
                moved = h * np.linalg.norm(step(points, labels))
        except ValueError:
            assert ledger.charges == []
            return
        r = np.linalg.norm(points - row) / h
        assert moved == pytest.approx(r * math.exp(-(r**2) / 2), abs=1e-3)


@pytest.mark.parametrize("spread", [1e-9, 1e-4, 1.0])
def test_one_row_leaves_what_the_others_add_as_it_was(spread):
    """Rounding that hangs on the rows beside would be seen by points that are close."""
    rng = np.random.default_rng(8)
    x = rng.random((3000, 20))
    points = x[:1] + spread * rng.normal(size=(4, 20)) / 4
    labels, scales = np.zeros(4), (0.3, 1.0, 3.0)
    tables = [Cloud(rows) for rows in (x, x[1:], x[:1])]
    whole, rest, one = (exact_slopes(t, points, labels, scales) for t in tables)
    assert distance(whole - rest - one, points, labels, scales) < 1e-5


# ---------------------------------------------------------------------------- noise


def drawn(points, scales, n):
    with warnings.catch_warnings(action="ignore"), insecure_noise_seed(4):
        return np.array(
            [slope_noise(points, np.asarray(scales)).ravel() for _ in range(n)]
        )


def has_covariance(draws, covariance):
    """Whether whitened draws have unit variance in every direction, and no more."""
    values, vectors = np.linalg.eigh(with_jitter(covariance))
    z = draws @ vectors / np.sqrt(values)
    n, k = z.shape
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], n * k)
    total = (z**2).sum()
    off = z.T @ z / n - np.eye(k)
    bound = -stats.norm.ppf(ALPHA / k**2) * math.sqrt(2 / n)
    return bool(low <= total <= high) and bool(np.abs(off).max() <= bound)


@each_cloud
@each_scale
def test_noise_has_the_exact_covariance_and_a_weaker_twin_is_caught(points, scales):
    covariance = exact_covariance(points, scales)
    draws = drawn(points, scales, 1500)
    assert has_covariance(draws, covariance)
    assert not has_covariance(0.9 * draws, covariance)


def test_noise_that_forgets_how_slopes_hang_together_is_caught():
    points, scales = POINTS["general"], (1.0,)
    covariance = exact_covariance(points, scales)
    alone = np.diag(np.diag(covariance))
    rng = np.random.default_rng(5)
    draws = rng.multivariate_normal(np.zeros(len(alone)), alone, size=1500)
    assert not has_covariance(draws, covariance)


def map_of_noise(monkeypatch, points, scales):
    """Return the matrix that turns independent variates into the noise."""
    sizes = []

    def record(shape, std):
        sizes.append(math.prod(shape))
        return np.zeros(shape)

    monkeypatch.setattr(_oracle, "gaussian_noise", record)
    slope_noise(points, np.asarray(scales))
    columns = []
    for unit in np.eye(sum(sizes)):
        parts = iter(np.split(unit, np.cumsum(sizes)[:-1]))
        monkeypatch.setattr(
            _oracle,
            "gaussian_noise",
            lambda shape, std, parts=parts: std * next(parts).reshape(shape),
        )
        columns.append(slope_noise(points, np.asarray(scales)).ravel())
    return np.array(columns).T


@each_cloud
@each_scale
def test_noise_lacks_nothing_in_any_direction(monkeypatch, points, scales):
    """No statistics: its covariance less the exact one is a little, and positive."""
    matrix = map_of_noise(monkeypatch, points, scales)
    covariance = exact_covariance(points, scales)
    more = np.linalg.eigvalsh(matrix @ matrix.T - covariance)
    mean = np.trace(covariance) / len(covariance)
    assert more.min() >= 0.9 * JITTER * mean
    assert more.max() <= 1.1 * JITTER * mean


@pytest.mark.parametrize("gap", [1e-8, 1e-7, 3e-7, 1e-6, 1e-4])
def test_far_points_take_no_noise_from_a_pair_of_near_ones(monkeypatch, gap):
    """A row moves the slopes by one noise deviation at most, in any direction.

    A direction in which a pair differs is small beside the others. Without noise of its
    own, the row would be several deviations away.
    """
    scales, m = (1e-3,), 20
    points = np.zeros((m, 2))
    points[1, 1] = gap
    points[2:, 0] = np.linspace(500.0, 1000.0, m - 2)
    matrix = map_of_noise(monkeypatch, points, scales)
    pair = [1, 3]  # the slopes of the pair along the second axis
    covariance = (matrix @ matrix.T)[np.ix_(pair, pair)]
    rows = np.zeros((601, 1, 2))
    rows[:, 0, 1] = np.linspace(-3.0, 3.0, 601) * scales[0]
    moves = np.array(
        [kernel_slopes(row, points[:2], np.asarray(scales))[:, 1] for row in rows]
    )
    squares = np.einsum("ni,ij,nj->n", moves, np.linalg.inv(covariance), moves)
    assert squares.max() <= 1.0 + 1e-6


def test_every_step_and_every_label_has_its_own_noise():
    points, labels = np.zeros((2, 50)), np.array([0, 1])
    with opened(Cloud(np.zeros((1, 50)), [-1]), 1.0, n_steps=2) as step:
        fields = np.vstack([step(points, labels) for _ in range(2)])
    assert np.abs(np.corrcoef(fields) - np.eye(4)).max() < 0.7  # 5 deviations


def test_noise_is_scaled_by_the_multiplier_and_the_expected_batch():
    rows = Cloud(np.zeros((10, 20_000)), np.full(10, -1))
    settings = {"sampling_rate": 0.5, "expected_rows": 10.0, "length_scales": (2.0,)}
    with opened(rows, 3.0, **settings) as step:
        z = step(np.zeros((1, 20_000)), np.zeros(1)) * (0.5 * 10) * 2.0 / 3.0
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], z.size)
    assert low <= (z**2).sum() <= high
    assert not low <= (0.9**2 * z**2).sum() <= high


def test_low_bits_do_not_tell_a_sum_from_noise_alone():
    """Results lie on a grid; else small ones show how large their terms were."""
    with opened(Cloud(np.zeros((1, 500)), [-1]), 4.0) as step:
        slopes = step(np.zeros((1, 500)), np.zeros(1))
    steps = slopes * 2.0**30
    assert (steps == np.rint(steps)).all()


def test_noise_that_cannot_be_drawn_raises(monkeypatch):
    def fail(matrix):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "cholesky", fail)
    with (
        opened(Cloud(np.zeros((2, 3))), 1.0) as step,
        pytest.raises(FloatingPointError, match="could not be drawn"),
    ):
        step(np.zeros((2, 3)), np.zeros(2))


def test_without_noise_nothing_is_drawn(monkeypatch):
    monkeypatch.setattr(_oracle, "slope_noise", None)
    slopes = exact_slopes(Cloud([[0.0]]), np.ones((1, 1)), np.zeros(1), (1.0,))
    assert slopes == pytest.approx(-math.exp(-0.5))


# --------------------------------------------------------------------------- slopes


@each_scale
def test_slopes_are_those_of_the_kernel_sum(scales):
    rng = np.random.default_rng(6)
    x, points = rng.normal(size=(30, 4)), rng.normal(size=(6, 4))
    points[5] = x[0]
    at = torch.tensor(points, requires_grad=True)
    squares = ((torch.tensor(x)[:, None] - at[None]) ** 2).sum(dim=2)
    kernels = [torch.exp(-squares / (2 * h**2)) for h in scales]
    (sum(kernels).sum() / len(scales)).backward()
    found = kernel_slopes(x, points, np.asarray(scales))
    np.testing.assert_allclose(found, at.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_a_step_is_the_mean_of_each_label_over_all_rows():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(40, 3)), rng.integers(-1, 2, size=40)
    points, labels = rng.normal(size=(4, 3)), np.array([1, 0, 1, 0])
    with opened(Cloud(x, y), expected_rows=40.0) as step:
        found = step(points, labels)
    for place, label, slope in zip(points, labels, found, strict=True):
        alone = kernel_slopes(x[y == label], place[None], np.ones(1))[0] / 40.0
        np.testing.assert_allclose(slope, alone, rtol=1e-9, atol=1e-15)


def test_the_divisor_is_the_expected_batch():
    rows = Cloud(np.zeros((100, 1)))
    settings = {"sampling_rate": 0.2, "n_steps": 300, "expected_rows": 100.0}
    with opened(rows, **settings) as step:
        found = np.array([step(np.ones((1, 1)), np.zeros(1))[0, 0] for _ in range(300)])
    unit = -math.exp(-0.5)  # of a row at 0, seen from 1
    assert abs(found.mean() / unit - 1) < 6 * 0.2 / math.sqrt(300)
    assert 0.15 < (found / unit).std() < 0.26  # sqrt(.2 * .8 * 100) / 20 is .2


BAD = [math.nan, math.inf, -math.inf, 1e30, -1e30, 1e4, 1.7e308]


@pytest.mark.parametrize("bad", BAD)
def test_rows_that_are_not_finite_or_far_off_count_as_nothing(bad):
    rows = np.array([[0.3, 0.2], [bad, 0.1], [0.1, bad], [bad, bad]])
    points, labels = np.array([[0.0, 0.0], [0.3, 0.3]]), np.zeros(2)
    found = exact_slopes(Cloud(rows), points, labels, (1.0, 100.0))
    alone = exact_slopes(Cloud(rows[:1]), points, labels, (1.0, 100.0))
    np.testing.assert_array_equal(found, alone)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_rows_of_any_number_type_are_taken(dtype):
    rows = np.array([[1, 0], [0, 1]], dtype=dtype)
    points, labels = np.array([[0.5, 0.2]]), np.zeros(1)
    found = exact_slopes(Cloud(rows), points, labels, (1.0,))
    same = exact_slopes(Cloud(rows.astype(float)), points, labels, (1.0,))
    np.testing.assert_array_equal(found, same)


# ------------------------------------------------------------- what must not be told


@pytest.mark.parametrize(
    "rows",
    [
        Cloud(np.zeros((0, 2))),
        Cloud(np.ones((3, 2)), [1, 1, -1]),
        Cloud(np.full((3, 2), math.nan)),
    ],
    ids=["no row", "no row of the label", "no row in sight"],
)
def test_a_sample_without_rows_is_noise_alone(rows):
    """An error would tell what noise is to hide."""
    points, labels = np.zeros((2, 2)), np.zeros(2)
    with opened(rows, 1.0) as step:
        assert (step(points, labels) != 0).all()
    with opened(rows) as step:
        assert (step(points, labels) == 0).all()


def test_an_empty_draw_is_noise_alone():
    with opened(Cloud(np.ones((3, 2))), 1.0, sampling_rate=1e-12) as step:
        assert step(np.zeros((2, 2)), np.zeros(2)).shape == (2, 2)


MANY = 7919  # rows: a number that no message may hold
GOOD = (np.zeros((2, 3)), np.zeros(2))


@pytest.mark.parametrize(
    ("points", "labels"),
    [
        (np.zeros((2, 4)), GOOD[1]),
        (np.zeros((2, 2)), GOOD[1]),
        (np.zeros((3, 3)), GOOD[1]),
        (np.zeros(3), GOOD[1]),
        (np.zeros((2, 3, 1)), GOOD[1]),
        (np.full((2, 3), math.nan), GOOD[1]),
        (np.full((2, 3), math.inf), GOOD[1]),
        (np.full((2, 3), 1001.0), GOOD[1]),
        (GOOD[0], np.array([0, -1])),
        (GOOD[0], np.array([0, math.nan])),
        (np.zeros((65, 3)), np.zeros(65)),
    ],
)
def test_bad_points_raise_without_the_sample_size(points, labels):
    rows = Cloud(np.zeros((MANY, 3)))
    with opened(rows, 1.0) as step, pytest.raises(ValueError, match="oint") as error:
        step(points, labels)
    assert str(MANY) not in str(error.value)


def test_points_of_other_labels_do_not_count_towards_the_most():
    with opened(Cloud(np.zeros((2, 1))), 1.0) as step:
        assert step(np.zeros((128, 1)), np.arange(128) % 2).shape == (128, 1)


def test_steps_are_counted():
    with opened(Cloud(np.zeros((2, 3))), 1.0, n_steps=2) as step:
        step(*GOOD)
        step(*GOOD)
        with pytest.raises(BudgetExceededError, match="charged for 2 steps"):
            step(*GOOD)


def test_an_interrupted_step_is_spent(monkeypatch):
    def interrupt(*ignored):
        raise KeyboardInterrupt

    with opened(Cloud(np.zeros((2, 3))), 1.0) as step:
        with monkeypatch.context() as patch:
            patch.setattr(_oracle, "slope_noise", interrupt)
            with pytest.raises(KeyboardInterrupt):
                step(*GOOD)
        with pytest.raises(BudgetExceededError):
            step(*GOOD)


def test_it_is_dead_after_the_block_and_lets_go_of_the_rows():
    with opened(Cloud(np.zeros((2, 3))), 1.0, n_steps=5) as step:
        step(*GOOD)
    with pytest.raises(RuntimeError, match="oracle is closed"):
        step(*GOOD)
    held = [cell.cell_contents for cell in step.__closure__]
    assert not any(isinstance(content, Cloud) for content in held)


def test_it_is_dead_after_an_exception_too():
    with pytest.raises(KeyError), opened(Cloud(np.zeros((2, 3)))) as step:
        raise KeyError
    with pytest.raises(RuntimeError, match="oracle is closed"):
        step(*GOOD)


def test_the_ledger_is_charged_once_on_entry():
    ledger = FakeLedger(0.0)
    charge = {"share": 0.5, "sampling_rate": 0.1, "n_steps": 3}
    oracle = opened(Cloud(np.zeros((2, 3))), ledger=ledger, **charge)
    assert ledger.charges == []
    with oracle as step:
        step(*GOOD)
    assert ledger.charges == [("slopes", charge | {"norm_bound": 1.0})]


def test_seeded_noise_is_told_to_the_ledger():
    ledger = FakeLedger(1.0)
    with opened(Cloud(np.zeros((2, 3))), ledger=ledger, n_steps=2) as step:
        step(*GOOD)
        assert not ledger.is_insecure
        with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
            step(*GOOD)
    assert ledger.is_insecure


@pytest.mark.parametrize(
    "change",
    [
        {"sampling_rate": 0.0},
        {"sampling_rate": 1.1},
        {"n_steps": 0},
        {"width": 0},
        {"length_scales": ()},
        {"length_scales": (1.0, 0.0)},
        {"length_scales": (1.0, -1.0)},
        {"length_scales": (math.inf,)},
        {"length_scales": (math.nan,)},
        {"expected_rows": 0.0},
        {"expected_rows": math.inf},
    ],
    ids=repr,
)
def test_bad_parameters_cost_nothing(change):
    ledger = FakeLedger(0.0)
    rows = Cloud(np.zeros((2, 3)))
    with (
        pytest.raises(ValueError, match=next(iter(change))),
        opened(rows, ledger=ledger, **change),
    ):
        pass
    assert ledger.charges == []


# -------------------------------------------------------------------- gradient leak


N_POINTS, WIDTH, N_LATENT = 4, 6, 2
HERE, THERE = (np.full((50, WIDTH), sign * 0.5) for sign in (1.0, -1.0))


def new_generator():
    """Return a small generator, the same every time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = nn.Sequential(nn.Linear(N_LATENT, 5), nn.Tanh(), nn.Linear(5, WIDTH))

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, latents, labels):
            return [self.layers(latents)]

    return Wrapped()


def gradient(generator):
    return torch.cat([p.grad.flatten() for p in generator.parameters()]).numpy()


def move_once(generator, slopes, n_points, n_latent=1):
    """One step of training, with gradients left in the generator's weights."""
    descend(
        generator,
        slopes,
        lambda outputs: outputs[0],
        shares=np.ones(1),
        length_scales=(1.0,),
        n_points=n_points,
        n_latent=n_latent,
        max_iter=1,
        learning_rate=1e-2,
        rng=torch.Generator().manual_seed(0),
        device=torch.device("cpu"),
    )


def our_update(table, noise_multiplier):
    """What one step of training hands to the optimiser."""
    generator = new_generator()
    rows = Cloud(table)
    with opened(rows, noise_multiplier, expected_rows=float(len(table))) as slopes:
        move_once(generator, slopes, N_POINTS, N_LATENT)
    return gradient(generator)


def published_update(table, noise_multiplier):
    """The same step as published: the square of a loss with noise on its values.

    The noise has no gradient. Each value has its own here, in place of a path.
    """
    generator = new_generator()
    rng = torch.Generator().manual_seed(0)
    latents = torch.randn(N_POINTS, N_LATENT, generator=rng)
    (points,) = generator(latents, None)
    rows = torch.tensor(table).float()
    path = gaussian_noise((len(rows) + N_POINTS,), noise_multiplier / len(rows))
    at_rows, at_points = torch.tensor(path).split([len(rows), N_POINTS])
    real = (kernels(rows, rows).mean(dim=0) + at_rows).mean()
    both = (kernels(rows, points).mean(dim=0) + at_points).mean()
    loss = real - 2.0 * both + kernels(points, points).mean()
    loss.square().backward()
    return gradient(generator)


def kernels(x, y):
    return torch.exp(-(x[:, None] - y[None]).square().sum(dim=2) / 2)


def leak(update, noise_multiplier, n=150):
    """How surely updates tell two tables apart, in standard deviations."""
    direction = update(HERE, 0.0) - update(THERE, 0.0)
    direction /= np.linalg.norm(direction)
    here, there = (
        np.array([update(table, noise_multiplier) @ direction for _ in range(n)])
        for table in (HERE, THERE)
    )
    spread = math.sqrt((here.var() + there.var()) / n)
    if spread < 1e-12:
        return math.inf
    return abs(here.mean() - there.mean()) / spread


def test_updates_are_independent_of_the_data_when_noise_swamps_it():
    assert leak(our_update, 1e7) < -stats.norm.ppf(ALPHA / 2)


def test_the_test_sees_data_that_noise_does_not_swamp():
    assert leak(our_update, 1.0) > 10


def unit(update):
    return update / np.linalg.norm(update)


def test_the_published_update_has_the_exact_direction_whatever_the_noise():
    """Its size is noisy, and its sign may be the other one: lines tell tables apart."""
    here, there = (unit(published_update(table, 0.0)) for table in (HERE, THERE))
    assert abs(here @ there) < 0.99
    for _ in range(20):
        noisy = unit(published_update(HERE, 1e7))
        assert abs(noisy @ here) > 1.0 - 1e-5
        assert abs(noisy @ there) < 0.99


class Places(nn.Module):
    """A generator whose weights are its points."""

    def __init__(self, points):
        super().__init__()
        self.points = nn.Parameter(torch.tensor(points))

    def forward(self, latents, labels):
        return [1.0 * self.points]


def test_all_of_the_noise_arrives_in_the_update():
    """An update is whitened by the noise it must have: nothing more certain is left."""
    places = POINTS["general"][:4]
    n, sigma = 300, 1e6
    updates = []
    for _ in range(n):
        generator = Places(places)
        with opened(Cloud(HERE[:, :3]), sigma, expected_rows=50.0) as slopes:
            move_once(generator, slopes, len(places))
        updates.append(gradient(generator) * len(places) * 50.0 / sigma)
    assert has_covariance(np.array(updates), exact_covariance(places, (1.0,)))


def test_a_generated_point_is_pushed_by_the_mean_of_the_others():
    """Then small batches push as far as large ones do, on average."""
    places = POINTS["general"][:4]
    generator = Places(places)
    move_once(generator, lambda points, labels: np.zeros_like(points), len(places))
    for j, (place, update) in enumerate(
        zip(places, gradient(generator).reshape(places.shape), strict=True)
    ):
        gaps = np.delete(places, j, axis=0) - place
        kernels = np.exp(-(gaps**2).sum(axis=1) / 2)
        np.testing.assert_allclose(
            update * len(places), (gaps * kernels[:, None]).mean(axis=0), rtol=1e-5
        )


# ------------------------------------------------------------------ black-box audit


def audited_fields(is_inside, noise_multiplier, rate, n):
    """Return slope fields, along the line from a table to its neighbour."""
    points, labels = line(1.0)[25:39], np.zeros(14, dtype=int)
    row = np.zeros((1, 1))
    moved = exact_slopes(Cloud(row), points, labels, (1.0,)).ravel()
    weights = np.linalg.solve(with_jitter(exact_covariance(points, (1.0,))), moved)
    others = Cloud(np.full((3, 1), 2.0), np.ones(3))
    rows = Cloud(np.vstack([others.x, row]), [1, 1, 1, 0]) if is_inside else others
    with opened(rows, noise_multiplier, sampling_rate=rate, n_steps=n) as step:
        fields = np.array([step(points, labels).ravel() for _ in range(n)])
    return fields @ weights * rate / math.sqrt(weights @ moved) / noise_multiplier


def epsilon_at_least(inside, outside, delta=1e-5):
    """Return a lower bound on epsilon that holds but with probability 1e-6."""
    thresholds = np.arange(0.5, 2.5, 0.1)
    alpha = 1e-6 / (2 * len(thresholds))
    best = 0.0
    for threshold in thresholds:
        hits, alarms = (inside > threshold).sum(), (outside > threshold).sum()
        low = stats.beta.ppf(alpha, hits, len(inside) - hits + 1) if hits else 0.0
        high = stats.beta.ppf(1 - alpha, alarms + 1, len(outside) - alarms)
        if low > delta:
            best = max(best, math.log((low - delta) / high))
    return best


def audit(rate, n):
    multiplier = subsampled_noise_multiplier(AUDITED, 1e-5, rate, 1, "add_remove")
    inside, outside = (audited_fields(flag, multiplier, rate, n) for flag in (1, 0))
    return epsilon_at_least(inside, outside)


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_an_audit_finds_no_more_than_the_claim(rate):
    assert audit(rate, 2_000) <= AUDITED


def test_the_audit_catches_a_third_of_the_noise(monkeypatch):
    monkeypatch.setattr(_oracle, "slope_noise", lambda *given: slope_noise(*given) / 3)
    assert audit(1.0, 8_000) > AUDITED
