"""The table of a cell, from a folder of known tables or from a file of the user's."""

import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from skdpgen.benchmark._reading import IMAGE_SETS, TABLES, Split, read_split
from skdpgen.benchmark.runs._frozen_cell import Source
from skdpgen.utils import ConfigError

TEST_SHARE = 0.2
ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather")


def file_of(source: Source, folder: str | Path) -> Path:
    """Return where a table lies; raise if nothing is there."""
    if source.path is not None:
        tried = [Path(source.path)]
    else:
        # in the order of `read_split`
        endings = ("npz",) if source.is_images else ("parquet", "csv.gz")
        tried = [Path(folder) / f"{source.name}.{ending}" for ending in endings]
    for path in tried:
        if path.is_file():
            return path
    places = " or ".join(map(str, tried))
    raise ConfigError(
        f"There is no {places}, the table {source.name!r}. Say `--data FOLDER` for "
        "known tables, and `path` for a file of your own."
    )


@lru_cache
def digest(path: Path) -> str:
    """Return what tells this file from any other."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def read_source(source: Source, folder: str | Path) -> Split:
    """Read a table, and cut it into rows to fit and a fifth to test on.

    Of a file of the user's the split is drawn by ``source.seed``, by the label where
    each label has two rows at least. It is read as a benchmark needs it, with dtypes
    guessed from all rows: what comes of it stands outside every guarantee.
    """
    path = file_of(source, folder)
    if not source.is_own:
        return read_split(source.name, path.parent, source.seed)
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
    y = _of_task(y, source)
    stratify = None if y.dtype.kind == "f" or y.value_counts().min() < 2 else y
    train, test = train_test_split(
        np.arange(len(frame)),
        test_size=TEST_SHARE,
        random_state=source.seed,
        stratify=stratify,
    )
    X_train, X_test = (frame.iloc[at].reset_index(drop=True) for at in (train, test))
    y_train, y_test = (y.iloc[at].reset_index(drop=True) for at in (train, test))
    return Split(source.name, X_train, y_train, X_test, y_test)


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
    known = [*TABLES, *IMAGE_SETS]
    if name not in known:
        raise ConfigError(
            f"Tables must be among {', '.join(known)}, or files as "
            f'{{path = "mine.csv", target = "y"}}. Got {name!r}.'
        )
