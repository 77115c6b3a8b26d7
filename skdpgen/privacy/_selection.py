"""Partition selection: which values exist, without showing one that is unique."""

import math

from scipy.stats import norm


def selection_threshold(noise_std: float, failure: float, n_columns: int) -> float:
    """Return the noisy count above which a value may be shown.

    Values that nobody has are never listed, so a value that appears is one that some
    row has; showing one that only the differing row has is the failure bounded here.
    *Proof.* Such a value has count 1 and is shown with probability
    p = P(1 + N > threshold). A row owns at most one value in each of m columns, and
    their noise is independent: the probability that none is shown is (1 - p)^m, and p
    is chosen such that 1 - (1 - p)^m = ``failure``. Rounding to the grid of the noise
    can lift a count by half a step, so the threshold is a step higher.

    Examples
    --------
    >>> round(selection_threshold(10.0, 1e-6, 1), 1)
    48.5
    """
    if noise_std == 0:
        return 0.0
    p = -math.expm1(math.log1p(-failure) / n_columns)
    lattice_step = noise_std * 2.0**-19
    return 1.0 + noise_std * float(norm.isf(p)) + lattice_step
