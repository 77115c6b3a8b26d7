"""The privacy cost of a parameter search: all candidates read the same rows."""

import math
from dataclasses import dataclass, replace
from operator import neg
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    check_cv,
)

from skdpgen.privacy import (
    LARGEST_DELTA,
    Adjacency,
    PrivacyBudget,
    Subsampling,
    compose_mu,
    fit_curve,
    gaussian_epsilon,
    gaussian_mu,
    renyi_epsilon,
)
from skdpgen.synthesizers.base import BaseSynthesizer
from skdpgen.synthesizers.tools._tools_html import search_cost_html
from skdpgen.tables import TO_BE_PUBLIC, Schema

NO_NOISE = "NOT PRIVATE: a candidate had infinite epsilon, and no noise at all."
SEEDED = "NOT PRIVATE: the noise came from insecure_noise_seed."
LEAK = (
    "LEAK: candidates inferred the schema from the rows; what follows holds only if "
    "bounds and categories are public anyway."
)
REFUSED = (
    " Left out: {} of the candidates, whose parameters are not valid. Their fits "
    "failed before they read a row."
)
NOT_COVERED = (
    "The choice among candidates follows scores of raw held-out rows and is not "
    "covered."
)
EXPOSED = (
    "This delta is above 1 / rows: it may expose a row outright. Candidates with "
    "delta=None count at 1e-05; give a smaller `delta` and search again."
)
CHANGED = (
    "search_cost needs a search whose parameters are those that it was fitted with. "
    "Got {} where {} were fitted; take back what was changed since."
)


@dataclass(frozen=True)
class SearchCost:
    """The guarantee of a whole search; text when printed."""

    epsilon: float
    delta: float
    mu: float | None
    """Gaussian-DP parameter of all fits; None if one of them sub-samples rows."""
    n_fits: int
    is_inferred: bool = False
    is_seeded: bool = False
    is_exposed: bool = False
    """Whether delta is above one over the number of rows."""
    n_refused: int = 0
    """Candidates whose parameters are not valid, so that their fits paid nothing."""

    @property
    def _alarms(self) -> list[str]:
        """What comes first, in red."""
        if math.isinf(self.epsilon):
            return [NO_NOISE]
        if self.is_seeded:
            return [SEEDED]
        return [LEAK] * self.is_inferred + [EXPOSED] * self.is_exposed

    @property
    def _guarantee(self) -> tuple[str, str, str] | None:
        """The promise of all fits, with the words around it; None without one."""
        if math.isinf(self.epsilon) or self.is_seeded:
            return None
        return (
            f"The search fitted {self.n_fits} times and as a whole is ",
            f"({self.epsilon:.4g}, {self.delta:.3g})-differentially private",
            ", all releases together.",
        )

    @property
    def _not_covered(self) -> str:
        """What the promise leaves out."""
        return NOT_COVERED + (REFUSED.format(self.n_refused) if self.n_refused else "")

    def __str__(self) -> str:
        """Return the cost in words."""
        if self._guarantee is None:
            return " ".join(self._alarms)
        first, last = [LEAK] * self.is_inferred, [EXPOSED] * self.is_exposed
        return " ".join([*first, "".join(self._guarantee), self._not_covered, *last])

    def _repr_html_(self) -> str:
        """Return the cost for a notebook."""
        return search_cost_html(self)

    __repr__ = __str__


