"""Mixtures of products of columns, trained on their exact two-way moments."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import chi2
from torch import Generator, Tensor

from skdpgen.training._matching import one_cycle
from skdpgen.training._steps import Adam, paced
from skdpgen.utils import (
    products_of_rows,
)

# ----------------------------------------------------------------------------
# Parities: relationships of several columns that no pair shows, as moments of a
# mixture.
#
# Each column has two halves, and a sign on each. The parity of a set A of columns in
# class c is :math:`t = E[\prod_{j \in A} s_j \mid c]`: 0 if signs are independent and
# even, 1 or -1 if each sign follows from the others. No pair of columns shows it.

Floats = NDArray[np.float64]
ERROR_RATE = 0.01  # probability that any parity is kept though all of them are noise
MOST_PARITIES = 12  # parities that a mixture is trained on
PRIOR_STD = 0.5  # prior standard deviation of a parity that exceeds its noise
FAINT_PARITY = 0.1  # smaller ones get no components at the start
PUREST_SIGN = 0.99  # largest mean sign of a column in a component, at the start


@dataclass(frozen=True, eq=False)
class ParityTarget:
    """Target values of the parities of a mixture.

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
    parities = [
        part.mean(axis=-1)
        for order in orders
        for part in products_of_rows(means, order)
    ]
    return np.concatenate(parities).T


def significant_parities(
    sums: Floats, std: float, expected: Floats, n_rows: Floats
) -> tuple[NDArray[np.int64], Floats]:
    """Return the noisy sums of products that differ significantly from expected ones.

    The probability that any is returned because of noise and sampling of rows alone is
    1 % at most (Bonferroni).

    Parameters
    ----------
    sums : ndarray of shape (n_classes, n_subsets)
        Noisy, with noise ``std``.
    expected : ndarray of shape (n_classes, n_subsets)
        Means that a model has.
    n_rows : ndarray of shape (n_classes,)

    Returns
    -------
    significant : ndarray of int
        Indices of subsets, the strongest first.
    shifts : ndarray of shape (n_classes, n_significant)
        Differences of means, shrunk by their noise.

    Examples
    --------
    >>> sums = np.array([[900.0, 30.0], [-1000.0, 10.0]])
    >>> expected, n_rows = np.zeros((2, 2)), np.full(2, 1000.0)
    >>> significant, shifts = significant_parities(sums, 20.0, expected, n_rows)
    >>> significant.tolist(), shifts.round(2).T.tolist()
    ([0], [[0.89, -0.99]])
    """
    n_rows = np.maximum(n_rows, 1.0)[:, None]
    variance = std**2 + n_rows
    difference = sums - n_rows * expected
    score = (difference**2 / variance).sum(axis=0)
    limit = chi2.isf(ERROR_RATE / sums.shape[1], len(sums))
    order = np.argsort(-score, kind="stable")[:MOST_PARITIES]
    significant = order[score[order] > limit]
    signal = (PRIOR_STD * n_rows) ** 2
    return significant, (difference / n_rows * signal / (signal + variance))[
        :, significant
    ]


