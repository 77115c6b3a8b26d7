r"""Exact accounting of Gaussian releases; the only file that uses autodp.

A Gaussian release with noise std :math:`s` and L2 sensitivity :math:`\Delta` has the
one parameter :math:`\mu = \Delta / s`; several, adaptive or not, compose to
:math:`\mu^2 = \sum \mu_i^2` exactly [1]_. Rounding goes towards more noise.

References
----------
.. [1] Dong, Roth & Su, "Gaussian Differential Privacy", JRSS-B 2022, Cor. 2 and 3.
.. [2] Balle & Wang, "Improving the Gaussian Mechanism", ICML 2018, Thm. 8.
"""

import math
import warnings
from collections.abc import Callable, Iterable
from types import ModuleType

from scipy.special import log_ndtr

MU_SLACK = 1e-9  # relative; covers what the closed form loses to cancellation
MU_TOLERANCE = 1e-6  # relative; a calibration further from the optimum is done again


def gaussian_mu(epsilon: float, delta: float) -> float:
    r"""Return the largest mu that is (epsilon, delta)-private; inf for epsilon=inf.

    The analytic Gaussian mechanism [2]_: autodp's calibration, checked against
    :func:`gaussian_delta` and done again by bisection where it is not tight (large
    epsilon). Noise of std :math:`1/\mu` suffices for sensitivity 1.

    Examples
    --------
    >>> round(1 / gaussian_mu(1.0, 1e-5), 4)
    3.7306
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon must be in (0, inf]. Got {epsilon!r} instead.")
    check_delta(delta)
    if math.isinf(epsilon):
        return math.inf

    def is_private(mu: float) -> bool:
        return gaussian_delta(mu, epsilon) <= delta

    mu = autodp_mu(epsilon, delta)
    if not is_private(mu * (1 - MU_SLACK)) or is_private(mu * (1 + MU_TOLERANCE)):
        low, high = 1.0, 1.0
        while not is_private(low):
            low /= 2
        while is_private(high):
            high *= 2
        mu = _last_true(is_private, low, high)
    return mu * (1 - MU_SLACK)


def gaussian_delta(mu: float, epsilon: float) -> float:
    r"""Return the smallest delta of a Gaussian release at ``epsilon``.

    .. math:: \delta = \Phi(\mu/2 - \epsilon/\mu)
              - e^\epsilon \Phi(-\mu/2 - \epsilon/\mu),

    in log space, so that neither term over- or underflows.

    Examples
    --------
    >>> round(gaussian_delta(1.0, 0.0), 4)
    0.3829
    """
    check_mu(mu)
    if not epsilon >= 0:
        raise ValueError(f"epsilon must be in [0, inf]. Got {epsilon!r} instead.")
    if mu == 0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(mu):
        return 1.0
    if epsilon == 0:
        return math.erf(mu / math.sqrt(8))
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    if second >= first:  # both far below the smallest float
        return 0.0
    return math.exp(first) * -math.expm1(second - first)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the smallest epsilon of a Gaussian release at ``delta``, rounded up.

    Examples
    --------
    >>> round(gaussian_epsilon(1 / 3.73063, 1e-5), 4)
    1.0
    """
    check_mu(mu)
    check_delta(delta)
    if math.isinf(mu):
        return math.inf
    mu *= 1 + MU_SLACK
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0

    def is_exceeded(epsilon: float) -> bool:
        return gaussian_delta(mu, epsilon) > delta

    high = 1.0
    while is_exceeded(high):
        high *= 2
    low = high / 2
    while not is_exceeded(low):
        low /= 2
    return _last_true(is_exceeded, low, high) * (1 + MU_SLACK)


def compose_mu(mus: Iterable[float]) -> float:
    """Return the mu of several Gaussian releases together, adaptive ones included.

    Examples
    --------
    >>> compose_mu([3.0, 4.0])
    5.0
    """
    mus = list(mus)
    for mu in mus:
        check_mu(mu)
    return math.hypot(*mus)


def autodp_mu(epsilon: float, delta: float) -> float:
    """Return autodp's calibration; 0, which is never tight, where it overflows."""
    zoo, calibrators = _autodp()
    try:
        mechanism = calibrators.ana_gaussian_calibrator()(
            zoo.ExactGaussianMechanism, epsilon, delta, name="gaussian"
        )
    except (OverflowError, ValueError, ZeroDivisionError):
        return 0.0
    return 1 / float(mechanism.params["sigma"])


def _autodp() -> tuple[ModuleType, ModuleType]:
    # Importing takes a second, so it is done here. `privacy_calibrator` first would be
    # a cycle.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from autodp import calibrator_zoo, mechanism_zoo
    return mechanism_zoo, calibrator_zoo


def _last_true(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Bisect a predicate that is true at ``low`` and false at ``high``."""
    for _ in range(200):
        middle = low + (high - low) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must be in (0, 1). Got {delta!r} instead.")


def check_mu(mu: float) -> None:
    if not mu >= 0:
        raise ValueError(f"mu must be in [0, inf]. Got {mu!r} instead.")
