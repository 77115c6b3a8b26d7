"""An auto-encoder trained by DP-SGD, so that features of its codes may be released."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.func import functional_call, grad, vmap

from skdpgen.networks import AutoEncoder
from skdpgen.privacy import private_oracle
from skdpgen.synthesizers.embedding._point_rows import PointRows, Points

N_UNITS, N_CODES = 200, 50
STEPS, RATE = 300, 0.01  # public
NORM = 0.03  # to which gradients are clipped; the loss is a mean over pixels
LEARNING_RATE, MOMENTUM = 4.0, 0.9
QUIET = 3e-4  # noise of a gradient's entry above which the learning rate is reduced
MARGIN, WEIGHT = 1.0, 0.1  # of the part that tells classes apart
AT_ONCE = 64


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
    is DP-SGD (:func:`~skdpgen.privacy.private_oracle`).
    """
    is_paired = adjacency == "replace"
    source: Any = Pairs(rows) if is_paired else Alone(rows)
    expected = n_rows / 2 if is_paired else n_rows
    network = AutoEncoder(n_pixels, N_UNITS, N_CODES, rng=rng)
    weights = dict(network.named_parameters())
    width = sum(weight.numel() for weight in weights.values())

    def loss(now: Any, one: Any, two: Any, is_same: Any) -> Any:
        codes, pixels = functional_call(network, now, (torch.stack([one, two]),))
        error = (pixels - torch.stack([one, two])).square().mean()
        gap = (codes[0] - codes[1]).square().sum().add(1e-12).sqrt()
        apart = (MARGIN - gap).clamp_min(0.0).square()
        return error + WEIGHT * torch.where(is_same, gap.square(), apart)

    slopes = vmap(grad(loss), in_dims=(None, 0, 0, 0))

    def per_pair(batch: Any) -> Any:
        # in double: what a pair gives must not depend on the pairs beside it
        now = {name: weight.detach().double() for name, weight in weights.items()}
        one, two = (torch.from_numpy(points.x).double() for points in batch)
        is_same = torch.from_numpy(batch[0].labels == batch[1].labels)
        found = []
        for some in torch.arange(len(one)).split(AT_ONCE):
            each = slopes(now, one[some], two[some], is_same[some])
            found.append(torch.cat([part.flatten(1) for part in each.values()], dim=1))
        return torch.cat(found)

    # not Adam: it would scale noise up as much as gradients
    optimiser = torch.optim.SGD(network.parameters(), lr=0.0, momentum=MOMENTUM)
    with private_oracle(
        source,
        ledger,
        name="auto-encoder, by DP-SGD" + (" on pairs" if is_paired else ""),
        share=share,
        sampling_rate=RATE,
        n_steps=STEPS,
        norm_bound=NORM,
        width=width,
        expected_rows=max(expected, 1.0),
    ) as step:
        noise = ledger.entries[-1].noise_std / (RATE * max(expected, 1.0))
        highest = LEARNING_RATE / max(noise / QUIET, 1.0)  # public, or released
        for k in range(STEPS):
            for group in optimiser.param_groups:
                group["lr"] = highest * min(2.0 * (1.0 - k / STEPS), 1.0)
            flat = torch.from_numpy(step(per_pair)).float()
            sizes = [weight.numel() for weight in weights.values()]
            for weight, part in zip(weights.values(), flat.split(sizes), strict=True):
                weight.grad = part.view_as(weight).clone()
            optimiser.step()
    return network.eval()


def code_scale(length_scale: float, n_pixels: int) -> float:
    """Return a length scale of codes from one of pixels, by the cubes' diagonals.

    Examples
    --------
    >>> code_scale(5.0, 200)
    5.0
    """
    return 2.0 * length_scale * math.sqrt(N_CODES / n_pixels)
