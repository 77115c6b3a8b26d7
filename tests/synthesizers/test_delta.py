"""Which delta is chosen where none is given, what is said of it, and what of others."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdpgen import (
    Chunks,
    DPIndependentSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    Generator,
    Integer,
    all_synthesizers,
    plan,
    search_cost,
)
from skdpgen.exceptions import LargeDeltaWarning
from skdpgen.privacy import (
    Adjacency,
    PrivacyBudget,
    PrivacyReport,
    default_delta,
    fit_curve,
    gaussian_epsilon,
    subsampled_noise_multiplier,
)
from skdpgen.privacy._subsampled import gaussian_curve, steps_curve
from skdpgen.synthesizers import load
from skdpgen.synthesizers.opening import _opening
from skdpgen.synthesizers.tools._search_cost import _steps
from tests._made import made
from tests.guards._variants import small_images
from tests.synthesizers._tables import CASES, build
from tests.test_sklearn import done

RULE = {
    2: 1e-5,
    9_999: 1e-5,
    10_000: 1e-5,
    10_001: 1e-6,
    100_000: 1e-6,
    100_001: 1e-7,
    1_000_000: 1e-7,
    10**9: 1e-10,
}
CHOSEN = "delta: {:g}, chosen as a tenth of 1 / rows or less"
CONSTANT = "delta: 1e-07, a constant for up to a million rows"
# with few rows, noise may look like values outside of the schema
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")
both = pytest.mark.parametrize("adjacency", ["replace", "add_remove"])


def ages(n_rows):
    return pd.DataFrame({"age": np.arange(n_rows) % 100})


def fitted(n_rows, **params):
    synth = DPIndependentSynthesizer(schema={"age": Integer(0, 99)}, **params)
    return synth.fit(ages(n_rows))


def said(report):
    """Return what a certificate says of delta."""
    return [line for line in report.statements if line.startswith("delta")]


def of_delta(warned):
    return [one for one in warned if one.category is LargeDeltaWarning]


@pytest.mark.parametrize("n_rows", RULE)
def test_a_power_of_ten_and_a_tenth_of_one_over_the_rows(n_rows):
    for n in (n_rows, np.int64(n_rows)):
        assert default_delta(n) == RULE[n_rows]
    assert default_delta(n_rows) * n_rows <= 0.1 * (1 + 1e-12)


@pytest.mark.parametrize("n_rows", [2, 10_000, 10_001, 100_000, 1_000_000])
@both
def test_what_a_fit_and_a_plan_choose(n_rows, adjacency):
    report = fitted(n_rows, adjacency=adjacency).privacy_
    is_public = adjacency == "replace"
    assert report.delta == (RULE[n_rows] if is_public else 1e-7)
    assert said(report) == [CHOSEN.format(report.delta) if is_public else CONSTANT]
    assert plan(n_rows, 1, adjacency=adjacency).delta == report.delta
    assert f"(1, {report.delta:g})-differentially private" in str(report)


def test_a_choice_goes_wherever_the_certificate_goes(tmp_path):
    synth = fitted(10_001)
    synth.save(tmp_path / "synth.npz")
    again = load(tmp_path / "synth.npz")
    content = synth.privacy_.to_dict()
    assert content["delta"] == 1e-6
    assert CHOSEN.format(1e-6) in content["statements"]
    assert synth.get_params()["delta"] is again.get_params()["delta"] is None
    assert again.privacy_ == PrivacyReport.from_dict(content) == synth.privacy_
    assert "delta=" not in str(synth.privacy_)
    assert fitted(100).privacy_.delta == 1e-5  # and not what an earlier fit chose


ALONE = all_synthesizers("tables") | all_synthesizers("images")


@pytest.mark.parametrize("cls", sorted(ALONE.items()), ids=lambda c: c[0])
@both
def test_every_synthesizer_chooses(cls, adjacency):
    _, cls = cls
    if "tables" in cls._takes:
        case = CASES["floats"]
        synth = build(cls, case, adjacency=adjacency).fit(case.X, case.y)
    else:
        synth = made(cls, adjacency=adjacency, **small_images(cls))
        synth.fit(np.ones((300, 8, 8)))
    assert synth.delta is None
    assert synth.privacy_.delta == (1e-5 if adjacency == "replace" else 1e-7)


def test_images_are_counted():
    images = np.zeros((10_001, 8, 8), dtype=np.uint8)
    few = {"n_features": 4, "max_iter": 1, "hidden_layer_sizes": (4,)}
    synth = made(DPMERFSynthesizer, **few).fit(images)
    assert said(synth.privacy_) == [CHOSEN.format(1e-6)]


@both
def test_rows_of_all_chunks_are_counted(adjacency):
    chunks = Chunks(lambda: iter([ages(10_000), ages(1)]))
    synth = DPIndependentSynthesizer(
        schema={"age": Integer(0, 99)}, adjacency=adjacency
    )
    expected = 1e-6 if adjacency == "replace" else 1e-7
    assert synth.fit(chunks).privacy_.delta == expected


# -------------------------------------------------------- numbers that are hidden


def test_a_hidden_number_of_rows_chooses_nothing():
    reports = [fitted(n, adjacency="add_remove").privacy_ for n in (2, 400, 200_000)]
    assert {report.delta for report in reports} == {1e-7}
    assert len({report.releases[0] for report in reports}) == 1  # as is their noise
    chosen = {  # what follows from the released number is another matter
        tuple(line for line in report.statements if not line.startswith("noise may"))
        for report in reports
    }
    assert len(chosen) == 1


@pytest.mark.parametrize("released", [500.0, 2000.0, 2e7])
@pytest.mark.parametrize("delta", [None, 1e-3])
def test_a_hidden_number_of_rows_is_judged_as_it_was_released(
    released, delta, monkeypatch
):
    count = _opening.count_rows

    def count_rows(rows, ledger):
        count(rows, ledger)
        return released

    monkeypatch.setattr(_opening, "count_rows", count_rows)
    used = delta or 1e-7
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        report = fitted(800, adjacency="add_remove", delta=delta).privacy_
    assert (_opening.EXPOSED in said(report)) == (used > 1 / released)
    assert len(of_delta(warned)) == (used > 1 / released)
    for one in of_delta(warned):  # nor do its numbers tell another
        assert f"over the number of rows, {1 / released:.2g}:" in str(one.message)
        assert f"Give {default_delta(round(released)):g} or" in str(one.message)


# ------------------------------------------------------------ what is too large


@both
def test_a_large_delta_is_told_of_once(adjacency):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        report = fitted(4000, delta=0.01, adjacency=adjacency, epsilon=9.0).privacy_
    (told,) = of_delta(warned)
    assert "delta=0.01 is above one over the number of rows" in str(told.message)
    assert "Give 1e-05 or less" in str(told.message)
    assert told.filename == __file__
    assert said(report) == ["delta: 0.01, as given", _opening.EXPOSED]


def test_one_over_the_rows_is_not_told_of():
    report = fitted(4000, delta=1 / 4000).privacy_  # warnings are errors here
    assert said(report) == ["delta: 0.00025, as given"]


def test_no_delta_is_large_where_nothing_is_promised():
    report = fitted(4000, delta=0.01, epsilon=float("inf")).privacy_
    assert _opening.EXPOSED not in said(report)


def test_nothing_is_paid_if_the_warning_is_an_error():
    synth = DPIndependentSynthesizer(delta=0.01)
    with pytest.raises(LargeDeltaWarning):
        synth.fit(ages(4000))  # warnings are errors here
    assert not hasattr(synth, "privacy_")


# -------------------------------------------------------------------- searches

STEPPED = [
    DPKernelSynthesizer(algorithm="per_step", generator=Generator(max_iter=50)),
    DPMERFSynthesizer(generator=Generator(network="private")),
]


@pytest.mark.parametrize(
    "synth", [DPIndependentSynthesizer(), *STEPPED], ids=lambda one: type(one).__name__
)
def test_a_search_counts_every_delta_that_a_fold_may_have(synth):
    grid = [{"epsilon": 2.0}]
    if synth not in STEPPED:  # whose curves take seconds
        grid.append({"epsilon": 0.5})
    unknown = search_cost(done(synth, *grid))
    for delta in (1e-5, 1e-7):
        known = search_cost(done(synth, *({**one, "delta": delta} for one in grid)))
        assert known.delta <= unknown.delta
        assert known.mu is None or known.mu <= unknown.mu
        if delta == 1e-5:  # shares of steps are divided into parts at other places
            assert known.epsilon <= unknown.epsilon * 1.005


@pytest.mark.parametrize("synth", STEPPED, ids=lambda one: type(one).__name__)
def test_steps_at_an_unknown_delta_may_have_any_share(synth):
    known = synth._subsampling()
    assert known.largest_share < 1.0
    assert _steps(synth).largest_share == 1.0  # s of m² is more than s of mu²
    assert _steps(clone(synth).set_params(delta=1e-6)) == known


def test_the_cost_at_the_largest_delta():
    cost = search_cost(done(DPIndependentSynthesizer(), {}))
    given = search_cost(done(DPIndependentSynthesizer(delta=1e-5), {}))
    assert cost == given
    assert gaussian_epsilon(cost.mu, 1e-5) < cost.epsilon


@pytest.mark.parametrize("synth", STEPPED, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("delta", [1e-6, 1e-10])
def test_a_curve_covers_fits_of_a_smaller_delta(synth, delta):
    known = synth._subsampling()
    (rate, n_steps), replace = (known.sampling_rate, known.n_steps), Adjacency.REPLACE
    bound = fit_curve(1.0, 1e-5, replace, _steps(synth))
    budget = PrivacyBudget.reserving(1.0, delta, replace, 1)
    beside = budget.mu * math.sqrt(1.0 - known.largest_share)
    noise = subsampled_noise_multiplier(
        *budget.gaussian, rate, n_steps, replace, gaussian_mu=beside
    )
    everybody = gaussian_curve(2.0 * math.sqrt(n_steps) / noise)
    steps = np.minimum(everybody, steps_curve(noise, rate, n_steps, replace))
    assert (gaussian_curve(beside) + steps <= bound).all()
