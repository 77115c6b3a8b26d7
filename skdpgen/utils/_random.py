"""Public randomness: features, weights, samples. Never privacy noise."""

from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from sklearn.utils import check_random_state


def split_generator(random_state: Any, n: int) -> list[Generator]:
    """Turn scikit-learn's ``random_state`` into ``n`` independent generators.

    Examples
    --------
    >>> one, two = split_generator(0, 2)
    >>> bool(one.random() == two.random())
    False
    """
    if isinstance(random_state, Generator):
        return random_state.spawn(n)
    words = check_random_state(random_state).randint(0, 2**31, size=4)
    if random_state is None:
        return np.random.default_rng().spawn(n)
    return np.random.default_rng([int(word) for word in words]).spawn(n)


def torch_generator(rng: Generator) -> torch.Generator:
    """Return a torch generator on the CPU, seeded by the next word of ``rng``.

    Public randomness is drawn on the CPU and then moved, so that a GPU gets the same
    numbers.

    Examples
    --------
    >>> one = torch_generator(np.random.default_rng(0))
    >>> two = torch_generator(np.random.default_rng(0))
    >>> bool(torch.equal(torch.rand(3, generator=one), torch.rand(3, generator=two)))
    True
    """
    return torch.Generator().manual_seed(seed_of(rng))


def seed_of(rng: Generator) -> int:
    """Return the next word of ``rng``, as a seed.

    Examples
    --------
    >>> seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    True
    """
    return int(rng.integers(2**62))


def pick_device(device: str | torch.device) -> torch.device:
    """Return the named device; "auto" is a GPU if there is one.

    Examples
    --------
    >>> pick_device("cpu")
    device(type='cpu')
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError):
        raise ValueError(
            "device must be 'auto' or one that torch finds here. "
            f"Got {device!r} instead."
        ) from None
