"""Ugly files go through fit, sample and report without a schema, and keep their looks.

Noise is seeded, and there is little of it, so nothing depends on luck.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from skdpgen.cli import main
from skdpgen.privacy import insecure_noise_seed

pytestmark = [
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning"),
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NothingLearnedWarning"),
]
N = 2000
POINT = r"-?\d{1,3}(,\d{3})*\.\d\d"
COMMA = r"-?\d{1,3}(\.\d{3})*,\d\d"
DAY = r"(0[1-9]|[12]\d|3[01])"
MONTH = r"(0[1-9]|1[0-2])"
CLOCK = r"([01]\d|2[0-3]):[0-5]\d"


@dataclass
class Ugly:
    """A file: its columns, what each synthetic cell must match, how it is stored."""

    columns: dict[str, object]
    looks: dict[str, str]
    encoding: str = "utf-8"
    separator: str = ","
    options: tuple[str, ...] = ()
    types: dict[str, str] = field(default_factory=dict)


FILES: dict[str, Callable[[np.random.Generator], Ugly]] = {}


def ugly(make):
    """Register a file by the name of the function that makes it."""
    FILES[make.__name__] = make
    return make


def german(values, digits=2):
    """Return numbers as they are written in German."""
    return [f"{v:,.{digits}f}".translate(str.maketrans(",.", ".,")) for v in values]


def some(rng, values, share, texts):
    """Return values with some of them replaced by one of a few texts."""
    cells = np.array(values, dtype=object)
    cells[rng.random(N) < share] = "\0"
    return [rng.choice(texts) if cell == "\0" else cell for cell in cells]


def days(rng):
    start = pd.Timestamp("2021-03-01")
    return start + pd.to_timedelta(rng.integers(0, 700, N), "D")


def times(rng):
    return days(rng) + pd.to_timedelta(rng.integers(0, 86_400, N), "s")


@ugly
def spreadsheet_of_a_german_office(rng):
    columns = {
        "Größe": german(rng.normal(170, 9, N), 1),
        "Betrag": german(rng.gamma(2, 900, N)),
        "Datum": days(rng).strftime("%d.%m.%Y"),
        "PLZ": rng.choice(["01067", "04109", "10115", "80331"], N),
        "bezahlt": rng.choice(["ja", "nein"], N),
    }
    looks = {
        "Größe": r"\d{1,3},\d",
        "Betrag": COMMA,
        "Datum": rf"{DAY}\.{MONTH}\.\d{{4}}",
        "PLZ": r"01067|04109|10115|80331",
        "bezahlt": "ja|nein",
    }
    options = ("--separator", ";", "--encoding", "cp1252")
    types = {"Größe": "Numeric", "Betrag": "Numeric", "PLZ": "Categorical"}
    return Ugly(columns, looks, "cp1252", ";", options, types)


@ugly
def export_of_excel_in_utf_16(rng):
    columns = {
        "when": [f"{d.month}/{d.day}/{d.year}" for d in days(rng)],
        "paid": [f"{v:,.2f}" for v in rng.gamma(2, 900, N)],
        "share": [f"{v} %" for v in rng.integers(0, 101, N)],
    }
    looks = {
        "when": r"([1-9]|1[0-2])/([1-9]|[12]\d|3[01])/\d{4}",
        "paid": POINT,
        "share": r"-?\d{1,3} %",
    }
    options = ("--separator", "\\t", "--encoding", "utf-16")
    types = {"when": "Datetime", "paid": "Numeric", "share": "Integer"}
    return Ugly(columns, looks, "utf-16", "\t", options, types)


@ugly
def money(rng):
    amounts = rng.gamma(2, 900, N)
    columns = {
        "euro": ["€ " + text for text in german(amounts)],
        "euros behind": [text + " €" for text in german(amounts)],
        "dollars": [f"${v / 100:.2f}" for v in amounts],
        "francs": [f"CHF {v:,.2f}".replace(",", "'") for v in amounts],
        "whole": [f"{v:,.0f}".replace(",", " ") for v in amounts],
        "change": [f"{v:+.1f}%" for v in rng.normal(0, 5, N)],
    }
    looks = {
        "euro": "€ " + COMMA,
        "euros behind": COMMA + " €",
        "dollars": r"\$\d+\.\d\d",
        "francs": r"CHF \d{1,3}('\d{3})*\.\d\d",
        "whole": r"\d{1,3}( \d{3})*",
        "change": r"-?\d+\.\d%",
    }
    types = dict.fromkeys(("euro", "euros behind", "dollars", "francs"), "Numeric")
    return Ugly(columns, looks, types=types)


@ugly
def dates_in_many_forms(rng):
    moments = times(rng)
    columns = {
        "points": moments.strftime("%d.%m.%Y"),
        "slashes": moments.strftime("%m/%d/%y"),
        "named": moments.strftime("%b %d, %Y"),
        "minutes": moments.strftime("%Y-%m-%d %H:%M"),
        "utc": moments.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "offset": moments.strftime("%Y-%m-%dT%H:%M:%S+02:00"),
        "fraction": [f"{m:%Y-%m-%dT%H:%M:%S}.{rng.integers(999):03d}" for m in moments],
        "clock": moments.strftime("%H:%M"),
        "am or pm": [re.sub(r"^0", "", f"{m:%I:%M:%S %p}") for m in moments],
    }
    iso = rf"\d{{4}}-{MONTH}-{DAY}"
    looks = {
        "points": rf"{DAY}\.{MONTH}\.\d{{4}}",
        "slashes": rf"{MONTH}/{DAY}/\d\d",
        "named": rf"[A-Z][a-z][a-z] {DAY}, \d{{4}}",
        "minutes": rf"{iso} {CLOCK}",
        "utc": rf"{iso}T{CLOCK}:\d\dZ",
        "offset": rf"{iso}T{CLOCK}:\d\d\+02:00",
        "fraction": rf"{iso}T{CLOCK}:\d\d\.\d{{3}}",
        "clock": CLOCK,
        "am or pm": r"([1-9]|1[0-2]):[0-5]\d:[0-5]\d [AP]M",
    }
    return Ugly(columns, looks, types=dict.fromkeys(columns, "Datetime"))


@ugly
def answers_in_any_case(rng):
    answers = {
        "y": ["Y", "N"],
        "yes": ["yes", "No", "YES"],
        "true": ["TRUE", "false", "True"],
        "blank": [" yes", "yes", "no "],
        "flag": ["0", "1"],
        "digits": ["1", "2", "N"],
    }
    columns = {name: rng.choice(texts, N) for name, texts in answers.items()}
    looks = {name: "|".join(texts) for name, texts in answers.items()}
    types = dict.fromkeys(("y", "yes", "true", "blank", "digits"), "Categorical")
    return Ugly(columns, looks, types=types)


@ugly
def codes_and_numbers(rng):
    codes = ["428", "414", "250.83", "V57", "V45.81", "E850"]
    columns = {
        "icd": rng.choice(codes, N, p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05]),
        "padded": [f"{v:03d}" for v in rng.choice([7, 14, 120, 999], N)],
        "house": some(rng, rng.integers(10, 60, N).astype(str), 0.1, ["12A", "14b"]),
        "ages": some(rng, rng.integers(18, 90, N).astype(str), 0.1, ["unknown"]),
    }
    looks = {
        "icd": "|".join(map(re.escape, [*codes, "other"])),
        "padded": "007|014|120|999",
        "house": r"\d\d|12A|14b|other",
        "ages": r"-?\d{1,3}|unknown|other",
    }
    types = {"icd": "Categorical", "padded": "Categorical", "house": "Categorical"}
    return Ugly(columns, looks, types=types | {"ages": "Integer"})


@ugly
def blanks_and_signs(rng):
    columns = {
        "around": [f" {v} " for v in rng.integers(0, 120, N)],
        "before": [f" {v:.2f}" for v in rng.gamma(2, 90, N)],
        "plus": [f"{v:+d}" for v in rng.integers(-50, 50, N)],
        "words": rng.choice([" left", "right ", "mid dle"], N),
    }
    looks = {
        "around": r" -?\d{1,3} ",
        "before": r" -?\d+\.\d\d",
        "plus": r"[+-]\d{1,3}|0",
        "words": " left|right |mid dle",
    }
    types = {"around": "Integer", "before": "Numeric", "plus": "Integer"}
    return Ugly(columns, looks, types=types)


@ugly
def missing_in_many_ways(rng):
    columns = {
        "amount": some(rng, german(rng.gamma(2, 900, N)), 0.2, ["NA", "-", ""]),
        "day": some(rng, days(rng).strftime("%d.%m.%Y"), 0.2, ["NA", "-", ""]),
        "sparse": some(rng, rng.integers(0, 90, N).astype(str), 0.6, [""]),
        "word": some(rng, rng.choice(["a", "b"], N), 0.2, ["NA", "-", ""]),
        "never": [""] * N,
    }
    looks = {
        "amount": f"{COMMA}|NA|-|other",
        "day": rf"{DAY}\.{MONTH}\.\d{{4}}|NA|-|other",
        "sparse": r"-?\d{1,3}",
        "word": "a|b|NA|-",
        "never": "other|0",
    }
    return Ugly(columns, looks, types={"amount": "Numeric", "day": "Datetime"})


@ugly
def names_as_people_give_them(rng):
    columns = {
        " leading blank": rng.choice(["a", "b"], N),
        'with "quotes"': rng.integers(0, 90, N).astype(str),
        "two\nlines": [f"{v:.1f}" for v in rng.normal(20, 5, N)],
        "Straße, Nr.": rng.choice(["Hauptstr. 1", "Am Markt, 2"], N),
        "constant": ["x"] * N,
    }
    looks = {
        " leading blank": "a|b",
        'with "quotes"': r"-?\d+",
        "two\nlines": r"-?\d+\.\d",
        "Straße, Nr.": r"Hauptstr\. 1|Am Markt, 2",
        "constant": "x",
    }
    return Ugly(columns, looks, options=("--multiline",))


@ugly
def mixtures(rng):
    moments = times(rng)
    offsets = np.where(moments.month.isin([4, 5, 6, 7, 8, 9]), "+02:00", "+01:00")
    small = rng.integers(1, 90, N).astype(str)
    junk = [f"#{i}?" for i in range(99)]
    columns = {
        "summer time": moments.strftime("%Y-%m-%dT%H:%M:%S") + pd.Index(offsets),
        "some groups": [f"{v:,.0f}" for v in rng.gamma(2, 900, N)],
        "some units": some(rng, small, 0.6, ["$ 5", "$ 7"]),
        "junk": some(rng, german(rng.gamma(2, 900, N)), 0.08, junk),
        "id": [f"P{i:05d}" for i in rng.permutation(N)],
    }
    iso = rf"\d{{4}}-{MONTH}-{DAY}"
    looks = {
        "summer time": rf"{iso}T{CLOCK}:\d\dZ",
        "some groups": r"-?\d{1,3}(,\d{3})*",
        "some units": r"-?\$ \d+",
        "junk": rf"{COMMA}|other|#\d+\?",
        "id": r"id-\d+",
    }
    types = {"summer time": "Datetime", "some groups": "Integer", "id": "Regenerate"}
    return Ugly(columns, looks, types=types)


def run(*arguments):
    found = CliRunner().invoke(main, [str(one) for one in arguments])
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize("name", FILES)
def test_each_column_comes_back_as_it_is_written(name, tmp_path):
    file = FILES[name](np.random.default_rng(sum(map(ord, name))))
    path, model, out = tmp_path / "a.csv", tmp_path / "model", tmp_path / "b.csv"
    table = pd.DataFrame(file.columns)
    table.to_csv(path, index=False, sep=file.separator, encoding=file.encoding)
    with insecure_noise_seed(1):
        run("fit", path, "--out", model, "--method", "independent", "--epsilon", 30,
            "--quiet", "--seed", 0, *file.options)  # fmt: skip
    run("sample", model, "-n", 500, "-o", out, "--seed", 0)
    run("report", model, "-o", tmp_path / "report.html")
    drawn = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(drawn.columns) == list(table.columns)
    for column, look in file.looks.items():
        cells = set(drawn[column]) - {""}
        odd = [cell for cell in cells if not re.fullmatch(look, cell)]
        assert not odd, (column, odd[:5])
        n_missing = float((drawn[column] == "").mean())
        truly = float((table[column] == "").mean())
        assert n_missing == pytest.approx(truly, abs=0.12), column
    found = pd.read_csv(model / "columns.csv", index_col=0)["type"]
    assert {column: found[column] for column in file.types} == file.types


def test_there_are_ten():
    assert len(FILES) == 10


def test_the_page_of_an_ugly_file_reads_real_cells_as_the_fit_did(tmp_path):
    file = money(np.random.default_rng(0))
    path, model, page = tmp_path / "a.csv", tmp_path / "model", tmp_path / "r.html"
    pd.DataFrame(file.columns)[["euro", "dollars"]].to_csv(path, index=False)
    with insecure_noise_seed(1):
        run("fit", path, "--out", model, "--method", "independent", "--epsilon", 30,
            "--quiet")  # fmt: skip
    run("report", model, "-o", page, "--real", path, "--quiet")
    assert "euro" in page.read_text(encoding="utf-8")


def test_amounts_with_a_sign_keep_their_comma_beside_plain_ones(tmp_path):
    rng = np.random.default_rng(0)
    columns = {
        "amount": [text + " €" for text in german(rng.gamma(2, 900, N))],
        "weight": german(rng.normal(78, 14, N), 1),
    }
    path, model, out = tmp_path / "a.csv", tmp_path / "model", tmp_path / "b.csv"
    pd.DataFrame(columns).to_csv(path, index=False, sep=";")
    with insecure_noise_seed(1):
        run("fit", path, "--out", model, "--method", "independent", "--epsilon", 30,
            "--quiet", "--separator", ";", "--decimal", ",")  # fmt: skip
    run("sample", model, "-n", 500, "-o", out, "--seed", 0)
    drawn = pd.read_csv(out, dtype=str)
    assert drawn["amount"].str.fullmatch(COMMA + " €").all()
    assert drawn["weight"].str.fullmatch(r"-?\d+,\d").all()

    # the same file beside the model: it is read as it was for the fit
    run("report", model, "-o", tmp_path / "r.html", "--real", path, "--quiet")
    distances = json.loads((tmp_path / "r.json").read_text())["real"]["distances"]
    assert distances[0]["synthetic"] < 0.2
    tabs = tmp_path / "b.tsv"
    run("sample", model, "-n", 500, "-o", tabs, "--seed", 0)
    run("report", model, "-o", tmp_path / "r.html", "--real", path, "--test", tabs,
        "--quiet")  # fmt: skip
