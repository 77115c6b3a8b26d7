"""Mixtures of products of columns, trained on their exact two-way moments."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from skdpgen.training._matching import one_cycle

Floats = NDArray[np.float64]
SPREAD = 0.3  # of the logits at the start
OWN_RATE = 0.1  # learning rate of a class's own part, relative to the shared part
SINGLES = 30.0  # weight of single columns in the loss
RAREST = 1e-3  # least share that a balanced loss divides by
LEAST = 1e-6  # least energy of relations; losses are divided by that energy
CERTAIN = 1e-6  # least probability of a cell, even if the release says it is empty


@dataclass(frozen=True, eq=False)
class PairTarget:
    r"""What two-way moments should be, for columns of S cells side by side.

    The moment of class c is :math:`\omega_c (p_c p_c^\top + E) + O_c`: independent
    columns, what classes have in common above that, and what each has of its own.

    Parameters
    ----------
    singles : ndarray of shape (n_classes, S)
        Each column given the class.
    shares : ndarray of shape (n_classes,)
    common : ndarray of shape (S, S)
    own : ndarray of shape (n_classes, S, S) or None
    seen : ndarray of bool of shape (S, S)
        Where a pair was measured.
    """

    singles: Floats
    shares: Floats
    common: Floats
    own: Floats | None
    seen: NDArray[np.bool_]

    @property
    def energies(self) -> Floats:
        """Squared distance of each class from independent columns."""
        total = self.shares**2 * float((self.common**2).sum())
        if self.own is None:
            return total
        mixed = (self.own * self.common).sum(axis=(1, 2), dtype=np.float64)
        squares = (self.own**2).sum(axis=(1, 2), dtype=np.float64)
        return np.asarray(total + squares + 2 * self.shares * mixed)

    def weights(self, *, is_balanced: bool) -> Floats:
        """Return the factor of the errors of each class; evened out, or 1."""
        if not is_balanced:
            return np.ones(len(self.shares))
        weights = 1.0 / np.maximum(self.shares, RAREST)
        return np.asarray(weights / weights.mean())


class Mixture(nn.Module):
    """Logits of the components: start + of a class + of a component + of both."""

    def __init__(
        self, start: Tensor, sizes: Sequence[int], n_components: int, rng: Generator
    ) -> None:
        super().__init__()
        n_classes, width = start.shape
        self.sizes = list(sizes)
        noise = torch.randn(n_components, width, generator=rng)
        self.register_buffer("start", start[:, None])
        self.of_class = nn.Parameter(torch.zeros(n_classes, 1, width))
        self.shared = nn.Parameter(SPREAD * noise)
        self.own = nn.Parameter(torch.zeros(n_classes, n_components, width))

    def forward(self) -> Tensor:
        """Return the probabilities of all cells, (n_classes, n_components, S)."""
        logits = self.start + self.of_class + self.shared + self.own
        columns = logits.split(self.sizes, dim=2)
        return torch.cat([column.softmax(dim=2) for column in columns], dim=2)


def fit_mixture(
    target: PairTarget,
    sizes: Sequence[int],
    *,
    n_components: int,
    is_balanced: bool = False,
    max_iter: int,
    learning_rate: float,
    device: torch.device,
    seed: int,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> tuple[Floats, list[float]]:
    r"""Fit a mixture of equally likely products of columns to two-way moments.

    With :math:`A_c` the probabilities of the components of a class, its moments are
    :math:`\omega_c A_c^\top A_c / K`, exactly: no batch is drawn, the loss has no
    sampling noise. All classes share one set of components, which each class bends a
    little: relations between columns are mostly common, and where nothing is known
    about a class it keeps the relations of all.

    Returns
    -------
    tables : ndarray of shape (n_classes, n_components, S)
    losses : list of float
        Of each step; 1 is the loss of independent columns, without relations.
    """
    rng = torch.Generator().manual_seed(seed)
    start = torch.as_tensor(np.log(np.maximum(target.singles, CERTAIN)))
    mixture = Mixture(start.float(), sizes, n_components, rng).to(device)
    singles = torch.as_tensor(target.singles, dtype=torch.float32, device=device)
    common = torch.as_tensor(target.common, dtype=torch.float32, device=device)
    seen = torch.as_tensor(target.seen, dtype=torch.float32, device=device)
    own = target.own
    if own is not None:
        own = torch.as_tensor(own, dtype=torch.float32, device=device)
    shares = target.shares.tolist()
    rates = [
        {"params": [mixture.of_class, mixture.shared], "rate": learning_rate},
        {"params": [mixture.own], "rate": OWN_RATE * learning_rate},
    ]
    optimiser = torch.optim.Adam(rates, betas=(0.9, 0.95))
    weights = target.weights(is_balanced=is_balanced)
    scale = 1.0 / max(float((weights**2 * target.energies).sum()), LEAST)
    losses: list[float] = []
    for step in progress(range(max_iter)):
        for group in optimiser.param_groups:
            group["lr"] = group["rate"] * one_cycle(step / max_iter)
        tables = mixture()
        loss = singles.new_zeros(())
        for c, (share, weight) in enumerate(zip(shares, weights, strict=True)):
            moments = tables[c].T @ tables[c] / n_components
            wanted = torch.outer(singles[c], singles[c]) + common
            error = share * (moments - wanted)
            if own is not None:
                error = error - own[c]
            error = float(weight) * error
            single = float(weight) * share * (tables[c].mean(dim=0) - singles[c])
            loss = loss + (seen * error).square().sum()
            loss = loss + SINGLES * single.square().sum()
        optimiser.zero_grad(set_to_none=True)
        (scale * loss).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(scale * loss.item())
        if not math.isfinite(losses[-1]):
            raise FloatingPointError("Training diverged; try a smaller learning_rate.")
    with torch.no_grad():
        found = mixture().double().cpu().numpy()
    return np.asarray(found), losses
