"""Finished cells in a folder: each is written whole, or not at all."""

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER, RESULTS = "cells", "results"
ENDLESS = "inf"  # which JSON has no number for


class CellStore:
    """One JSON file a cell, under its key.

    A row is written under another name, forced to the disk, and renamed: whatever
    kills the process, a file of this name is a whole row. Files that are none are taken
    for absent, so such a cell is computed again.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = CellStore(folder)
    ...     store.write({"cell": "0a", "roc_auc": 0.5})
    ...     _ = (store.folder / "0b.json").write_text('{"cell": "0b", "roc')
    ...     store.rows()
    {'0a': {'cell': '0a', 'roc_auc': 0.5}}
    """

    def __init__(self, out: str | Path) -> None:
        self.out = Path(out)
        self.folder = self.out / FOLDER
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, row: dict[str, Any]) -> None:
        """Keep the row of a cell, whole or not at all."""
        write_whole(
            self.folder / f"{row['cell']}.json", json.dumps(_stored(row)) + "\n"
        )

    def rows(self) -> dict[str, dict[str, Any]]:
        """Return the finished cells by their keys."""
        keys = sorted(path.stem for path in self.folder.glob("*.json"))
        return {key: row for key in keys if (row := self.row(key))}

    def row(self, key: str) -> dict[str, Any]:
        """Return one finished cell, or nothing."""
        row = _read(self.folder / f"{key}.json")
        return row if row.get("cell") == key else {}

    def forget(self, keys: Iterable[str]) -> None:
        """Delete cells, so that they are computed again."""
        for key in keys:
            (self.folder / f"{key}.json").unlink(missing_ok=True)

    def collect(self, rows: Iterable[dict[str, Any]], *, parquet: bool = False) -> Path:
        """Write rows as JSON lines beside the cells, and as Parquet if asked."""
        kept = [_stored(row) for row in rows]
        path = self.out / f"{RESULTS}.jsonl"
        write_whole(path, "".join(json.dumps(row) + "\n" for row in kept))
        if parquet:
            flat = [
                {name: _flat(value) for name, value in _revived(row).items()}
                for row in kept
            ]
            pd.DataFrame(flat).to_parquet(path.with_suffix(".parquet"), index=False)
        return path


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole, or as it was before."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    if os.name == "posix":  # the new name itself must reach the disk, too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_revived(json.loads(line)) for line in lines if line.strip()]


def plain(value: Any) -> Any:
    """Return what JSON knows; a number that is none, or has no end, becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _stored(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for JSON; an epsilon without end, which decides, becomes a text."""
    found = plain(row)
    return found | {"epsilon": ENDLESS} if row.get("epsilon") == math.inf else found


def _revived(row: Any) -> dict[str, Any]:
    """Return a row that was read, with an epsilon that is a number."""
    if not isinstance(row, dict):
        return {}
    return row | {"epsilon": math.inf} if row.get("epsilon") == ENDLESS else row


def _read(path: Path) -> dict[str, Any]:
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return _revived(row)


def _flat(value: Any) -> Any:
    """Return a cell of a column: what is nested becomes JSON."""
    return json.dumps(value) if isinstance(value, dict | list) else value
