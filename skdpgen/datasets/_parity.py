"""A table in which several columns tell the class together, and none of fewer does."""

import numpy as np
import pandas as pd


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
        How many columns tell the class.
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
    if are_numbers:
        values = rng.normal(size=(n_rows, n_columns))
        bits = values < 0
    else:
        values = rng.integers(0, 2, size=(n_rows, n_columns))
        bits = values == 1
    is_odd = bits[:, :n_in_parity].sum(axis=1) % 2 == 1
    drawn, even = rng.random(n_rows) < noise, rng.random(n_rows) < 0.5
    is_odd = np.where(drawn, even, is_odd)
    y = pd.Series(np.where(is_odd, "odd", "even"), name="parity")
    return pd.DataFrame(values, columns=names), y
