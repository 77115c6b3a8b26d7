"""A file of named members with checksums, read without trust in who wrote it."""

import hashlib
import io
import json
import math
import struct
import sys
from collections.abc import Mapping
from typing import Any, TypeAlias
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from skdpgen.exceptions import FileFormatError

JSON: TypeAlias = (
    bool | int | float | str | list["JSON"] | tuple["JSON", ...] | dict[str, "JSON"]
) | None

FORMAT = 1  # of all files; docs/file_format.md describes it
HEADER = "skdpgen.json"
EARLIEST_TIME = (1980, 1, 1, 0, 0, 0)  # of zip archives: equal files are equal
DTYPE_KINDS = frozenset("biufcUSMm")  # numbers, text and times, never objects
MOST_MEMBERS = 1_000_000


def own_version() -> str:
    """Return the version of this package, from its one source.

    An import of ``skdpgen`` here would import all that its `__init__` names.
    """
    version: str = sys.modules["skdpgen"].__version__
    return version


# ----------------------------------------------------------------------------
# A zip archive: a header, and members that it lists with their checksums.


def pack(header: Mapping[str, JSON], members: Mapping[str, bytes]) -> bytes:
    """Return a file of members; its header states format, version and checksums.

    Examples
    --------
    >>> header, members = unpack(pack({"holds": "a test"}, {"a.json": b"1"}))
    >>> header["holds"], members
    ('a test', {'a.json': b'1'})
    """
    listed: dict[str, JSON] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
    }
    content = {"format": FORMAT, "skdpgen": own_version(), **header, "members": listed}
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, data in {HEADER: json_bytes(content, indent=2), **members}.items():
            info = ZipInfo(name, EARLIEST_TIME)
            info.create_system = 3  # as on Unix, wherever it is written
            archive.writestr(info, data)
    return file.getvalue()


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return header and members of what :func:`pack` wrote; raise if it is damaged.

    Members are stored as they are, never compressed, so that no file can become larger
    than it is.
    """
    if not data:
        raise FileFormatError("it is empty")
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            return _members_of(archive, len(data))
    except FileFormatError:
        raise
    except BadZipFile as error:
        raise FileFormatError(f"it is not a zip archive that is whole: {error}") from (
            error
        )
    except (ValueError, RuntimeError, EOFError, OSError, struct.error) as error:
        raise FileFormatError(f"its zip archive is damaged: {error}") from error
    except (KeyError, TypeError, IndexError, MemoryError, RecursionError) as error:
        raise FileFormatError("its zip archive is damaged") from error


def _members_of(archive: ZipFile, n_bytes: int) -> tuple[dict[str, Any], Any]:
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(infos) > MOST_MEMBERS or len(set(names)) < len(names):
        raise FileFormatError("it has two members of one name, or too many members")
    if any(info.compress_type != ZIP_STORED for info in infos) or (
        sum(info.file_size for info in infos) > n_bytes
    ):
        raise FileFormatError("its members must be stored without compression")
    if HEADER not in names:
        raise FileFormatError(f"it has no member {HEADER}")
    header = read_json(archive.read(HEADER), HEADER)
    check_format(header)
    listed = header.get("members")
    if not isinstance(listed, dict) or {HEADER, *listed} != set(names):
        raise FileFormatError(f"{HEADER} must list its members, and no others")
    members = {}
    for name, stated in listed.items():
        members[name] = archive.read(name)
        found = hashlib.sha256(members[name]).hexdigest()
        if not isinstance(stated, dict) or stated.get("sha256") != found:
            raise FileFormatError(f"{name} differs from its checksum in {HEADER}")
    return header, members


def check_format(header: Any) -> None:
    """Raise for a file of a format that this version does not know."""
    number = header.get("format") if isinstance(header, dict) else None
    if type(number) is not int or number < 0:
        raise FileFormatError(f"{HEADER} does not state a format")
    if number > FORMAT:
        raise NewerFormatError(
            f"This file has format {number}; skdpgen {own_version()} reads {FORMAT}. "
            "Install a newer skdpgen."
        )


class NewerFormatError(FileFormatError):
    """A file is from a later version; its message is a sentence of its own."""


# ----------------------------------------------------------------------------
# One member: JSON as the standard has it, or an array.


def json_bytes(value: JSON, *, indent: int | None = None) -> bytes:
    """Return JSON in ASCII; raise for what the standard does not have, as NaN.

    Examples
    --------
    >>> json_bytes({"a": [1, None]})
    b'{"a": [1, null]}'
    """
    return json.dumps(value, indent=indent, allow_nan=False).encode("ascii")


def read_json(data: bytes, name: str) -> Any:
    """Return what JSON says; raise for NaN, for a key that comes twice, and the like.

    Examples
    --------
    >>> read_json(b'{"a": [1, null]}', "a.json")
    {'a': [1, None]}
    """
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise FileFormatError(f"{name} is nested too deeply") from None
    except ValueError as error:
        raise FileFormatError(f"{name} is not JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def array_bytes(array: NDArray[Any]) -> bytes:
    """Return an array as an ``.npy`` file.

    Examples
    --------
    >>> read_array(array_bytes(np.arange(3)), "a.npy")
    array([0, 1, 2])
    """
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    return file.getvalue()


def read_array(data: bytes, name: str) -> NDArray[Any]:
    """Return the array of an ``.npy`` file; raise unless it is as long as it says."""
    file = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("its version must be 1.0")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
        if (
            dtype.kind not in DTYPE_KINDS
            or not dtype.itemsize
            or min(shape, default=0) < 0
        ):
            raise ValueError("it must hold numbers, text or times")
        if math.prod(shape) * dtype.itemsize != len(data) - file.tell():
            raise ValueError("its length must be that of its shape")
        order: Any = "F" if is_fortran else "C"
        if 0 in shape:
            return np.empty(shape, dtype, order)
        flat = np.frombuffer(data, dtype, offset=file.tell())
        return flat.reshape(shape, order=order).copy("K")  # which can be written
    except (ValueError, TypeError, OverflowError, SyntaxError, EOFError) as error:
        raise FileFormatError(f"{name} is no array: {error}") from error
    except (MemoryError, RecursionError) as error:
        raise FileFormatError(f"{name} is no array") from error
