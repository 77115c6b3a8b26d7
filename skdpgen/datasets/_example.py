"""A mixed-type, imbalanced classification table made by code."""

import numpy as np
import pandas as pd

_JOBS = np.array(
    [
        "office",
        "technical",
        "manual",
        "service",
        "sales",
        "student",
        "retired",
        "jobless",
    ]
)
_JOBS_BY_CLASS = {
    "stayed": [0.24, 0.19, 0.14, 0.13, 0.10, 0.03, 0.14, 0.03],
    "left": [0.17, 0.10, 0.12, 0.18, 0.20, 0.12, 0.03, 0.08],
}

_EDUCATION = ["primary", "secondary", "bachelor", "master", "doctorate"]
_EDUCATION_CUTS = [-1.3, 0.1, 1.0, 1.9]  # of a normal score

_REGIONS = np.array(["north", "south", "east", "west", "islands"])
_REGIONS_BY_CLASS = {
    "stayed": [0.33, 0.25, 0.22, 0.17, 0.03],
    "left": [0.20, 0.38, 0.18, 0.16, 0.08],
}

_OPENING_DAY = np.datetime64("2012-01-01")
_DAY_OF_DATA = np.datetime64("2024-01-01")  # all accounts were opened before it

# contract: days that it lasts, and what it takes off the list price
_CONTRACTS = np.array(["monthly", "one year", "two years"])
_CONTRACT_DAYS = np.array([30, 365, 730])
_CONTRACT_RATE = np.array([1.0, 0.9, 0.8])
_CONTRACTS_BY_CLASS = {"stayed": [0.45, 0.30, 0.25], "left": [0.42, 0.31, 0.27]}
_PRICE_RATE = np.array([0.8, 1.0, 1.3])  # a discount, the list price, a surcharge
_PRICE_RATES_BY_CLASS = {"stayed": [0.45, 0.48, 0.07], "left": [0.05, 0.30, 0.65]}
_PAYMENTS = np.array(["direct debit", "card", "transfer"])
_PAYMENTS_BY_CONTRACT = {
    "monthly": [0.25, 0.30, 0.45],
    "one year": [0.55, 0.20, 0.25],
    "two years": [0.75, 0.15, 0.10],
}
_NOT_ASKED = -9  # late payments of customers who pay by direct debit


def load_example(
    n_samples: int = 5000, random_state: int | None = 0
) -> tuple[pd.DataFrame, pd.Series]:
    """Make a table of bank customers, 15 % of whom left.

    The columns have what real tables have: text with missing values, an ordered
    category, integers with a spike, a code that is no number (``late_payments`` is -9
    where it was not asked), a boolean, two dates in order, missing numbers.

    Columns depend on each other. The monthly fee is a price for each product, times
    the rate of the contract, times a discount or surcharge. A contract ends after the
    account was opened, and within its own length from 2024-01-01. Customers who pay by
    direct debit are not asked for late payments. The fee and the number of products
    matter to the target together: customers leave who pay much for what they have.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows.
    random_state : int or None, default=0
        Seed of the rows; None makes different rows at each call.

    Returns
    -------
    X : DataFrame of shape (n_samples, 16)
        The customers.
    y : Series of shape (n_samples,)
        ``"left"`` or ``"stayed"``.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(1000)
    >>> X.shape
    (1000, 16)
    >>> sorted(y.unique())
    ['left', 'stayed']
    >>> bool(X["region"].isna().any())
    True
    """
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1. Got {n_samples!r} instead.")
    rng = np.random.default_rng(random_state)
    left = rng.random(n_samples) < 0.15
    y = np.where(left, "left", "stayed")

    # columns in the order in which they depend on each other
    age = _ages(left, rng)
    job = _choose(_JOBS, _JOBS_BY_CLASS, y, rng)
    schooling = rng.normal(0.1 - 0.15 * left + 0.004 * (age - 45), 1.0)
    hours = _weekly_hours(job, rng)
    income = np.exp(
        rng.normal(10.2 - 0.12 * left, 0.4)
        + 0.12 * schooling
        + 0.006 * (age - 45)
        + 0.008 * (hours - 35)
    )
    products = 1 + rng.binomial(4, np.where(left, 0.2, 0.32))
    X = pd.DataFrame(
        {
            "age": age,
            "job": job,
            "education": pd.Categorical.from_codes(
                np.digitize(schooling, _EDUCATION_CUTS), _EDUCATION, ordered=True
            ),
            "region": _region(y, rng),
            "weekly_hours": hours,
            "income": _with_gaps(income.round(2), 0.05, rng),
            "balance": rng.normal(2200 - 400 * left, 1900).round(2),
            "owns_home": rng.random(n_samples) < 0.25 + 0.006 * age - 0.12 * left,
            "n_products": products,
            "complaints": _complaints(left, rng),
            "customer_since": _customer_since(left, rng),
            **_contract(y, products, rng),
        }
    )
    return X, pd.Series(y, name="churn")


