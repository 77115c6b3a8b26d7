"""Public randomness: features, weights, samples. Never privacy noise."""

from typing import Any

import numpy as np
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
