r"""Parities: what several columns say only together, as moments of a mixture.

Each column has two halves, and a sign on each. The parity of a set A of columns in
class c is :math:`t = E[\prod_{j \in A} s_j \mid c]`: 0 if signs are independent and
even, 1 or -1 if each sign follows from the others. No pair of columns shows it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import chi2
from torch import Tensor

from skdpgen.utils import products_of_rows

Floats = NDArray[np.float64]
RISK = 0.01  # that noise alone shows a parity, in all that are asked for
MOST_PARITIES = 12  # parities that a mixture is given
USUAL = 0.5  # standard deviation of parities that stand out, before they are seen
FAINT = 0.1  # parities that need no components of their own
PUREST = 0.99  # mean sign of a column in a component, at the start


@dataclass(frozen=True, eq=False)
class ParityTarget:
    """What the parities of a mixture should be.

    Parameters
    ----------
    signs : ndarray of shape (S,)
        1 or -1, of the groups of all columns side by side.
    subsets : sequence of tuple of int
        Sets of columns.
    goals : ndarray of shape (n_classes, n_subsets)
    """

    signs: Floats
    subsets: Sequence[tuple[int, ...]]
    goals: Floats


def mean_signs(tables: Floats, signs: Floats, sizes: Sequence[int]) -> Floats:
    """Return the mean sign of each column, (n_columns, n_classes, n_components)."""
    starts = np.cumsum([0, *sizes])[:-1]
    return np.moveaxis(np.add.reduceat(tables * signs, starts, axis=2), 2, 0)


def mixture_parities(means: Floats, orders: Sequence[int]) -> Floats:
    """Return the parities of all sets of these sizes, (n_classes, n_subsets).

    Examples
    --------
    >>> mixture_parities(np.array([[[1.0, -1.0]], [[1.0, -1.0]]]), [1, 2]).tolist()
    [[0.0, 0.0, 1.0]]
    """
    found = [
        part.mean(axis=-1)
        for order in orders
        for part in products_of_rows(means, order)
    ]
    return np.concatenate(found).T


def stand_out(
    sums: Floats, std: float, expected: Floats, n_rows: Floats
) -> tuple[NDArray[np.int64], Floats]:
    """Return which noisy sums of products surely differ from what is expected.

    The chance that any does by noise and by the drawing of rows alone is 1 % at most.

    Parameters
    ----------
    sums : ndarray of shape (n_classes, n_subsets)
        Noisy, with noise ``std``.
    expected : ndarray of shape (n_classes, n_subsets)
        Means that a model has.
    n_rows : ndarray of shape (n_classes,)

    Returns
    -------
    found : ndarray of int
        The strongest first.
    shifts : ndarray of shape (n_classes, n_found)
        By how much means are off, less what may be noise.

    Examples
    --------
    >>> sums = np.array([[900.0, 30.0], [-1000.0, 10.0]])
    >>> found, shifts = stand_out(sums, 20.0, np.zeros((2, 2)), np.full(2, 1000.0))
    >>> found.tolist(), shifts.round(2).T.tolist()
    ([0], [[0.89, -0.99]])
    """
    n_rows = np.maximum(n_rows, 1.0)[:, None]
    variance = std**2 + n_rows
    off = sums - n_rows * expected
    score = (off**2 / variance).sum(axis=0)
    limit = chi2.isf(RISK / sums.shape[1], len(sums))
    order = np.argsort(-score, kind="stable")[:MOST_PARITIES]
    found = order[score[order] > limit]
    signal = (USUAL * n_rows) ** 2
    return found, (off / n_rows * signal / (signal + variance))[:, found]


def component_signs(
    subsets: Sequence[tuple[int, ...]],
    goals: Floats,
    n_columns: int,
    n_components: int,
    rng: np.random.Generator,
) -> Floats:
    """Return mean signs of the columns in components that have parities of one class.

    Signs of a component multiply to the sign of each parity; else they are even, also
    two at a time. Columns without a parity have 0.

    Parameters
    ----------
    subsets : sequence of tuple of int
        The strongest first; one whose columns are all taken is left out.
    goals : ndarray of shape (n_subsets,)

    Returns
    -------
    means : ndarray of shape (n_components, n_columns)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> means = component_signs([(0, 2)], np.array([-0.25]), 3, 4, rng)
    >>> means.tolist()
    [[0.5, 0.0, -0.5], [-0.5, 0.0, 0.5], [0.5, 0.0, -0.5], [-0.5, 0.0, 0.5]]
    """
    signs = np.zeros((n_components, n_columns))
    purity = np.zeros(n_columns)
    places, n_free = np.arange(n_components), 0
    for which, goal in zip(subsets, goals, strict=True):
        new = [j for j in which if not purity[j]]
        if not new or abs(goal) < FAINT:
            continue
        for j in new:
            if 2 ** (n_free + 1) <= n_components:
                signs[:, j] = 1.0 - 2.0 * (places >> n_free & 1)
            else:
                signs[:, j] = rng.choice([-1.0, 1.0], n_components)
            n_free += j != new[-1]
        signs[:, new[-1]] = np.sign(goal)
        for j in which:
            if j != new[-1]:
                signs[:, new[-1]] *= signs[:, j]
        pure = min(abs(goal) ** (1 / len(which)), PUREST)
        purity[list(which)] = np.maximum(purity[list(which)], pure)
    return signs * purity


def starting_logits(
    target: ParityTarget, sizes: Sequence[int], n_components: int, seed: int
) -> Floats:
    """Return what is added to logits at the start, (n_classes, n_components, S)."""
    rng = np.random.default_rng(seed)
    column = np.repeat(np.arange(len(sizes)), sizes)
    means = [
        component_signs(target.subsets, goals, len(sizes), n_components, rng)
        for goals in target.goals
    ]
    return np.arctanh(np.array(means))[:, :, column] * target.signs


class Pulling(Protocol):
    """A loss of tables, and what it is weighted by."""

    scale: float
    shares: Tensor
    weights: Tensor

    def on(self, some: slice, tables: Tensor) -> tuple[float, Tensor]:
        """Return the loss of some classes and its slope in their tables."""


class PullOfParities:
    """The loss of a mixture, with squared errors of parities beside it.

    Parameters
    ----------
    pull : Pulling
        The loss of pairs; it is scaled so that both together start at 1 or so.
    target : ParityTarget
    columns : Tensor of shape (S, n_columns)
        Which column a group belongs to, one-hot.
    """

    def __init__(self, pull: Any, target: ParityTarget, columns: Tensor) -> None:
        self.pull, self.columns = pull, columns
        self.signs = torch.as_tensor(target.signs).to(columns)
        self.goals = torch.as_tensor(target.goals).to(columns)
        self.subsets = [list(which) for which in target.subsets]
        factor = (pull.weights * pull.shares)[:, 0]
        energy = float((factor * self.goals).square().sum())
        pull.scale = 1.0 / (1.0 / pull.scale + energy)

    def on(self, some: slice, tables: Tensor) -> tuple[float, Tensor]:
        """Return the loss of some classes and its slope in their tables."""
        loss, slope = self.pull.on(some, tables)
        means = (tables * self.signs) @ self.columns  # (classes, n_components, columns)
        rise = torch.zeros_like(means)
        factor = (self.pull.weights * self.pull.shares)[some, :, 0]
        rate = 2.0 * self.pull.scale / means.shape[1] * factor**2
        for f, which in enumerate(self.subsets):
            parts = means[:, :, which]
            others = torch.stack(
                [
                    parts[:, :, _but(i, len(which))].prod(dim=2)
                    for i in range(len(which))
                ],
                dim=2,
            )
            product = parts[:, :, 0] * others[:, :, 0]
            off = product.mean(dim=1, keepdim=True) - self.goals[some, f : f + 1]
            loss += self.pull.scale * float((factor * off).square().sum())
            rise[:, :, which] += (rate * off)[:, :, None] * others
        slope += (rise @ self.columns.T) * self.signs
        return loss, slope


def _but(i: int, n: int) -> list[int]:
    return [k for k in range(n) if k != i]
