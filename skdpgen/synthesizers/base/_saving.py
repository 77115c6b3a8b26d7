"""Saving without pickle: JSON for structure, arrays for numbers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from skdpgen import networks
from skdpgen.utils import from_plain, split_generator, to_plain

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
        "params": to_plain(params, arrays, _networks),
        "state": to_plain(state, arrays, _networks),
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
        estimator = classes[header["class"]](
            **from_plain(header["params"], arrays, _networks_read)
        )
        for name, value in from_plain(header["state"], arrays, _networks_read).items():
            setattr(estimator, name, value)
    (estimator._sampler,) = split_generator(estimator.random_state, 1)
    return estimator


def _networks(value: Any, arrays: dict[str, Any]) -> Any:
    """Return a generator as its shape and weights; None for anything else."""
    if not isinstance(value, networks.TableGenerator | networks.ImageGenerator):
        return None
    state = dict(value.state_dict())
    return {"generator": [to_plain(one, arrays) for one in (value.shape, state)]}


def _networks_read(value: dict[str, Any], arrays: Any) -> Any:
    if "generator" not in value:
        return None
    shape, state = (from_plain(part, arrays) for part in value["generator"])
    is_table = isinstance(shape, networks.TableShape)
    kind = networks.TableGenerator if is_table else networks.ImageGenerator
    generator = kind(shape)
    generator.load_state_dict(state)
    return generator.eval()
