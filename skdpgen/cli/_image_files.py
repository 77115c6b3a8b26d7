"""Images in an ``.npz``: arrays in a zip, read a few rows at a time."""

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click
import numpy as np
from numpy.lib import format as npy

BYTES = 2**24  # of images in a piece


@dataclass(frozen=True)
class StoredArray:
    """An array inside a zip: what its head says, and its rows in order."""

    path: Path
    member: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, path: Path, name: str) -> "StoredArray":
        """Read the head; nothing of the rows decides anything yet."""
        member = f"{name}.npy"
        with zipfile.ZipFile(path) as file, file.open(member) as stream:
            shape, is_fortran, dtype = _head(stream)
        if is_fortran or dtype.hasobject or not shape:
            raise click.UsageError(
                f"{name} in {path} must be a plain array with a row for each image. "
                f"Save it as `np.ascontiguousarray({name})`."
            )
        return cls(path, member, shape, dtype)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Give a function that reads so many rows more, or as many as there are."""
        with zipfile.ZipFile(self.path) as file, file.open(self.member) as stream:
            _head(stream)
            size = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize

            def more(n_rows: int) -> Any:
                content = stream.read(n_rows * size)
                rows = _readable(np.frombuffer(content, self.dtype))
                return rows.reshape(-1, *self.shape[1:])

            yield more


def _readable(rows: Any) -> Any:
    """Return rows; a text that holds what is no character is empty, and never raises.

    Each text is judged independently of the others.
    """
    if rows.dtype.kind != "U" or not rows.dtype.itemsize:
        return rows
    unit = np.dtype(np.uint32).newbyteorder(rows.dtype.byteorder)
    codes = rows.view(unit).reshape(len(rows), -1).copy()
    is_half = (codes >= 0xD800) & (codes < 0xE000)  # of a pair, which is no character
    codes[((codes > 0x10FFFF) | is_half).any(axis=1)] = 0
    return codes.view(rows.dtype).reshape(-1)


def image_chunks(path: Path) -> Any:
    """Return images, and labels if there are any, of an ``.npz`` as `Chunks`.

    The file has ``x`` (or ``x_train``) and, if it likes, ``y``. It may be compressed.
    """
    from skdpgen import Chunks

    parts = _parts(path, "train")

    def opened() -> Iterator[Any]:
        return (one if len(one) == 2 else one[0] for one in _pieces(parts))

    none = tuple(np.empty((0, *part.shape[1:]), part.dtype) for part in parts)
    return Chunks(opened, like=none if len(none) == 2 else none[0])


def some_images(path: Path, part: str, *, most: int, is_labelled: bool) -> Any:
    """Return up to so many images at random, and their labels if there should be any.

    Parameters
    ----------
    path : Path
        An ``.npz``.
    part : {"train", "test"}
        Which of ``x_train`` and ``x_test`` is meant if both are there.
    most : int
    is_labelled : bool
        Whether labels are needed.
    """
    parts = _parts(path, part)
    if is_labelled and len(parts) < 2:
        raise click.UsageError(
            f"{path} must hold labels y beside its images, as the fit had them."
        )
    n_rows = parts[0].shape[0]
    wanted = np.zeros(n_rows, dtype=bool)
    wanted[np.random.default_rng(0).permutation(n_rows)[:most]] = True
    found: list[list[Any]] = [[] for _ in parts]
    start = 0
    for piece in _pieces(parts):
        here = wanted[start : start + len(piece[0])]
        start += len(here)
        for kept, rows in zip(found, piece, strict=True):
            kept.append(rows[here])
    arrays = tuple(np.concatenate(kept) for kept in found)
    return arrays if is_labelled else arrays[0]


def _pieces(parts: list[StoredArray]) -> Iterator[tuple[Any, ...]]:
    """Yield some megabytes of images at a time, and their labels if there are any."""
    images = parts[0]
    n_bytes = int(np.prod(images.shape[1:], dtype=np.int64)) * images.dtype.itemsize
    n_rows = max(BYTES // max(n_bytes, 1), 1)
    with ExitStack() as stack:
        more = [stack.enter_context(part.opened()) for part in parts]
        for start in range(0, images.shape[0], n_rows):
            n = min(n_rows, images.shape[0] - start)
            yield tuple(read(n) for read in more)


def _parts(path: Path, part: str) -> list[StoredArray]:
    with np.load(path, allow_pickle=False) as file:
        names = {name.lower(): name for name in file}
    keys = [[f"{one}_{part}", one] for one in ("x", "y")]
    found = [next((names[k] for k in key if k in names), None) for key in keys]
    if found[0] is None:
        raise click.UsageError(
            f"{path} must hold an array x (or x_{part}) of images, and may hold y. "
            f"Got {', '.join(names) or 'nothing'}."
        )
    parts = [StoredArray.of(path, name) for name in found if name is not None]
    lengths = [part.shape[0] for part in parts]
    if len(set(lengths)) > 1:
        raise click.UsageError(
            f"x and y in {path} must have as many rows. Got {lengths[0]} and "
            f"{lengths[1]}."
        )
    return parts


def _head(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read what stands before the rows; raise if it is no array."""
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    return read(stream)
