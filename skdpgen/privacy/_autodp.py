"""The only file that uses autodp: a calibration."""

import warnings
from types import ModuleType


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
