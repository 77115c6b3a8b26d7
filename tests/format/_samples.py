"""A sample as plain values that say every bit of it."""

import platform
from pathlib import Path

import numpy as np
import pandas as pd
import torch

N_ROWS, N_IMAGES = 12, 3


def _processor():
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor()


# what decides the last digits of floating-point numbers
MACHINE = {
    "processor": [platform.machine(), _processor()],
    "instructions": torch.backends.cpu.get_cpu_capability(),
    "threads": torch.get_num_threads(),
    "numpy": np.__version__,
    "torch": torch.__version__,
}


def plain_sample(synth):
    """Return a list of columns, (dtype, values), the last of which is the target."""
    is_image = "pixels_" in dir(synth) and hasattr(synth, "pixels_")
    n = N_IMAGES if is_image else N_ROWS
    sample = synth.sample(n, random_state=0)
    X, y = sample if isinstance(sample, tuple) else (sample, [])
    if isinstance(X, pd.DataFrame):
        columns = [X[name] for name in X.columns]
    else:
        columns = list(np.asarray(X).reshape(n, -1).T) if not is_image else [X.ravel()]
    return [_plain(one) for one in (*columns, pd.Series(y))]


def _plain(column):
    series = pd.Series(column)
    values = [None if value is pd.NA else value for value in series.tolist()]
    kept = [
        value
        if isinstance(value, bool | int | float) and value == value
        else str(value)
        for value in values
    ]
    return [str(series.dtype), kept]


def share_alike(one, other):
    """Return the share of values that two plain samples have in common, nearly."""
    assert [dtype for dtype, _ in one] == [dtype for dtype, _ in other]
    pairs = [
        pair
        for (_, mine), (_, theirs) in zip(one, other, strict=True)
        for pair in zip(mine, theirs, strict=True)
    ]
    return sum(_are_alike(*pair) for pair in pairs) / len(pairs)


def _are_alike(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return abs(one - other) <= 1e-5 * max(1.0, abs(one))
