"""The rows of a cell: a file of the user's, cut into rows to fit and to test on."""

import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.model_selection import train_test_split

from skdpgen.benchmark._cells import LENGTH, Source
from skdpgen.exceptions import (
    ConfigError,
)

TEST_SHARE = 0.2
ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather")
WORDS = {"True": True, "False": False}  # as pandas writes truth values
Table = tuple[pd.DataFrame, pd.Series]


@dataclass(frozen=True, eq=False)
class Split:
    """A table, cut into rows to protect, rows to test on, and perhaps public ones."""

    name: str
    X_train: pd.DataFrame
    y_train: pd.Series
    X_test: pd.DataFrame
    y_test: pd.Series
    public: tuple[pd.DataFrame, pd.Series] | None = None

    @property
    def whole(self) -> tuple[pd.DataFrame, pd.Series]:
        """All rows: what a public data dictionary would describe."""
        parts = [(self.X_train, self.y_train), (self.X_test, self.y_test)]
        parts += [] if self.public is None else [self.public]
        X, y = (pd.concat(part, ignore_index=True) for part in zip(*parts, strict=True))
        return X, y

    def drawn(self, n_rows: int) -> "Split":
        """The same with ``n_rows`` random rows to protect."""
        rows = np.random.default_rng(n_rows).permutation(len(self.X_train))[:n_rows]
        X, y = (
            part.iloc[rows].reset_index(drop=True)
            for part in (self.X_train, self.y_train)
        )
        return replace(self, X_train=X, y_train=y)

    @property
    def classes(self) -> list[Any] | None:
        """Class labels, public in every table; None for a regression."""
        if self.y_train.dtype.kind == "f":
            return None
        return sorted(pd.unique(self.whole[1]))


def read_source(source: Source, folder: str | Path) -> Split:
    """Read a table, cut into rows to fit and a fifth to test on; or some of the former.

    Dtypes of a user's file are guessed from all of its rows, so results computed from
    it are outside every privacy guarantee.
    """
    if source.known is None:
        split = _own_split(source)
    else:
        assert source.known.read is not None  # else it is a set of images
        split = source.known.read(folder, source.seed)
    if source.rows is None:
        return split
    check_rows(source, len(split.X_train))
    return split.drawn(source.rows)


def check_rows(source: Source, n_rows: int) -> None:
    """Raise if a source wants more than the ``n_rows`` rows of its table."""
    if source.rows is not None and source.rows > n_rows:
        raise ConfigError(
            f"{source.name} has {n_rows:,} rows to fit. Got rows = {source.rows}."
        )


def digest(source: Source, folder: str | Path) -> str:
    """Return a digest of the rows of a source: other rows have another one."""
    digests = [_digest(path) for path in files_of(source, folder)]
    if not digests and source.known is not None:  # it is made when it is read
        assert source.known.read is not None  # images always have files
        X, y = source.known.read(folder, source.seed).whole
        hashed = pd.util.hash_pandas_object(X.assign(**{"": y})).to_numpy()
        return hashlib.sha256(hashed.tobytes()).hexdigest()[:LENGTH]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()[:LENGTH]


def files_of(source: Source, folder: str | Path) -> list[Path]:
    """Return the files of a table, public rows last; raise if one does not exist."""
    if source.known is not None:
        return [
            _existing([Path(folder) / name for name in names], source)
            for names in source.known.files
        ]
    assert source.path is not None  # every table outside the catalogue is a file
    files = [_existing([Path(source.path)], source)]
    if source.public is not None:
        if not Path(source.public).is_file():
            raise ConfigError(
                f"There is no {source.public}, the public rows of {source.name!r}."
            )
        files.append(Path(source.public))
    return files


def _existing(candidates: list[Path], source: Source) -> Path:
    """Return the first candidate that is a file; raise if none is."""
    for path in candidates:
        if path.is_file():
            return path
    places = " or ".join(map(str, candidates))
    advice = (
        "A `path` is relative to the folder of the file that says it."
        if source.is_own
        else "Say `--data FOLDER`, the folder of known tables."
    )
    raise ConfigError(f"There is no {places}, the table {source.name!r}. {advice}")


@lru_cache
def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def _own_split(source: Source) -> Split:
    """Read a file whole.

    The split is drawn by ``source.seed``, by the label where each label has two rows at
    least.
    """
    path, *public_paths = files_of(source, ".")
    frame, y = _table(path, source)
    stratify = None if y.dtype.kind == "f" or y.value_counts().min() < 2 else y
    train, test = train_test_split(
        np.arange(len(frame)),
        test_size=TEST_SHARE,
        random_state=source.seed,
        stratify=stratify,
    )
    X_train, X_test = (frame.iloc[at].reset_index(drop=True) for at in (train, test))
    y_train, y_test = (y.iloc[at].reset_index(drop=True) for at in (train, test))
    public = None
    for public_path in public_paths:  # one file at most
        public = _matched_public(
            _table(public_path, source), (frame, y), (public_path, path)
        )
    return Split(source.name, X_train, y_train, X_test, y_test, public)


