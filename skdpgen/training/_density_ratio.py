"""Density ratio of private to public rows, from released means (DP-DRE)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from skdpgen.utils import (
    saved,
)

Floats = NDArray[np.float64]
# Prior standard deviations of what a code adds to the log ratio: for all classes, and
# for one class beyond that. Chosen on public tables.
CODE_STD, CODE_STD_OF_CLASS = 0.4, 0.2
LBFGS_STEPS, LBFGS_MEMORY = 200, 20
LARGEST_RATIO, SMALLEST_RATIO = 100.0, 1e-13  # of an item
HALVINGS = 60  # of the interval of a factor: to the last digit
LEAST_POSITIVE = 1e-12  # stands for 0 in logarithms and divisors


@saved("ratio.means")
@dataclass(frozen=True, eq=False)
class ReleasedMeans:
    """Means of codes over private rows, as released, with the variance of each.

    Parameters
    ----------
    means, variances : ndarray of shape (n_classes, n_codes)
        Sum of each code in each class, divided by the number of ALL rows, not of the
        rows of the class.
    units : ndarray of shape (n_codes,)
        Scale of each code.
    """

    means: Floats
    variances: Floats
    units: Floats


def log_ratios(codes: Any, base: Floats, released: ReleasedMeans) -> Floats:
    r"""Return the log of the density ratio of every public item, by its label.

    The model is an exponential tilt: :math:`\log r(v, y) = v^\top (a + b_y)` up to a
    constant, with codes v. If v holds numbers and their squares, this is the form of
    the ratio of two Gaussians. The means over public items, weighted by r, must agree
    with the released ones. The noise of these is known, and a and b have a Gaussian
    prior (standard deviations .4 and .2). So a code follows its released mean as far as
    that exceeds its noise, and otherwise stays as it is in public rows. The problem is
    smooth and convex up to the normalisation; no private row is read here.

    Parameters
    ----------
    codes : ndarray or sparse matrix of shape (n_items, n_codes)
    base : ndarray of shape (n_items, n_classes)
        Shares of public items and labels; they sum to 1. An item of unknown label has
        a share in every class.
    released : ReleasedMeans

    Returns
    -------
    ratios : ndarray of shape (n_items, n_classes)

    Examples
    --------
    >>> codes = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> means = np.array([[0.75, 0.25]])
    >>> released = ReleasedMeans(means, np.full((1, 2), 1e-6), np.ones(2))
    >>> ratios = log_ratios(codes, np.full((2, 1), 0.5), released)
    >>> ratio_weights(np.full((2, 1), 0.5), ratios).round(2).ravel().tolist()
    [0.75, 0.25]
    """
    n_classes, n_codes = released.means.shape
    sizes = [np.full(n_codes, CODE_STD)]
    if n_classes > 1:
        sizes.append(np.full(n_classes * n_codes, CODE_STD_OF_CLASS))
    scale = np.concatenate(sizes) / np.tile(
        released.units, 1 + n_classes * (n_classes > 1)
    )
    log_base = np.log(np.maximum(base, LEAST_POSITIVE)) + np.where(
        base > 0, 0.0, -np.inf
    )
    precision = 1.0 / np.maximum(released.variances, LEAST_POSITIVE)
    transposed = codes.T.tocsr() if hasattr(codes, "tocsr") else codes.T

    def log_ratio_at(z: Floats) -> Floats:
        parts = (scale * z).reshape(-1, n_codes)
        slopes = parts[:1] + parts[1:] if n_classes > 1 else parts
        return np.asarray(codes @ slopes.T)

    def loss(z: Floats) -> tuple[float, Floats]:
        logs = log_ratio_at(z) + log_base
        weights = np.exp(logs - logsumexp(logs))
        means = np.asarray(transposed @ weights).T
        errors = (released.means - means) * precision
        along = np.asarray(codes @ errors.T)
        pull = weights * (along - float((weights * along).sum()))
        slope = -np.asarray(transposed @ pull).T
        parts = [slope.sum(axis=0), slope.ravel()] if n_classes > 1 else [slope.ravel()]
        value = 0.5 * float(((released.means - means) * errors).sum() + z @ z)
        return value, scale * np.concatenate(parts) + z

    solution = minimize(
        loss,
        np.zeros(len(scale)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": LBFGS_STEPS, "maxcor": LBFGS_MEMORY},
    )
    return log_ratio_at(solution.x)


def ratio_weights(base: Floats, log_ratio: Floats, power: float = 1.0) -> Floats:
    """Return weights of items and labels that sum to 1; extreme ratios are clipped.

    A ratio of densities has the mean 1 over public items. So it is scaled such that it
    has this mean once it is cut: a few extreme logarithms, as of a network that is too
    sure, then leave the ratios of all others as they are. Bounds around the mean
    *logarithm* would be wrong: where most public items are unlike private ones, it is
    far below 0, and the upper bound would be the weight of good and of doubtful items
    alike.

    Parameters
    ----------
    power : float, default=1.0
        Exponent of the ratio. Below 1 weights are flatter, and more items count.

    Examples
    --------
    >>> base, logs = np.full((4, 1), 0.25), np.array([[0.0], [-5.0], [-50.0], [-50.0]])
    >>> ratio_weights(base, logs).round(3).ravel().tolist()
    [0.993, 0.007, 0.0, 0.0]
    """
    logs = log_ratio - log_mean_of_cut(base, log_ratio)
    clipped = np.clip(logs, np.log(SMALLEST_RATIO), np.log(LARGEST_RATIO))
    weights = base * np.exp(power * clipped)
    return np.asarray(weights / weights.sum())


def log_mean_of_cut(base: Floats, log_ratio: Floats) -> float:
    """Return the log of the factor by which ratios exceed the mean 1 once cut at 100.

    The mean of cut ratios falls as the factor grows, so it is found by bisection,
    between a factor at which all are cut and the mean of uncut ratios.

    Examples
    --------
    >>> round(log_mean_of_cut(np.array([[0.5], [0.5]]), np.array([[2.0], [2.0]])), 6)
    2.0
    """
    is_there = base > 0
    shares, logs = base[is_there], log_ratio[is_there]
    shares = shares / shares.sum()
    low = float(logs.min()) - float(np.log(LARGEST_RATIO))
    high = float(logsumexp(logs, b=shares))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        cut = np.exp(np.minimum(logs - middle, np.log(LARGEST_RATIO)))
        low, high = (middle, high) if shares @ cut > 1.0 else (low, middle)
    return float(high)


def effective_size(weights: Floats) -> float:
    """Return the effective sample size (Kish) of weighted items.

    Examples
    --------
    >>> effective_size(np.array([0.5, 0.5, 0.0]))
    2.0
    """
    return float(weights.sum() ** 2 / (weights**2).sum())
