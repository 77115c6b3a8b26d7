"""Privacy losses: the reference from first principles, and the package against it."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from skdpgen.privacy import subsampled_epsilon, subsampled_noise_multiplier
from skdpgen.privacy._subsampled import (
    COARSE_CELL,
    ORDERS,
    SampledSteps,
    _renyi_cost,
    moments,
    pld_epsilon,
)
from tests.privacy._reference_pld import (
    PAIRS,
    Pair,
    discretised,
    reference_epsilon,
    spread,
)

KINDS = ("removed", "added", "replaced")
STEPS = [(1.0, 0.01), (0.4, 0.002), (3.0, 0.3), (20.0, 0.05), (0.8, 0.95)]


def exact_delta(pair, epsilon):
    """The divergence of a pair, whose losses grow: one place divides it."""
    low, high = -60.0 * pair.noise - 2, 60.0 * pair.noise + 2
    gap = lambda x: float(pair.loss(np.array([x]))[0]) - epsilon  # noqa: E731
    if gap(high) <= 0:
        return 0.0
    x = low if gap(low) >= 0 else brentq(gap, low, high, xtol=1e-14)
    p, q = (sum(w * norm.sf(x, m, pair.noise) for w, m in part) for part in pair.parts)
    return p - math.exp(epsilon) * q


@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-9])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("adjacency", PAIRS)
def test_one_step_costs_what_its_pair_does(adjacency, steps, delta):
    def cost(epsilon):
        pairs = [Pair(kind, *steps, 1) for kind in PAIRS[adjacency]]
        return max(exact_delta(pair, epsilon) for pair in pairs)

    found = reference_epsilon(((*steps, 1),), 0.0, delta, adjacency)
    if cost(0.0) <= delta:
        assert found == 0.0
    else:
        exact = brentq(lambda epsilon: cost(epsilon) - delta, 0.0, 200.0, xtol=1e-12)
        assert exact <= found <= exact * (1 + 5e-4) + 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", STEPS)
def test_no_delta_falls_when_losses_are_put_on_a_grid(kind, steps):
    pair = Pair(kind, *steps, 1)
    for cell in (0.3, 0.01, 1e-3):
        cell *= spread(pair)
        found = discretised(pair, cell, top=pair.highest(1e-12))
        assert found.mass.sum() + found.infinite == pytest.approx(1.0, abs=1e-12)
        loss = cell * (found.first + np.arange(len(found.mass)))
        middle = (loss[len(loss) // 3], 0.0, 0.37 * loss[-1], 0.9 * loss[-1])
        for epsilon in middle:
            beyond = loss > epsilon
            gain = -np.expm1(epsilon - loss[beyond])
            delta = float(found.mass[beyond] @ gain) + found.infinite
            assert delta >= exact_delta(pair, epsilon) * (1 - 1e-9) - 1e-15


def divergence(u, v, noise, rate, gamma, *, n=401, far=9.0):
    """The hockey-stick divergence of two results in the plane, by quadrature."""
    axis = np.linspace(-far * noise - 1, far * noise + 1, n)
    x, y = np.meshgrid(axis, axis)

    def density(at):
        squares = (x - at[0]) ** 2 + (y - at[1]) ** 2
        return np.exp(-squares / 2 / noise**2)

    nobody = (1 - rate) * density((0.0, 0.0))
    a, b = nobody + rate * density(u), nobody + rate * density(v)
    area = (axis[1] - axis[0]) ** 2 / (2 * math.pi * noise**2)
    return float(np.maximum(a - gamma * b, 0.0).sum() * area)


@pytest.mark.parametrize("gamma", [0.3, 0.9, 1.0, 1.02, 1.3, 4.0])
@pytest.mark.parametrize(("noise", "rate"), [(1.0, 0.1), (0.5, 0.01), (2.0, 0.6)])
def test_no_two_rows_are_further_apart_than_opposite_ones(noise, rate, gamma):
    """The claim about the pairs, in two dimensions: any lengths, any angle."""
    rng = np.random.default_rng(0)
    pair = Pair("replaced", noise, rate, 1)
    most = exact_delta(pair, math.log(gamma)) + 1e-7
    for _ in range(12):
        angle, length = rng.uniform(0, 2 * math.pi), rng.uniform(0, 1) ** 0.3
        v = length * math.cos(angle), length * math.sin(angle)
        for u in ((1.0, 0.0), (0.6, 0.0)):
            assert divergence(u, v, noise, rate, gamma) <= most
    for kind, u, v in (("removed", (1, 0), (0, 0)), ("added", (0, 0), (1, 0))):
        most = exact_delta(Pair(kind, noise, rate, 1), math.log(gamma))
        apart = divergence(u, v, noise, rate, gamma)
        assert apart == pytest.approx(most, abs=1e-5)
        for part in (0.9, 0.5, 0.1):
            less = divergence(
                *(np.multiply(part, one) for one in (u, v)), noise, rate, gamma
            )
            assert less <= most + 1e-7


def test_a_twin_that_only_removes_is_caught():
    """A row that is replaced by its opposite is further away than one that leaves."""
    twin = exact_delta(Pair("removed", 1.0, 0.1, 1), math.log(1.3))
    assert divergence((1.0, 0.0), (-1.0, 0.0), 1.0, 0.1, 1.3) > twin + 1e-3


@pytest.mark.parametrize("adjacency", PAIRS)
def test_gaussian_releases_beside_it_add_up(adjacency):
    steps = ((1.5, 0.02, 400),)
    alone, beside, more = (
        reference_epsilon(steps, mu, 1e-6, adjacency) for mu in (0.0, 0.3, 0.5)
    )
    assert alone < beside < more
    # A step that all rows are in is a Gaussian release.
    shift = 2.0 if adjacency == "replace" else 1.0
    everybody = reference_epsilon((*steps, (shift / 0.4, 1.0, 1)), 0.3, 1e-6, adjacency)
    assert everybody == pytest.approx(more, rel=1e-9)


def test_phases_in_any_order_or_cut_in_two_cost_the_same():
    one, two = (1.2, 0.01, 300), (3.0, 0.1, 50)
    whole = reference_epsilon((one, two), 0.1, 1e-5, "replace")
    assert reference_epsilon((two, one), 0.1, 1e-5, "replace") == pytest.approx(whole)
    half = (1.2, 0.01, 150)
    assert reference_epsilon((half, two, half), 0.1, 1e-5, "replace") == pytest.approx(
        whole, rel=1e-3
    )


@pytest.mark.parametrize("adjacency", PAIRS)
def test_more_noise_costs_less_all_along(adjacency):
    noise = np.geomspace(0.6, 40.0, 60)
    costs = [reference_epsilon(((s, 0.02, 200),), 0.2, 1e-6, adjacency) for s in noise]
    assert (np.diff(costs) < 0).all()


@pytest.mark.parametrize(("rate", "n_steps"), [(1e-6, 10), (1e-4, 100_000)])
def test_rare_rows_leave_no_gap_between_noises(rate, n_steps):
    """The grid gets coarser where there would be too many cells, and never gives up."""
    noise = np.geomspace(0.4, 0.9, 8)
    costs = [
        reference_epsilon(((s, rate, n_steps),), 0.0, 1e-9, "add_remove") for s in noise
    ]
    assert np.isfinite(costs).all()
    assert (np.diff(costs) < 0).all()


@pytest.mark.parametrize(
    "steps",
    [(1e-3, 0.5, 10), (1e7, 0.01, 10), (1.0, 1e-9, 10), (5.0, 1 - 1e-12, 3)],
)
def test_extremes_are_bounded_by_something_or_infinite(steps):
    for adjacency in PAIRS:
        for delta in (1e-12, 0.3):
            assert reference_epsilon((steps,), 0.0, delta, adjacency) >= 0.0
            assert math.isfinite(subsampled_epsilon(*steps, delta, adjacency))


@pytest.mark.parametrize("steps", STEPS)
def test_moments_of_a_replaced_row_are_those_of_its_pair(steps):
    noise, rate = steps
    found = moments(noise, rate, "replace")[np.isin(ORDERS, (2, 5, 20))]
    x = np.linspace(-20 * noise - 25, 20 * noise + 25, 400_001)
    there, gone, nobody = (norm.logpdf(x, at, noise) for at in (1.0, -1.0, 0.0))
    nobody += math.log1p(-rate)
    p, q = (np.logaddexp(nobody, math.log(rate) + one) for one in (there, gone))
    for a, ours in zip((2, 5, 20), found, strict=True):
        exponent = a * p + (1 - a) * q
        top = exponent.max()
        exact = top + math.log(np.exp(exponent - top).sum() * (x[1] - x[0]))
        assert exact * (1 - 1e-9) - 1e-12 <= ours <= exact * (1 + 1e-3) + 1e-10


def test_a_replaced_row_has_larger_moments_than_one_that_leaves():
    for noise, rate in STEPS:
        both, one = (moments(noise, rate, adjacency) for adjacency in PAIRS)
        assert (both[1:] >= one[1:] * (1 - 1e-9)).all()


@pytest.mark.parametrize("steps", [(1.0, 0.01, 1000), (2.0, 0.1, 200)])
def test_it_is_what_opacus_finds(steps):
    accountants = pytest.importorskip("opacus.accountants")
    noise, rate, n_steps = steps
    accountant = accountants.PRVAccountant()
    accountant.history = [(noise, rate, n_steps)]
    found = subsampled_epsilon(*steps, 1e-5, "add_remove")
    assert found == pytest.approx(accountant.get_epsilon(1e-5), rel=0.01)


COMPARED = {  # noise, rate, steps; the mu beside them; delta
    "plain": (((1.0, 0.01, 1000),), 0.0, 1e-5),
    "a Gaussian beside": (((1.3, 0.02, 60),), 0.2, 1e-5),
    "two phases": (((1.2, 0.01, 300), (3.0, 0.1, 50)), 0.1, 1e-6),
    "some with all rows": (((60.0, 1.0, 4), (1.0, 0.01, 100)), 0.1, 1e-5),
    "many rows": (((2.0, 0.5, 20),), 0.0, 1e-5),
    "long": (((20.0, 0.05, 4000),), 0.2, 1e-7),
    "little noise": (((0.5, 1e-3, 500),), 0.0, 1e-7),
    "tiny epsilon": (((200.0, 0.05, 50),), 0.0, 1e-3),
}


@pytest.mark.parametrize("adjacency", PAIRS)
@pytest.mark.parametrize("case", COMPARED)
def test_losses_are_never_below_the_reference_and_near_it(case, adjacency):
    together, mu, delta = COMPARED[case]
    steps = tuple(SampledSteps(*one) for one in together)
    exact = reference_epsilon(together, mu, delta, adjacency)
    found = pld_epsilon(steps, mu, delta, adjacency)
    assert exact * (1 - 5e-5) <= found <= exact * (1 + 4e-4) + 1e-6
    coarse = pld_epsilon(steps, mu, delta, adjacency, cell=COARSE_CELL)
    assert found <= coarse * (1 + 1e-6) <= exact * 1.05 + 1e-4


@pytest.mark.parametrize("adjacency", PAIRS)
@pytest.mark.parametrize("delta", [1e-9, 1e-11, 3e-12])
def test_rounding_of_transforms_is_left_out_of_tiny_deltas(adjacency, delta):
    steps = (1.0, 0.01, 1000)
    exact = reference_epsilon((steps,), 0.0, delta, adjacency)
    found = pld_epsilon((SampledSteps(*steps),), 0.0, delta, adjacency)
    assert exact <= found <= exact * 1.03  # at 3e-12 a third is left out


@pytest.mark.parametrize("adjacency", PAIRS)
def test_where_losses_cannot_be_composed_renyi_curves_take_over(adjacency):
    steps = SampledSteps(1.0, 0.01, 1000)
    assert pld_epsilon((steps,), 0.0, 1e-12, adjacency) == math.inf
    found = subsampled_epsilon(*steps, 1e-12, adjacency)
    assert found == _renyi_cost([steps], 0.0, 1e-12, adjacency)
    exact = reference_epsilon((tuple(steps),), 0.0, 1e-12, adjacency)
    assert exact < found < 1.15 * exact


@pytest.mark.parametrize("adjacency", PAIRS)
@pytest.mark.parametrize(
    ("epsilon", "delta", "rate", "n_steps", "mu"),
    [
        (1.0, 1e-5, 0.01, 1000, 0.0),
        (10.0, 1e-6, 0.02, 500, 0.5),
        (0.1, 1e-5, 0.1, 9, 0),
    ],
)
def test_calibrated_noise_is_the_smallest_by_the_reference(
    epsilon, delta, rate, n_steps, mu, adjacency
):
    noise = subsampled_noise_multiplier(
        epsilon, delta, rate, n_steps, adjacency, gaussian_mu=mu
    )
    cost = lambda s: reference_epsilon(((s, rate, n_steps),), mu, delta, adjacency)  # noqa: E731
    assert cost(noise) <= epsilon * (1 + 1e-6)
    assert cost(noise * 0.998) > epsilon
