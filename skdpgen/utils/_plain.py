"""Values as JSON and arrays: written, sent and read back without running any code.

Every type that a file can hold has a name of its own, which is no name of a class:
classes and their attributes can be renamed, and old files still be read.
`docs/file_format.md` describes what is written.
"""

import hashlib
import inspect
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime, time
from enum import Enum
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load as read_safetensors
from safetensors.torch import save as safetensors_bytes
from torch import Tensor, nn

from skdpgen.exceptions import FileFormatError
from skdpgen.utils._container import (
    JSON,
    array_bytes,
    json_bytes,
    pack,
    read_array,
    read_json,
    unpack,
)

# ----------------------------------------------------------------------------
# Types that can be written to a file register themselves here, by names that stay.

SAVED: dict[str, type] = {}
NAMES: dict[type, str] = {}
RENAMED: dict[type, Mapping[str, str]] = {}
NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
T = TypeVar("T", bound=type)


def saved(name: str, **renamed: str) -> Callable[[T], T]:
    """Let files hold values of a type, under a name that stays; a decorator.

    A type is a dataclass, an enumeration, a network that is made of its ``shape``, or
    has ``get_params``. A class method ``check_read`` is asked about values from a file
    before an object is made of them. Names and fields are promised: a test compares
    them with the list of each format (``tests/format``), and a change needs a
    migration.

    Parameters
    ----------
    name : str
        Says what a value IS: lower-case, with dots, unlike any other.
    **renamed : str
        The name in files of a field that is called otherwise in the code.

    Names are distinct in all modules. The same module may give a name again, as a
    cell of a notebook does that runs twice.

    Examples
    --------
    >>> from skdpgen.privacy import Release
    >>> SAVED["release"] is Release
    True
    """
    if not NAME.fullmatch(name):
        raise TypeError(f"A name in files is like 'column.numeric'. Got {name!r}.")

    def register(value: T) -> T:
        known = SAVED.get(name)
        if known is not None and known.__module__ != value.__module__:
            raise TypeError(
                f"Saved types must have distinct names. Got {name!r} for {value!r} and "
                f"for {known!r}."
            )
        SAVED[name], NAMES[value], RENAMED[value] = value, name, renamed
        return value

    return register


def fields_of(kind: type) -> dict[str, str]:
    """Return attributes of a saved type by the names of their fields in files.

    Examples
    --------
    >>> from skdpgen.privacy import Counts
    >>> fields_of(Counts)
    {'beta': 'beta'}
    """
    if is_dataclass(kind):
        names = [item.name for item in fields(kind) if item.init]
    elif issubclass(kind, nn.Module):
        names = ["shape"]
    else:
        names = list(inspect.signature(kind).parameters)
    return {RENAMED[kind].get(name, name): name for name in names}


# ----------------------------------------------------------------------------
# From values to JSON; arrays and weights of networks are put aside, under names.

Place = tuple[str, ...]
FOLDERS = {"release": "releases"}  # of arrays of a type; others are in "arrays"
TIMES = {datetime: "datetime", date: "date", time: "time"}
NO_CODE = (
    "A file holds plain values, arrays, and types that are marked @saved; it never "
    "holds code. Got {} as {}. `pickle` can keep such a value for yourself."
)


