"""Saving without pickle: JSON for structure, arrays for numbers."""

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from skdpgen import networks
from skdpgen.utils import SAVED, split_generator

FORMAT = 1
NOT_SAVED = (
    "_sampler",
    "_is_clone",
    "_known",
)  # drawn anew, or a matter of this process


def write_estimator(estimator: Any, path: str | Path) -> None:
    """Write parameters and fitted state to one ``.npz`` file."""
    arrays: dict[str, Any] = {}
    params = estimator.get_params(deep=False)
    if not isinstance(params.get("random_state"), int | None):
        params["random_state"] = None  # a generator's state is no public parameter
    if estimator._reads_public_rows:
        params["public_data"] = None  # what was made of it is part of the state
    state = {
        name: value
        for name, value in vars(estimator).items()
        if name not in params and name not in NOT_SAVED
    }
    header = {
        "format": FORMAT,
        "class": type(estimator).__name__,
        "params": _encode(params, arrays),
        "state": _encode(state, arrays),
    }
    text = json.dumps(header).encode()
    with Path(path).open("wb") as file:
        np.savez(file, header=np.frombuffer(text, dtype=np.uint8), **arrays)


def read_estimator(path: str | Path, classes: dict[str, Callable[..., Any]]) -> Any:
    """Read what :func:`write_estimator` wrote; runs no code from the file."""
    try:
        arrays = np.load(Path(path), allow_pickle=False)
        header = json.loads(arrays["header"].tobytes())
    except (ValueError, KeyError, TypeError, BadZipFile):
        raise ValueError(
            f"path must be a file that `save` wrote. Got {str(path)!r}, which is "
            "damaged or something else."
        ) from None
    with arrays:
        if header["format"] != FORMAT or header["class"] not in classes:
            raise ValueError(
                f"The file must hold format {FORMAT} of one of {', '.join(classes)}. "
                f"Got format {header['format']} of {header['class']}."
            )
        estimator = classes[header["class"]](**_decode(header["params"], arrays))
        for name, value in _decode(header["state"], arrays).items():
            setattr(estimator, name, value)
    (estimator._sampler,) = split_generator(estimator.random_state, 1)
    return estimator


def _encode(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, Enum):
        return {"enum": type(value).__name__, "value": value.value}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"objects": [_encode(item, arrays) for item in value.tolist()]}
        key = f"array{len(arrays)}"
        arrays[key] = value
        return {"array": key}
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, torch.Tensor):
        return {"tensor": _encode(value.cpu().numpy(), arrays)}
    if isinstance(value, networks.TableGenerator | networks.ImageGenerator):
        state = dict(value.state_dict())
        return {"generator": [_encode(value.shape, arrays), _encode(state, arrays)]}
    if is_dataclass(value) and type(value).__name__ in SAVED:
        content = {
            item.name: _encode(getattr(value, item.name), arrays)
            for item in fields(value)
        }
        return {"type": type(value).__name__, "fields": content}
    if isinstance(value, dict):
        pairs = value.items()
        return {"dict": [[_encode(k, arrays), _encode(v, arrays)] for k, v in pairs]}
    if isinstance(value, list | tuple | range):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_encode(item, arrays) for item in value]}
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(
        "A saved estimator holds plain values and arrays, and dataclasses that are "
        f"marked @saved. Got {type(value).__name__}."
    )


def _decode(value: Any, arrays: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "enum" in value:
        return SAVED[value["enum"]](value["value"])
    if "array" in value:
        return arrays[value["array"]]
    if "tensor" in value:
        return torch.from_numpy(_decode(value["tensor"], arrays))
    if "generator" in value:
        shape, state = (_decode(part, arrays) for part in value["generator"])
        is_table = isinstance(shape, networks.TableShape)
        kind = networks.TableGenerator if is_table else networks.ImageGenerator
        generator = kind(shape)
        generator.load_state_dict(state)
        return generator.eval()
    if "objects" in value:
        items = [_decode(item, arrays) for item in value["objects"]]
        result = np.empty(len(items), dtype=object)
        result[:] = items
        return result
    if "type" in value:
        content = {k: _decode(v, arrays) for k, v in value["fields"].items()}
        return SAVED[value["type"]](**content)
    if "dict" in value:
        return {_decode(k, arrays): _decode(v, arrays) for k, v in value["dict"]}
    kind, items = next(iter(value.items()))
    return {"tuple": tuple, "list": list}[kind](_decode(item, arrays) for item in items)
