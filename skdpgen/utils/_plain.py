"""Values as JSON and arrays: written, sent and read back without running any code."""

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeAlias, TypeVar
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray

# ----------------------------------------------------------------------------
# Values that can be written to a file and read back register themselves here.

SAVED: dict[str, Any] = {}  # dataclasses and enumerations, by their names
T = TypeVar("T", bound=type)


def saved(value: T) -> T:
    """Let a dataclass or an enumeration be part of a saved estimator; a decorator.

    Names are distinct in all modules. The same module may define a name again, as a
    cell of a notebook does that runs twice.

    Examples
    --------
    >>> from skdpgen.privacy import Release
    >>> SAVED["Release"] is Release
    True
    """
    known = SAVED.get(value.__name__)
    if known is not None and known.__module__ != value.__module__:
        raise TypeError(
            f"Saved values must have distinct names. Got {value!r} beside {known!r}."
        )
    SAVED[value.__name__] = value
    return value


# ----------------------------------------------------------------------------
# Values as JSON and arrays: written, sent and read back without running any code.


Arrays = dict[str, NDArray[Any]]
JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None


def to_plain(
    value: object,
    arrays: Arrays,
    other: Callable[[object, Arrays], JSON] | None = None,
) -> JSON:
    """Return a value that JSON can hold; arrays are stored separately by name.

    Parameters
    ----------
    value : plain values, arrays, and dataclasses that are marked ``@saved``
    arrays : dict
        Is filled.
    other : callable or None, default=None
        Converts other values to a dictionary, or returns None.
    """
    if isinstance(value, Enum):
        return {"enum": type(value).__name__, "value": value.value}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"objects": [to_plain(v, arrays, other) for v in value.tolist()]}
        key = f"array{len(arrays)}"
        arrays[key] = value
        return {"array": key}
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, torch.Tensor):
        return {"tensor": to_plain(value.cpu().numpy(), arrays, other)}
    converted = None if other is None else other(value, arrays)
    if converted is not None:
        return converted
    if is_dataclass(value) and type(value).__name__ in SAVED:
        content = {
            item.name: to_plain(getattr(value, item.name), arrays, other)
            for item in fields(value)
            if item.init
        }
        return {"type": type(value).__name__, "fields": content}
    if isinstance(value, Mapping):
        # a list of pairs, since keys need not be text
        pairs: list[JSON] = [
            [to_plain(part, arrays, other) for part in pair] for pair in value.items()
        ]
        return {"dict": pairs}
    if isinstance(value, set | frozenset):
        # by type first: values of different types have no order
        ordered = sorted(value, key=lambda item: (type(item).__name__, item))
        return {"set": [to_plain(item, arrays, other) for item in ordered]}
    if isinstance(value, list | tuple | range):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [to_plain(item, arrays, other) for item in value]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(
        "A saved estimator holds plain values and arrays, and dataclasses that are "
        f"marked @saved. Got {type(value).__name__}."
    )


def from_plain(
    value: Any,
    arrays: Mapping[str, NDArray[Any]],
    other: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """Return what :func:`to_plain` was given; only ``@saved`` types are made."""
    if not isinstance(value, dict):
        return value
    if "enum" in value:
        return SAVED[value["enum"]](value["value"])
    if "array" in value:
        return arrays[value["array"]]
    if "tensor" in value:
        return torch.from_numpy(from_plain(value["tensor"], arrays, other))
    restored = None if other is None else other(value, arrays)
    if restored is not None:
        return restored
    if "objects" in value:
        items = [from_plain(item, arrays, other) for item in value["objects"]]
        result = np.empty(len(items), dtype=object)
        result[:] = items
        return result
    if "type" in value:
        fields_of = value["fields"].items()
        content = {name: from_plain(part, arrays, other) for name, part in fields_of}
        return SAVED[value["type"]](**content)
    if "dict" in value:
        pairs = value["dict"]
        return dict(
            [from_plain(part, arrays, other) for part in pair] for pair in pairs
        )
    if "bytes" in value:
        return bytes.fromhex(value["bytes"])
    kind, items = next(iter(value.items()))
    made_of = {"tuple": tuple, "list": list, "set": set}[kind]
    return made_of(from_plain(item, arrays, other) for item in items)


def to_bytes(value: object) -> bytes:
    """Return a value as a file of JSON and arrays.

    Examples
    --------
    >>> from_bytes(to_bytes({"a": (1, np.arange(2))}))
    {'a': (1, array([0, 1]))}
    """
    arrays: Arrays = {}
    text = json.dumps(to_plain(value, arrays)).encode()
    file = io.BytesIO()
    parts: dict[str, Any] = {"header": np.frombuffer(text, dtype=np.uint8), **arrays}
    np.savez(file, **parts)
    return file.getvalue()


def from_bytes(data: bytes) -> Any:
    """Return what :func:`to_bytes` wrote; runs no code of the sender."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return from_plain(json.loads(arrays["header"].tobytes()), dict(arrays))
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise ValueError(
            "data must be what `to_bytes` wrote. Got something else, or damaged bytes."
        ) from error


def digest_of(value: object) -> str:
    """Return a fingerprint: two values with one fingerprint are the same.

    Examples
    --------
    >>> digest_of([1, 2]) == digest_of([1, 2]), digest_of([1, 2]) == digest_of([1, 3])
    (True, False)
    """
    arrays: Arrays = {}
    digest = hashlib.sha256(json.dumps(to_plain(value, arrays)).encode())
    for name, array in arrays.items():
        whole = np.ascontiguousarray(array)
        digest.update(f"{name} {whole.dtype.str} {whole.shape}".encode())
        digest.update(whole.tobytes())
    return digest.hexdigest()
