"""The accountant against closed forms, two libraries and our reference."""

import logging
import math
import sys
import warnings

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld, rdp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from skdpgen.privacy._accounting import (
    MU_SLACK,
    autodp_mu,
    compose_mu,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
)
from skdpgen.privacy._budget import Adjacency
from skdpgen.privacy._sensitivity import WithSquares
from skdpgen.privacy._subsampled import (
    ORDERS,
    SampledSteps,
    _renyi_cost,
    moments,
    renyi_epsilon,
    steps_curve,
    subsampled_epsilon,
    subsampled_noise_multiplier,
)
from tests.privacy._reference_pld import PAIRS, reference_epsilon

DELTA = 1e-5
SIGMAS = {
    0.1: 30.750,
    0.2: 16.304,
    0.5: 7.0318,
    1.0: 3.73063,
    2.0: 1.99381,
    5.0: 0.89187,
    10.0: 0.49989,
}
STEPS = [  # noise multiplier, sampling rate, steps
    (1.0, 0.01, 1000),
    (5.0, 0.05, 200),
    (2.0, 0.5, 20),
    (20.0, 1.0, 30),
]


ROUNDED = 2e-4  # relative: the reference rounds up, too


def classical_rdp_mu(epsilon, delta):
    """The twin: one Renyi order after another, as in the papers' code."""
    alphas = 1 + np.geomspace(1e-3, 1e4, 20_000)
    sigmas = np.geomspace(0.01, 1e4, 4000)
    for sigma in sigmas:
        spent = alphas / (2 * sigma**2) + math.log(1 / delta) / (alphas - 1)
        if spent.min() <= epsilon:
            return 1 / sigma
    raise AssertionError


def is_tight(calibration):
    return all(
        abs(1 / calibration(epsilon, DELTA) / sigma - 1) < 2e-5
        for epsilon, sigma in SIGMAS.items()
    )


def test_listed_sigmas_and_the_classical_twin():
    assert is_tight(gaussian_mu)
    assert not is_tight(classical_rdp_mu)


@pytest.mark.parametrize("epsilon", [1e-4, 1e-2, 0.3, 1.0, 3.0, 30.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-5, 1e-2, 0.5])
def test_calibration_is_private_and_tight(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(mu, epsilon) <= delta
    assert gaussian_delta(mu * (1 + 3e-6), epsilon) > delta
    assert gaussian_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-5)


@pytest.mark.parametrize("noise", [0.5, 1.0, 4.0, 200.0])
@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.3])
def test_moments_of_sampled_steps_are_those_of_two_libraries(noise, rate):
    ours = moments(noise, rate, "add_remove")
    for oracle in (moments_of_autodp, moments_of_dp_accounting):
        theirs = oracle(noise, rate)
        known = np.isfinite(theirs)
        assert known.sum() > 40
        np.testing.assert_allclose(ours[known], theirs[known], rtol=1e-9, atol=1e-9)
        assert (ours[known] >= theirs[known] * (1 - 1e-12) - 1e-12).all()


def moments_of_autodp(noise, rate):
    from skdpgen.privacy._accounting import (
        autodp_mu,
    )  # imports autodp in the right order

    autodp_mu(1.0, 1e-5)
    from autodp import mechanism_zoo, transformer_zoo

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = transformer_zoo.AmplificationBySampling(PoissonSampling=True)(
            mechanism_zoo.ExactGaussianMechanism(sigma=noise),
            rate,
            improved_bound_flag=True,
        )
        renyi = [0.0, *(float(step.RenyiDP(int(k))) for k in ORDERS[1:])]
    return (ORDERS - 1) * np.array(renyi)


def moments_of_dp_accounting(noise, rate):
    step = dp_accounting.GaussianDpEvent(noise)
    accountant = rdp.RdpAccountant([float(k) for k in ORDERS[1:]])
    accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, step))
    return (ORDERS - 1) * np.array([0.0, *accountant._rdp])


def test_autodp_alone_is_not_trusted_at_tiny_delta():
    # Its calibrator stops at an absolute 1e-12 of delta: 10 % too little noise here.
    assert gaussian_delta(autodp_mu(1e-4, 1e-12), 1e-4) > 1.2e-12
    assert gaussian_delta(gaussian_mu(1e-4, 1e-12), 1e-4) <= 1e-12


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
def test_delta_is_the_hockey_stick_divergence(mu, epsilon):
    def excess(x):
        return norm.pdf(x, mu) - math.exp(epsilon) * norm.pdf(x)

    start = mu / 2 + epsilon / mu
    expected, _ = quad(excess, start, max(start, mu) + 12, epsabs=0, limit=200)
    assert gaussian_delta(mu, epsilon) == pytest.approx(expected, rel=1e-6, abs=1e-25)


@pytest.mark.parametrize("epsilon", [1e3, 1e5])
def test_epsilons_beyond_the_overflow(epsilon):
    mu = gaussian_mu(epsilon, DELTA)
    # mu^2/2 is the mean privacy loss, mu its deviation.
    assert (epsilon - mu**2 / 2) / mu == pytest.approx(-norm.ppf(DELTA), rel=0.02)