@dataclass(eq=False)
class PlainWriter:
    """Makes JSON of values, and keeps arrays and weights that belong to it.

    Parameters
    ----------
    apart : callable or None, default=None
        Says what becomes of some values: JSON, or None for all others.

    Examples
    --------
    >>> PlainWriter().plain({"a": (1, float("nan")), "b": [True]})
    {'map': {'a': (1, {'float': 'nan'}), 'b': {'list': (True,)}}}
    """

    apart: Callable[["PlainWriter", object, Place], JSON] | None = None
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    weights: dict[str, Tensor] = field(default_factory=dict)

    def plain(self, value: object, place: Place = (), folder: str = "arrays") -> JSON:
        """Return the JSON of a value; raise if a file cannot hold it."""
        name = NAMES.get(type(value))
        if isinstance(value, Enum):
            if name is None:
                raise TypeError(NO_CODE.format(type(value).__name__, _said(place)))
            return {"enum": name, "value": value.value}
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(float(value))}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.ndarray):
            return self._array(value, place, folder)
        if isinstance(value, Tensor):
            array = value.detach().cpu().numpy()
            return {"tensor": self._array(array, place, folder)}
        if isinstance(value, torch.device):
            return str(value)
        apart = None if self.apart is None else self.apart(self, value, place)
        if apart is not None:
            return apart
        if name is not None:
            return self._saved(value, name, place, FOLDERS.get(name, folder))
        return self._container(value, place, folder)

    def _array(self, array: NDArray[Any], place: Place, folder: str) -> JSON:
        if array.dtype == object:
            parts = self._parts(array.ravel().tolist(), place, folder)
            return {"objects": parts, "shape": array.shape}
        name = "/".join((folder, *place)) + ".npy"
        if name in self.arrays:
            raise TypeError(f"Two arrays have one place in a file: {name}.")
        self.arrays[name] = array
        return {"array": name, "dtype": array.dtype.str, "shape": array.shape}

    def _saved(self, value: Any, name: str, place: Place, folder: str) -> JSON:
        known = fields_of(type(value))
        if isinstance(value, nn.Module):
            prefix = "/".join(place)
            for key, weight in value.state_dict().items():
                self.weights[f"{prefix}/{key}"] = weight.cpu().contiguous()
            shape = self.plain(value.shape, (*place, "shape"), folder)
            return {"network": name, "shape": shape, "weights": prefix}
        if is_dataclass(value):
            kind = "fields"
            content = {key: getattr(value, known[key]) for key in known}
        else:
            kind, given = "parameters", value.get_params(deep=False)
            content = {key: given[known[key]] for key in known}
        named = {
            key: self.plain(part, (*place, key), folder)
            for key, part in content.items()
        }
        return {"object": name, kind: named}

    def _container(self, value: object, place: Place, folder: str) -> JSON:
        if isinstance(value, Mapping):
            keys = list(value)
            parts = self._parts(list(value.values()), place, folder)
            if all(type(key) is str for key in keys):
                return {"map": dict(zip(keys, parts, strict=True))}
            named = self._parts(keys, (*place, "keys"), folder)
            return {"map": tuple(zip(named, parts, strict=True))}
        if isinstance(value, set | frozenset):
            # by type first: values of different types have no order
            ordered = sorted(value, key=lambda item: (type(item).__name__, item))
            return {"set": self._parts(ordered, place, folder)}
        if isinstance(value, tuple):
            return self._parts(value, place, folder)
        if isinstance(value, list | range):
            return {"list": self._parts(value, place, folder)}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, date | time):  # datetime is a kind of date
            kind = next(kind for kind in TIMES if isinstance(value, kind))
            return {TIMES[kind]: value.isoformat()}
        raise TypeError(NO_CODE.format(type(value).__name__, _said(place)))

    def _parts(self, values: Any, place: Place, folder: str) -> tuple[JSON, ...]:
        return tuple(
            self.plain(one, (*place, str(number)), folder)
            for number, one in enumerate(values)
        )


def _said(place: Place) -> str:
    return ".".join(place) or "the value"


# ----------------------------------------------------------------------------
# From JSON back to values; only types that are marked @saved are made.

DEEPEST = 60  # of values in values
LEAST_SIZE = 4096  # which a network may have in any of its directions


