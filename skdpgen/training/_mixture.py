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
# Parities: what several columns say only together, as moments of a mixture.
#
# Each column has two halves, and a sign on each. The parity of a set A of columns in
# class c is :math:`t = E[\prod_{j \in A} s_j \mid c]`: 0 if signs are independent and
# even, 1 or -1 if each sign follows from the others. No pair of columns shows it.

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

    def __init__(self, pull: "Pull", target: ParityTarget, columns: Tensor) -> None:
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


# ----------------------------------------------------------------------------
# Cells of many columns, some at a time: most tiles of a wide table have no pair.

WHOLE = 1_000  # cells that are worked on together
TILE = 256  # of more cells

Slices = tuple[slice, slice]


def meetings(width: int) -> Iterator[Slices]:
    """Yield which cells meet which: all at once, or tiles on and above the diagonal.

    Examples
    --------
    >>> list(meetings(300))
    [(slice(0, 300, None), slice(0, 300, None))]
    >>> len(list(meetings(4_000)))
    136
    """
    step = width if width <= WHOLE else TILE
    tiles = [slice(a, min(a + step, width)) for a in range(0, width, step)]
    return combinations_with_replacement(tiles, 2)


def runs(sizes: Sequence[int]) -> list[list[int]]:
    """Return the cells of columns, in runs of whole columns.

    Examples
    --------
    >>> runs([3, 2, 4]), runs([600, 100, 100, 300])
    ([[3, 2, 4]], [[600], [100, 100], [300]])
    """
    most = WHOLE if sum(sizes) <= WHOLE else TILE
    found: list[list[int]] = [[]]
    for size in sizes:
        if found[-1] and sum(found[-1]) + size > most:
            found.append([])
        found[-1].append(size)
    return found


# ----------------------------------------------------------------------------
# Mixtures of products of columns, trained on their exact two-way moments.

SPREAD = 0.3  # of the logits at the start
OWN_RATE = 0.1  # learning rate of what is a class's own, against what all share
SINGLES = 30.0  # weight of single columns in the loss
RAREST = 1e-3  # least share that a balanced loss divides by
LEAST = 1e-6  # energy of relations that losses are measured in
CERTAIN = 1e-6  # probability of a cell that the release says is empty
MOST_LOGIT, TOO_FAR = (
    60.0,
    1e6,
)  # logits: what single precision holds, what has diverged
AT_ONCE = 2**18  # probabilities that are worked on together


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
        sums = [
            ((own**2).sum(dtype=np.float64), (own * self.common).sum())
            for own in self.own  # one at a time: all together are large
        ]
        squares, mixed = np.array(sums).T
        return np.asarray(total + squares + 2 * self.shares * mixed)

    def weights(self, *, is_balanced: bool) -> Floats:
        """Return what errors of a class are multiplied by; evened out, or 1."""
        if not is_balanced:
            return np.ones(len(self.shares))
        weights = 1.0 / np.maximum(self.shares, RAREST)
        return np.asarray(weights / weights.mean())


