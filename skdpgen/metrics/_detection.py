"""Detection: whether a model can distinguish synthetic rows from real ones."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

from skdpgen.metrics._fidelity import MAX_LEVELS, read_alike
from skdpgen.metrics._frames import Keys, align, joined
from skdpgen.utils import (
    Rows,
)

MOST_ROWS = 5_000  # of each side
MOST_COLUMNS = 200  # so that a table of pixels takes seconds, too
FOLDS = 3
LEAST_ROWS = 10  # of both sides that a text needs for a code of its own
DIGITS_OF_NUMBER = 5  # how finely it is written should not give it away


def detection_auc(
    real: Rows, synthetic: Rows, *, random_state: int | None = 0
) -> float:
    """ROC-AUC of gradient boosting that separates synthetic rows from real ones.

    Both sides are coded alike: numbers to five digits, texts by one list in which all
    rare ones are one, so that names or numbers of persons tell nothing (nor do invented
    names, if each is of a few rows). Equally many rows of each are taken, at most
    5,000, of at most 200 columns, by the public seed. The model is tested on rows it
    was not trained on, in three folds. This reads real rows, so it is outside the
    guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    random_state : int or None, default=0
        Seed of the rows that are taken, of the folds and of the model.

    Returns
    -------
    float
        .5 is the best: real rows against other real rows come within .02 of it, with
        thousands of rows. 1 is detected at once. Below .5 stand tables that share
        rows: a copy counts for the other side. Trees choose one column after the
        other, so a relation of three columns without any of two may stay unseen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> real = pd.DataFrame({"a": rng.normal(size=200)})
    >>> detection_auc(real, real + 10)
    1.0
    """
    rng = np.random.default_rng(random_state)
    real_frame = joined(real)
    synthetic_frame = align(joined(synthetic), real_frame)
    n_rows = min(len(real_frame), len(synthetic_frame), MOST_ROWS)
    if n_rows < FOLDS:
        raise ValueError(f"Both tables must have {FOLDS} rows. Got {n_rows} instead.")
    columns = np.sort(rng.permutation(real_frame.shape[1])[:MOST_COLUMNS])
    sides = [
        side.iloc[np.sort(rng.permutation(len(side))[:n_rows]), columns]
        for side in (real_frame, synthetic_frame)
    ]
    coded = [
        _coded(sides[0].iloc[:, j], sides[1].iloc[:, j]) for j in range(len(columns))
    ]
    model = HistGradientBoostingClassifier(
        categorical_features=[is_level for _, is_level in coded],
        max_iter=100,
        early_stopping=False,  # it would be on or off by the number of rows
        random_state=0 if random_state is None else random_state,
    )
    folds = StratifiedKFold(
        FOLDS, shuffle=True, random_state=0 if random_state is None else random_state
    )
    X = np.column_stack([column for column, _ in coded])
    y = np.repeat([0, 1], n_rows)
    splits = list(folds.split(X, y))
    for train, _ in splits:  # trees need a value: without one, they see what is missing
        is_empty = np.isnan(X[train]).all(axis=0)
        X[:, is_empty] = np.isnan(X[:, is_empty])
    return float(cross_val_score(model, X, y, cv=splits, scoring="roc_auc").mean())


def _coded(real: pd.Series, synthetic: pd.Series) -> tuple[NDArray[np.float64], bool]:
    """Return a column of both sides, and whether it holds categories."""
    pair = read_alike(real, synthetic)
    if pair.kind == "level":
        return _levels(np.concatenate([pair.real, pair.synthetic])), True
    values = np.concatenate([pair.real, pair.synthetic])
    if pair.kind == "number":
        values = _rounded(values)
    # text that is no number is not the same as a missing value
    return np.where(np.concatenate(pair.strange), np.inf, values), False


def _levels(keys: Keys) -> NDArray[np.float64]:
    """Code text keys of both sides: frequent ones, rare ones as one, missing.

    Both sides together decide what is rare. A key of only one side, such as the number
    of a person, would also distinguish real rows from other real rows.
    """
    codes, distinct = pd.factorize(keys, use_na_sentinel=True)
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    frequent = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
    frequent = frequent[counts[frequent] >= LEAST_ROWS]
    # the code of each key: its rank, or one code for all rare keys
    places = np.full(len(distinct) + 1, len(frequent))
    places[frequent] = np.arange(len(frequent))
    places[-1] = len(frequent) + 1  # missing, whose code is -1
    return places[codes].astype(np.float64)


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to some digits; zero, infinity and NaN stay."""
    is_plain = np.isfinite(values) & (values != 0)
    size = np.floor(np.log10(np.abs(np.where(is_plain, values, 1.0))))
    unit = 10.0 ** (size - DIGITS_OF_NUMBER + 1)
    whole = np.rint(values / unit) * unit
    return np.where(is_plain, whole, values)