def component_signs(
    subsets: Sequence[tuple[int, ...]],
    goals: Floats,
    n_columns: int,
    n_components: int,
    rng: np.random.Generator,
) -> Floats:
    """Return mean signs of columns in components that have the parities of one class.

    The signs of a component multiply to the sign of each parity. Otherwise signs are
    balanced over components, also for each pair of columns. Columns without a parity
    have 0.

    Parameters
    ----------
    subsets : sequence of tuple of int
        The strongest first. A subset is left out if all its columns have signs already.
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
    index, n_free = np.arange(n_components), 0
    for subset, goal in zip(subsets, goals, strict=True):
        unset = [j for j in subset if not purity[j]]
        if not unset or abs(goal) < FAINT_PARITY:
            continue
        for j in unset:
            if 2 ** (n_free + 1) <= n_components:
                signs[:, j] = 1.0 - 2.0 * (index >> n_free & 1)
            else:
                signs[:, j] = rng.choice([-1.0, 1.0], n_components)
            n_free += j != unset[-1]
        signs[:, unset[-1]] = np.sign(goal)
        for j in subset:
            if j != unset[-1]:
                signs[:, unset[-1]] *= signs[:, j]
        pure = min(abs(goal) ** (1 / len(subset)), PUREST_SIGN)
        purity[list(subset)] = np.maximum(purity[list(subset)], pure)
    return signs * purity


def starting_logits(
    target: ParityTarget, sizes: Sequence[int], n_components: int, seed: int
) -> Floats:
    """Return what parities add to logits at the start, (n_classes, n_components, S)."""
    rng = np.random.default_rng(seed)
    column = np.repeat(np.arange(len(sizes)), sizes)
    means = [
        component_signs(target.subsets, goals, len(sizes), n_components, rng)
        for goals in target.goals
    ]
    return np.arctanh(np.array(means))[:, :, column] * target.signs


class MixtureLoss(Protocol):
    """A loss of tables, with its scale and the weights of classes."""

    scale: float
    shares: Tensor
    weights: Tensor

    def value_and_slope(self, classes: slice, tables: Tensor) -> tuple[float, Tensor]:
        """Return the loss of some classes and its gradient by their tables."""


class ParityLoss:
    """The loss of pairs plus squared errors of parities.

    Parameters
    ----------
    pair_loss : PairLoss
        Its scale is changed, so that both losses together start at about 1.
    target : ParityTarget
    columns : Tensor of shape (S, n_columns)
        The column that a group belongs to, one-hot.
    """

    def __init__(
        self, pair_loss: "PairLoss", target: ParityTarget, columns: Tensor
    ) -> None:
        self.pair_loss, self.columns = pair_loss, columns
        self.signs = torch.as_tensor(target.signs).to(columns)
        self.goals = torch.as_tensor(target.goals).to(columns)
        self.subsets = [list(subset) for subset in target.subsets]
        factor = (pair_loss.weights * pair_loss.shares)[:, 0]
        energy = float((factor * self.goals).square().sum())
        pair_loss.scale = 1.0 / (1.0 / pair_loss.scale + energy)

    def value_and_slope(self, classes: slice, tables: Tensor) -> tuple[float, Tensor]:
        """Return the loss of some classes and its gradient by their tables."""
        loss, slope = self.pair_loss.value_and_slope(classes, tables)
        means = (tables * self.signs) @ self.columns  # (classes, n_components, columns)
        slope_of_means = torch.zeros_like(means)
        factor = (self.pair_loss.weights * self.pair_loss.shares)[classes, :, 0]
        rate = 2.0 * self.pair_loss.scale / means.shape[1] * factor**2
        for f, subset in enumerate(self.subsets):
            signs = means[:, :, subset]
            others = torch.stack(
                [
                    signs[:, :, _all_but(i, len(subset))].prod(dim=2)
                    for i in range(len(subset))
                ],
                dim=2,
            )
            product = signs[:, :, 0] * others[:, :, 0]
            goals = self.goals[classes, f : f + 1]
            difference = product.mean(dim=1, keepdim=True) - goals
            loss += self.pair_loss.scale * float((factor * difference).square().sum())
            slope_of_means[:, :, subset] += (rate * difference)[:, :, None] * others
        slope += (slope_of_means @ self.columns.T) * self.signs
        return loss, slope


def _all_but(i: int, n: int) -> list[int]:
    return [k for k in range(n) if k != i]


# ----------------------------------------------------------------------------
# Cells of many columns, in tiles: most tiles of a wide table have no measured pair.

UNTILED_CELLS = 1_000  # up to this many there are no tiles
TILE_CELLS = 256

Slices = tuple[slice, slice]


def cell_blocks(width: int) -> Iterator[Slices]:
    """Yield blocks of the matrix of cells: all of it, or tiles of its upper triangle.

    Examples
    --------
    >>> list(cell_blocks(300))
    [(slice(0, 300, None), slice(0, 300, None))]
    >>> len(list(cell_blocks(4_000)))
    136
    """
    step = width if width <= UNTILED_CELLS else TILE_CELLS
    tiles = [slice(a, min(a + step, width)) for a in range(0, width, step)]
    return combinations_with_replacement(tiles, 2)


def column_runs(sizes: Sequence[int]) -> list[list[int]]:
    """Split columns into runs of about one tile of cells; columns stay whole.

    Examples
    --------
    >>> column_runs([3, 2, 4]), column_runs([600, 100, 100, 300])
    ([[3, 2, 4]], [[600], [100, 100], [300]])
    """
    most = UNTILED_CELLS if sum(sizes) <= UNTILED_CELLS else TILE_CELLS
    lists: list[list[int]] = [[]]
    for size in sizes:
        if lists[-1] and sum(lists[-1]) + size > most:
            lists.append([])
        lists[-1].append(size)
    return lists


# ----------------------------------------------------------------------------
# Mixtures of products of columns, trained on their exact two-way moments.

FIRST_LOGIT_STD = 0.3
# Learning rate of the parameters of single classes, relative to shared ones: where the
# data of a class are noise, its components stay those of all classes.
OWN_RATE = 0.1
SINGLES_WEIGHT = 30.0  # of single columns in the loss
LEAST_DIVISOR = 1e-6  # energy of relationships, or share
EMPTY_PROBABILITY = 1e-6  # of a cell that is empty in the release
MOST_LOGIT, TOO_FAR = 60.0, 1e6  # that single precision holds; that has diverged
PROBABILITIES_AT_ONCE = 2**18  # they fit into a cache


@dataclass(frozen=True, eq=False)
class PairTarget:
    r"""Target values of two-way moments, for columns with S cells side by side.

    The moment of class c is :math:`\omega_c (p_c p_c^\top + E) + O_c`: independent
    columns, the common excess of all classes, and the excess of the class. Where a pair
    was counted in parts of several classes, only sums of these moments are a target:
    classes of which one has small numbers and one has large ones need not have the
    same excess.

    Parameters
    ----------
    singles : ndarray of shape (n_classes, S)
        Each column given the class.
    shares : ndarray of shape (n_classes,)
    common : ndarray of shape (S, S)
    own : ndarray of shape (n_classes, S, S) or None
    is_measured : ndarray of bool of shape (S, S)
        Whether the pair of columns was measured.
    part_of_class : ndarray of int of shape (n_classes,) or None, default=None
        The part that a class was counted in, from 0 on; None is class by class.
    """

    singles: Floats
    shares: Floats
    common: Floats
    own: Floats | None
    is_measured: NDArray[np.bool_]
    part_of_class: NDArray[np.int64] | None = None

    @property
    def energies(self) -> Floats:
        """Squared distance of each class from independent columns."""
        total = self.shares**2 * float((self.common**2).sum())
        if self.own is None:
            return total
        sums = [
            ((own**2).sum(dtype=np.float64), (own * self.common).sum())
            for own in self.own  # one at a time: all together are large
        ]
        squares, mixed = np.array(sums).T
        return np.asarray(total + squares + 2 * self.shares * mixed)

    @property
    def parts(self) -> list[NDArray[np.int64]]:
        """The classes of each part; none if they were counted class by class."""
        if self.part_of_class is None:
            return []
        n_parts = int(self.part_of_class.max()) + 1
        return [np.flatnonzero(self.part_of_class == part) for part in range(n_parts)]

    def excess(self, part: NDArray[np.int64], cells: Slices, weights: Floats) -> Floats:
        """Return the weighted excess of some classes over independent columns."""
        common = np.sum((weights * self.shares)[part]) * self.common[cells]
        if self.own is None:
            return np.asarray(common)
        own = np.tensordot(weights[part], self.own[part][:, *cells], 1)
        return np.asarray(common + own)

    def moments(
        self, part: NDArray[np.int64], cells: Slices, weights: Floats
    ) -> Floats:
        """Return the weighted moments of some classes."""
        rows, columns = (self.singles[part, which] for which in cells)
        independent = (rows * (weights * self.shares)[part, None]).T @ columns
        return np.asarray(independent + self.excess(part, cells, weights))

    def energy(self, weights: Floats) -> float:
        """Return the squared distance of all targets from independent columns."""
        if not self.parts:
            return float((weights**2 * self.energies).sum())
        everything = slice(None), slice(None)
        squares = sum(self.excess(p, everything, weights) ** 2 for p in self.parts)
        return float((self.is_measured * squares).sum())

    def weights(self, factors: Floats | None) -> Floats:
        """Return the weight of each class's errors, 1 on average."""
        if factors is None:
            return np.ones(len(self.shares))
        return np.asarray(factors / factors.mean())