def _choose(
    values: np.ndarray,
    by_class: dict[str, list[float]],
    y: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw one of ``values`` per row, with the shares of the row's class."""
    chosen = np.empty(len(y), dtype=object)
    for label, shares in by_class.items():
        rows = y == label
        chosen[rows] = rng.choice(values, size=rows.sum(), p=shares)
    return chosen


def _ages(left: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ages of adults; customers who left are younger."""
    spread = rng.gamma(np.where(left, 4.0, 5.0), np.where(left, 5.5, 6.0))
    return np.clip(18 + spread, 18, 92).astype("int64")


def _weekly_hours(job: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Half of those who work do exactly 40 hours."""
    hours = np.clip(rng.normal(39, 11, len(job)).round(), 1, 80)
    hours[rng.random(len(job)) < 0.5] = 40
    hours[np.isin(job, ["retired", "jobless"])] = 0
    return hours.astype("int64")


def _complaints(left: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Nullable counts: unknown for some of the customers."""
    counts = pd.Series(rng.poisson(np.where(left, 0.6, 0.4)), dtype="Int64")
    return counts.mask(rng.random(len(left)) < 0.08)


def _region(y: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Nullable text; those who left gave no address more often."""
    region = pd.Series(_choose(_REGIONS, _REGIONS_BY_CLASS, y, rng), dtype="string")
    return region.mask(rng.random(len(y)) < np.where(y == "left", 0.12, 0.04))


def _customer_since(left: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Opening days within twelve years; those who left came later; some are unknown."""
    share = rng.beta(np.where(left, 1.5, 1.3), np.where(left, 1.3, 1.4))
    days = pd.Series(_OPENING_DAY + (share * 4380).astype("timedelta64[D]"))
    return days.mask(rng.random(len(left)) < 0.02)


def _contract(
    y: np.ndarray, products: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Contracts, their last days, monthly fees, and how they are paid."""
    n_samples = len(y)
    contract = _choose(np.arange(3), _CONTRACTS_BY_CLASS, y, rng).astype(int)
    name = _CONTRACTS[contract].astype(object)
    days = 1 + (rng.random(n_samples) * _CONTRACT_DAYS[contract]).astype("int64")
    price = _choose(_PRICE_RATE, _PRICE_RATES_BY_CLASS, y, rng).astype(float)
    fee = (3.0 + 6.0 * products) * _CONTRACT_RATE[contract] * price
    fee *= np.exp(rng.normal(0, 0.03, n_samples))
    payment = _choose(_PAYMENTS, _PAYMENTS_BY_CONTRACT, name, rng)
    late = rng.poisson(np.where(payment == "transfer", 1.2, 0.3))
    return {
        "contract": name,
        "contract_end": _DAY_OF_DATA + days.astype("timedelta64[D]"),
        "monthly_fee": fee.round(2),
        "payment": payment,
        "late_payments": np.where(payment == "direct debit", _NOT_ASKED, late),
    }


def _with_gaps(
    values: np.ndarray, share: float, rng: np.random.Generator
) -> np.ndarray:
    """Remove a share of the values, whatever they are."""
    return np.where(rng.random(len(values)) < share, np.nan, values)


# ----------------------------------------------------------------------------
# A mixed-type regression table made by code.

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
    # a factor of the district and noise on what the flat has; the last two are extra
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


# ----------------------------------------------------------------------------
# A table whose class depends on several columns together, and on no fewer.


def make_parity(
    n_rows: int = 5000,
    n_columns: int = 10,
    n_in_parity: int = 3,
    noise: float = 0.0,
    are_numbers: bool = False,
    random_state: int | None = 0,
) -> tuple[pd.DataFrame, pd.Series]:
    """Make a table whose class is the parity (XOR) of some of its columns.

    Columns are independent, with even halves, so any ``n_in_parity`` of the class and
    these columns look independent. The hardest test of whether synthetic rows keep
    relations of many columns.

    Parameters
    ----------
    n_rows : int, default=5000
        Number of rows.
    n_columns : int, default=10
        Number of columns; the first ``n_in_parity`` of them matter.
    n_in_parity : int, default=3
        Number of columns that determine the class.
    noise : float, default=0.0
        Share of rows whose class is drawn evenly, whatever the columns are.
    are_numbers : bool, default=False
        Normal numbers, of which the sign matters, instead of 0 and 1.
    random_state : int or None, default=0
        Seed of the rows; None makes different rows at each call.

    Returns
    -------
    X : DataFrame of shape (n_rows, n_columns)
    y : Series of shape (n_rows,)
        ``"odd"`` if an odd number of the columns is 1, or below 0, else ``"even"``.

    Examples
    --------
    >>> from skdpgen.datasets import make_parity
    >>> X, y = make_parity(1000, n_columns=4)
    >>> is_odd = X[["x0", "x1", "x2"]].sum(axis=1) % 2 == 1
    >>> X.shape, bool((is_odd == (y == "odd")).all())
    ((1000, 4), True)
    """
    if n_rows < 1:
        raise ValueError(f"n_rows must be at least 1. Got {n_rows!r} instead.")
    if not 1 <= n_in_parity <= n_columns:
        raise ValueError(
            f"n_in_parity must be in [1, n_columns]. Got {n_in_parity!r} instead."
        )
    if not 0 <= noise <= 1:
        raise ValueError(f"noise must be in [0, 1]. Got {noise!r} instead.")
    rng = np.random.default_rng(random_state)
    names = [f"x{j}" for j in range(n_columns)]
    values: np.ndarray  # (n_rows, n_columns)
    if are_numbers:
        values = rng.normal(size=(n_rows, n_columns))
        bits = values < 0
    else:
        values = rng.integers(0, 2, size=(n_rows, n_columns))
        bits = values == 1
    is_odd = bits[:, :n_in_parity].sum(axis=1) % 2 == 1
    is_noise, coin = rng.random(n_rows) < noise, rng.random(n_rows) < 0.5
    is_odd = np.where(is_noise, coin, is_odd)
    y = pd.Series(np.where(is_odd, "odd", "even"), name="parity")
    return pd.DataFrame(values, columns=names), y
