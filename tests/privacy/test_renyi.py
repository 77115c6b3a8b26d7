"""Curves of whole fits against an accountant that knows every step."""

import math

import numpy as np
import pytest

from skdpgen.privacy import (
    Adjacency,
    Ledger,
    PrivacyBudget,
    Subsampling,
    fit_curve,
    gaussian_epsilon,
    gaussian_mu,
    renyi_epsilon,
)
from skdpgen.privacy._subsampled import gaussian_curve, steps_curve
from tests.privacy._reference_pld import reference_epsilon

DELTA = 1e-5
STEPS = Subsampling(0.02, 60)
SHARES = (0.1, 0.5, 0.93)  # two of them between those the bound looks at


def charge(ledger, share):
    return ledger.charge_subsampled(
        "steps",
        share=share,
        sampling_rate=STEPS.sampling_rate,
        n_steps=STEPS.n_steps,
        norm_bound=1.0,
    )


def parts_of_a_fit(adjacency, share, n_selections):
    """Return the steps of a fit, and the squared mu of everything beside them."""
    ledger = Ledger(PrivacyBudget.reserving(1.0, DELTA, adjacency, n_selections))
    steps = (charge(ledger, share), STEPS.sampling_rate, STEPS.n_steps)
    return steps, ledger.mu**2 * ledger.remaining


@pytest.mark.parametrize(
    ("adjacency", "shares", "n_selections"),
    [
        ("replace", (1.0, 1.0, 1.0), 0),
        ("replace", SHARES, 0),
        ("replace", SHARES, 1),
        ("add_remove", (1.0, 1.0, 1.0), 0),
        ("add_remove", SHARES, 0),
    ],
)
def test_fits_of_any_share_cost_no_more_than_their_curves(
    adjacency, shares, n_selections
):
    adjacency = Adjacency(adjacency)
    fits = [parts_of_a_fit(adjacency, share, n_selections) for share in shares]
    steps, squares = zip(*fits, strict=True)
    mu = math.sqrt(sum(squares))
    curve = fit_curve(1.0, DELTA, adjacency, STEPS)
    for delta in (1e-3, DELTA, 1e-7):
        exact = reference_epsilon(steps, mu, delta, adjacency.value)
        assert renyi_epsilon(len(shares) * curve, delta) >= exact


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_curve_is_never_below_that_of_a_share(adjacency):
    bound = fit_curve(1.0, DELTA, adjacency, STEPS)
    shift = 2.0 if adjacency == "replace" else 1.0
    for share in (*SHARES, 1.0):
        mu = gaussian_mu(1.0, DELTA)
        ledger = Ledger(PrivacyBudget(1.0, DELTA, adjacency))
        noise = charge(ledger, share)
        everybody = gaussian_curve(shift * math.sqrt(STEPS.n_steps) / noise)
        renyi = steps_curve(noise, STEPS.sampling_rate, STEPS.n_steps, adjacency)
        beside = gaussian_curve(mu * math.sqrt(1 - share))
        assert (beside + np.minimum(everybody, renyi) <= bound).all()


def test_the_bound_is_near_that_of_gaussian_fits():
    gaussian = fit_curve(1.0, DELTA, Adjacency.REPLACE)
    sampled = fit_curve(1.0, DELTA, Adjacency.REPLACE, STEPS)
    for n_fits in (3, 7, 30):
        exact = gaussian_epsilon(math.sqrt(n_fits) * gaussian_mu(1.0, DELTA), DELTA)
        least, most = (renyi_epsilon(n_fits * c, DELTA) for c in (gaussian, sampled))
        assert exact <= least <= most <= 1.25 * exact


def test_steps_that_see_all_rows_are_gaussian():
    everybody = fit_curve(1.0, DELTA, Adjacency.REPLACE, Subsampling(1.0, 30))
    np.testing.assert_array_equal(everybody, fit_curve(1.0, DELTA, Adjacency.REPLACE))


def test_without_noise_there_is_no_bound():
    curve = fit_curve(math.inf, DELTA, Adjacency.REPLACE, STEPS)
    assert renyi_epsilon(curve, DELTA) == math.inf
