"""Real rows of a CSV are compared as what the fit took them for."""

import json

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.cli import _report_command
from skdpgen.cli._as_text import typed
from skdpgen.cli._model_folder import About
from skdpgen.cli._report_command import write_report
from skdpgen.cli._table_files import TableFile

N = 2000


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2023-01-01") + pd.to_timedelta(rng.integers(0, 400, N), "D")
    amounts = rng.lognormal(7, 1, N)
    return pd.DataFrame(
        {
            "amount": [f"{one:,.2f}" for one in amounts],
            "day": days.strftime("%d.%m.%Y"),
            "y": np.where(amounts > 1000, "more", "less"),
        }
    )


@pytest.fixture(scope="module")
def fitted(people):
    synthesizer = DPIndependentSynthesizer(20.0, classes=["less", "more"])
    return synthesizer.fit(people[["amount", "day"]], people["y"])


def test_amounts_with_thousands_apart_are_numbers(people, fitted):
    X, _ = typed((people[["amount", "day"]], people["y"]), fitted)
    wanted = people["amount"].str.replace(",", "").astype(float)
    pd.testing.assert_series_equal(X["amount"], wanted)
    assert X["day"].dtype.kind == "M"
    assert X.notna().all(axis=None)


def test_none_of_them_is_missing_in_a_report(people, fitted, tmp_path):
    about = About(["amount", "day", "y"], "y", is_text=True)
    real = people[["amount", "day"]], people["y"]
    write_report(fitted, about, tmp_path / "r.html", real)
    found = json.loads((tmp_path / "r.json").read_text())["real"]["distances"]
    assert found[0]["synthetic"] < 0.25


def test_rows_of_long_files_are_a_fair_sample(people, tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    people.assign(place=range(N)).to_csv(path, index=False)
    monkeypatch.setattr(_report_command, "READ", 300)
    monkeypatch.setattr(TableFile.pieces, "__defaults__", (170,))
    about = About(["amount", "day", "y", "place"], "y", is_text=True)
    X, y = _report_command._rows(TableFile(path), about)
    places = X["place"].astype(int)
    assert len(X) == len(y) == places.nunique() == 300
    assert abs(places.mean() - N / 2) < 4 * N / (12 * 300) ** 0.5
    assert (people["y"].to_numpy()[places] == y.to_numpy()).all()
    assert list(X.columns) == ["amount", "day", "place"]
