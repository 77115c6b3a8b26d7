"""The certificate as a value: what it states, and what old ones still state."""

import json
import math

import pytest

from skdpgen.exceptions import BudgetExceededError
from skdpgen.privacy import (
    Adjacency,
    Counts,
    GivenBatches,
    Histograms,
    Ledger,
    PrivacyBudget,
    PrivacyReport,
    gaussian_epsilon,
    release,
)
from tests.privacy._reference_pld import reference_epsilon

DELTA = 1e-5
STEPS = {"sampling_rate": 0.01, "n_steps": 300, "norm_bound": 2.0}


def report_of(adjacency="replace", epsilon=1.0, share=0.9, **steps):
    ledger = Ledger(PrivacyBudget(epsilon, DELTA, Adjacency(adjacency)))
    ledger.charge("counts", share=1.0 - share, sensitivity=1.0)
    ledger.charge_subsampled("steps", share=share, **STEPS | steps)
    return ledger.report()


@pytest.mark.parametrize("adjacency", Adjacency)
def test_sampled_steps_have_no_mu_of_the_budget(adjacency):
    report = report_of(adjacency)
    mu = PrivacyBudget(1.0, DELTA).mu
    assert report.mu is None
    assert report.epsilon_at(DELTA) == pytest.approx(1.0, rel=2e-3)
    assert report.epsilon_at(1e-9) > 1.005 * gaussian_epsilon(mu, 1e-9)
    assert "spent 100.0% of the budget\n" in str(report)


def test_steps_that_see_all_rows_are_gaussian():
    report = report_of(sampling_rate=1.0, n_steps=4)
    mu = PrivacyBudget(1.0, DELTA).mu
    assert report.mu == mu
    exact = gaussian_epsilon(mu, 1e-9)
    assert report.epsilon_at(1e-9) == pytest.approx(exact, rel=2e-3)  # NOISE_RESOLUTION


def test_a_report_of_steps_without_noise_is_read_back():
    report = report_of(epsilon=math.inf)
    assert report.mu is None
    assert report.epsilon_at(0.5) == math.inf
    content = json.loads(report.to_json())
    assert {point["epsilon"] for point in content["profile"]} == {None}
    assert PrivacyReport.from_dict(content) == report
    assert "other deltas" not in str(report)


def test_reports_of_older_versions_promise_what_they_did():
    for report in (report_of(), Ledger(PrivacyBudget(1.0, DELTA)).report()):
        content = report.to_dict() | {"mu": 0.268}
        del content["profile"]
        for entry in content["releases"]:
            del entry["sampling_rate"], entry["n_steps"]
        old = PrivacyReport.from_dict(content)
        assert old.epsilon_at(1e-3) <= old.epsilon_at(DELTA) <= 1.0
        # Nobody knows how often, and how many rows, the steps of an old one saw.
        assert math.isinf(old.epsilon_at(1e-6)) == bool(report.releases)


def test_nothing_is_promised_below_the_delta_of_selections():
    budget = PrivacyBudget(1.0, DELTA, delta_selection=1e-6, n_selections=1)
    report = Ledger(budget).report()
    assert report.epsilon_at(1e-6) == math.inf
    assert math.isfinite(report.epsilon_at(1.01e-6))
    assert "at other deltas: epsilon 0.83" in str(report)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-5, math.nan])
def test_a_delta_must_be_a_probability(delta):
    with pytest.raises(ValueError, match=r"delta must be in \(0, 1\)"):
        report_of().epsilon_at(delta)


def composed_by_the_reference(report):
    """The epsilon of all entries, and of a Gaussian of what is left, by losses."""
    mu = PrivacyBudget(report.epsilon, report.delta).mu
    left = mu * math.sqrt(max(0.0, 1.0 - report.spent))
    together = tuple(
        (entry.noise_std / entry.sensitivity, entry.sampling_rate, entry.n_steps)
        for entry in report.releases
    )
    return reference_epsilon(together, left, report.delta, report.adjacency)


