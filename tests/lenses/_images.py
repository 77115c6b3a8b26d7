"""Images to look at: noise, smooth ones, hostile ones."""

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

HOSTILE = [0.0, -0.0, 1.0, 1e30, -1e30, 1e-45, np.nan, np.inf, -np.inf]


def noise(n, *shape, seed=0, dtype=torch.float64):
    rng = torch.Generator().manual_seed(seed)
    return torch.rand(n, *shape, generator=rng, dtype=dtype)


def smooth(n, *shape, seed=0):
    """A few slow waves around a half, in [0, 1]."""
    channels, height, width = shape
    angles = 3.0 * noise(n, channels, 4, 1, 1, seed=seed) - 1.5
    y = torch.linspace(-1, 1, height, dtype=torch.float64)[:, None]
    x = torch.linspace(-1, 1, width, dtype=torch.float64)
    waves = torch.cos(angles[:, :, 0] * y + angles[:, :, 1] * x + angles[:, :, 2])
    return 0.5 + 0.4 * waves * angles[:, :, 3].cos()


def hostile(n, *shape):
    """Arrays of single precision in which anything may stand."""
    numbers = st.sampled_from(HOSTILE) | st.floats(0, 1, width=32)
    return arrays(np.float32, (n, *shape), elements=numbers).map(torch.from_numpy)


def worst_norm(codes):
    return float(codes.double().norm(dim=1).max())


def moved_when_shuffled(look, images, seed=0):
    """How many rows differ in any bit when they, and those beside them, change place.

    Beside them stands the worst that there is.
    """
    rng = torch.Generator().manual_seed(seed)
    before = look(images)
    order = torch.randperm(len(images), generator=rng)
    shuffled = images[order].clone()
    kept = torch.arange(len(images)) % 3 > 0
    shuffled[~kept] = (
        torch.tensor([np.nan, np.inf, -1e30, 0.7])
        .double()[torch.arange(int((~kept).sum())) % 4]
        .reshape(-1, 1, 1, 1)
    )
    after = look(shuffled)[kept]
    return int((after != before[order][kept]).any(dim=1).sum())


def again(lens):
    """The lens that is made of the fields of another, as reading a file makes it."""
    fields = {name: getattr(lens, name) for name in lens.__dataclass_fields__}
    return type(lens)(**fields)