class Mixture:
    """Logits of the components: start + of a class + of a component + of both.

    Slopes are worked out by hand, some classes at a time, as many as a cache holds:
    autograd would hold what it made of all of them.
    """

    def __init__(
        self, start: Tensor, sizes: Sequence[int], n_components: int, rng: Generator
    ) -> None:
        n_classes, width = start.shape
        shared = torch.randn(n_components, width, generator=rng)
        self.start = start[:, None]
        self.columns = [one_hot_columns(run, start.device) for run in runs(sizes)]
        self.shared = shared.to(start.device).mul_(SPREAD)
        self.of_class = torch.zeros_like(self.start)
        self.own = self.shared.new_zeros(n_classes, n_components, width)
        for one in self.parts:
            one.grad = torch.zeros_like(one)

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """What is learnt: of all, of a class, of a component of a class."""
        return self.shared, self.of_class, self.own

    @property
    def blocks(self) -> list[slice]:
        """Classes that are worked on together."""
        n_classes, n_components, width = self.own.shape
        at_once = max(AT_ONCE // (n_components * width), 1)
        return [slice(a, a + at_once) for a in range(0, n_classes, at_once)]

    def tables(self, some: slice) -> Tensor:
        """Return the probabilities of all cells, (classes, n_components, S)."""
        logits = self.own[some] + self.shared
        logits += self.start[some] + self.of_class[some]
        masses = logits.clamp_(-MOST_LOGIT, MOST_LOGIT).exp_()
        return masses.div_(self._sums(masses))

    def follow(self, pull: Pulling) -> float:
        """Set the gradients to the slope of the loss, and return the loss."""
        shared, of_class, own = (one.grad for one in self.parts)
        assert shared is not None
        assert of_class is not None
        assert own is not None
        shared.zero_()
        total = 0.0
        for some in self.blocks:
            tables = self.tables(some)
            loss, slope = pull.on(some, tables)
            slope *= tables  # through the softmax of each column
            slope -= tables * self._sums(slope)
            own[some] = slope
            of_class[some] = slope.sum(dim=1, keepdim=True)
            shared += slope.sum(dim=0)
            total += loss
        return total

    def _sums(self, values: Tensor) -> Tensor:
        """Return at each cell the sum over its column."""
        widths = [len(columns) for columns in self.columns]
        parts = zip(values.split(widths, dim=-1), self.columns, strict=True)
        return torch.cat([(part @ one) @ one.T for part, one in parts], dim=-1)


def one_hot_columns(sizes: Sequence[int], device: torch.device) -> Tensor:
    """Return which column a cell belongs to, (S, n_columns).

    Examples
    --------
    >>> one_hot_columns([2, 1], torch.device("cpu")).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    column = torch.repeat_interleave(torch.tensor(sizes))
    return torch.eye(len(sizes), device=device)[column]


@dataclass(frozen=True, eq=False)
class Meeting:
    """Some cells beside some others, and what their moments should be.

    Without ``goals``, which are worked out once for all steps, classes have what is
    ``common`` beyond independent columns.
    """

    rows: slice
    columns: slice
    seen: Tensor
    common: Tensor
    goals: Tensor | None

    def error(self, some: slice, tables: Tensor, singles: Tensor) -> Tensor:
        """Return how far moments of some classes are off, where pairs were measured."""
        mine, others = tables[..., self.rows], tables[..., self.columns]
        error = mine.mT @ (others / tables.shape[1])
        if self.goals is not None:
            error *= self.seen
            error -= self.goals[some]
            return error
        error -= singles[..., self.rows].mT * singles[..., self.columns]
        error -= self.common
        error *= self.seen
        return error


class Pull:
    """The loss of a mixture: how far moments and single columns are from a target."""

    def __init__(
        self, target: PairTarget, *, is_balanced: bool, device: torch.device
    ) -> None:
        def tensor(values: NDArray[Any]) -> Tensor:
            return torch.as_tensor(values, dtype=torch.float32, device=device)

        weights = target.weights(is_balanced=is_balanced)
        energy = float((weights**2 * target.energies).sum())
        self.singles = tensor(target.singles)[:, None]
        shares = np.maximum(target.shares, LEAST)
        self.shares = tensor(shares)[:, None, None]
        self.weights = tensor(weights)[:, None, None]
        self.scale = 1.0 / max(energy, LEAST)
        self.meetings = []
        for a, b in meetings(target.singles.shape[1]):
            if not target.seen[a, b].any():
                continue
            seen, common = tensor(target.seen[a, b]), tensor(target.common[a, b])
            goals = None
            if target.own is not None:
                goals = tensor(target.own[:, a, b]) / self.shares
                for goal, single in zip(goals, self.singles, strict=True):
                    goal += single[:, a].mT * single[:, b]
                    goal += common
                    goal *= seen
            self.meetings.append(Meeting(a, b, seen, common, goals))

    def on(self, some: slice, tables: Tensor) -> tuple[float, Tensor]:
        """Return the loss of some classes and its slope in their tables.

        Numbers of a class that are the same in all pairs multiply what is short.
        """
        n_components = tables.shape[1]
        factor = self.weights[some] * self.shares[some]
        singles = self.singles[some]
        off = factor * (tables.mean(dim=1, keepdim=True) - singles)
        loss = SINGLES * off.square().sum()
        slope = torch.zeros_like(tables)
        for one in self.meetings:
            error = one.error(some, tables, singles)
            norms = torch.linalg.vector_norm(error, dim=(1, 2), keepdim=True)
            squares = (factor * norms).square().sum()
            slope[..., one.columns] += tables[..., one.rows] @ error
            loss += squares
            if one.rows != one.columns:  # and what is below the diagonal
                slope[..., one.rows] += tables[..., one.columns] @ error.mT
                loss += squares
        rate = 2.0 * self.scale / n_components * factor
        slope *= 2.0 * rate * factor
        slope += SINGLES * rate * off
        return self.scale * float(loss), slope


def fit_mixture(
    target: PairTarget,
    sizes: Sequence[int],
    *,
    n_components: int,
    parities: ParityTarget | None = None,
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
    sampling noise. All classes share one set of components, which each bends a
    little: relations between columns are mostly common, and where nothing is known of a
    class the rest keeps the relations of all. With ``parities`` components start
    with these, and errors of them count beside those of pairs.

    Returns
    -------
    tables : ndarray of shape (n_classes, n_components, S)
    losses : list of float
        Of each step; 1 is the loss of independent columns, without relations.
    """
    rng = torch.Generator().manual_seed(seed)
    start = torch.as_tensor(np.log(np.maximum(target.singles, CERTAIN)))
    mixture = Mixture(start.float().to(device), sizes, n_components, rng)
    pull: Any = Pull(target, is_balanced=is_balanced, device=device)
    if parities is not None:
        first = starting_logits(parities, sizes, n_components, seed)
        mixture.own += torch.as_tensor(first).to(mixture.own)
        pull = PullOfParities(pull, parities, one_hot_columns(sizes, device))
    optimiser = Adam(mixture.parts, betas=(0.9, 0.95))
    losses: list[float] = []
    for step in paced(progress(range(max_iter))):
        losses.append(mixture.follow(pull))
        rate = learning_rate * one_cycle(step / max_iter)
        optimiser.step((rate, rate, OWN_RATE * rate))
        if not (math.isfinite(losses[-1]) and mixture.shared.abs().max() < TOO_FAR):
            raise FloatingPointError("Training diverged; try a smaller learning_rate.")
    found = [mixture.tables(some).double().cpu() for some in mixture.blocks]
    return torch.cat(found).numpy(), losses
