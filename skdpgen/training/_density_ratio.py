"""How much likelier an item is among private rows than among public ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from skdpgen.utils import saved

Floats = NDArray[np.float64]
OF_CODE, OF_CLASS = 0.4, 0.2  # usual size of what a code adds to the log of the ratio
STEPS, MEMORY = 200, 20
LARGEST = 100.0  # ratio, against that of a typical item
LEAST = 1e-12


@saved("ratio.means")
@dataclass(frozen=True, eq=False)
class Told:
    """Means over private rows that a release tells, with the variance of each.

    Parameters
    ----------
    means, variances : ndarray of shape (n_classes, n_codes)
        Mean over ALL rows of each code in each class: not per row of the class.
    units : ndarray of shape (n_codes,)
        Size of each code.
    """

    means: Floats
    variances: Floats
    units: Floats


def log_ratios(codes: Any, base: Floats, told: Told) -> Floats:
    r"""Return the log of the density ratio of every public item, by its label.

    The model is an exponential tilt: :math:`\log r(v, y) = v^\top (a + b_y)` up to a
    constant, with codes v. It is linear or quadratic in what v holds, and so has the
    form that the ratio of two Gaussians has. Its means over public items, weighed by
    r, shall be those that were released; the noise of these is known, and a and b are
    Gaussian beforehand: a code adds about .4, and .2 more in a class. What was
    released decides as far as it stands out of its noise; the rest stays as public
    rows have it. One smooth problem; no row is private here.

    Parameters
    ----------
    codes : ndarray or sparse matrix of shape (n_items, n_codes)
    base : ndarray of shape (n_items, n_classes)
        Shares of public items and labels; they sum to 1. An item of unknown label has
        a share in every class.
    told : Told

    Returns
    -------
    ratios : ndarray of shape (n_items, n_classes)

    Examples
    --------
    >>> codes = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> told = Told(np.array([[0.75, 0.25]]), np.full((1, 2), 1e-6), np.ones(2))
    >>> ratios = log_ratios(codes, np.full((2, 1), 0.5), told)
    >>> weighed(np.full((2, 1), 0.5), ratios).round(2).ravel().tolist()
    [0.75, 0.25]
    """
    n_classes, n_codes = told.means.shape
    sizes = [np.full(n_codes, OF_CODE)]
    if n_classes > 1:
        sizes.append(np.full(n_classes * n_codes, OF_CLASS))
    scale = np.concatenate(sizes) / np.tile(told.units, 1 + n_classes * (n_classes > 1))
    log_base = np.log(np.maximum(base, LEAST)) + np.where(base > 0, 0.0, -np.inf)
    precision = 1.0 / np.maximum(told.variances, LEAST)
    transposed = codes.T.tocsr() if hasattr(codes, "tocsr") else codes.T

    def ratio_of(z: Floats) -> Floats:
        parts = (scale * z).reshape(-1, n_codes)
        slopes = parts[:1] + parts[1:] if n_classes > 1 else parts
        return np.asarray(codes @ slopes.T)

    def loss(z: Floats) -> tuple[float, Floats]:
        logs = ratio_of(z) + log_base
        weights = np.exp(logs - logsumexp(logs))
        means = np.asarray(transposed @ weights).T
        errors = (told.means - means) * precision
        along = np.asarray(codes @ errors.T)
        pull = weights * (along - float((weights * along).sum()))
        slope = -np.asarray(transposed @ pull).T
        parts = [slope.sum(axis=0), slope.ravel()] if n_classes > 1 else [slope.ravel()]
        value = 0.5 * float(((told.means - means) * errors).sum() + z @ z)
        return value, scale * np.concatenate(parts) + z

    found = minimize(
        loss,
        np.zeros(len(scale)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS, "maxcor": MEMORY},
    )
    return ratio_of(found.x)


def weighed(base: Floats, log_ratio: Floats, power: float = 1.0) -> Floats:
    """Return weights of items and labels that sum to 1; the largest ratios are cut.

    Parameters
    ----------
    power : float, default=1.0
        Of the ratio: below 1 weights are flatter, and more items count.
    """
    usual = float((base * log_ratio).sum())
    cut = np.clip(log_ratio - usual, -np.log(LARGEST), np.log(LARGEST))
    weights = base * np.exp(power * cut)
    return np.asarray(weights / weights.sum())


def effective_size(weights: Floats) -> float:
    """Return how many items of equal weight vary as much as these.

    Examples
    --------
    >>> effective_size(np.array([0.5, 0.5, 0.0]))
    2.0
    """
    return float(weights.sum() ** 2 / (weights**2).sum())
