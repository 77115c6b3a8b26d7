"""Normal signals of several parts in known noise: the variances of the parts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular

from skdpgen.utils import on_one_thread

Floats = NDArray[np.float64]
START, LEAST_VARIANCE, MOST_VARIANCE = 0.04, 1e-10, 1e4  # variances
FIRM = 0.1  # cases like the others of a family that are imagined of each part
STEPS = 25


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known of a signal that was seen in noise.

    Parameters
    ----------
    mean : ndarray of shape (n,)
    inverse : ndarray of shape (n, n)
        Of the covariance of what is seen.
    log : float
        Evidence.
    """

    mean: Floats
    inverse: Floats
    log: float


@on_one_thread
def fit_parts(
    seen: Floats, noise: Floats, factors: Sequence[Floats], family: NDArray[np.int64]
) -> Posterior:
    r"""Return the posterior of :math:`\sum_p F_p g_p`, seen in normal noise.

    :math:`g_p` is normal with variance :math:`a_p`, which is found by maximising the
    evidence: :math:`a_p \leftarrow a_p \sqrt{|F_p^\top V^{-1} s|^2 /
    \mathrm{tr}(F_p^\top V^{-1} F_p)}`, V the covariance of what is seen, s. These
    steps never lower the evidence (Zhou et al., 2019). Parts of a family are held near
    their geometric mean by a prior that is worth ``FIRM`` of a case.

    Parameters
    ----------
    seen : ndarray of shape (n,)
    noise : ndarray of shape (n, n)
        Its covariance; at least the identity, so that all is stable.
    factors : sequence of ndarray of shape (n, width)
    family : ndarray of int of shape (n_parts,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> parts = [np.eye(400)[:, :200], np.eye(400)[:, 200:]]
    >>> seen = np.repeat([10.0, 1.0], 200) * rng.normal(size=400)
    >>> found = fit_parts(seen, np.eye(400), parts, np.arange(2))
    >>> kept = found.mean / seen
    >>> bool(kept[:200].mean() > 0.97), bool(kept[200:].mean() < 0.2)
    (True, True)
    """
    wide = np.concatenate(factors, axis=1)
    part = np.repeat(np.arange(len(factors)), [one.shape[1] for one in factors])
    together = (family[:, None] == family).astype(float)
    together /= together.sum(axis=1, keepdims=True)
    variances = np.full(len(factors), START)
    for _ in range(STEPS):
        root = cholesky(_covariance(noise, wide, variances[part]), lower=True)
        near = solve_triangular(root, np.column_stack([wide, seen]), lower=True)
        near, rest = near[:, :-1], near[:, -1]
        pull = np.bincount(part, (rest @ near) ** 2, len(factors))
        push = np.bincount(part, np.square(near).sum(axis=0), len(factors))
        usual = np.exp(together @ np.log(variances))
        pull = variances**2 * pull + 2 * FIRM * usual
        variances = np.sqrt(pull / (push + 2 * FIRM / variances))
        variances = np.clip(variances, LEAST_VARIANCE, MOST_VARIANCE)
    root = cholesky(_covariance(noise, wide, variances[part]), lower=True)
    inverse = cho_solve((root, True), np.eye(len(seen)))
    fit = inverse @ seen
    mean = (wide * variances[part]) @ (wide.T @ fit)
    log = -0.5 * float(seen @ fit) - float(np.log(np.diag(root)).sum())
    return Posterior(mean, inverse, log)


def log_given_others(
    seen: Floats, inverse: Floats, blocks: Sequence[NDArray[np.int64]]
) -> Floats:
    r"""Return the log density of each block of what is seen, given all the others.

    Up to what does not depend on the model. The conditional of a block of a normal
    vector has the precision that stands in the inverse, :math:`P_{bb}`, and is off by
    :math:`P_{bb}^{-1} (P s)_b`.
    """
    fit, found = inverse @ seen, []
    for block in blocks:
        mine = inverse[np.ix_(block, block)]
        off = fit[block] @ np.linalg.solve(mine, fit[block])
        found.append(0.5 * (float(np.linalg.slogdet(mine)[1]) - off))
    return np.array(found)


def _covariance(noise: Floats, wide: Floats, variances: Floats) -> Floats:
    return np.asarray(noise + (wide * variances) @ wide.T)
