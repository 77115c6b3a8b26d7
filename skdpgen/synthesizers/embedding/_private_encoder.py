"""An auto-encoder trained by DP-SGD, so that features of its codes may be released."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.networks import AutoEncoder
from skdpgen.synthesizers.embedding._point_rows import PointRows, Points
from skdpgen.training import descend_privately

N_UNITS, N_CODES = 200, 50
STEPS, RATE = 300, 0.01  # public
NORM = 0.03  # to which gradients are clipped; the loss is a mean over pixels
LEARNING_RATE, MOMENTUM = 4.0, 0.9
QUIET = 3e-4  # noise of a gradient's entry above which the learning rate is reduced
MARGIN, WEIGHT = 1.0, 0.1  # of the part that tells classes apart


class Pairs:
    """Rows in pairs, in the order they came in: no row is in two pairs."""

    def __init__(self, rows: PointRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._rows) // 2

    def take(self, indices: NDArray[np.intp]) -> tuple[Points, Points]:
        """Return both rows of the pairs at ``indices``."""
        return self._rows.take(2 * indices), self._rows.take(2 * indices + 1)


class Alone:
    """Every row paired with itself: used where an added row must not move others."""

    def __init__(self, rows: PointRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def take(self, indices: NDArray[np.intp]) -> tuple[Points, Points]:
        """Return the rows at ``indices``, twice."""
        some = self._rows.take(indices)
        return some, some


class Compared:
    """Pairs as tensors: pixels of both rows, and whether their labels are the same."""

    def __init__(self, pairs: Pairs | Alone) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._pairs)

    def take(self, indices: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """Return pixels, pixels, and what tells the classes apart."""
        one, two = self._pairs.take(indices)
        return one.x, two.x, one.labels == two.labels


def train_autoencoder(
    rows: PointRows,
    ledger: Any,
    *,
    share: float,
    n_pixels: int,
    n_rows: float,
    adjacency: str,
    rng: torch.Generator,
) -> AutoEncoder:
    r"""Train an auto-encoder on a secret sample of pairs at each of ``STEPS`` steps.

    The loss of a pair is how far both rows are from what the decoder makes of their
    codes, and, as the Siamese part, how far apart their codes are if they have the same
    class, and how near if they do not.

    *Why it is private.* Pairs are disjoint and depend on the place in the table alone,
    so a row that is replaced changes one pair: one vector of a sum, clipped to
    ``NORM``. If a row were added, all later pairs would shift; so under
    ``"add_remove"`` each row is paired with itself, and the Siamese part is 0. The rest
    is DP-SGD (:func:`~skdpgen.training.private_descent`).
    """
    is_paired = adjacency == "replace"
    pairs: Any = Pairs(rows) if is_paired else Alone(rows)
    expected = max(n_rows / 2 if is_paired else n_rows, 1.0)
    network = AutoEncoder(n_pixels, N_UNITS, N_CODES, rng=rng)
    width = sum(weight.numel() for weight in network.parameters())

    def loss(call: Any, pair: Any) -> Any:
        one, two, is_same = pair
        both = torch.stack([one, two])
        codes, pixels = call(both)
        error = (pixels - both).square().mean()
        gap = (codes[0] - codes[1]).square().sum().add(1e-12).sqrt()
        apart = (MARGIN - gap).clamp_min(0.0).square()
        return error + WEIGHT * torch.where(is_same, gap.square(), apart)

    return descend_privately(
        network,
        loss,
        Compared(pairs),
        ledger,
        name="auto-encoder, by DP-SGD" + (" on pairs" if is_paired else ""),
        share=share,
        sampling_rate=RATE,
        n_steps=STEPS,
        norm_bound=NORM,
        expected_rows=expected,  # public, or released
        learning_rate=LEARNING_RATE,
        momentum=MOMENTUM,  # not Adam: it would scale noise up as much as gradients
        quiet=QUIET * math.sqrt(width) / NORM,
        is_smooth=True,
    )


def code_scale(length_scale: float, n_pixels: int) -> float:
    """Return a length scale of codes from one of pixels, by the cubes' diagonals.

    Examples
    --------
    >>> code_scale(5.0, 200)
    5.0
    """
    return 2.0 * length_scale * math.sqrt(N_CODES / n_pixels)
