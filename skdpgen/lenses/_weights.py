"""Weights that a user brings for a network whose layers are known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

NOT_USED = "num_batches_tracked"  # counts of batch norm, which only training reads


def weights_for(network: nn.Module, given: Any) -> dict[str, Tensor]:
    """Return a copy of the weights that a network needs; others are ignored.

    Parameters
    ----------
    network : nn.Module
        Says which names and shapes are needed.
    given : str, path, dict of Tensor or nn.Module
        A file of a state dict (``.pth`` or ``.pt``, read without running code from it,
        or ``.safetensors``), a state dict, or a network that has one.

    Examples
    --------
    >>> small = nn.Linear(2, 1)
    >>> list(weights_for(small, small.state_dict() | {"more": torch.ones(1)}))
    ['weight', 'bias']
    """
    found = _state_of(given)
    needed = {
        name: value.shape
        for name, value in network.state_dict().items()
        if not name.endswith(NOT_USED)
    }
    missing = [name for name in needed if name not in found]
    if missing:
        raise ValueError(
            f"weights must have {len(needed)} entries named as in torchvision. "
            f"{len(missing)} are missing, such as {', '.join(missing[:3])}."
        )
    for name, shape in needed.items():
        if found[name].shape != shape:
            raise ValueError(
                f"Weight {name!r} must have shape {tuple(shape)}. "
                f"Got {tuple(found[name].shape)} instead."
            )
    return {name: _as_float(found[name]) for name in needed}


def _as_float(weight: Tensor) -> Tensor:
    kind = torch.float64 if weight.dtype == torch.float64 else torch.float32
    return weight.detach().to(kind, copy=True)


def _state_of(given: Any) -> Mapping[str, Tensor]:
    if isinstance(given, nn.Module):
        return given.state_dict()
    state = _read(Path(given)) if isinstance(given, str | Path) else given
    if not isinstance(state, Mapping) or not all(
        isinstance(value, Tensor) for value in state.values()
    ):
        raise ValueError(
            "weights must be a state dict: tensors by name, a file of them, or a "
            f"module that has them. Got {type(state).__name__} instead."
        )
    return state


def _read(path: Path) -> Any:
    if path.suffix != ".safetensors":
        return torch.load(path, weights_only=True, map_location="cpu")
    return load_file(path)
