import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdpgen.benchmark import compare
from skdpgen.metrics import SyntheticUtility
from skdpgen.synthesizers import DPIndependentSynthesizer
from tests.metrics._fakes import Bootstrap

FAST = SyntheticUtility(classifiers=("lda", "decision_tree"))


@pytest.fixture
def halves():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    y = pd.Series(np.where(X["a"] + rng.normal(size=400) / 2 > 0, "yes", "no"))
    return X[:200], y[:200], X[200:], y[200:]


def test_ceiling_and_synthesizers_side_by_side(halves):
    entrants = {"good": Bootstrap(), "bad": Bootstrap(epsilon=0.5, shuffle=True)}
    before = [clone(one).get_params() for one in entrants.values()]
    result = compare(entrants, *halves, utility=FAST, n_releases=2, baseline=False)
    assert list(result.scores.columns) == ["real", "good", "bad"]
    assert list(result.scores.index) == ["lda", "decision_tree", "mean", "best"]
    assert result.scores.loc["mean", "good"] > 0.8 > result.scores.loc["mean", "bad"]
    summary = result.summary
    assert summary.loc["good", "roc_auc"] == result.scores.loc["mean", "good"]
    assert summary["epsilon"].tolist()[1:] == [1.0, 0.5]
    assert summary.loc["bad", "two_way_tv"] > summary.loc["real", "two_way_tv"]
    assert summary["n_releases"].tolist() == [1, 2, 2]
    assert len(result.runs) == 2 * (1 + 2 + 2)
    assert [one.get_params() for one in entrants.values()] == before
    assert not hasattr(entrants["good"], "rows_")


def test_releases_differ_and_the_whole_repeats(halves):
    entrants = {"good": Bootstrap()}
    one, two = (
        compare(entrants, *halves, utility=FAST, n_releases=2, baseline=False)
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(one.runs, two.runs)
    assert one.summary.loc["good", "roc_auc_sd"] > 0


def test_prints_and_markdown(halves):
    result = compare({"a|b": Bootstrap()}, *halves, utility=FAST, baseline=False)
    assert "outside the guarantee" in repr(result)
    lines = result.to_markdown().splitlines()
    assert lines[0] == r"|  | real | a\|b |"
    assert lines[1] == "| --- | --- | --- |"
    assert all(line.startswith("|") for line in lines[:6])


def test_regression_and_pipelines(halves):
    X, _, X_test, _ = halves
    entrants = {"piped": make_pipeline(StandardScaler(), Bootstrap())}
    utility = SyntheticUtility(classifiers=["ridge"])
    data = X, 3 * X["a"], X_test, 3 * X_test["a"]
    result = compare(entrants, *data, utility=utility, baseline=False)
    assert result.scores.loc["mean", "piped"] > 0.9
    assert result.summary.loc["piped", "one_way_tv"] < 0.3


def test_bad_parameters(halves):
    with pytest.raises(ValueError, match="at least one name"):
        compare({}, *halves)
    with pytest.raises(ValueError, match="other than 'real'"):
        compare({"real": Bootstrap()}, *halves)
    with pytest.raises(ValueError, match="n_releases must be at least 1"):
        compare({"a": Bootstrap()}, *halves, n_releases=0)


def test_the_baseline_is_added_with_the_budget_of_the_first(halves):
    result = compare({"mine": Bootstrap(epsilon=3.0)}, *halves, utility=FAST)
    assert list(result.scores.columns) == ["real", "baseline", "mine"]
    assert result.summary.loc["baseline", "epsilon"] == 3.0
    assert any("another paid release" in note for note in result.notes)
    own = DPIndependentSynthesizer(classes=["no", "yes"])
    alone = compare({"own": own}, *halves, utility=FAST)
    assert list(alone.scores.columns) == ["real", "own"]


def test_rules_a_stratum_and_sdmetrics(halves, monkeypatch):
    X, y, X_test, y_test = (part.copy() for part in halves)
    for rows in (X, X_test):
        rows["s"] = np.where(rows["c"] > 0, "n", "s")
    monkeypatch.setattr("skdpgen.benchmark._compare.require_sdmetrics", lambda: None)
    monkeypatch.setattr(
        "skdpgen.benchmark._compare.sdmetrics_quality", lambda *rows: {"quality": 0.5}
    )
    rows = X, y, X_test, y_test
    settings = {"utility": FAST, "baseline": False}
    plain = compare({"good": Bootstrap()}, *rows, **settings).summary
    assert not {"rule_violations", "sdmetrics_quality"} & set(plain)
    rules = {"positive": "c > 0 or s == 's'", "small": "a < 0"}
    result = compare(
        {"good": Bootstrap()},
        *rows,
        stratum="s",
        rules=rules,
        sdmetrics=True,
        **settings,
    ).summary
    share = (X["a"] >= 0).mean()
    assert result.loc["real", "rule_violations"] == pytest.approx(share)
    assert result.loc["good", "sdmetrics_quality"] == 0.5
    assert (result["k_marginal"] < plain["k_marginal"]).all()
    assert (result["pmse"] == plain["pmse"]).all()


def test_wrong_rules_and_absent_packages_raise_before_any_fit(halves, monkeypatch):
    class Never(Bootstrap):
        def fit(self, X, y):
            raise AssertionError("a budget was used")

    with pytest.raises(ValueError, match="cannot be evaluated"):
        compare({"never": Never()}, *halves, rules={"r": "absent > 3"})
    monkeypatch.setenv("SKDPGEN_SDMETRICS_PYTHON", "no/such/python")
    with pytest.raises(ImportError, match="sdmetrics"):
        compare({"never": Never()}, *halves, sdmetrics=True)


def test_what_is_wrong_raises_before_any_fit(halves):
    """A release that is paid for is lost if its scores cannot be computed."""

    class Never(Bootstrap):
        def fit(self, X, y):
            raise AssertionError("a budget was used")

    X, y, X_test, y_test = halves
    never = {"never": Never()}
    lacking = X_test.drop(columns=X_test.columns[0])
    ridge = SyntheticUtility(classifiers=["ridge"])
    for wrong, message in (
        (lambda: compare(never, X, y, X_test, y_test[:-1]), "one label a row"),
        (lambda: compare(never, X, y[:-1], X_test, y_test), "one label a row"),
        (lambda: compare(never, X, y, lacking, y_test), "the same columns"),
        (lambda: compare(never, X, y, X_test[:0], y_test[:0]), "known"),
        (lambda: compare(never, *halves, stratum="absent"), "absent"),
        (lambda: compare(never, *halves, utility=ridge), "classifiers"),
        (
            lambda: compare(
                {**never, "ours": DPIndependentSynthesizer(epsilon=-1)}, *halves
            ),
            "epsilon",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    with pytest.raises(TypeError, match="hold estimators"):
        compare({"class": Never}, *halves)
    with pytest.raises(TypeError, match="random_state must be"):
        compare(never, *halves, random_state="a")


def test_whole_numbers_may_be_a_number_to_predict(halves):
    X, _, X_test, _ = halves
    y, y_test = ((10 * part["a"]).round().astype(int) for part in (X, X_test))
    ours = {"ours": DPIndependentSynthesizer(1e3, task="regression")}
    utility = SyntheticUtility(classifiers=["ridge"], metric="r2")
    result = compare(ours, X, y, X_test, y_test, baseline=False, utility=utility)
    assert result.summary.loc["real", "r2"] > 0.9
