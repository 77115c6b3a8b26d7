"""Steps on secret samples spend a share that no release has a say in."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPDRESynthesizer, all_synthesizers
from skdpgen.lenses import PrivateClassifier
from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget, Subsampling, _ledger
from skdpgen.synthesizers import _dp_mepf
from skdpgen.synthesizers.embedding import _private_encoder
from skdpgen.synthesizers.opening import _binning
from skdpgen.synthesizers.opening._public_columns import CHECK_SHARES
from skdpgen.tables import Rows, Schema
from tests._covering import parametrize_pairs
from tests.guards import _neighbours, _variants

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
N_ROWS = _neighbours.N_ROWS
STEPS = "DPKernelSynthesizer, steps"
ADJACENCIES = ["replace", "add_remove"]
both = pytest.mark.parametrize("adjacency", ADJACENCIES)


def shares(make, case, adjacency, n_fits=6):
    """Return the shares of sub-sampled entries over some fits, and what was left."""
    found = []
    for _ in range(n_fits):
        params = {"epsilon": 40.0, "adjacency": adjacency} | case.params
        report = case.fit(make(**params)).privacy_
        found += [e.share for e in report.releases if e.sampling_rate < 1]
        assert report.spent == pytest.approx(1.0)  # nothing is left over
    assert len(found) == n_fits
    return set(found)


@parametrize_pairs(
    "case, adjacency",
    ["frame", "frame, public", "numbers as target"],
    ADJACENCIES,
    strength=1,
)
def test_the_share_of_steps_is_the_same_whatever_was_discovered(case, adjacency):
    assert len(shares(_variants.of_tables()[STEPS], TABLES[case], adjacency)) == 1


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")  # rare labels
@both
def test_nor_has_it_a_say_whether_y_turns_out_to_be_a_number(adjacency):
    n, known = N_ROWS, int(0.7 * N_ROWS)
    y = np.r_[np.arange(known) % 3, 100 + np.arange(n - known)]
    case = _neighbours.Case(pd.DataFrame({"a": np.linspace(0, 1, n)}), y)
    make = _variants.of_tables()[STEPS]
    assert len(shares(make, case, adjacency, n_fits=8)) == 1


@both
@pytest.mark.parametrize("case", ["images", "images, numbers as target"])
def test_so_is_that_of_an_encoder(case, adjacency, monkeypatch):
    monkeypatch.setattr("skdpgen.synthesizers.embedding._private_encoder.STEPS", 1)
    make = _variants.of_images()["DPMERFSynthesizer, encoder"]
    assert len(shares(make, IMAGES[case], adjacency, n_fits=3)) == 1


@both
def test_under_add_remove_the_number_of_rows_has_no_say(adjacency):
    case, found = TABLES["frame"], set()
    known = _binning.Known.of(Rows.read(case.X, case.y), Schema(), None, "auto")
    for n_rows in (300, 300_000):
        ledger = Ledger(PrivacyBudget(1.0, 1e-5, Adjacency(adjacency)))
        found.add(_binning.least_left(known, ledger, n_rows))
    assert np.all(np.array([*found]) > 0.3)
    assert len(found) == (1 if adjacency == "add_remove" else 2)


# ------------------------------------------------ every method that has such steps

# of what discovery leaves for certain; all else is for the release before the steps
PARTS = {
    "DPKernelSynthesizer, steps": 0.98,
    "DPGANSynthesizer": {"tables": 0.5, "images": 0.9},  # columns, means
    "DPGANSynthesizer, steps alone": 0.98,
    "DPGANSynthesizer, codes": 0.9,
    "DPGANSynthesizer, critic": 0.98,
    "DPDRESynthesizer, steps": 0.98,
    "DPMEPFSynthesizer, private lens": 0.5,
    "DPMERFSynthesizer, encoder": 0.5,
}
DISCOVERED = ["frame", "frame, public", "numbers as target"]
PICTURES = ["images", "images, numbers as target"]


def makers(name):
    """Return all ways to read a table or images, by name."""
    if name in IMAGES:
        return _variants.of_images()
    ratio = _variants.maker(
        DPDRESynthesizer,
        algorithm="sgd",
        max_iter=2,
        discriminator_layer_sizes=(3,),
    )
    return _variants.of_tables() | {"DPDRESynthesizer, steps": ratio}


WAYS = [
    (way, name)
    for name in (*DISCOVERED, *PICTURES)
    for way in makers(name)
    if way in PARTS
]


def case_of(way, name):
    """Return rows, with public ones beside them if a way needs them."""
    case = (IMAGES if name in IMAGES else TABLES)[name]
    return case.beside(_variants.public_rows()[name]) if "DPDRE" in way else case


@lru_cache
def fitted(way, name, adjacency):
    """Return a fit whose steps are few, and not calibrated: only shares matter."""
    case = case_of(way, name)
    params = {"epsilon": 40.0, "adjacency": adjacency} | case.params
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_private_encoder, "STEPS", 2)
        patch.setattr(_ledger, "subsampled_noise_multiplier", lambda *a, **k: 1.0)
        return case.fit(makers(name)[way](**params))


def of_steps(synth):
    """Return the entries of steps on secret samples."""
    return [e for e in synth.privacy_.releases if "sub-sampled" in e.mechanism]


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SupportWarning")
@both
@pytest.mark.parametrize(("way", "name"), WAYS)
def test_a_share_is_what_public_facts_say(way, name, adjacency):
    """Worked out anew from what is known before the first release."""
    case = case_of(way, name)
    synth = fitted(way, name, adjacency)
    report, params = synth.privacy_, synth.get_params()
    schema = params["schema"] or Schema()
    rows = Rows.read(case.X, case.y)
    known = _binning.Known.of(rows, schema, params["classes"], "auto")
    reserved = report.delta_selection, 9  # selections
    budget = PrivacyBudget(
        report.epsilon, report.delta, Adjacency(adjacency), *reserved
    )
    n_rows = len(case.X) if adjacency == "replace" else -1
    left = _binning.least_left(known, Ledger(budget), n_rows)
    part = PARTS[way]
    if isinstance(part, dict):
        part = part["images" if name in IMAGES else "tables"]
    if case.public_data is not None:
        left -= CHECK_SHARES[1]
    (entry,) = of_steps(synth)
    assert entry.share == pytest.approx(part * left, rel=1e-12)
    assert report.spent == pytest.approx(1.0)


class Enough(Exception):
    """Ends a fit where its training on secret samples would begin."""


@both
@pytest.mark.parametrize("name", PICTURES)
def test_the_share_of_a_classifier_is_what_public_facts_say(
    name, adjacency, monkeypatch
):
    def stop(opening, labels, settings, *, training, share, **more):
        raise Enough(share, opening.ledger)

    monkeypatch.setattr(_dp_mepf, "classifier_lens", stop)
    case, training = IMAGES[name], PrivateClassifier(budget=0.3, n_steps=7)
    make = _variants.of_images()["DPMEPFSynthesizer"]
    params = {"epsilon": 40.0, "adjacency": adjacency, "lens": training} | case.params
    synth = make(**params)
    with pytest.raises(Enough) as stopped:
        case.fit(synth)
    share, ledger = stopped.value.args
    rows = Rows.read(case.X, case.y)
    known = _binning.Known.of(rows, Schema(), params.get("classes"), "auto")
    n_rows = len(case.X) if adjacency == "replace" else -1
    left = _binning.least_left(known, Ledger(ledger.budget), n_rows)
    assert share == pytest.approx(0.3 * left, rel=1e-12)
    assert synth._subsampling() == Subsampling(training.sampling_rate, 7, 0.3)


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SupportWarning")
@pytest.mark.parametrize(("way", "name"), WAYS)
def test_a_search_knows_what_a_fit_will_sample(way, name, monkeypatch):
    """Else nine fits at epsilon = 1 cost 4.15 and are priced 3.41."""
    synth = fitted(way, name, "replace")
    monkeypatch.setattr(_dp_mepf, "STEPS", 2)
    monkeypatch.setattr("skdpgen.synthesizers._dp_merf.STEPS", 2)
    (entry,), known = of_steps(synth), synth._subsampling()
    assert known is not None
    assert (known.sampling_rate, known.n_steps) == (entry.sampling_rate, entry.n_steps)
    assert entry.share <= known.largest_share


def test_no_method_with_steps_is_left_out():
    base = "BaseSynthesizer._subsampling"
    every = all_synthesizers().items()
    having = {name for name, cls in every if cls._subsampling.__qualname__ != base}
    assert having == {way.partition(",")[0] for way, _ in WAYS}