def _table(path: Path, source: Source) -> tuple[pd.DataFrame, pd.Series]:
    """Read a file, and take its target out."""
    frame = _read(path)
    if source.target not in frame:
        names, hint = ", ".join(map(str, frame)), ""
        if frame.shape[1] == 1:
            hint = (
                " Write the file with commas between cells, or name it .tsv for tabs."
            )
        raise ConfigError(
            f"`target` must be a column of {path}. Got {source.target!r}; there are "
            f"{names}.{hint}"
        )
    y = frame.pop(source.target)
    if y.isna().any():
        raise ConfigError(
            f"The target {source.target!r} of {path} is missing in some rows. "
            "Leave these rows out of the file."
        )
    return frame, _of_task(y, source)


def _of_task(y: pd.Series, source: Source) -> pd.Series:
    is_number = types.is_numeric_dtype(y)
    if source.task == "regression":
        if not is_number:
            raise ConfigError(
                f"A regression needs numbers in the target {source.target!r}. "
                'Say task = "classification", or mend the file.'
            )
        return y.astype(float)
    if source.task == "classification" and y.dtype.kind == "f":
        return y.astype(str)
    return y


def _read(path: Path) -> pd.DataFrame:
    name = path.name.lower()
    if name.endswith(".parquet"):
        return pd.read_parquet(path)
    if name.endswith(".feather"):
        return pd.read_feather(path)
    if not name.endswith(ENDINGS):
        raise ConfigError(
            f"{path} must be one of {', '.join(ENDINGS)}. Rename or convert it."
        )
    mark = "\t" if ".tsv" in name else ","
    return pd.read_csv(path, sep=mark, keep_default_na=False, na_values=[""])


def _matched_public(public: Table, private: Table, files: tuple[Path, Path]) -> Table:
    """Return public rows with columns in the order and of the types of private ones.

    Dtypes are guessed for each file separately: a column of truth values is text in a
    file where one of them is missing. Columns whose types cannot be reconciled raise
    an error before anything runs. The error names columns and never a value.
    """
    (X, y), (private_X, private_y), (public_file, private_file) = public, private, files
    if set(X) != set(private_X):
        differ = sorted(map(str, set(X) ^ set(private_X)))
        raise ConfigError(
            f"{public_file} must have the columns of {private_file}. They differ in "
            f"{', '.join(differ)}."
        )
    columns = {
        name: _as_private_type(X[name], private_X[name], public_file, private_file)
        for name in private_X
    }
    return pd.DataFrame(columns), _labels(y, private_y, public_file, private_file)


def _as_private_type(
    public: pd.Series, private: pd.Series, public_file: Path, private_file: Path
) -> pd.Series:
    """Return a public column in the type of the private one, or raise."""
    if _kind(public) == _kind(private):
        return public
    if public.isna().all() or private.isna().all():
        missing = pd.Series([None] * len(public), public.index)
        is_bool = types.is_bool_dtype(private)
        return missing.astype("boolean" if is_bool else private.dtype)
    if types.is_bool_dtype(private) and set(public.dropna().astype(str)) <= set(WORDS):
        return public.astype(str).map(WORDS).astype("boolean")
    if types.is_bool_dtype(public) and set(private.dropna().astype(str)) <= set(WORDS):
        return public.astype(str).where(public.notna())
    raise ConfigError(
        f"Column {private.name!r} holds {_kind(public)} in {public_file}, and "
        f"{_kind(private)} in {private_file}. Write it alike in both."
    )


def _labels(
    public: pd.Series, private: pd.Series, public_file: Path, private_file: Path
) -> pd.Series:
    """Return public labels in the dtype of the private ones.

    Labels that the private rows lack raise an error, because they would be new classes.
    """
    if _kind(public) != _kind(private):
        raise ConfigError(
            f"The target {private.name!r} holds {_kind(public)} in {public_file}, and "
            f"{_kind(private)} in {private_file}. Write it alike in both."
        )
    if private.dtype.kind == "f":
        return public.astype(float)
    n_unknown = int((~public.isin(set(private))).sum())
    if n_unknown:
        raise ConfigError(
            f"The target {private.name!r} has labels in {public_file} that "
            f"{private_file} does not know, in {n_unknown} rows. Leave these rows out "
            "of it."
        )
    return public.astype(private.dtype)


def _kind(column: Any) -> str:
    if types.is_bool_dtype(column):
        return "truth values"
    if types.is_numeric_dtype(column):
        return "numbers"
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return "times"
    return "text"
