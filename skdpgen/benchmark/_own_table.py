"""The table of a cell, from a folder of known tables or from a file of the user's."""

import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from skdpgen.benchmark._public_splits import IMAGES, WITH_PUBLIC, read_public_split
from skdpgen.benchmark._reading import (
    IMAGE_SETS,
    MADE_UP,
    TABLES,
    Split,
    read_split,
)
from skdpgen.benchmark.runs._frozen_cell import LENGTH, Source
from skdpgen.benchmark.runs._own_public import beside
from skdpgen.utils import ConfigError

TEST_SHARE = 0.2
ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather")


def file_of(source: Source, folder: str | Path) -> Path:
    """Return where a table lies; raise if nothing is there."""
    if source.path is not None:
        return _there([Path(source.path)], source)
    # in the order of `read_split`
    endings = ("npz",) if source.is_images else ("parquet", "csv.gz")
    name = WITH_PUBLIC.get(source.name, source.name)
    return _there([Path(folder) / f"{name}.{end}" for end in endings], source)


def public_file(source: Source, folder: str | Path) -> Path | None:
    """Return where the public rows of a table lie, if that is a file of its own."""
    if source.public is not None:
        if not Path(source.public).is_file():
            raise ConfigError(
                f"There is no {source.public}, the public rows of {source.name!r}."
            )
        return Path(source.public)
    if source.is_images and source.has_public:
        return _there([Path(folder) / f"{IMAGES[source.name][1]}.npz"], source)
    return None


def _there(tried: list[Path], source: Source) -> Path:
    for path in tried:
        if path.is_file():
            return path
    places = " or ".join(map(str, tried))
    raise ConfigError(
        f"There is no {places}, the table {source.name!r}. Say `--data FOLDER` for "
        "known tables, and `path` for a file of your own."
    )


def digest(source: Source, folder: str | Path) -> str:
    """Return what tells the rows of a source from any others."""
    if source.is_made_up:
        X, y = read_split(source.name, folder, source.seed).whole
        hashed = pd.util.hash_pandas_object(X.assign(**{"": y})).to_numpy()
        return hashlib.sha256(hashed.tobytes()).hexdigest()[:LENGTH]
    found = _digest(file_of(source, folder))
    theirs = public_file(source, folder)
    if theirs is None:
        return found
    public = _digest(theirs)
    return hashlib.sha256(f"{found} {public}".encode()).hexdigest()[:LENGTH]


@lru_cache
def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def read_source(source: Source, folder: str | Path) -> Split:
    """Read a table, cut into rows to fit and a fifth to test on; or some of the former.

    Of a file of the user's it is read as a benchmark needs it, with dtypes guessed from
    all rows: what comes of it stands outside every guarantee.
    """
    split = _read_source(source, folder)
    if source.rows is None:
        return split
    check_rows(source, len(split.X_train))
    return split.drawn(source.rows)


def check_rows(source: Source, there: int) -> None:
    """Raise if there are fewer rows than were asked for."""
    if source.rows is not None and source.rows > there:
        raise ConfigError(
            f"{source.name} has {there:,} rows to fit. Got rows = {source.rows}."
        )


def _read_source(source: Source, folder: str | Path) -> Split:
    """Read a table whole.

    Of a file of the user's the split is drawn by ``source.seed``, by the label where
    each label has two rows at least.
    """
    if source.is_made_up:
        return read_split(source.name, folder, source.seed)
    path = file_of(source, folder)
    if not source.is_own:
        if source.has_public:
            return read_public_split(source.name, path.parent)
        return read_split(source.name, path.parent, source.seed)
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
    theirs = public_file(source, folder)
    if theirs is not None:
        public = beside(_table(theirs, source), (frame, y), (theirs, path))
    return Split(source.name, X_train, y_train, X_test, y_test, public)


def _table(path: Path, source: Source) -> tuple[pd.DataFrame, pd.Series]:
    """Read a file, and take its target out."""
    frame = _read(path)
    if source.target not in frame:
        names = ", ".join(map(str, frame))
        raise ConfigError(
            f"`target` must be a column of {path}. Got {source.target!r}; there are "
            f"{names}."
        )
    y = frame.pop(source.target)
    if y.isna().any():
        raise ConfigError(
            f"The target {source.target!r} of {path} is missing in some rows. "
            "Leave these rows out of the file."
        )
    return frame, _of_task(y, source)


def _of_task(y: pd.Series, source: Source) -> pd.Series:
    is_number = pd.api.types.is_numeric_dtype(y)
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


def check_name(name: str) -> None:
    """Raise if no table is known by this name."""
    known = [*TABLES, *IMAGE_SETS, *WITH_PUBLIC, *MADE_UP]
    if name not in known:
        raise ConfigError(
            f"Tables must be among {', '.join(known)}, or files as "
            f'{{path = "mine.csv", target = "y"}}. Got {name!r}.'
        )
