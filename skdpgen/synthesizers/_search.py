"""What a search over parameters spent: every candidate was fitted on the same rows."""

import math
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skdpgen.privacy import PrivacyBudget, gaussian_epsilon, gaussian_mu


@dataclass(frozen=True)
class SearchCost:
    """The guarantee of a whole search; text when printed."""

    epsilon: float
    delta: float
    mu: float
    n_fits: int

    def __str__(self) -> str:
        """Return the cost in words."""
        return (
            f"The search fitted {self.n_fits} times and as a whole is "
            f"({self.epsilon:.4g}, {self.delta:.3g})-differentially private; its "
            "scores read held-out rows and are not covered."
        )

    __repr__ = __str__


def search_cost(search: Any) -> SearchCost:
    r"""Return what a fitted ``GridSearchCV`` (or random search) spent on its rows.

    With k folds each row is in k - 1 training sets of every candidate, and in the
    refit of the best one. Gaussian releases compose exactly:
    :math:`\mu^2 = \sum_c (k-1)\,\mu_c^2 + \mu_\text{best}^2`, converted to epsilon at
    the largest delta of the candidates; the parts of delta that selections reserve
    add up beside it.

    Parameters
    ----------
    search : fitted search
        With a synthesizer as estimator, or as the last step of its pipeline.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from skdpgen.synthesizers import DPIndependentSynthesizer
    >>> done = SimpleNamespace(
    ...     estimator=DPIndependentSynthesizer(classes=[0, 1]), n_splits_=3,
    ...     cv_results_={"params": [{"epsilon": 0.5}, {"epsilon": 1.0}]},
    ...     best_params_={"epsilon": 1.0}, refit=True)
    >>> search_cost(done)
    The search fitted 7 times and as a whole is (2.005, 1.5e-05)-differentially private; its scores read held-out rows and are not covered.
    """  # noqa: E501
    if hasattr(search, "fit"):
        check_is_fitted(search)
    candidates = [_budget(search, params) for params in search.cv_results_["params"]]
    folds = search.n_splits_
    fits = [budget for budget in candidates for _ in range(folds - 1)]
    if search.refit:
        fits.append(_budget(search, search.best_params_))
    delta = max(budget.delta for budget in fits)
    mu = math.sqrt(sum(gaussian_mu(*budget.gaussian) ** 2 for budget in fits))
    selections = math.fsum(budget.delta_selection for budget in fits)
    n_fits = len(candidates) * folds + bool(search.refit)
    return SearchCost(gaussian_epsilon(mu, delta), delta + selections, mu, n_fits)


def _budget(search: Any, params: dict[str, Any]) -> PrivacyBudget:
    """The budget of one candidate; it may select labels and text columns."""
    estimator = clone(search.estimator).set_params(**params)
    if hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return PrivacyBudget.reserving(
        float(estimator.epsilon), estimator.delta, estimator.adjacency, 1
    )
