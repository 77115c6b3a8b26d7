"""Everything that a fitted object holds, as plain values that compare."""

import dataclasses
import enum
import io
import logging
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import torch

PLAIN = (str, bytes, int, float, bool, type(None), type)


def state(value, path="", depth=20):
    """Yield (path, leaf) for everything that is reachable from a value."""
    if isinstance(value, np.random.Generator):
        value = value.bit_generator.state
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        plain = value.to_numpy()
        yield path, (type(value).__name__, str(plain.dtype), repr(plain.tolist()))
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield path, (str(value.dtype), value.shape, value.tobytes())
    elif isinstance(value, PLAIN) or not depth:
        yield path, repr(value) if isinstance(value, PLAIN) else type(value).__name__
    elif isinstance(value, enum.Enum | np.generic):
        yield path, repr(value)
    elif hasattr(value, "__qualname__"):
        yield path, value.__qualname__
    else:
        yield path, type(value).__name__
        for name, part in parts(value):
            yield from state(part, f"{path}.{name}", depth - 1)


def parts(value):
    """Return what a value is made of, by name."""
    if isinstance(value, dict):
        return [(repr(key), part) for key, part in value.items()]
    if isinstance(value, np.ndarray):
        return list(enumerate(value.ravel().tolist()))
    if isinstance(value, list | tuple):
        return list(enumerate(value))
    if isinstance(value, set | frozenset):
        return list(enumerate(sorted(value, key=repr)))
    if isinstance(value, torch.nn.Module):
        hidden = {k: v for k, v in vars(value).items() if not k.startswith("_")}
        return [*value.state_dict().items(), *hidden.items()]
    if dataclasses.is_dataclass(value):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    return list(getattr(value, "__dict__", {}).items())


def differences(one, two):
    """Return the paths at which two values differ."""
    first, second = list(state(one)), list(state(two))
    if [path for path, _ in first] != [path for path, _ in second]:
        return sorted({p for p, _ in first} ^ {p for p, _ in second}) or ["order"]
    pairs = zip(first, second, strict=True)
    return [path for (path, a), (_, b) in pairs if a != b]


@contextmanager
def warned():
    """Record warnings as text instead of raising them."""
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    found += [f"{one.category.__name__}: {one.message}" for one in caught]


@contextmanager
def spoken():
    """Record what is printed, and what the package logs at any level."""
    found, out = [], io.StringIO()

    class Ear(logging.Handler):
        def emit(self, record):
            if "skdpgen" in record.pathname:
                found.append((record.levelname, record.getMessage()))

    root, ear = logging.getLogger(), Ear()
    level = root.level
    root.addHandler(ear)
    root.setLevel(1)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            yield found
    finally:
        root.removeHandler(ear)
        root.setLevel(level)
        found.append(("printed", out.getvalue()))
