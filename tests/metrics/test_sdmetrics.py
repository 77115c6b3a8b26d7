"""The wrapper around SDMetrics, which is not installed for tests: a stand-in is."""

import sys

import pandas as pd
import pytest

from skdpgen.metrics import _sdmetrics, sdmetrics_quality
from skdpgen.metrics._sdmetrics import quality_metadata, require_sdmetrics

REAL = pd.DataFrame(
    {
        "a": [1.5, None],
        0: ["x", None],
        "flag": [True, False],
        "day": pd.to_datetime(["2020-01-01", "2020-01-02"]),
    }
)
KINDS = ["numerical", "categorical", "boolean", "datetime"]
# answers with what it was sent, in place of SDMetrics
ECHO = """
import json, sys
job = json.load(sys.stdin)
kinds = [column["sdtype"] for column in job["metadata"]["columns"].values()]
assert kinds == ["numerical", "categorical", "boolean", "datetime"], kinds
real, synthetic = job["sides"]
assert list(real) == list(synthetic) == ["a", "0", "flag", "day"]
assert (real["a"], real["0"], real["flag"]) == ([1.5, None], ["x", None], [True, False])
assert real["day"][1].startswith("2020-01-02")
print("a line of another library")
print(json.dumps({"quality": 0.5, "Column Shapes": 0.75, "Column Pair Trends": 0.25}))
"""


def test_rows_go_to_the_other_python_and_scores_come_back(monkeypatch):
    monkeypatch.setattr(_sdmetrics, "SCRIPT", ECHO)
    scores = sdmetrics_quality(
        REAL, REAL[["day", "flag", 0, "a"]], python=sys.executable
    )
    assert scores == {
        "quality": 0.5,
        "column_shapes": 0.75,
        "column_pair_trends": 0.25,
    }


def test_an_error_there_is_an_error_here(monkeypatch):
    monkeypatch.setattr(_sdmetrics, "SCRIPT", "raise ValueError('of theirs')")
    with pytest.raises(RuntimeError, match=r"failed: ValueError: of theirs"):
        sdmetrics_quality(REAL, REAL, python=sys.executable)


@pytest.mark.parametrize("script", ["import sys; sys.exit(3)", None])
def test_without_the_package(monkeypatch, script):
    python = sys.executable if script else "no/such/python"
    monkeypatch.setattr(_sdmetrics, "SCRIPT", script or "")
    monkeypatch.setenv(_sdmetrics.VARIABLE, python)
    with pytest.raises(ImportError, match="sdmetrics/bin/pip install sdmetrics"):
        require_sdmetrics()


def test_types_of_columns():
    columns = quality_metadata(REAL)["columns"]
    assert [kind["sdtype"] for kind in columns.values()] == KINDS
    group = pd.DataFrame({"group": pd.Categorical(["a", "b"])})
    assert quality_metadata(group)["columns"]["group"] == {"sdtype": "categorical"}
