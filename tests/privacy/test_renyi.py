"""Curves of whole fits against an accountant that knows every step."""

import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld

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

DELTA = 1e-5
STEPS = Subsampling(0.02, 60)
SHARES = (0.1, 0.5, 0.93)  # two of them between those the bound looks at
NEIGHBOURS = {
    "add_remove": dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace": dp_accounting.NeighboringRelation.REPLACE_ONE,
}


def charge(ledger, share):
    return ledger.charge_subsampled(
        "steps",
        share=share,
        sampling_rate=STEPS.sampling_rate,
        n_steps=STEPS.n_steps,
        norm_bound=1.0,
    )


def events_of_a_fit(adjacency, share, n_selections):
    """Return what a fit with steps of a share is, as the oracle has it."""
    ledger = Ledger(PrivacyBudget.reserving(1.0, DELTA, adjacency, n_selections))
    step = dp_accounting.PoissonSampledDpEvent(
        STEPS.sampling_rate, dp_accounting.GaussianDpEvent(charge(ledger, share))
    )
    events = [dp_accounting.SelfComposedDpEvent(step, STEPS.n_steps)]
    if ledger.remaining:  # the oracle doubles a shift under "replace"
        shift = 2.0 if adjacency == "replace" else 1.0
        std = shift / (ledger.mu * math.sqrt(ledger.remaining))
        events.append(dp_accounting.GaussianDpEvent(std))
    return events


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
    adjacency, events = Adjacency(adjacency), []
    for share in shares:
        events += events_of_a_fit(adjacency, share, n_selections)
    oracle = pld.PLDAccountant(NEIGHBOURS[adjacency])
    oracle.compose(dp_accounting.ComposedDpEvent(events))
    curve = fit_curve(1.0, DELTA, adjacency, STEPS)
    for delta in (1e-3, DELTA, 1e-7):
        assert renyi_epsilon(len(shares) * curve, delta) >= oracle.get_epsilon(delta)


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
