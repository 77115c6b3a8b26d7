"""Random Fourier features of Gaussian kernels on columns, summed and multiplied."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Generator, Tensor
from torch.utils.checkpoint import checkpoint

from skdpgen.features._parts import ExpectedFourier
from skdpgen.utils import (
    are_amounts,
    asked,
    refuse_unless,
    saved,
)

SHORTEST_SCALE = 1e-4
HIGHEST_FREQUENCY = 1e5  # in a query of another party
ANGLES_AT_ONCE = 2**22
NUMBERS_OF_TURN = 6_000  # frequencies x columns, unless it has but few frequencies
FEWEST_OF_TURN = 250  # frequencies
MOST_SUBSETS = 100_000  # up to here all subsets are listed; above, subsets are drawn


@asked("map")
@saved("features.fourier")
@dataclass(frozen=True, eq=False)
class FourierFeatures:
    r"""Features of an average over subsets S of columns of products of kernels.

    .. math:: k(x, y) = \mathrm{mean}_S \prod_{j \in S}
              \exp(-\|x_j - y_j\|^2 / 2\ell_S^2), \qquad
              \phi(x) = \sqrt{2/D}\,[\cos W^\top x, \sin W^\top x]

    A column of W is Gaussian with variance :math:`\ell^{-2}` in the columns of its
    subset and 0 elsewhere [1]_. A subset of two columns sees how they depend on each
    other, and no more; one of all columns is the Gaussian kernel on rows. Different
    frequencies have different length scales and subsets: that is the sum of kernels,
    at no additional noise.

    *Bound.* Cosines and sines come in pairs, so :math:`\|\phi(x)\| = 1` for *every* x.
    Entries have any sign.

    Parameters
    ----------
    frequencies : Tensor of shape (n_inputs, n_features / 2)
        The matrix W, drawn from public randomness by :meth:`draw`.
    subsets : Tensor of shape (n_features / 2, n_together)
        The columns that each frequency depends on.
    widths : tuple of int
        How many inputs each column has.

    References
    ----------
    .. [1] Rahimi & Recht, "Random features for large-scale kernel machines", 2007.

    Examples
    --------
    >>> phi = FourierFeatures.draw((1, 3), 10, rng=Generator().manual_seed(0))
    >>> phi(torch.zeros(2, 4)).shape
    torch.Size([2, 10])
    """

    frequencies: Tensor
    subsets: Tensor
    widths: tuple[int, ...]

    norm_bound = 1.0

    def check_asked(self) -> None:
        """Check the fields of an object that another party may have built.

        The last digit of an angle depends on the position of a row in a batch, and
        frequencies multiply that error.
        """
        is_fine = (
            are_amounts(self.frequencies, HIGHEST_FREQUENCY, 2)
            and self.frequencies.numel()
        )
        refuse_unless(is_fine, f"frequencies up to {HIGHEST_FREQUENCY:g}")

    @classmethod
    def draw(
        cls,
        widths: Sequence[int],
        n_features: int,
        *,
        length_scale: float | Sequence[float] = 1.0,
        n_together: int | None = None,
        rng: Generator,
    ) -> Self:
        """Draw frequencies.

        Parameters
        ----------
        widths : sequence of int
            How many inputs each column has.
        n_features : int
            Cosines and sines together; even.
        length_scale : float or sequence of float, default=1.0
            Several take turns. At least 1e-4: the last digit of an angle goes by the
            place of a row in a matrix product, and is divided by this.
        n_together : int or None, default=None
            Columns in a subset; None is all of them.
        """
        if n_features % 2 or n_features < 2:
            raise ValueError(
                f"n_features must be even and at least 2. Got {n_features} instead."
            )
        n_columns, half = len(widths), n_features // 2
        if n_columns > torch.iinfo(torch.int16).max:
            raise ValueError(f"Columns must be at most 32,767. Got {n_columns}.")
        n_together = min(n_together or n_columns, n_columns)
        subsets = draw_subsets(n_columns, n_together, half, rng).short()
        scales = torch.as_tensor(length_scale, dtype=torch.float32).reshape(-1)
        if not (scales >= SHORTEST_SCALE).all():
            raise ValueError(
                f"length_scale must be at least {SHORTEST_SCALE:g}. Got "
                f"{length_scale!r}."
            )
        turns = scales[torch.arange(half) % len(scales)]
        turns = turns[torch.randperm(half, generator=rng)]
        frequencies = torch.randn(sum(widths), half, generator=rng).div_(turns)
        if n_together < n_columns:
            looks_at = torch.zeros(n_columns, half)
            looks_at.scatter_(0, subsets.T.long(), 1.0)
            frequencies *= looks_at.repeat_interleave(torch.tensor(widths), dim=0)
        return cls(frequencies, subsets, tuple(widths))

    @property
    def n_features(self) -> int:
        """Number of features; ``D`` in the formula above."""
        return 2 * self.frequencies.shape[1]

    @property
    def row_size(self) -> int:
        """Numbers that one row takes."""
        return self.n_features

    def to(self, device: torch.device) -> "FourierFeatures":
        """Return the same map on another device."""
        return FourierFeatures(
            self.frequencies.to(device), self.subsets.to(device), self.widths
        )

    def double(self) -> "FourierFeatures":
        """Return the same map in double precision."""
        return FourierFeatures(self.frequencies.double(), self.subsets, self.widths)

    def __call__(self, x: Tensor) -> Tensor:  # (..., n_inputs) -> (..., n_features)
        """Map the rows of ``x``; differentiable."""
        angles = x @ self.frequencies
        if angles.requires_grad:
            pairs = torch.cat([angles.cos(), angles.sin()], dim=-1)
        else:
            pairs = angles.new_empty(*angles.shape[:-1], self.n_features)
            cosines, sines = pairs.chunk(2, dim=-1)
            torch.cos(angles, out=cosines)
            torch.sin(angles, out=sines)
        return pairs.mul_(math.sqrt(2 / self.n_features))

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return the mean of as many equal groups of rows, (n_parts, n_features).

        Works through a part of the frequencies at a time, and again on the way back:
        rows x features are never in memory.
        """
        part = max(ANGLES_AT_ONCE // len(x), 1)
        if part >= self.frequencies.shape[1]:
            waves = _mean_waves(x, self.frequencies, n_parts)
        else:
            pieces = [
                checkpoint(
                    _mean_waves,
                    x,
                    frequencies,
                    n_parts,
                    use_reentrant=False,
                    preserve_rng_state=False,  # nothing is drawn
                )
                for frequencies in torch.split(self.frequencies, part, dim=1)
            ]
            waves = torch.cat(pieces, dim=2)
        return waves.flatten(1) * math.sqrt(2 / self.n_features)  # cosines come first

    def in_turns(self) -> list[tuple[Tensor, "FourierFeatures"]]:
        """Return maps of some of the frequencies, and which features they have.

        Training on them in turn has the same loss in expectation.
        """
        half, n_together = self.subsets.shape
        n_turns = max(
            min(half * n_together // NUMBERS_OF_TURN, half // FEWEST_OF_TURN), 1
        )
        return [
            (
                torch.cat([chosen, chosen + half]),
                FourierFeatures(
                    self.frequencies[:, chosen], self.subsets[chosen], self.widths
                ),
            )
            for chosen in torch.arange(half).chunk(n_turns)
        ]

    def expected(self, points: Sequence[Tensor]) -> ExpectedFourier:
        """Return the exact mean over rows whose columns are drawn independently."""
        return ExpectedFourier.of(self, points)


class _MeanWaves(torch.autograd.Function):
    """Mean cosines and sines of equal groups of rows, (n_parts, 2, frequencies).

    The backward pass reuses values of the forward pass. Autograd would compute cosines
    and sines again, and hold rows x frequencies several times in memory.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, frequencies: Tensor, n_parts: int) -> Tensor:
        angles = (x @ frequencies).reshape(n_parts, -1, frequencies.shape[1])
        sines, cosines = angles.sin(), angles.cos_()
        ctx.save_for_backward(frequencies, cosines, sines)
        ctx.dtype = x.dtype
        return torch.stack([cosines.mean(dim=1), sines.mean(dim=1)], dim=1)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        frequencies, cosines, sines = ctx.saved_tensors
        of_cosines, of_sines = (slope / cosines.shape[1]).split(1, dim=1)
        of_angles = cosines.mul_(of_sines).addcmul_(sines, of_cosines, value=-1.0)
        back = frequencies.T.to(of_angles.dtype)  # may be half precision
        return (of_angles.flatten(0, 1) @ back).to(ctx.dtype), None, None


def _mean_waves(x: Tensor, frequencies: Tensor, n_parts: int) -> Tensor:
    means: Tensor = _MeanWaves.apply(x, frequencies, n_parts)  # type: ignore[no-untyped-call]
    return means


def draw_subsets(n: int, n_together: int, n_draws: int, rng: Generator) -> Tensor:
    """Draw subsets of ``range(n)``, (n_draws, n_together); all as often as can be.

    Examples
    --------
    >>> draw_subsets(3, 2, 6, Generator().manual_seed(0)).unique(dim=0).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    if n_together == n:
        return torch.arange(n).expand(n_draws, n)
    if math.comb(n, n_together) > MOST_SUBSETS:
        order = torch.rand(n_draws, n, generator=rng).argsort(dim=1)
        return order[:, :n_together].sort(dim=1).values
    subsets = torch.tensor(list(itertools.combinations(range(n), n_together)))
    rounds = math.ceil(n_draws / len(subsets))
    turns = [torch.randperm(len(subsets), generator=rng) for _ in range(rounds)]
    return subsets[torch.cat(turns)[:n_draws]]
