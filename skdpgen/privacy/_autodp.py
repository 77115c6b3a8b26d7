"""The only file that uses autodp: a calibration, and moments of sampled steps."""

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# autodp evaluates integer orders; between them, by convexity, a chord lies above.
ORDERS = np.unique(np.r_[1:41, np.geomspace(41, 2048, 26).astype(int)])


@lru_cache(maxsize=1024)  # a tenth of a second each
def moments(noise_multiplier: float, sampling_rate: float) -> Floats:
    """Return (order - 1) times autodp's Renyi divergence of a step, at ``ORDERS``."""
    zoo, _, transformers = _autodp()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"autodp\.")
        step = transformers.AmplificationBySampling(PoissonSampling=True)(
            zoo.ExactGaussianMechanism(sigma=noise_multiplier),
            sampling_rate,
            improved_bound_flag=True,  # holds for the Gaussian; the default is loose
        )
        renyi = np.array([0.0, *(float(step.RenyiDP(int(k))) for k in ORDERS[1:])])
    renyi = np.maximum(np.where(np.isnan(renyi), np.inf, renyi), 0.0)
    return np.asarray((ORDERS - 1) * renyi, dtype=np.float64)


def autodp_mu(epsilon: float, delta: float) -> float:
    """Return autodp's calibration; 0, which is never tight, where it overflows."""
    zoo, calibrators, _ = _autodp()
    try:
        mechanism = calibrators.ana_gaussian_calibrator()(
            zoo.ExactGaussianMechanism, epsilon, delta, name="gaussian"
        )
    except (OverflowError, ValueError, ZeroDivisionError):
        return 0.0
    return 1 / float(mechanism.params["sigma"])


def _autodp() -> tuple[Any, Any, Any]:
    # Importing takes a second, so it is done here. `privacy_calibrator` first would be
    # a cycle.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from autodp import calibrator_zoo, mechanism_zoo, transformer_zoo
    return mechanism_zoo, calibrator_zoo, transformer_zoo
