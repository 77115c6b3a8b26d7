"""Certificates against another accountant, from nothing but their entries."""

import json
import math
from functools import lru_cache

import pytest
from sklearn.datasets import load_digits

from skdpgen import (
    DPIndependentSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    Generator,
    all_synthesizers,
)
from skdpgen.privacy import PrivacyReport, _ledger
from skdpgen.synthesizers.embedding import _private_encoder
from tests._covering import parametrize_pairs
from tests.guards._variants import maker, small_images
from tests.privacy._reference_pld import PAIRS, reference_epsilon
from tests.synthesizers._tables import CASES, build

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")

GRID = 1e-3  # of epsilon: what the reference's discretisation adds at most
DIGITS, LABELS = load_digits(return_X_y=True)
IMAGES = DIGITS.reshape(-1, 8, 8)[:200] / 16


def fit_encoder(adjacency):
    synth = DPMERFSynthesizer(
        classes=range(10),
        n_features=64,
        generator=Generator(max_iter=2, hidden_layer_sizes=(32,), network="private"),
    )
    synth.set_params(adjacency=adjacency, random_state=0)
    return synth.fit(IMAGES, LABELS[:200])


def fit_images(cls):
    def fit(adjacency):
        make = maker(cls, **small_images(cls))
        synth = make(classes=range(10), adjacency=adjacency)
        return synth.fit(IMAGES, LABELS[:200])

    return fit


def fit_table(cls, **params):
    def fit(adjacency):
        case = CASES["mixed"]
        synth = build(cls, case, adjacency=adjacency, **params)
        return synth.fit(case.X, case.y)

    return fit


ALONE = all_synthesizers("tables") | all_synthesizers("images")
FITS = {
    **{
        name: fit_table(cls) if "tables" in cls._takes else fit_images(cls)
        for name, cls in sorted(ALONE.items())
    },
    "discovery": fit_table(DPIndependentSynthesizer, schema=None, classes=None),
    "minibatch": fit_table(DPMERFSynthesizer, n_minibatches=10),
    "per_step": fit_table(DPKernelSynthesizer, algorithm="per_step"),
    "encoder": fit_encoder,
}
SAMPLED = ("DPGANSynthesizer", "encoder", "per_step")


@lru_cache
def fitted(name, adjacency):
    return FITS[name](adjacency)


@lru_cache
def recomputed(report, delta):
    """Return the epsilon of what the entries say, the selections' part included.

    Noise of sub-sampled steps counts in clipping norms, which a replaced row moves
    by two.
    """
    shift = 2.0 if report.adjacency == "replace" else 1.0
    noises = [entry.noise_std / entry.sensitivity for entry in report.releases]
    sampled, squares = [], 0.0
    for entry, noise in zip(report.releases, noises, strict=True):
        if entry.sampling_rate < 1:
            sampled.append((shift * noise, entry.sampling_rate, entry.n_steps))
        else:
            squares += entry.n_steps / noise**2
    left = delta - report.delta_selection
    epsilon = reference_epsilon(
        tuple(sampled), math.sqrt(squares), left, report.adjacency
    )
    return epsilon - math.log1p(-report.delta_selection)


def keeps_its_promise(report):
    return recomputed(report, report.delta) <= report.epsilon * (1 + GRID)


each_adjacency = pytest.mark.parametrize("adjacency", list(PAIRS))
of_steps = [(name, to) for name in ("DPGANSynthesizer", "per_step") for to in PAIRS]
each_pair = parametrize_pairs(
    "name, adjacency", FITS, PAIRS, strength=1, first=of_steps
)


@each_pair
def test_all_entries_together_cost_what_is_claimed(name, adjacency):
    report = fitted(name, adjacency).privacy_
    assert keeps_its_promise(report)
    if name not in SAMPLED:
        expected = recomputed(report, report.delta)
        assert report.epsilon == pytest.approx(expected, rel=GRID)


@each_pair
def test_a_certificate_holds_at_other_deltas(name, adjacency):
    report = fitted(name, adjacency).privacy_
    assert report.epsilon_at(report.delta) <= report.epsilon
    for delta in (1e-3, 3e-6, 1e-8):
        claim = report.epsilon_at(delta)
        if delta <= report.delta_selection:
            assert claim == math.inf
            continue
        expected = recomputed(report, delta)
        assert expected <= claim * (1 + GRID)
        assert claim <= expected * (1.5 if name in SAMPLED else 1 + GRID)
    assert name != "discovery" or report.delta_selection >= 1e-8


@each_pair
def test_a_certificate_is_read_back_whole(name, adjacency):
    report = fitted(name, adjacency).privacy_
    content = json.loads(report.to_json())
    assert PrivacyReport.from_dict(content) == report
    profile = {point["delta"]: point["epsilon"] for point in content["profile"]}
    assert len(profile) == 8
    assert list(profile) == sorted(profile, reverse=True)
    for delta, epsilon in profile.items():
        known = math.inf if epsilon is None else epsilon
        assert known == report.epsilon_at(delta)


@each_pair
def test_mu_is_stated_only_where_it_holds(name, adjacency):
    report = fitted(name, adjacency).privacy_
    assert (report.mu is None) == (name in SAMPLED)
    assert ("mu =" in str(report)) == (name not in SAMPLED)


@each_pair
def test_what_will_be_sampled_is_known_before_a_fit(name, adjacency):
    synth = fitted(name, adjacency)
    known = synth._subsampling()
    sampled = [one for one in synth.privacy_.releases if one.sampling_rate < 1]
    assert len(sampled) == (name in SAMPLED)
    assert (known is not None) == (name in SAMPLED)
    for entry in sampled:
        assert entry.sampling_rate == known.sampling_rate
        assert entry.n_steps == known.n_steps
        assert entry.share <= known.largest_share


@each_adjacency
def test_steps_that_are_calibrated_alone_are_caught(adjacency, monkeypatch):
    monkeypatch.setattr(_private_encoder, "STEPS", 12)
    monkeypatch.setattr(_private_encoder, "RATE", 0.1)
    assert keeps_its_promise(fit_encoder(adjacency).privacy_)
    calibrate = _ledger.subsampled_noise_multiplier

    def alone(*steps, gaussian_mu, beside):
        del gaussian_mu, beside  # what else is released is forgotten
        return calibrate(*steps)

    monkeypatch.setattr(_ledger, "subsampled_noise_multiplier", alone)
    assert not keeps_its_promise(fit_encoder(adjacency).privacy_)