@dataclass(eq=False)
class PlainReader:
    """Makes values of what a :class:`PlainWriter` wrote; raises for anything else.

    Parameters
    ----------
    arrays : mapping of str to ndarray
    weights : mapping of str to Tensor
        Of all networks.
    apart : dict of str to callable, default={}
        What makes a value of a JSON object that has this key.
    """

    arrays: Mapping[str, NDArray[Any]]
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    apart: Mapping[str, Callable[["PlainReader", Any], Any]] = field(
        default_factory=dict
    )
    _depth: int = 0

    def value(self, plain: Any) -> Any:
        """Return the value that JSON stands for."""
        if isinstance(plain, bool | int | float | str) or plain is None:
            return plain
        self._depth += 1
        if self._depth > DEEPEST:
            raise FileFormatError("it is nested too deeply")
        try:
            if isinstance(plain, list | tuple):
                return tuple(map(self.value, plain))
            return self._object(plain)
        finally:
            self._depth -= 1

    def _object(self, plain: dict[str, Any]) -> Any:
        for key, read in self.apart.items():
            if key in plain:
                return read(self, plain)
        read_kind = READ.get(frozenset(plain))
        if read_kind is None:
            keys = ", ".join(sorted(plain)) or "none"
            raise FileFormatError(f"it has an object of unknown entries: {keys}")
        return read_kind(self, plain)

    def array(self, plain: dict[str, Any]) -> NDArray[Any]:
        """Return an array, which must be as JSON says."""
        name, dtype, shape = plain["array"], plain["dtype"], tuple(plain["shape"])
        found = self.arrays[name]
        if (found.dtype.str, found.shape) != (dtype, shape):
            raise FileFormatError(
                f"{name} must hold {dtype} of shape {shape}, but holds "
                f"{found.dtype.str} of shape {found.shape}"
            )
        return found

    def objects(self, plain: dict[str, Any]) -> NDArray[Any]:
        """Return an array of objects."""
        result = np.empty(len(plain["objects"]), dtype=object)
        for number, item in enumerate(plain["objects"]):
            result[number] = self.value(item)
        return result.reshape(tuple(plain["shape"]))

    def mapping(self, plain: dict[str, Any]) -> dict[Any, Any]:
        """Return a dictionary: of an object, or of pairs if keys are not all text."""
        pairs = plain["map"]
        if isinstance(pairs, dict):
            return {key: self.value(part) for key, part in pairs.items()}
        return {self.value(key): self.value(part) for key, part in pairs}

    def saved(self, plain: dict[str, Any]) -> Any:
        """Return a dataclass of its fields, or an object of its parameters."""
        name = plain["object"]
        kind = saved_type(name)
        if not is_dataclass(kind) and not hasattr(kind, "get_params"):
            raise FileFormatError(f"{name} has neither fields nor parameters")
        given = plain["fields"] if is_dataclass(kind) else plain["parameters"]
        values = self.named(kind, given)
        if hasattr(kind, "check_read"):
            kind.check_read(values)
        return kind(**values)

    def named(self, kind: type, given: Any) -> dict[str, Any]:
        """Return values by the attributes of a type; each must be there, once."""
        known = fields_of(kind)
        if not isinstance(given, dict) or set(given) != set(known):
            raise FileFormatError(
                f"{NAMES[kind]} must have the entries {', '.join(known) or 'none'}"
            )
        return {known[key]: self.value(part) for key, part in given.items()}

    def network(self, plain: dict[str, Any]) -> nn.Module:
        """Return a network of its shape and weights, ready to be used."""
        name, start = plain["network"], f"{plain['weights']}/"
        kind = saved_type(name, nn.Module)
        given = {
            key.removeprefix(start): weight
            for key, weight in self.weights.items()
            if key.startswith(start)
        }
        shape = self.value(plain["shape"])
        most = max(sum(weight.numel() for weight in given.values()), LEAST_SIZE)
        if max(_largest(shape), shape.least_weights) > most:
            raise FileFormatError(f"{name} is larger than its weights")
        made: nn.Module = kind(shape)
        if _forms(made.state_dict()) != _forms(given):
            raise FileFormatError(f"weights of {name} are not those of its shape")
        made.load_state_dict(given)
        return made.eval()


Read = Callable[[PlainReader, dict[str, Any]], Any]
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
READ: dict[frozenset[str], Read] = {
    frozenset(keys): read
    for keys, read in {
        ("float",): lambda reader, plain: NOT_FINITE[plain["float"]],
        ("list",): lambda reader, plain: list(map(reader.value, plain["list"])),
        ("set",): lambda reader, plain: set(map(reader.value, plain["set"])),
        ("map",): PlainReader.mapping,
        ("bytes",): lambda reader, plain: bytes.fromhex(plain["bytes"]),
        ("datetime",): lambda reader, plain: pd.Timestamp(plain["datetime"]),
        ("date",): lambda reader, plain: date.fromisoformat(plain["date"]),
        ("time",): lambda reader, plain: time.fromisoformat(plain["time"]),
        ("array", "dtype", "shape"): PlainReader.array,
        ("objects", "shape"): PlainReader.objects,
        ("tensor",): lambda r, plain: torch.from_numpy(r.array(plain["tensor"])),
        ("enum", "value"): lambda r, plain: saved_type(plain["enum"], Enum)(
            plain["value"]
        ),
        ("object", "fields"): PlainReader.saved,
        ("object", "parameters"): PlainReader.saved,
        ("network", "shape", "weights"): PlainReader.network,
    }.items()
}