def search_cost(search: Any) -> SearchCost:
    r"""Return the privacy cost of a fitted ``GridSearchCV`` (or random search).

    A row is in k - 1 of the k training sets of every candidate (``KFold``), and in the
    refit. Gaussian releases compose exactly: :math:`\mu^2 = \sum_c (k-1)\,\mu_c^2 +
    \max_c \mu_c^2`, converted to epsilon at the largest delta of the candidates; what
    selections reserve of delta and epsilon adds up beside it. The refit is charged as
    the most expensive candidate, because the scores that chose it are not private.

    *If a candidate sub-samples* (``algorithm="per_step"``, a private encoder), its
    fit is not a Gaussian mechanism and has no mu. Then Renyi divergences add up
    instead, at each order, that of the refit being the largest of any candidate at that
    order (:func:`~skdpgen.privacy.fit_curve`). That gives about twenty percent more.

    ``delta=None`` *counts as 1e-5*, the largest that a fit chooses, since folds have
    fewer rows than the whole. *Proof.* mu, and what selections keep, grow with delta.
    Steps of share s beside a smaller :math:`m` fit 1e-5 if they fit less, and there the
    same Gaussian leaves them :math:`t = 1 - (1-s)\, m^2 / \mu^2`; the curve of such a
    candidate covers all shares up to 1. A delta that is given counts as it is.

    *What is counted* is the last call of ``fit``, as it was: parameters that were
    changed afterwards raise an error where the certificate of ``best_estimator_``
    shows it. Candidates without a score whose parameters are not valid, such as a
    negative epsilon, are left out: these fits read no row. Other fits that failed
    (``error_score``) count in full, whether or not they came to a release. A search
    that was interrupted has no results, and no cost can be stated, but what it fitted
    was paid for.

    **Folds must not depend on the rows.** Stratified folds do: one label that changes
    moves hundreds of other rows to another fold, and then nothing is bounded. Under
    "add_remove" one more row moves the others, too. **Nor may rows depend on each
    other**: a scaler in front, fitted to raw rows, moves all of them if one changes.

    Parameters
    ----------
    search : fitted search
        With a synthesizer as estimator, or as the last step of a pipeline whose other
        steps are "passthrough".

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from skdpgen.synthesizers import DPIndependentSynthesizer
    >>> done = SimpleNamespace(
    ...     estimator=DPIndependentSynthesizer(classes=[0, 1]), n_splits_=3, cv=3,
    ...     cv_results_={"params": [{"epsilon": 0.5}, {"epsilon": 1.0}]}, refit=True)
    >>> search_cost(done)
    The search fitted 7 times and as a whole is (2.02, 1.5e-05)-differentially private,
    all releases together. The choice among candidates follows scores of raw held-out
    rows and is not covered.
    """
    if not hasattr(search, "cv_results_"):
        raise TypeError(
            "search_cost takes a fitted search, such as GridSearchCV. Got "
            f"{type(search).__name__}, which is not fitted or not a search; `privacy_` "
            "is the cost of a single fit."
        )
    all_candidates = [
        _synthesizer(clone(search.estimator).set_params(**params))
        for params in search.cv_results_["params"]
    ]
    has_score = _have_scores(search, len(all_candidates))
    candidates = [
        candidate
        for candidate, was_fitted in zip(all_candidates, has_score, strict=True)
        if was_fitted or _is_valid(candidate)
    ]
    if not candidates:
        raise ValueError(
            "search_cost needs a candidate with valid parameters. Got none: no fit of "
            "the search read a row."
        )
    budgets = [_budget(candidate) for candidate in candidates]
    times = _n_training_sets(search, {budget.adjacency for budget in budgets})
    _check_unchanged(search, all_candidates)
    has_refit = bool(search.refit) or hasattr(search, "best_estimator_")
    selections = [budget.delta_selection for budget in budgets for _ in range(times)]
    if has_refit:
        selections.append(max(budget.delta_selection for budget in budgets))
    delta = max(budget.delta for budget in budgets)
    mu, epsilon = _compose(candidates, budgets, times, has_refit, delta)
    epsilon -= math.fsum(map(math.log1p, map(neg, selections)))
    delta += math.fsum(selections)
    return SearchCost(
        epsilon,
        delta,
        mu,
        n_fits=len(candidates) * search.n_splits_ + has_refit,
        is_inferred=any(_is_inferred(candidate.schema) for candidate in candidates),
        is_seeded=_is_seeded(search),
        is_exposed=_is_exposed(search, delta),
        n_refused=len(all_candidates) - len(candidates),
    )


def _have_scores(search: Any, n_candidates: int) -> list[bool]:
    """Return which candidates have a score of some fold, so that they were fitted.

    Whether parameters are valid may depend on the machine: what was fitted counts.
    """
    scores = [
        np.asarray(values, dtype=float)
        for name, values in search.cv_results_.items()
        if name.startswith("split") and "_test_" in name
    ]
    return [
        any(math.isfinite(of_fold[i]) for of_fold in scores)
        for i in range(n_candidates)
    ]


def _is_valid(candidate: BaseSynthesizer) -> bool:
    """Return whether a fit starts; it checks its parameters before it reads a row."""
    try:
        candidate._validate_params()
        _budget(candidate)
    except (TypeError, ValueError):
        return False
    return True


def _is_inferred(schema: Any) -> bool:
    """Return whether a schema was read off private rows, now or in an earlier fit."""
    if schema is None:
        return False
    origin = Schema.of(schema).origin
    return any(mark in origin for mark in TO_BE_PUBLIC)


