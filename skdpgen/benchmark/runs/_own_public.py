"""Public rows from a file of the user's, made to go with the rows to protect."""

from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api import types

from skdpgen.utils import ConfigError

Table = tuple[pd.DataFrame, pd.Series]
WORDS = {"True": True, "False": False}


def beside(public: Table, private: Table, files: tuple[Path, Path]) -> Table:
    """Return public rows with columns in the order and of the kinds of private ones.

    Dtypes of two files are guessed apart: a column of truth values, of which one is
    missing, is text. What cannot be read alike is told before anything runs, by the
    names of columns and never by a value.
    """
    (X, y), (mine, target), (theirs, file) = public, private, files
    if set(X) != set(mine):
        differ = sorted(map(str, set(X) ^ set(mine)))
        raise ConfigError(
            f"{theirs} must have the columns of {file}. They differ in "
            f"{', '.join(differ)}."
        )
    found = {name: _alike(X[name], mine[name], theirs, file) for name in mine}
    return pd.DataFrame(found), _labels(y, target, theirs, file)


def _alike(theirs: pd.Series, mine: pd.Series, path: Path, file: Path) -> pd.Series:
    if _kind(theirs) == _kind(mine):
        return theirs
    if theirs.isna().all() or mine.isna().all():
        nothing = pd.Series([None] * len(theirs), theirs.index)
        is_bool = types.is_bool_dtype(mine)
        return nothing.astype("boolean" if is_bool else mine.dtype)
    if types.is_bool_dtype(mine) and set(theirs.dropna().astype(str)) <= set(WORDS):
        return theirs.astype(str).map(WORDS).astype("boolean")
    if types.is_bool_dtype(theirs) and set(mine.dropna().astype(str)) <= set(WORDS):
        return theirs.astype(str).where(theirs.notna())
    raise ConfigError(
        f"Column {mine.name!r} holds {_kind(theirs)} in {path}, and {_kind(mine)} in "
        f"{file}. Write it alike in both."
    )


def _labels(theirs: pd.Series, mine: pd.Series, path: Path, file: Path) -> pd.Series:
    """Return labels as those of the private rows; others would be other classes."""
    if _kind(theirs) != _kind(mine):
        raise ConfigError(
            f"The target {mine.name!r} holds {_kind(theirs)} in {path}, and "
            f"{_kind(mine)} in {file}. Write it alike in both."
        )
    if mine.dtype.kind == "f":
        return theirs.astype(float)
    n_strange = int((~theirs.isin(set(mine))).sum())
    if n_strange:
        raise ConfigError(
            f"The target {mine.name!r} has labels in {path} that {file} does not know, "
            f"in {n_strange} rows. Leave these rows out of it."
        )
    return theirs.astype(mine.dtype)


def _kind(column: Any) -> str:
    if types.is_bool_dtype(column):
        return "truth values"
    if types.is_numeric_dtype(column):
        return "numbers"
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return "times"
    return "text"