def saved_type(name: object, base: type = object) -> Any:
    """Return the type that has a name in files; raise if there is none.

    Examples
    --------
    >>> saved_type("block.counts").__name__
    'Counts'
    """
    kind = SAVED.get(name) if isinstance(name, str) else None
    if kind is None or not issubclass(kind, base):
        raise FileFormatError(
            f"it names a type that is not known: {name!r} (perhaps of a newer skdpgen, "
            "or of a package that is not imported)"
        )
    return kind


def _largest(shape: Any) -> int:
    """Return the largest whole number in what decides the shape of a network."""
    if isinstance(shape, tuple):
        return max(map(_largest, shape), default=0)
    if is_dataclass(shape):
        return max(_largest(getattr(shape, item.name)) for item in fields(shape))
    return shape if isinstance(shape, int) else 0


def _forms(weights: Mapping[str, Tensor]) -> dict[str, tuple[Any, ...]]:
    return {key: (one.dtype, tuple(one.shape)) for key, one in weights.items()}


# ----------------------------------------------------------------------------
# All that a writer kept, as members of a file, and back.

WEIGHTS = "model.safetensors"
VALUE = "value.json"


def members_of(writer: PlainWriter) -> dict[str, bytes]:
    """Return arrays and weights as files, by their names."""
    members = {name: array_bytes(array) for name, array in writer.arrays.items()}
    if writer.weights:
        members[WEIGHTS] = safetensors_bytes(writer.weights)
    return members


def arrays_and_weights(
    members: Mapping[str, bytes],
) -> tuple[dict[str, NDArray[Any]], dict[str, Tensor]]:
    """Return all arrays and weights of a file, by their names."""
    arrays = {
        name: read_array(data, name)
        for name, data in members.items()
        if name.endswith(".npy")
    }
    if WEIGHTS not in members:
        return arrays, {}
    try:
        return arrays, read_safetensors(members[WEIGHTS])
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{WEIGHTS} is damaged: {error}") from error


def to_bytes(value: object) -> bytes:
    """Return a value as a file of JSON and arrays.

    Examples
    --------
    >>> from_bytes(to_bytes({"a": (1, np.arange(2))}))
    {'a': (1, array([0, 1]))}
    """
    writer = PlainWriter()
    text = json_bytes(writer.plain(value))
    return pack({}, {VALUE: text, **members_of(writer)})


def from_bytes(data: bytes) -> Any:
    """Return what :func:`to_bytes` wrote; runs no code of the sender."""
    try:
        _, members = unpack(data)
        arrays, weights = arrays_and_weights(members)
        reader = PlainReader(arrays, weights)
        return reader.value(read_json(members[VALUE], VALUE))
    except Exception as error:
        raise FileFormatError(
            "data must be what `to_bytes` wrote. Got something else, or damaged bytes."
        ) from error


def digest_of(value: object) -> str:
    """Return a fingerprint: two values with one fingerprint are the same.

    Examples
    --------
    >>> digest_of([1, 2]) == digest_of([1, 2]), digest_of([1, 2]) == digest_of([1, 3])
    (True, False)
    """
    writer = PlainWriter()
    digest = hashlib.sha256(json.dumps(writer.plain(value)).encode())
    weights = {name: weight.numpy() for name, weight in writer.weights.items()}
    for name, array in {**writer.arrays, **weights}.items():
        whole = np.ascontiguousarray(array)
        digest.update(f"{name} {whole.dtype.str} {whole.shape}".encode())
        digest.update(whole.tobytes())
    return digest.hexdigest()
