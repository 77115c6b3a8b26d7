"""Reports beside real rows are made of every table that fits."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from skdpgen import DPIndependentSynthesizer, SyntheticUtility, compare
from skdpgen.cli import main
from skdpgen.cli._text_records import typed
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed
from skdpgen.report import beside_real

N = 1200
FILES = ("p.csv", "m", "r.html")


@pytest.fixture(scope="module")
def people():
    """Identifiers, phone numbers, notes, times with several offsets, whole amounts."""
    rng = np.random.default_rng(0)
    size = rng.integers(20, 200, N)
    day, hour = rng.integers(1, 28, N), rng.integers(0, 24, N)
    offset = np.where(day % 2, "+01:00", "+02:00")
    return pd.DataFrame(
        {
            "id": [f"Jane Doe {i}" for i in rng.permutation(N)],
            "phone": [f"030 {i}" for i in rng.integers(10**6, 10**7, N)],
            "seen": [
                f"2023-05-{d:02d}T{h:02d}:15:00{o}"
                for d, h, o in zip(day, hour, offset, strict=True)
            ],
            "size": size,
            "price": size * 3000 + rng.integers(0, 30_000, N),
        }
    )


def test_a_report_of_awkward_columns(people, tmp_path, few_models):
    people.to_csv(tmp_path / "p.csv", index=False)
    fit = ["fit", "p.csv", "--target", "price", "--out", "m", "--quiet"]
    fit += ["--method", "independent", "--epsilon", "20"]
    report = ["report", "m", "-o", "r.html", "--real", "p.csv", "--quiet"]
    for arguments in (fit, report):
        paths = [tmp_path / one if one in FILES else one for one in arguments]
        with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
            found = CliRunner().invoke(main, [str(one) for one in paths])
        assert found.exit_code == 0, found.output
    page = (tmp_path / "r.html").read_text()
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["real"]["left_out"] == ["id", "phone"]
    assert content["real"]["scores"]["metric"] == "r2"
    single = content["real"]["distances"][0]
    assert single["synthetic"] < 0.4  # with made-up identifiers it is above
    assert "Jane Doe" not in page + json.dumps(content)


def test_times_with_several_offsets_are_one_column(people):
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        synthesizer = DPIndependentSynthesizer(20.0).fit(people[["seen", "size"]])
    found = typed(people[["seen", "size"]], synthesizer)
    wanted = [pd.Timestamp(text).tz_convert(None) for text in people["seen"]]
    assert found["seen"].tolist() == wanted


def test_a_whole_number_is_scored_as_what_the_fit_took_it_for(people, few_models):
    """By its dtype it would be a thousand classes."""
    rows = people[["size"]], people["price"]
    found = beside_real(rows, rows, task="regression", pictures=False)
    assert found["scores"]["metric"] == "r2"
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        result = compare(
            {"baseline": DPIndependentSynthesizer(20.0)},
            *rows,
            *rows,
            baseline=False,
            utility=SyntheticUtility(),
        )
    assert set(result.runs["synthesizer"]) == {"real", "baseline"}
    assert "r2" in result.summary.columns
    assert result.summary.loc["real", "r2"] > 0.9