def test_limits():
    assert gaussian_mu(math.inf, DELTA) == math.inf
    assert gaussian_delta(0.0, 1.0) == 0.0
    assert gaussian_delta(math.inf, 1.0) == 1.0
    assert gaussian_delta(1.0, math.inf) == 0.0
    assert gaussian_epsilon(0.0, DELTA) == 0.0
    assert gaussian_epsilon(1e-6, DELTA) == 0.0
    assert gaussian_epsilon(math.inf, DELTA) == math.inf
    assert compose_mu([]) == 0.0
    assert compose_mu([1.0, math.inf]) == math.inf


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-3, 20), st.floats(1e-3, 20), st.floats(1e-10, 0.4), st.floats(1, 5))
def test_calibration_is_monotone(epsilon, mu, delta, factor):
    assert gaussian_mu(epsilon * factor, delta) >= gaussian_mu(epsilon, delta) * (
        1 - 2 * MU_SLACK - 1e-6
    )
    assert gaussian_epsilon(mu * factor, delta) >= gaussian_epsilon(mu, delta) * (
        1 - 1e-6
    )
    # Delta is exp(a) - exp(b) = exp(a) (1 - exp(b - a)). Logarithms down to -745 are
    # rounded by some 745 * 2^-52 each, and that is divided by a - b, which is about
    # mu^2 / epsilon >= 1e-3 / 39 here: 2e-8 of delta. Factors of 1 + 1e-15 show it.
    larger, smaller = (gaussian_delta(mu, e) for e in (epsilon, epsilon * factor))
    assert smaller <= larger * (1 + 1e-7) + sys.float_info.min


def test_composition_against_pld():
    mus = [0.2, 0.1, 0.15, 0.4]
    events = [dp_accounting.GaussianDpEvent(1 / mu) for mu in mus]
    accountant = pld.PLDAccountant().compose(dp_accounting.ComposedDpEvent(events))
    expected = accountant.get_epsilon(DELTA)
    assert gaussian_epsilon(compose_mu(mus), DELTA) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("steps", STEPS)
def test_subsampled_is_never_below_pld(steps, adjacency):
    ours = subsampled_epsilon(*steps, DELTA, adjacency)
    tight = reference_epsilon((steps,), 0.0, DELTA, adjacency) * (1 - ROUNDED)
    assert tight <= ours <= tight * 1.001


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("steps", STEPS[:2])
def test_subsampled_beside_a_gaussian_is_never_below_pld(steps, adjacency):
    ours = subsampled_epsilon(*steps, DELTA, adjacency, gaussian_mu=0.2)
    tight = reference_epsilon((steps,), 0.2, DELTA, adjacency) * (1 - ROUNDED)
    assert tight <= ours <= tight * 1.001
    assert ours > subsampled_epsilon(*steps, DELTA, adjacency)


ENTRIES = {  # one may cost next to nothing alone
    "loud and quiet": ((200.0, 0.01, 5), (1.2, 0.02, 200)),
    "two alike": ((1.5, 0.01, 100), (1.5, 0.01, 100)),
    "all rows beside some": ((60.0, 1.0, 4), (1.0, 0.01, 100)),
}


@pytest.mark.parametrize("adjacency", PAIRS)
@pytest.mark.parametrize("mu", [0.0, 0.2])
@pytest.mark.parametrize("entries", ENTRIES)
def test_each_of_two_entries_counts_whichever_comes_last(entries, mu, adjacency):
    one, two = (SampledSteps(*steps) for steps in ENTRIES[entries])
    costs = [
        cost(*last, DELTA, adjacency, gaussian_mu=mu, beside=(first,))
        for cost in (subsampled_epsilon, renyi_cost)
        for first, last in ((one, two), (two, one))
    ]
    alone = max(
        subsampled_epsilon(*steps, DELTA, adjacency, gaussian_mu=mu)
        for steps in (one, two)
    )
    assert costs[1::2] == pytest.approx(costs[::2], rel=1e-6)
    assert min(costs) >= alone * (1 - 2e-5)  # which is on another grid


def renyi_cost(*steps_and_delta, gaussian_mu, beside):
    *steps, delta, adjacency = steps_and_delta
    together = [SampledSteps(*steps), *beside]
    return _renyi_cost(together, gaussian_mu, delta, adjacency)


def test_subsampled_agrees_with_another_renyi_accountant(caplog):
    caplog.set_level(logging.CRITICAL)
    for steps in STEPS[:2]:
        noise, rate, n_steps = steps
        step = dp_accounting.GaussianDpEvent(noise)
        step = dp_accounting.PoissonSampledDpEvent(rate, step)
        accountant = rdp.RdpAccountant().compose(step, n_steps)
        ours = renyi_epsilon(steps_curve(*steps, "add_remove"), DELTA)
        assert ours == pytest.approx(accountant.get_epsilon(DELTA), rel=0.02)
        assert subsampled_epsilon(*steps, DELTA, "add_remove") < ours


