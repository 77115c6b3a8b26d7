"""A mixed-type regression table made by code."""

import numpy as np
import pandas as pd

_DISTRICTS = {"centre": 1.45, "harbour": 1.2, "hill": 1.1, "garden": 1.0, "edge": 0.8}
_HEATING = np.array(["district", "gas", "electric", "heat pump"])


def load_example_regression(
    n_samples: int = 5000, random_state: int | None = 0
) -> tuple[pd.DataFrame, pd.Series]:
    """Make a table of rented flats and their monthly rents.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows.
    random_state : int or None, default=0
        Seed of the rows; None makes different rows at each call.

    Returns
    -------
    X : DataFrame of shape (n_samples, 8)
        The flats.
    y : Series of shape (n_samples,)
        The monthly rent, a float.

    Examples
    --------
    >>> from skdpgen.datasets import load_example_regression
    >>> X, y = load_example_regression(1000)
    >>> X.shape, y.name, str(y.dtype)
    ((1000, 8), 'rent', 'float64')
    """
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1. Got {n_samples!r} instead.")
    rng = np.random.default_rng(random_state)
    district = rng.choice(
        list(_DISTRICTS), size=n_samples, p=[0.15, 0.15, 0.2, 0.3, 0.2]
    )
    area = np.clip(np.exp(rng.normal(4.15, 0.4, n_samples)), 15, 260).round(1)
    rooms = np.clip((area / 24 + rng.normal(0, 0.6, n_samples)).round(), 1, 9)
    built = np.clip(rng.normal(1975, 28, n_samples).round(), 1880, 2024)
    balcony = rng.random(n_samples) < 0.35 + 0.003 * (area - 60)
    parking = np.where(rng.random(n_samples) < 0.75, 0.0, rng.gamma(4.0, 20, n_samples))
    furnished = pd.Series(rng.random(n_samples) < 0.2, dtype="boolean")
    heating = pd.Series(rng.choice(_HEATING, n_samples, p=[0.4, 0.35, 0.15, 0.1]))

    place = np.array([_DISTRICTS[name] for name in district])
    rent = (
        (120 + 9.5 * area + 25 * rooms + 1.2 * (built - 1975) + 60 * balcony)
        * place
        * np.exp(rng.normal(0, 0.12, n_samples))
        + 110 * furnished.to_numpy(dtype=bool)
        + parking
    )
    X = pd.DataFrame(
        {
            "district": district,
            "area": area,
            "rooms": rooms.astype("int64"),
            "year_built": pd.Series(built).mask(rng.random(n_samples) < 0.06),
            "balcony": balcony,
            "parking_fee": parking.round(2),
            "furnished": furnished.mask(rng.random(n_samples) < 0.04),
            "heating": heating.mask(rng.random(n_samples) < 0.03),
        }
    )
    return X, pd.Series(rent.round(2), name="rent")