class Mixture:
    """Logits of the components: start + of the class + of the component + of both.

    Gradients are computed by hand, for as many classes at a time as fit into a cache.
    Autograd would keep intermediate values of all classes in memory.
    """

    def __init__(
        self,
        start: Tensor,
        sizes: Sequence[int],
        n_components: int,
        rng: Generator,
        *,
        at_once: bool = False,
    ) -> None:
        n_classes, width = start.shape
        self.at_once = at_once  # all classes, whose moments add up
        shared = torch.randn(n_components, width, generator=rng)
        self.start = start[:, None]
        self.columns = [
            one_hot_columns(run, start.device) for run in column_runs(sizes)
        ]
        self.shared = shared.to(start.device).mul_(FIRST_LOGIT_STD)
        self.of_class = torch.zeros_like(self.start)
        self.own = self.shared.new_zeros(n_classes, n_components, width)
        for part in self.parts:
            part.grad = torch.zeros_like(part)

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """Parameters: of a component, of a class, of a component of a class."""
        return self.shared, self.of_class, self.own

    @property
    def blocks(self) -> list[slice]:
        """Classes that are computed together."""
        n_classes, n_components, width = self.own.shape
        if self.at_once:
            return [slice(0, n_classes)]
        at_once = max(PROBABILITIES_AT_ONCE // (n_components * width), 1)
        return [slice(a, a + at_once) for a in range(0, n_classes, at_once)]

    def begin_with(self, tables: Floats) -> None:
        """Start with given tables, (n_classes, n_components, S)."""
        logits = torch.as_tensor(np.log(np.maximum(tables, EMPTY_PROBABILITY))).to(
            self.own
        )
        self.shared.copy_((logits - self.start).mean(dim=0))
        self.own.copy_(logits - self.start - self.shared)

    def tables(self, classes: slice) -> Tensor:
        """Return the probabilities of all cells, (classes, n_components, S)."""
        logits = self.own[classes] + self.shared
        logits += self.start[classes] + self.of_class[classes]
        masses = logits.clamp_(-MOST_LOGIT, MOST_LOGIT).exp_()
        return masses.div_(self._sums(masses))

    def set_gradients(self, objective: MixtureLoss) -> float:
        """Set the gradients of all parameters, and return the loss."""
        shared, of_class, own = (part.grad for part in self.parts)
        assert shared is not None
        assert of_class is not None
        assert own is not None
        shared.zero_()
        total = 0.0
        for classes in self.blocks:
            tables = self.tables(classes)
            loss, slope = objective.value_and_slope(classes, tables)
            slope *= tables  # through the softmax of each column
            tables *= self._sums(slope)
            slope = torch.sub(slope, tables, out=own[classes])
            torch.sum(slope, dim=1, keepdim=True, out=of_class[classes])
            shared += slope.sum(dim=0)
            total += loss
        return total

    def _sums(self, values: Tensor) -> Tensor:
        """Return, at each cell, the sum over its column."""
        widths = [len(columns) for columns in self.columns]
        parts = zip(values.split(widths, dim=-1), self.columns, strict=True)
        sums = [(x @ one_hot) @ one_hot.T for x, one_hot in parts]
        return torch.cat(sums, dim=-1) if len(sums) > 1 else sums[0]


def one_hot_columns(sizes: Sequence[int], device: torch.device) -> Tensor:
    """Return the column that a cell belongs to, one-hot, (S, n_columns).

    Examples
    --------
    >>> one_hot_columns([2, 1], torch.device("cpu")).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    column = torch.repeat_interleave(torch.tensor(sizes))
    return torch.eye(len(sizes), device=device)[column]


@dataclass(frozen=True, eq=False)
class PartBlock:
    """A block of the matrix of cells, whose moments are known of parts of the classes.

    ``goals`` are sums of moments, with weights of classes.
    """

    rows: slice
    columns: slice
    is_measured: Tensor
    goals: Tensor
    parts: Sequence[Tensor]

    def add_slope(self, tables: Tensor, factor: Tensor, slope: Tensor) -> Tensor:
        """Add to the slope by tables, and return the sum of squared errors."""
        loss = tables.new_zeros(())
        n_components = tables.shape[1]
        for goal, part in zip(self.goals, self.parts, strict=True):
            row_tables, column_tables = (
                tables[part, :, cells].flatten(0, 1)
                for cells in (self.rows, self.columns)
            )
            weight = factor[part].expand(-1, n_components, 1).flatten(0, 1)
            error = row_tables.T @ (column_tables * (weight / n_components))
            error *= self.is_measured
            error -= goal
            squares = error.square().sum()
            shape = -1, n_components
            slope[part, :, self.columns] += (row_tables @ error).unflatten(0, shape)
            loss += squares
            if self.rows != self.columns:  # and what is below the diagonal
                slope[part, :, self.rows] += (column_tables @ error.T).unflatten(
                    0, shape
                )
                loss += squares
        return loss


@dataclass(frozen=True, eq=False)
class CellBlock:
    """A block of the matrix of cells, and the target values of its moments.

    ``goals`` are computed once for all steps. They are None if classes differ from
    independent columns only by the ``common`` excess.
    """

    rows: slice
    columns: slice
    is_measured: Tensor
    common: Tensor
    goals: Tensor | None

    def error(self, classes: slice, tables: Tensor, singles: Tensor) -> Tensor:
        """Return the errors of moments of some classes, where pairs were measured."""
        row_tables, column_tables = tables[..., self.rows], tables[..., self.columns]
        error = row_tables.mT @ (column_tables / tables.shape[1])
        if self.goals is not None:
            error *= self.is_measured
            error -= self.goals[classes]
            return error
        error -= singles[..., self.rows].mT * singles[..., self.columns]
        error -= self.common
        error *= self.is_measured
        return error


class PairLoss:
    """The loss of a mixture: squared errors of moments and of single columns."""

    def __init__(
        self, target: PairTarget, *, factors: Floats | None, device: torch.device
    ) -> None:
        def tensor(values: NDArray[Any]) -> Tensor:
            return torch.as_tensor(values, dtype=torch.float32, device=device)

        weights = target.weights(factors)
        self.scale = 1.0 / max(target.energy(weights), LEAST_DIVISOR)
        self.singles = tensor(target.singles)[:, None]
        shares = np.maximum(target.shares, LEAST_DIVISOR)
        self.shares = tensor(shares)[:, None, None]
        self.weights = tensor(weights)[:, None, None]
        self.cell_blocks, self.part_blocks = [], []
        for a, b in cell_blocks(target.singles.shape[1]):
            if not target.is_measured[a, b].any():
                continue
            if target.parts:
                moments = np.stack(
                    [target.moments(part, (a, b), weights) for part in target.parts]
                )
                which = [torch.as_tensor(part, device=device) for part in target.parts]
                is_measured = tensor(target.is_measured[a, b])
                sums = is_measured * tensor(moments)
                self.part_blocks.append(PartBlock(a, b, is_measured, sums, which))
                continue
            is_measured, common = (
                tensor(target.is_measured[a, b]),
                tensor(target.common[a, b]),
            )
            goals = None
            if target.own is not None:
                goals = tensor(target.own[:, a, b]) / self.shares
                for goal, single in zip(goals, self.singles, strict=True):
                    goal += single[:, a].mT * single[:, b]
                    goal += common
                    goal *= is_measured
            self.cell_blocks.append(CellBlock(a, b, is_measured, common, goals))

    def value_and_slope(self, classes: slice, tables: Tensor) -> tuple[float, Tensor]:
        """Return the loss of some classes and its gradient by their tables.

        Factors of a class that are the same in all pairs are multiplied at the end,
        with the smaller arrays.
        """
        n_components = tables.shape[1]
        factor = self.weights[classes] * self.shares[classes]
        singles = self.singles[classes]
        difference = factor * (tables.mean(dim=1, keepdim=True) - singles)
        loss = SINGLES_WEIGHT * difference.square().sum()
        slope = torch.zeros_like(tables)
        for block in self.cell_blocks:
            error = block.error(classes, tables, singles)
            norms = torch.linalg.vector_norm(error, dim=(1, 2), keepdim=True)
            squares = (factor * norms).square().sum()
            if error.shape[1] == tables.shape[2]:  # no tiles: a pass less
                slope = tables @ error
            else:
                slope[..., block.columns] += tables[..., block.rows] @ error
            loss += squares
            if block.rows != block.columns:  # and what is below the diagonal
                slope[..., block.rows] += tables[..., block.columns] @ error.mT
                loss += squares
        slope *= factor
        for part_block in self.part_blocks:
            loss += part_block.add_slope(tables, factor, slope)
        rate = 2.0 * self.scale / n_components * factor
        slope *= 2.0 * rate
        slope += SINGLES_WEIGHT * rate * difference
        return self.scale * float(loss), slope


def fit_mixture(
    target: PairTarget,
    sizes: Sequence[int],
    *,
    n_components: int,
    parities: ParityTarget | None = None,
    begin: Floats | None = None,
    factors: Floats | None = None,
    max_iter: int,
    learning_rate: float,
    own_rate: float = OWN_RATE,
    speedup: float = 1.0,
    device: torch.device,
    seed: int,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> tuple[Floats, list[float]]:
    r"""Fit a mixture of equally likely products of columns to two-way moments.

    With :math:`A_c` the probabilities of the components of a class, its moments are
    :math:`\omega_c A_c^\top A_c / K`, exactly: no batch is drawn, and the loss has no
    sampling noise. All classes share one set of components, which each class modifies a
    little: relationships between columns are mostly common, and a class of which little
    is known keeps those of all classes; ``own_rate`` is how fast they are modified,
    relative to the learning rate. Without parities steps are larger by ``speedup``:
    logits that start with parities would leave them. With ``parities`` the loss
    includes errors of them. Components start with them, or with the tables ``begin`` of
    an earlier fit.

    Returns
    -------
    tables : ndarray of shape (n_classes, n_components, S)
    losses : list of float
        Loss of each step; independent columns have a loss of 1.
    """
    rng = torch.Generator().manual_seed(seed)
    start = torch.as_tensor(np.log(np.maximum(target.singles, EMPTY_PROBABILITY)))
    mixture = Mixture(
        start.float().to(device),
        sizes,
        n_components,
        rng,
        at_once=target.part_of_class is not None,
    )
    objective: Any = PairLoss(target, factors=factors, device=device)
    if parities is not None:
        if begin is None:
            parity_logits = starting_logits(parities, sizes, n_components, seed)
            mixture.own += torch.as_tensor(parity_logits).to(mixture.own)
        else:
            mixture.begin_with(begin)
        objective = ParityLoss(objective, parities, one_hot_columns(sizes, device))
        speedup = 1.0
    optimiser = Adam(mixture.parts, betas=(0.9, 0.95))
    losses: list[float] = []
    for step in paced(progress(range(max_iter))):
        losses.append(mixture.set_gradients(objective))
        rate = speedup * learning_rate * one_cycle(step / max_iter)
        optimiser.step((rate, rate, own_rate * rate))
        if not (math.isfinite(losses[-1]) and mixture.shared.abs().max() < TOO_FAR):
            raise FloatingPointError("Training diverged; try a smaller learning_rate.")
    tables = [mixture.tables(classes).double().cpu() for classes in mixture.blocks]
    return torch.cat(tables).numpy(), losses
