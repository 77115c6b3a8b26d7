"""Real rows of a CSV are compared as what the fit took them for."""

import json
from io import StringIO

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from skdpgen import DPIndependentSynthesizer, load
from skdpgen.cli import _report_command, main
from skdpgen.cli._command import About
from skdpgen.cli._report_command import write_report
from skdpgen.cli._table_files import TableFile
from skdpgen.cli._text_records import typed
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed

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


@pytest.mark.usefixtures("few_models")
def test_none_of_them_is_missing_in_a_report(people, fitted, tmp_path):
    about = About(["amount", "day", "y"], "y", is_text=True)
    real = people[["amount", "day"]], people["y"]
    write_report(fitted, about, tmp_path / "r.html", real)
    found = json.loads((tmp_path / "r.json").read_text())["real"]["distances"]
    assert found[0]["synthetic"] < 0.25


def test_rows_of_long_files_are_a_fair_sample(people, tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    people.assign(place=range(N)).to_csv(path, index=False)
    monkeypatch.setattr(_report_command, "ROWS_KEPT", 300)
    monkeypatch.setattr(TableFile.pieces, "__defaults__", (170,))
    about = About(["amount", "day", "y", "place"], "y", is_text=True)
    X, y = _report_command._rows(TableFile(path), about)
    places = X["place"].astype(int)
    assert len(X) == len(y) == places.nunique() == 300
    assert abs(places.mean() - N / 2) < 4 * N / (12 * 300) ** 0.5
    assert (people["y"].to_numpy()[places] == y.to_numpy()).all()
    assert list(X.columns) == ["amount", "day", "place"]


def test_a_file_without_rows_is_refused(tmp_path):
    path = tmp_path / "none.parquet"
    pd.DataFrame({"amount": pd.Series([], dtype="int64")}).to_parquet(path)
    with pytest.raises(click.UsageError, match="has no rows"):
        _report_command._rows(TableFile(path), About(["amount"], None, False))


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    """A CSV with a numeric target, of which one value has 5 % of the rows."""
    folder = tmp_path_factory.mktemp("prices")
    rng = np.random.default_rng(0)
    size = rng.uniform(20, 200, 3000).round(1)
    price = np.minimum((size * 3000 + rng.normal(0, 9000, 3000)).round(2), 560_001)
    table = pd.DataFrame({"size": size, "price": price, "code": np.arange(3000) % 3})
    table.to_csv(folder / "point.csv", index=False)
    table.to_csv(folder / "comma.csv", index=False, sep=";", decimal=",")
    return folder


def run(*arguments, code=0):
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        found = CliRunner().invoke(main, [str(one) for one in arguments])
    assert found.exit_code == code, found.output
    return found.stdout


def test_a_number_to_predict_is_known_by_released_counts(prices, tmp_path):
    """One class of 5 % of the rows was found, and all others were left out."""
    arguments = ["--quiet", "--method", "independent", "--epsilon", 5]
    run("fit", prices / "point.csv", "--target", "price", "--out", tmp_path / "m",
        *arguments)  # fmt: skip
    synthesizer = load(tmp_path / "m" / "model.skdpgen")
    assert synthesizer.task_ == "regression"
    names = [one.name for one in synthesizer.privacy_.releases]
    assert "kinds of values of the target" in names
    run("sample", tmp_path / "m", "-o", tmp_path / "s.csv", "--seed", 0)
    drawn = pd.read_csv(tmp_path / "s.csv")["price"]
    assert drawn.nunique() > 1000
    assert abs(drawn.median() - 330_000) < 30_000
    # few values that carry all rows are classes, and cost no look at their text
    run("fit", prices / "point.csv", "--target", "code", "--out", tmp_path / "c",
        *arguments)  # fmt: skip
    synthesizer = load(tmp_path / "c" / "model.skdpgen")
    assert list(synthesizer.classes_) == ["0", "1", "2"]
    names = [one.name for one in synthesizer.privacy_.releases]
    assert "kinds of values of the target" not in names


def test_a_decimal_comma_is_read_and_written(prices, tmp_path):
    run("fit", prices / "comma.csv", "--target", "price", "--out", tmp_path / "m",
        "--separator", ";", "--decimal", ",", "--quiet", "--epsilon", 5,
        "--method", "independent")  # fmt: skip
    said = run("sample", tmp_path / "m", "-n", 500, "-o", "-", "--quiet")
    drawn = pd.read_csv(StringIO(said), decimal=",")
    assert len(drawn) == 500
    assert drawn["size"].dtype.kind == drawn["price"].dtype.kind == "f"
    assert drawn["size"].between(-1, 260).all()
    assert '"' in said.splitlines()[1]
    found = read_rows_of(prices / "comma.csv", separator=";", decimal=",")
    assert_same(found, read_rows_of(prices / "point.csv"))
    run("fit", prices / "comma.csv", "--out", tmp_path / "n", "--decimal", ",", code=2)


def read_rows_of(path, **how):
    return pd.concat(TableFile(path, **how).pieces())


assert_same = pd.testing.assert_frame_equal
