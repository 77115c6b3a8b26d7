"""What differs between tables and images where rows are compared with real ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skdpgen.utils import (
    Rows,
)


@dataclass(frozen=True)
class KindOfRows:
    """How rows of a kind are compared.

    Parameters
    ----------
    models : tuple of str or None
        Names of those that are trained; None is all twelve.
    most : int
        Real rows that are read.
    distances : callable
        Of real rows to train on and to test on, and of synthetic ones.
    without_relations : callable
        Of synthetic rows, a task or None, and a seed: the same with columns shuffled
        within classes, or within tenths of a number.
    figures : callable
        Of real and synthetic rows.
    """

    models: tuple[str, ...] | None
    most: int
    distances: Callable[[Rows, Rows, Rows], list[dict[str, Any]]]
    without_relations: Callable[[Rows, str | None, int], Rows]
    figures: Callable[[Rows, Rows], list[dict[str, str]]]