def _compose(
    candidates: list[BaseSynthesizer],
    budgets: list[PrivacyBudget],
    times: int,
    has_refit: bool,
    delta: float,
) -> tuple[float | None, float]:
    """Return mu, where there is one, and epsilon of all fits at ``delta``."""
    steps = [_steps(candidate) for candidate in candidates]
    if all(step is None or step.sampling_rate == 1 for step in steps):
        mus = [_largest_mu(budget) for budget in budgets]
        mu = compose_mu([*mus * times, *[max(mus)] * has_refit])
        return mu, gaussian_epsilon(mu, delta)
    if not all(budget.is_private for budget in budgets):
        return None, math.inf
    curves = np.stack(
        [
            fit_curve(budget.epsilon, budget.delta, budget.adjacency, step)
            for budget, step in zip(budgets, steps, strict=True)
        ]
    )
    curve = times * curves.sum(axis=0) + has_refit * curves.max(axis=0)
    return None, renyi_epsilon(curve, delta)


def _steps(candidate: BaseSynthesizer) -> Subsampling | None:
    """Return how a candidate sub-samples; with any share of mu² if delta is unknown."""
    steps = candidate._subsampling()
    if steps is None or candidate.delta is not None:
        return steps
    return replace(steps, largest_share=1.0)


def _n_training_sets(search: Any, adjacencies: set[Adjacency]) -> int:
    """Return in how many training sets of a candidate a row can occur."""
    splitter = check_cv(search.cv)
    if adjacencies != {Adjacency.REPLACE}:
        raise ValueError(
            "search_cost needs adjacency='replace': under 'add_remove' one more row "
            "moves others to another fold. Got 'add_remove'; search with 'replace'."
        )
    if type(splitter) is KFold:
        return int(search.n_splits_) - 1
    if type(splitter) in (RepeatedKFold, ShuffleSplit, TimeSeriesSplit):
        return int(search.n_splits_)
    raise ValueError(
        "search_cost needs folds that do not depend on the rows. Got "
        f"{type(splitter).__name__}; use `cv=KFold(k, shuffle=True)`."
    )


def _synthesizer(estimator: Any) -> BaseSynthesizer:
    """Return the synthesizer of one candidate, the last step of a pipeline."""
    if hasattr(estimator, "steps"):
        *earlier_steps, (_, last) = estimator.steps
        fitted = [
            step for _, step in earlier_steps if step not in (None, "passthrough")
        ]
        if fitted:
            raise ValueError(
                "search_cost needs pipelines whose steps before the synthesizer are "
                f"'passthrough'. Got {type(fitted[0]).__name__}, which reads raw rows, "
                "so one of them may move all others; leave it out: synthesizers need "
                "no scaler."
            )
        return _synthesizer(last)
    if not isinstance(estimator, BaseSynthesizer):
        raise TypeError(
            "search_cost adds up fits of a synthesizer, alone or at the end of a "
            f"pipeline. Got {type(estimator).__name__}; search over a synthesizer."
        )
    return estimator


def _is_seeded(search: Any) -> bool:
    """Return whether the refit, the only fit that is kept, states seeded noise."""
    if not hasattr(search, "best_estimator_"):
        return False
    report = _synthesizer(search.best_estimator_).privacy_
    return any(line.startswith("NOT PRIVATE") for line in report.statements)


def _is_exposed(search: Any, delta: float) -> bool:
    """Return whether delta is too large for the rows of the refit, if there is one."""
    best = getattr(search, "best_estimator_", None)
    return best is not None and delta * _synthesizer(best).n_samples_ > 1


def _check_unchanged(search: Any, candidates: list[BaseSynthesizer]) -> None:
    """Raise if parameters of the search changed since its fit, where this shows."""
    splits = check_cv(search.cv).get_n_splits()
    if splits != search.n_splits_:
        raise ValueError(CHANGED.format(f"{splits} folds", f"{search.n_splits_}"))
    best = getattr(search, "best_index_", None)
    if best is None or not hasattr(search, "best_estimator_"):
        return
    report, candidate = _synthesizer(search.best_estimator_).privacy_, candidates[best]
    largest = LARGEST_DELTA if candidate.delta is None else candidate.delta
    certified = (report.epsilon, report.adjacency, report.delta)
    if (
        certified[:2] != (candidate.epsilon, candidate.adjacency)
        or report.delta > largest
    ):
        stated = f"epsilon={candidate.epsilon:g} and delta={candidate.delta}"
        raise ValueError(
            CHANGED.format(stated, f"{certified[0]:g} and {certified[2]:g}")
        )


def _largest_mu(budget: PrivacyBudget) -> float:
    """Return the most that a fit can spend: all of delta, if it selected nothing."""
    return gaussian_mu(budget.epsilon, budget.delta)


def _budget(estimator: Any) -> PrivacyBudget:
    """Return the largest budget of a candidate; it may select labels and categories."""
    delta = estimator.delta
    return PrivacyBudget.reserving(
        float(estimator.epsilon),
        LARGEST_DELTA if delta is None else delta,
        Adjacency.parse(estimator.adjacency),
        1,
    )
