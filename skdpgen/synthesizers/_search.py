"""What a search over parameters spent: every candidate was fitted on the same rows."""

import math
from dataclasses import dataclass
from operator import neg
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    check_cv,
)

from skdpgen.privacy import (
    Adjacency,
    PrivacyBudget,
    compose_mu,
    gaussian_epsilon,
    gaussian_mu,
)


@dataclass(frozen=True)
class SearchCost:
    """The guarantee of a whole search; text when printed."""

    epsilon: float
    delta: float
    mu: float
    n_fits: int
    is_inferred: bool = False

    def __str__(self) -> str:
        """Return the cost in words."""
        if math.isinf(self.mu):
            return "NOT PRIVATE: a candidate had infinite epsilon, and no noise at all."
        leak = ""
        if self.is_inferred:
            leak = (
                "LEAK: candidates inferred the schema from the rows; what follows "
                "holds only if bounds and categories are public anyway. "
            )
        return (
            f"{leak}The search fitted {self.n_fits} times and as a whole is "
            f"({self.epsilon:.4g}, {self.delta:.3g})-differentially private; its "
            "scores read held-out rows and are not covered."
        )

    __repr__ = __str__


def search_cost(search: Any) -> SearchCost:
    r"""Return what a fitted ``GridSearchCV`` (or random search) spent on its rows.

    A row is in k - 1 of the k training sets of every candidate (``KFold``), and in the
    refit. Gaussian releases compose exactly: :math:`\mu^2 = \sum_c (k-1)\,\mu_c^2 +
    \max_c \mu_c^2`, converted to epsilon at the largest delta of the candidates; what
    selections reserve of delta and epsilon adds up beside it. The refit is charged as
    the dearest candidate, because the scores that chose it are not private.

    **Folds must not depend on the rows.** Stratified folds do: one label that changes
    moves hundreds of other rows to another fold, and then nothing is bounded. Under
    "add_remove" one row more moves the others, too.

    Parameters
    ----------
    search : fitted search
        With a synthesizer as estimator, or as the last step of its pipeline.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from skdpgen.synthesizers import DPIndependentSynthesizer
    >>> done = SimpleNamespace(
    ...     estimator=DPIndependentSynthesizer(classes=[0, 1]), n_splits_=3, cv=3,
    ...     cv_results_={"params": [{"epsilon": 0.5}, {"epsilon": 1.0}]}, refit=True)
    >>> search_cost(done)
    The search fitted 7 times and as a whole is (2.02, 1.5e-05)-differentially private;
    its scores read held-out rows and are not covered.
    """
    if not hasattr(search, "cv_results_"):
        raise TypeError(
            "search_cost takes a search, as GridSearchCV, after its fit. Got "
            f"{type(search).__name__}, which is not fitted or no search; `privacy_` is "
            "the cost of a single fit."
        )
    candidates = [_budget(search, params) for params in search.cv_results_["params"]]
    times = _times_trained(search, {budget.adjacency for budget in candidates})
    fits = [budget for budget in candidates for _ in range(times)]
    if search.refit:
        fits.append(max(candidates, key=_largest_mu))
    delta = max(budget.delta for budget in fits)
    mu = compose_mu(map(_largest_mu, fits))
    selections = [budget.delta_selection for budget in fits]
    epsilon = gaussian_epsilon(mu, delta) - sum(map(math.log1p, map(neg, selections)))
    n_fits = len(candidates) * search.n_splits_ + bool(search.refit)
    is_inferred = any(
        _synthesizer(search, params).schema == "infer"
        for params in search.cv_results_["params"]
    )
    return SearchCost(epsilon, delta + math.fsum(selections), mu, n_fits, is_inferred)


def _times_trained(search: Any, adjacencies: set[Adjacency]) -> int:
    """In how many training sets of a candidate a row can be."""
    splitter = check_cv(search.cv)
    if adjacencies != {Adjacency.REPLACE}:
        raise ValueError(
            "search_cost needs adjacency='replace': under 'add_remove' one row more "
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


def _synthesizer(search: Any, params: dict[str, Any]) -> Any:
    """Return the synthesizer of one candidate, the last step of a pipeline."""
    estimator = clone(search.estimator).set_params(**params)
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _largest_mu(budget: PrivacyBudget) -> float:
    """What the fit may have spent: all of delta, if it had nothing to select."""
    return gaussian_mu(budget.epsilon, budget.delta)


def _budget(search: Any, params: dict[str, Any]) -> PrivacyBudget:
    """The budget of one candidate; it may select labels and text columns."""
    estimator = _synthesizer(search, params)
    return PrivacyBudget.reserving(
        float(estimator.epsilon),
        estimator.delta,
        Adjacency.parse(estimator.adjacency),
        1,
    )
