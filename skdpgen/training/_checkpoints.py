"""The best state of a generator on the way, by a score that costs nothing more."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

EVERY = 100  # steps


class Checkpoints:
    """Scores a generator now and then, and keeps the state with the lowest score.

    Parameters
    ----------
    score : callable
        From a generator to a number; must see nothing private but what was released.
    """

    def __init__(self, score: Callable[[nn.Module], float]) -> None:
        self._score = score
        self._least = float("inf")
        self._state: dict[str, Any] = {}

    def see(self, generator: nn.Module, step: int) -> None:
        """Score the generator every 100 steps."""
        if (step + 1) % EVERY == 0:
            self._compare(generator)
            generator.train()

    def choose(self, generator: nn.Module) -> None:
        """Give the generator the best state; the last one counts as well."""
        self._compare(generator)
        if self._state:
            generator.load_state_dict(self._state)

    def _compare(self, generator: nn.Module) -> None:
        generator.eval()
        with torch.no_grad():
            found = self._score(generator)
        if found < self._least:
            self._least = found
            self._state = copy.deepcopy(generator.state_dict())
