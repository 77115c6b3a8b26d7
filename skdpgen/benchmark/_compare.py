"""Synthesizers side by side, between real data and the independent baseline."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skdpgen.benchmark._result_tables import markdown
from skdpgen.exceptions import (
    SearchCostWarning,
)
from skdpgen.metrics import (
    Rules,
    SyntheticUtility,
    draw_samples,
    joined,
    k_marginal_score,
    require_sdmetrics,
    rule_violations,
    sdmetrics_quality,
    unwrap,
    yardsticks,
)
from skdpgen.utils import Labels, Rows, Table

SHARED_PARAMETERS = ("epsilon", "delta", "schema", "classes", "adjacency")
BASELINE_NOTE = (
    "The baseline (DPIndependentSynthesizer) was added. It is another paid release on "
    "the same rows: the comparison as a whole costs more than any one epsilon."
)
COST_NOTE = (
    "{} releases read the same rows, each for its own epsilon; publishing several "
    "of them costs their composition."
)
METRIC_NOTE = "Scores and distances read real rows and stand outside the guarantee."


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of :func:`compare`; prints as two tables.

    Parameters
    ----------
    scores : DataFrame
        Primary metric: a row per model plus "mean" and "best", a column for "real"
        and for each synthesizer; mean over releases.
    summary : DataFrame
        A row for "real" and for each synthesizer: mean of the models, best of them and
        two-way distance first; then the standard deviation of the mean over releases,
        other ranking metrics, :func:`~skdpgen.metrics.yardsticks` against the real
        test rows (for "real", the best that sampling allows), seconds, epsilon; if they
        were asked for, the share of rows that break a rule, and SDMetrics' score.
    runs : DataFrame
        Every score: a row per synthesizer, release and model.
    notes : tuple of str
        What a reader of the tables must know.
    """

    scores: pd.DataFrame
    summary: pd.DataFrame
    runs: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Both tables and the notes."""
        tables = (frame.round(3).to_string() for frame in (self.scores, self.summary))
        return "\n\n".join([*tables, "\n".join(self.notes)])

    def to_markdown(self, digits: int = 3) -> str:
        """Return both tables and the notes as Markdown."""
        tables = [markdown(frame, digits) for frame in (self.scores, self.summary)]
        return "\n\n".join([*tables, "\n".join(f"* {note}" for note in self.notes)])


def compare(
    synthesizers: Mapping[str, Any],
    X_train: Table,
    y_train: Labels,
    X_test: Table,
    y_test: Labels,
    *,
    utility: SyntheticUtility | None = None,
    n_releases: int = 1,
    baseline: bool = True,
    random_state: int | None = 0,
    stratum: Hashable | None = None,
    rules: Rules = (),
    sdmetrics: bool = False,
) -> Comparison:
    """Fit clones of synthesizers, sample, and score with twelve models each.

    The ceiling, "real", trains the models on ``X_train`` itself. The independent
    baseline, "baseline", is a :class:`~skdpgen.synthesizers.DPIndependentSynthesizer`
    with the first synthesizer's budget, schema, classes and adjacency; it is added
    unless there is one already. **Every release of every synthesizer uses privacy
    budget, the baseline's too.**

    Parameters
    ----------
    synthesizers : mapping of str to estimator
        Unfitted estimators or pipelines; they are cloned, never changed.
    X_train, y_train : table and targets
        Rows that the synthesizers protect.
    X_test, y_test : table and targets
        Real rows that only the scores and distances read.
    utility : SyntheticUtility or None, default=None
        How to score; None is ``SyntheticUtility()``.
    n_releases : int, default=1
        Independent fits of each synthesizer.
    baseline : bool, default=True
        Whether to add the independent baseline.
    random_state : int or None, default=0
        Seed of all but the privacy noise; release k uses ``random_state + k``.
    stratum : column or None, default=None
        Of NIST's score, :func:`~skdpgen.metrics.k_marginal_score`: a region, say.
    rules : Schema, sequence or mapping, default=()
        As in :func:`~skdpgen.metrics.rule_violations`; ``rule_violations`` is the share
        of rows that break any of them.
    sdmetrics : bool, default=False
        Whether to add SDMetrics' score, :func:`~skdpgen.metrics.sdmetrics_quality`,
        by the Python that the variable ``SKDPGEN_SDMETRICS_PYTHON`` names.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Copy(BaseEstimator):  # not private: an example only
    ...     def fit(self, X, y):
    ...         self.rows_ = X, y
    ...         return self
    ...     def sample(self, n_samples=None, random_state=None):
    ...         return self.rows_
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> result = compare({"copy": Copy()}, X, y, X, y, baseline=False,
    ...                  utility=SyntheticUtility(classifiers=["lda"]))
    >>> bool((result.scores["copy"] == result.scores["real"]).all())
    True
    """
    if not isinstance(synthesizers, Mapping):
        raise TypeError(
            "synthesizers must be a dict of names and estimators. Got "
            f"{type(synthesizers).__name__}: say {{'ours': DPPairwiseSynthesizer()}}."
        )
    if not synthesizers or "real" in synthesizers:
        raise ValueError(
            "synthesizers must hold at least one name other than 'real'. "
            f"Got {list(synthesizers)} instead."
        )
    if n_releases < 1:
        raise ValueError(f"n_releases must be at least 1. Got {n_releases} instead.")
    if random_state is not None and not isinstance(random_state, Integral):
        raise TypeError(f"random_state must be an int or None. Got {random_state!r}.")
    utility = utility or SyntheticUtility()
    judge = _Judge(stratum, rules, sdmetrics)
    train, test = (X_train, y_train), (X_test, y_test)
    _check_arguments(synthesizers, train, test, utility, judge)
    entrants, notes = _with_baseline(dict(synthesizers), baseline)
    runs: list[_Run] = []
    for name, synthesizer in entrants.items():
        for k in range(n_releases):
            seed = None if random_state is None else random_state + k
            runs.append(
                _Run.of(name, k, synthesizer, train, test, utility, judge, seed)
            )
    # real rows are scored as what the synthesizers took y for: integers may be a number
    is_number = runs[0].scores.attrs["task"] == "regression"
    utility = replace(utility, task="regression" if is_number else "classification")
    runs.insert(0, _Run.of_real(train, test, utility, judge))
    return _collect(runs, utility, notes)


def _check_arguments(
    synthesizers: Mapping[str, Any],
    train: tuple[Table, Labels],
    test: tuple[Table, Labels],
    utility: SyntheticUtility,
    judge: _Judge,
) -> None:
    """Raise for what is wrong before any budget is used, as far as it can be seen."""
    for name, synthesizer in synthesizers.items():
        last = _last(synthesizer)
        if isinstance(last, type) or not hasattr(last, "get_params"):
            raise TypeError(
                f"synthesizers must hold estimators. Got {last!r} as {name!r}; "
                "write an instance, such as DPPairwiseSynthesizer()."
            )
        if hasattr(last, "_parameter_constraints"):
            clone(last)._validate_params()
    asked = [getattr(_last(one), "task", "auto") for one in synthesizers.values()]
    _check_scores(utility, train, test, asked)
    rule_violations(test, judge.rules)
    if judge.stratum is not None:
        few = joined(test).head()
        k_marginal_score(few, few, 1, stratum=judge.stratum)
    if judge.sdmetrics:
        require_sdmetrics()


def _check_scores(
    utility: SyntheticUtility,
    train: tuple[Table, Labels],
    test: tuple[Table, Labels],
    asked: list[str],
) -> None:
    """Raise if rows cannot be scored, by none of the tasks that a fit may find."""
    tasks = [utility.task] if utility.task != "auto" else [*dict.fromkeys(asked)]
    if tasks == ["auto"]:  # whole numbers may turn out as a number to predict
        tasks = ["auto", "regression"]
    errors = []
    for task in tasks:
        try:
            return replace(utility, task=task).check(*train, *test)
        except ValueError as error:
            errors.append(error)
    raise errors[0]


@dataclass(frozen=True, eq=False)
class _Judge:
    """What is measured of the rows of a release, besides the scores of models."""

    stratum: Hashable | None
    rules: Rules
    sdmetrics: bool

    def __call__(self, real: Rows, rows: Rows) -> dict[str, float]:
        facts = yardsticks(real, rows, stratum=self.stratum)
        counts = rule_violations(rows, self.rules)
        if len(counts) > 1:
            facts["rule_violations"] = counts["any"] / len(joined(rows))
        if self.sdmetrics:
            facts["sdmetrics_quality"] = sdmetrics_quality(real, rows)["quality"]
        return facts


@dataclass(frozen=True, eq=False)
class _Run:
    """One release of one entrant, scored."""

    name: str
    release: int
    scores: pd.DataFrame
    facts: dict[str, float]

    @classmethod
    def of_real(
        cls,
        train: tuple[Table, Labels],
        test: tuple[Table, Labels],
        utility: SyntheticUtility,
        judge: _Judge,
    ) -> _Run:
        scores, seconds = _timed(lambda: utility.evaluate(train, *test))
        facts = {**judge(test, train), "score_seconds": seconds}
        return cls("real", 0, scores, facts)

    @classmethod
    def of(
        cls,
        name: str,
        release: int,
        synthesizer: Any,
        train: tuple[Table, Labels],
        test: tuple[Table, Labels],
        utility: SyntheticUtility,
        judge: _Judge,
        seed: int | None,
    ) -> _Run:
        model = _seeded(clone(synthesizer), seed)
        utility = replace(utility, random_state=seed)
        fitted, fit_seconds = _timed(lambda: _fit(model, *train))
        sampler, X_test = unwrap(fitted, test[0])
        test = X_test, test[1]
        rows, sample_seconds = _timed(
            lambda: draw_samples(sampler, utility.n_samples, seed)
        )
        task = getattr(sampler, "task_", None)
        if utility.task == "auto" and task:
            utility = replace(utility, task=task)
        scores, score_seconds = _timed(lambda: utility.evaluate(rows, *test))
        facts = {
            **judge(test, rows),
            "fit_seconds": fit_seconds,
            "sample_seconds": sample_seconds,
            "score_seconds": score_seconds,
            "epsilon": _epsilon(sampler),
        }
        return cls(name, release, scores, facts)


def _collect(
    runs: list[_Run], utility: SyntheticUtility, notes: list[str]
) -> Comparison:
    """Average over releases, in the order of the entrants."""
    first = runs[0].scores
    metric = first.attrs["metric"]
    ranking = [metric]
    if first.attrs["task"] == "binary":
        ranking = list(dict.fromkeys([metric, "roc_auc", "average_precision"]))
    names = list(dict.fromkeys(run.name for run in runs))
    scores, summary = {}, {}
    for name in names:
        releases = [run for run in runs if run.name == name]
        column = pd.concat([run.scores[metric] for run in releases], axis=1).mean(
            axis=1
        )
        totals = {
            kind: [utility.summary(run.scores, kind) for run in releases]
            for kind in ranking
        }
        scores[name] = pd.concat([column, pd.Series(_mean(totals[metric]))])
        summary[name] = {
            **_headline(totals),
            **_mean([run.facts for run in releases]),
            "n_releases": len(releases),
        }
    long = pd.concat(
        {(run.name, run.release): run.scores for run in runs},
        names=["synthesizer", "release"],
    ).reset_index()
    head = f"Primary metric: {metric}; protocol {first.attrs['protocol']!r}"
    notes = [f"{head} ({first.attrs['version']}).", *notes, METRIC_NOTE]
    if len(runs) > 2:
        notes.append(COST_NOTE.format(len(runs) - 1))
    failed = int((long["note"] != "").sum())
    if failed:
        notes.append(f"{failed} of {len(long)} scores are chance: see `runs.note`.")
    frame = pd.DataFrame.from_dict(summary, orient="index")
    front = [metric, f"{metric}_best", "two_way_tv"]
    frame = frame[[*front, *(name for name in frame if name not in front)]]
    return Comparison(pd.DataFrame(scores), frame, long, tuple(notes))


def _headline(totals: Mapping[str, list[dict[str, float]]]) -> dict[str, float]:
    """Mean and spread over releases of the mean, and mean of the best."""
    headline = {}
    for metric, releases in totals.items():
        means = [release["mean"] for release in releases]
        headline[metric] = float(np.mean(means))
        headline[f"{metric}_sd"] = float(np.std(means, ddof=1)) if means[1:] else np.nan
        headline[f"{metric}_best"] = float(np.mean([r["best"] for r in releases]))
    return headline


def _mean(facts: list[dict[str, float]]) -> dict[str, float]:
    return {key: float(np.mean([fact[key] for fact in facts])) for key in facts[0]}


def _with_baseline(
    entrants: dict[str, Any], baseline: bool
) -> tuple[dict[str, Any], list[str]]:
    """Put the independent baseline first, with the guarantee of the first entrant."""
    if not baseline or "baseline" in entrants:
        return entrants, []
    # imported only now: without the baseline any estimator with `sample` can compare
    from skdpgen.synthesizers import DPIndependentSynthesizer

    estimators = [_last(entrant) for entrant in entrants.values()]
    if any(isinstance(last, DPIndependentSynthesizer) for last in estimators):
        return entrants, []
    params = estimators[0].get_params(deep=False)
    shared = {key: params[key] for key in SHARED_PARAMETERS if key in params}
    added = clone(DPIndependentSynthesizer(**shared))
    first = next(iter(entrants.values()))
    if isinstance(first, Pipeline):  # the baseline must see the same transformed rows
        added = Pipeline([*first.steps[:-1], ("baseline", added)])
    return {"baseline": added, **entrants}, [BASELINE_NOTE]


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _seeded(model: Any, seed: int | None) -> Any:
    last = _last(model)
    if "random_state" in last.get_params(deep=False):
        last.set_params(random_state=seed)
    return model


def _fit(model: Any, X: Table, y: Labels) -> Any:
    with warnings.catch_warnings():
        # the notes of the comparison already state that every release costs
        warnings.simplefilter("ignore", SearchCostWarning)
        return model.fit(X, y)


def _epsilon(synthesizer: Any) -> float:
    report = getattr(synthesizer, "privacy_", None)
    epsilon = getattr(report, "epsilon", getattr(synthesizer, "epsilon", np.nan))
    return float(epsilon)


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return function(), time.perf_counter() - start