@pytest.mark.parametrize("shares", [(0.5, 0.3), (0.2, 0.2, 0.2), (0.1, 0.9)])
def test_several_subsampled_releases_cost_the_budget_together(shares):
    """Each is calibrated beside those before it and all Gaussians that may follow."""
    ledger = Ledger(PrivacyBudget(1.0, DELTA, Adjacency.ADD_REMOVE))
    if sum(shares) < 1:
        ledger.charge("counts", share=0.0999, sensitivity=1.0)
    for k, share in enumerate(shares):
        steps = STEPS | {"sampling_rate": 0.01 * (k + 1), "n_steps": 300 // (k + 1)}
        ledger.charge_subsampled(f"steps {k}", share=share, **steps)
    report = ledger.report()
    assert report.epsilon_at(DELTA) == pytest.approx(1.0, rel=2e-3)
    assert 0.8 < composed_by_the_reference(report) <= 1.0
    with pytest.raises(BudgetExceededError, match="is left"):
        ledger.charge_subsampled("more", share=0.51, **STEPS)


def test_nobody_gets_more_than_is_left():
    ledger = Ledger(PrivacyBudget(1.0, DELTA))
    ledger.charge("most", share=0.7, sensitivity=1.0)
    for share in (0.31, 0.3001, 0.5, 1.0):
        with pytest.raises(BudgetExceededError, match="is left"):
            ledger.charge("more", share=share, sensitivity=1.0)
        with pytest.raises(BudgetExceededError, match="is left"):
            ledger.charge_subsampled("steps", share=share, **STEPS)
    rest = ledger.remaining
    ledger.charge("the rest", share=rest * (1 + 1e-12), sensitivity=1.0)  # rounding
    assert ledger.report().spent <= 1.0
    assert ledger.entries[-1].noise_std >= 1.0 / (ledger.mu * math.sqrt(rest))


def test_a_statement_can_be_taken_back():
    report = Ledger(PrivacyBudget(1.0, 1e-5)).report(["one", "two"])
    assert report.stating("three").without("three") == report
    assert report.without("one").statements == ("two",)
    assert report.without("never said") == report


# ------------------------------------------------- numbers that float64 cannot hold

STRANGE = (0.0, 5e-324, 1e-310, 1e-200, 1e200, math.inf, -1.0, math.nan)
STRANGE += (True, "1", None)


def ledger_of(epsilon=1.0, **how):
    return Ledger(PrivacyBudget(epsilon, DELTA, **how))


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_no_ledger_takes_what_float64_cannot_hold(strange, epsilon):
    """Noise that is calibrated to a sensitivity of 0 is none; a NaN is never above."""
    ledger = ledger_of(epsilon)
    for fields in (
        {"share": 0.1, "sensitivity": strange},
        {"share": strange, "sensitivity": 1.0},
    ):
        with pytest.raises((ValueError, BudgetExceededError)):
            ledger.charge("counts", **fields)
    for name in ("share", "sampling_rate", "norm_bound", "n_steps"):
        if (name, strange) == ("n_steps", True):  # one step
            continue
        with pytest.raises((ValueError, BudgetExceededError)):
            ledger.charge_subsampled("steps", **{"share": 0.1, **STEPS, name: strange})
    assert ledger.entries == []


def test_noise_that_overflows_is_no_noise():
    """At a tiny epsilon noise may be larger than float64 can say."""
    ledger = ledger_of(1e-8)
    with pytest.raises(ValueError, match="noise std"):
        ledger.charge("counts", share=1e-12, sensitivity=1e149)
    assert ledger.entries == []


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
def test_nothing_is_selected_without_noise(strange):
    """A threshold of 0 would show what a single row has."""
    ledger = ledger_of(delta_selection=1e-6, n_selections=3)
    with pytest.raises(ValueError, match="noise_std"):
        ledger.admit_selection(1, strange)
    with pytest.raises(ValueError, match="n_columns"):
        ledger.admit_selection(-5, 1.0)  # would hand reservations back
    for _ in range(3):
        assert ledger.admit_selection(1, 1.0) > 1.0
    with pytest.raises(BudgetExceededError):
        ledger.admit_selection(1, 1.0)
    assert ledger_of(math.inf).budget.n_selections == 0


def test_nothing_is_admitted_once_all_is_spent():
    """Rounding lets shares of decimals add up to 1, and no share after that."""
    ledger = ledger_of()
    for _ in range(10):
        ledger.charge("tenths", share=0.1, sensitivity=1.0)
    spent = ledger.report().spent
    for share in (1e-9, 5e-10, 1e-12):
        for _ in range(3):
            with pytest.raises(BudgetExceededError):
                ledger.charge("more", share=share, sensitivity=1.0)
            with pytest.raises(BudgetExceededError):
                ledger.charge_subsampled("more", share=share, **STEPS)
    assert ledger.report().spent == spent <= 1.0 + 1e-9


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
def test_no_release_has_weights_that_float64_cannot_hold(strange):
    ledger, block, rows = ledger_of(), Histograms((2,)), GivenBatches([])
    with pytest.raises(ValueError, match="weights"):
        release(
            rows,
            {"x": block},
            name="x",
            ledger=ledger,
            share=0.1,
            weights={"x": strange},
        )
    zero = {"x": Histograms((2,), (0.0,))}
    with pytest.raises(ValueError, match="sensitivity"):
        release(rows, zero, name="x", ledger=ledger, share=0.1)
    assert ledger.entries == []
    if strange != 0.0:
        with pytest.raises((TypeError, ValueError)):
            Histograms((2,), (strange,))
    with pytest.raises((TypeError, ValueError)):
        Counts(strange)
