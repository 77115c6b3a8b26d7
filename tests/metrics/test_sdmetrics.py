"""The wrapper around SDMetrics, which is not installed for tests: a stand-in is."""

import sys
import types

import pandas as pd
import pytest

from skdpgen.metrics import sdmetrics_quality
from skdpgen.metrics._sdmetrics import quality_metadata

REAL = pd.DataFrame({"a": [1.5, 2.5], 0: ["x", "y"]})


class FakeReport:
    def generate(self, real, synthetic, metadata, verbose):
        assert list(real) == list(synthetic) == list(metadata["columns"])
        assert not verbose
        FakeReport.metadata = metadata

    def get_properties(self):
        names = ["Column Shapes", "Column Pair Trends"]
        return pd.DataFrame({"Property": names, "Score": [0.75, 0.25]})

    def get_score(self):
        return 0.5


def test_scores_under_our_names(monkeypatch):
    module = types.ModuleType("single_table")
    module.QualityReport = FakeReport
    monkeypatch.setitem(sys.modules, "sdmetrics.reports.single_table", module)
    for name in ("sdmetrics", "sdmetrics.reports"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    scores = sdmetrics_quality(REAL, REAL[["a", 0]])
    assert scores == {
        "quality": 0.5,
        "column_shapes": 0.75,
        "column_pair_trends": 0.25,
    }
    mine = {"columns": {"a": {"sdtype": "categorical"}, "0": {"sdtype": "categorical"}}}
    sdmetrics_quality(REAL, REAL, metadata=mine)
    assert FakeReport.metadata == mine


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "sdmetrics", None)
    monkeypatch.delitem(sys.modules, "sdmetrics.reports.single_table", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'skdpgen\[sdmetrics\]'"):
        sdmetrics_quality(REAL, REAL)


def test_types_of_columns():
    frame = pd.DataFrame(
        {
            "number": [1, 2],
            "time": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "flag": [True, False],
            "text": ["a", None],
            "group": pd.Categorical(["a", "b"]),
        }
    )
    kinds = quality_metadata(frame)["columns"].values()
    assert [kind["sdtype"] for kind in kinds] == [
        "numerical",
        "datetime",
        "boolean",
        "categorical",
        "categorical",
    ]
