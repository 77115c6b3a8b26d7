"""Steps on secret samples spend a share that no release has a say in."""

import numpy as np
import pandas as pd
import pytest

from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget
from skdpgen.synthesizers.opening import _steps_share
from skdpgen.tables import Rows, Schema
from tests.guards import _neighbours, _variants

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
N_ROWS = _neighbours.N_ROWS
STEPS = "DPKernelSynthesizer, steps"
both = pytest.mark.parametrize("adjacency", ["replace", "add_remove"])


def shares(make, case, adjacency, n_fits=6):
    """Return the shares of sub-sampled entries over some fits, and what was left."""
    found = []
    for _ in range(n_fits):
        params = {"epsilon": 40.0, "adjacency": adjacency} | case.params
        report = make(**params).fit(*case.given()).privacy_
        found += [e.share for e in report.releases if e.sampling_rate < 1]
        assert report.spent == pytest.approx(1.0)  # nothing is left over
    assert len(found) == n_fits
    return set(found)


@both
@pytest.mark.parametrize("case", ["frame", "frame, public", "numbers as target"])
def test_the_share_of_steps_is_the_same_whatever_was_discovered(case, adjacency):
    assert len(shares(_variants.of_tables()[STEPS], TABLES[case], adjacency)) == 1


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
    known = _steps_share.Known.of(Rows.read(case.X, case.y), Schema(), None, "auto")
    for n_rows in (300, 300_000):
        ledger = Ledger(PrivacyBudget(1.0, 1e-5, Adjacency(adjacency)))
        found.add(_steps_share.least_left(known, ledger, n_rows))
    assert np.all(np.array([*found]) > 0.3)
    assert len(found) == (1 if adjacency == "add_remove" else 2)
