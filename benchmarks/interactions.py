"""A table made by structural equations, with interactions of numbers and categories."""

import numpy as np
import pandas as pd

_SOILS = np.array(["clay", "loam", "sand"])
_CROPS = np.array(["barley", "maize", "rye", "wheat"])
_BEST_RAIN = {"clay": 420.0, "loam": 550.0, "sand": 680.0}
_WARMTH = {"barley": -0.4, "maize": 1.2, "rye": -0.8, "wheat": 0.2}


def make_interactions(
    n_rows: int = 5000,
    task: str = "classification",
    noise: float = 0.3,
    random_state: int | None = 0,
) -> tuple[pd.DataFrame, pd.Series]:
    r"""Make a table of fields and their harvests, which depend on interactions.

    Each column is a function of earlier ones and of noise. The harvest depends on two
    or three columns jointly, and hardly on one. The best amount of rain depends on the
    soil. The effect of warmth depends on the crop. Fertiliser helps on watered fields
    and harms dry ones; on a slope it is the reverse.

    Parameters
    ----------
    n_rows : int, default=5000
        Number of rows.
    task : {"classification", "regression"}, default="classification"
        Whether the target is ``"good"`` or ``"poor"``, or a number of tonnes.
    noise : float, default=0.3
        Standard deviation of the noise; the signal has about 1.
    random_state : int or None, default=0
        Seed of the rows; None makes different rows at each call.

    Returns
    -------
    X : DataFrame of shape (n_rows, 8)
    y : Series of shape (n_rows,)

    Examples
    --------
    >>> from benchmarks.interactions import make_interactions
    >>> X, y = make_interactions(1000)
    >>> X.shape, sorted(y.unique())
    ((1000, 8), ['good', 'poor'])
    >>> X, y = make_interactions(1000, task="regression")
    >>> y.name, str(y.dtype)
    ('harvest', 'float64')
    """
    if n_rows < 1:
        raise ValueError(f"n_rows must be at least 1. Got {n_rows!r} instead.")
    if task not in ("classification", "regression"):
        raise ValueError(
            f'task must be "classification" or "regression". Got {task!r} instead.'
        )
    if not noise >= 0:
        raise ValueError(f"noise must be at least 0. Got {noise!r} instead.")
    rng = np.random.default_rng(random_state)
    soil = rng.choice(_SOILS, n_rows, p=[0.3, 0.45, 0.25])
    altitude = rng.gamma(4.0, 80.0, n_rows)
    warmth = rng.normal(12.0 - 0.006 * altitude, 1.5)
    rain = rng.normal(480.0 + 0.2 * altitude, 110.0)
    is_warm = warmth > 10.0
    even = rng.choice(_CROPS, n_rows)
    crop = np.where(rng.random(n_rows) < 0.5, even, np.where(is_warm, "maize", "rye"))
    is_watered = rng.random(n_rows) < np.where(rain < 520.0, 0.6, 0.4)
    is_slope = rng.random(n_rows) < 0.5
    fertiliser = np.where(rng.random(n_rows) < 0.4, 0.0, rng.gamma(3.0, 30.0, n_rows))

    best = pd.Series(soil).map(_BEST_RAIN).to_numpy()
    liking = pd.Series(crop).map(_WARMTH).to_numpy()
    is_fed = np.where(fertiliser > 60.0, 1.0, -1.0)
    where = np.where(is_watered, 1.0, -1.0) * np.where(is_slope, -1.0, 1.0)
    harvest = (
        1.0
        - 1.2 * ((rain - best) / 200.0) ** 2
        + 0.4 * liking * (warmth - 10.0)
        + 0.9 * is_fed * where
        + rng.normal(0.0, 1.0, n_rows) * noise
    )
    X = pd.DataFrame(
        {
            "soil": soil,
            "altitude": altitude.round(),
            "warmth": warmth.round(1),
            "rain": rain.round(),
            "crop": crop,
            "watered": is_watered,
            "slope": is_slope,
            "fertiliser": fertiliser.round(1),
        }
    )
    if task == "regression":
        return X, pd.Series((5.0 + harvest).round(3), name="harvest")
    y = np.where(harvest > 0.55, "good", "poor")
    return X, pd.Series(y, name="harvest")