def test_sampling_everybody_is_exact():
    add = subsampled_epsilon(10.0, 1.0, 4, DELTA, "add_remove", gaussian_mu=0.1)
    assert add == pytest.approx(gaussian_epsilon(math.hypot(0.2, 0.1), DELTA))
    replace = subsampled_epsilon(10.0, 1.0, 4, DELTA, "replace", gaussian_mu=0.1)
    assert replace == pytest.approx(gaussian_epsilon(math.hypot(0.4, 0.1), DELTA))


@pytest.mark.parametrize("adjacency", Adjacency)
def test_subsampled_is_monotone(adjacency):
    base = subsampled_epsilon(1.0, 0.01, 100, DELTA, adjacency, gaussian_mu=0.1)
    more = [
        subsampled_epsilon(0.9, 0.01, 100, DELTA, adjacency, gaussian_mu=0.1),
        subsampled_epsilon(1.0, 0.02, 100, DELTA, adjacency, gaussian_mu=0.1),
        subsampled_epsilon(1.0, 0.01, 200, DELTA, adjacency, gaussian_mu=0.1),
        subsampled_epsilon(1.0, 0.01, 100, DELTA / 10, adjacency, gaussian_mu=0.1),
        subsampled_epsilon(1.0, 0.01, 100, DELTA, adjacency, gaussian_mu=0.2),
    ]
    assert min(more) > base
    assert base > subsampled_epsilon(1.0, 0.01, 100, DELTA, adjacency)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("mu", [0.0, 0.15])
def test_noise_multiplier_is_the_smallest(adjacency, mu):
    noise = subsampled_noise_multiplier(
        1.0, DELTA, 0.01, 300, adjacency, gaussian_mu=mu
    )
    steps = (0.01, 300, DELTA, adjacency)
    assert subsampled_epsilon(noise, *steps, gaussian_mu=mu) <= 1.0
    assert subsampled_epsilon(noise * 0.998, *steps, gaussian_mu=mu) > 1.0


def test_noise_multiplier_at_the_ends():
    assert subsampled_noise_multiplier(math.inf, DELTA, 0.01, 9, "replace") == 0.0
    with pytest.raises(ValueError, match="gaussian_mu must be below"):
        subsampled_noise_multiplier(
            1.0, DELTA, 0.01, 9, "replace", gaussian_mu=gaussian_mu(1.0, DELTA)
        )
    whole = gaussian_mu(1.0, DELTA)
    noise = subsampled_noise_multiplier(
        1.0, DELTA, 0.01, 9, "add_remove", gaussian_mu=whole * 0.999
    )
    assert math.isfinite(noise)  # Renyi alone would find no noise large enough
    assert subsampled_epsilon(0.0, 0.01, 9, DELTA, "replace") == math.inf


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gaussian_mu(0.0, DELTA), "epsilon must be in"),
        (lambda: gaussian_mu(math.nan, DELTA), "epsilon must be in"),
        (lambda: gaussian_mu(1.0, 1.0), "delta must be in"),
        (lambda: gaussian_epsilon(-1.0, DELTA), "mu must be in"),
        (lambda: gaussian_delta(1.0, -1.0), "epsilon must be in"),
        (lambda: compose_mu([math.nan]), "mu must be in"),
        (lambda: subsampled_epsilon(1.0, 0.0, 1, DELTA, "replace"), "sampling_rate"),
        (lambda: subsampled_epsilon(1.0, 0.1, 0, DELTA, "replace"), "n_steps"),
        (lambda: subsampled_epsilon(1.0, 0.1, 1, DELTA, "swap"), "adjacency"),
        (lambda: subsampled_epsilon(-1.0, 0.1, 1, DELTA, "replace"), "noise_mult"),
    ],
)
def test_bad_parameters(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize(
    ("epsilon", "part"), [(10, 0.93), (3, 0.87), (1, 0.81), (0.1, 0.68)]
)
def test_both_moments_of_dp_mge_as_printed_keep_the_budget(epsilon, part):
    # equation 1 adds the noise of the whole budget to each of the two means of codes
    # and of their squares, by a conversion of Rényi divergences, and sensitivity 2 / n
    log = 2.0 * math.log(1.0 / DELTA)
    sigma = (math.sqrt(log + 2.0 * epsilon) + math.sqrt(log)) / (2.0 * epsilon)
    mu = WithSquares(1.0).replace() / (2.0 * sigma)
    assert mu / gaussian_mu(epsilon, DELTA) == pytest.approx(part, abs=0.005)
    one, other = np.array([[0.966, 0.259], [-0.259, -0.966]])  # the bound is reached
    moved = math.hypot(*(one - other), *(one**2 - other**2))
    assert moved == pytest.approx(WithSquares(1.0).replace(), rel=1e-3)
