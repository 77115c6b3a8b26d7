"""Private rows for methods that read them while they train, such as DP-SGD."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from skdpgen.exceptions import (
    BudgetExceededError,
)
from skdpgen.privacy._blocks import Vectors
from skdpgen.privacy._noise import (
    add_noise,
    gaussian_noise,
    is_noise_insecure,
    on_grid,
    poisson_sample,
)
from skdpgen.privacy._vector_sums import Layer, Layers

T = TypeVar("T", covariant=True)
NUMBERS_AT_ONCE = 2**24  # of the rows' vectors, in memory


class Takeable(Protocol[T]):
    """Rows in memory: a length, and the subset at some indices."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def take(self, indices: NDArray[np.intp], /) -> T:
        """Return the rows at ``indices``, which may be empty."""
        ...


class SubsampledLedger(Protocol):
    """What these functions need of a ledger."""

    def charge_subsampled(
        self,
        name: str,
        *,
        share: float,
        sampling_rate: float,
        n_steps: int,
        norm_bound: float,
    ) -> float:
        """Enter the steps and return the noise multiplier."""
        ...

    def mark_insecure(self) -> None:
        """Say in the report that the noise was seeded."""
        ...


PerRow = Callable[[T], Any]  # a matrix, one line a row, or a list of layers
Step = Callable[[PerRow[T]], NDArray[np.float64]]


@contextmanager
def private_oracle(
    rows: Takeable[T],
    ledger: SubsampledLedger,
    *,
    name: str,
    share: float,
    sampling_rate: float,
    n_steps: int,
    norm_bound: float,
    width: int,
    expected_rows: float,
    layers: tuple[Layer, ...] | None = None,
    at_once: int | None = None,
) -> Iterator[Step[T]]:
    r"""Open the rows for ``n_steps`` noisy, sub-sampled sums of one vector per row.

    ``step(per_row)`` draws a secret Poisson sample S of the rows and returns

    .. math:: \frac{1}{q\,n} \Big( \sum_{i \in S} \mathrm{clip}_C(g_i)
              + \mathcal{N}(0, \sigma^2 C^2 I) \Big),

    where the vectors :math:`g_i` are ``per_row(rows.take(S))``, C is ``norm_bound``, q
    is ``sampling_rate``, n is ``expected_rows`` and sigma comes from the ledger, which
    is charged for all steps on entry.

    *Why it is private.* Vectors that are not finite count as zero and the rest are
    clipped in float64, so a row moves the sum by at most C when it joins or leaves.
    The divisor is fixed beforehand: the realised sample size would reveal information.
    ``per_row`` must treat rows independently, which cannot be checked here: batch
    normalisation lets one row change the vectors of all. It must keep no rows, and
    must not raise because of values. It is called with some of the rows at a time, so
    that memory does not grow with the sample.

    Parameters
    ----------
    rows : Takeable
        Anything with ``len`` and ``take(indices)``; not kept after the block.
    ledger : SubsampledLedger
        Charged on entry.
    name : str
        Entry in the report.
    share : float
        Part of the budget's squared mu.
    sampling_rate : float
        Probability that a row enters a step; public.
    n_steps : int
        Steps paid for; one more raises ``BudgetExceededError``.
    norm_bound : float
        Clipping norm.
    width : int
        Length of a row's vector; public, so that an empty sample needs no special case.
    expected_rows : float
        Number of rows: the true one under ``"replace"``, a noisy one under
        ``"add_remove"``.
    layers : tuple of int or (int, int), or None, default=None
        If given, ``per_row`` returns a list of layers, some of them by their factors,
        which are summed without being formed (:class:`Layers`).
    at_once : int or None, default=None
        Most rows in one call of ``per_row``; None chooses it by memory.

    Yields
    ------
    step : callable
        ``step(per_row) -> ndarray of shape (width,)``; raises after the block.

    Examples
    --------
    >>> class Free:
    ...     def charge_subsampled(self, name, **what):
    ...         return 0.0
    >>> settings = dict(share=1.0, sampling_rate=1.0, n_steps=1, norm_bound=1.0)
    >>> rows = np.array([[0.5, 0.0], [0.0, 30.0]])
    >>> class Rows:
    ...     __len__ = lambda self: len(rows)
    ...     take = lambda self, indices: rows[indices]
    >>> with private_oracle(
    ...     Rows(), Free(), name="mean", width=2, expected_rows=2, **settings
    ... ) as step:
    ...     step(lambda batch: batch)
    array([0.25, 0.5 ])
    """
    if not 0 < sampling_rate <= 1:
        raise ValueError(
            f"sampling_rate must be in (0, 1]. Got {sampling_rate!r} instead."
        )
    for parameter, size in (("n_steps", n_steps), ("width", width)):
        if size < 1:
            raise ValueError(f"{parameter} must be at least 1. Got {size!r} instead.")
    for parameter, value in (
        ("norm_bound", norm_bound),
        ("expected_rows", expected_rows),
    ):
        if not 0 < value < math.inf:
            raise ValueError(f"{parameter} must be in (0, inf). Got {value!r} instead.")
    block: Any = Vectors(width, norm_bound)
    if layers is not None:
        block = Layers(layers, norm_bound)
        if block.width != width:
            raise ValueError(f"layers must have {width} entries. Got {block.width}.")
    noise_multiplier = ledger.charge_subsampled(
        name,
        share=share,
        sampling_rate=sampling_rate,
        n_steps=n_steps,
        norm_bound=norm_bound,
    )
    opened: Takeable[T] | None = rows
    n_done, at_once = 0, at_once or max(NUMBERS_AT_ONCE // width, 1)

    def step(per_row: PerRow[T]) -> NDArray[np.float64]:
        nonlocal n_done
        if opened is None:
            raise RuntimeError("The oracle is closed. Step inside its `with` block.")
        if n_done >= n_steps:
            raise BudgetExceededError(
                f"{name!r} was charged for {n_steps} steps, and all are done. "
                "Ask for more steps when the oracle is opened."
            )
        n_done += 1  # before the rows are read: an interrupted step is spent too
        indices = poisson_sample(len(opened), sampling_rate)
        total = block.start(1)
        for first in range(0, len(indices), at_once):
            drawn = indices[first : first + at_once]
            vectors = per_row(opened.take(drawn))
            if layers is None and tuple(vectors.shape) != (len(drawn), width):
                raise ValueError(
                    f"per_row must return one vector of width {width} for each row. "
                    "Got another shape instead."  # which would tell the sample size
                )
            total = block.add(total, vectors, np.zeros(len(drawn), dtype=np.int64))
        if is_noise_insecure():
            ledger.mark_insecure()
        noisy = add_noise(block.value(total)[0], noise_multiplier * norm_bound)
        return noisy / (sampling_rate * expected_rows)

    try:
        yield step
    finally:
        opened = None
        del rows


# ----------------------------------------------------------------------------
# Noisy slopes of a kernel mean at public points; the noise is a Gaussian process.

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
JITTER = 1e-9  # of a covariance's mean diagonal; more noise, never less
MOST_POINTS = 64  # of one label: the cost of a factorisation grows with their cube
FARTHEST = 1e3  # encoded rows lie in or near [0, 1]; rows beyond this are left out
SHORTEST, LONGEST = 1e-3, 1e6  # length scales: beyond, rounding outweighs distances
Slopes = Callable[[Floats, Labels], Floats]


class Labelled(Protocol):
    """Some rows: points in space, and a label each; rows of label -1 take no part."""

    x: Any  # (n, width)
    labels: Labels


@contextmanager
def functional_oracle(
    rows: Takeable[Labelled],
    ledger: SubsampledLedger,
    *,
    name: str,
    share: float,
    sampling_rate: float,
    n_steps: int,
    length_scales: Sequence[float],
    width: int,
    expected_rows: float,
) -> Iterator[Slopes]:
    r"""Open the rows for ``n_steps`` noisy slope fields of their kernel mean.

    ``step(points, labels)`` draws a secret Poisson sample S of the rows and returns
    :math:`\nabla f(w_j, c_j)` at each point, where

    .. math:: f = \frac{1}{q n} \Big( \sum_{i \in S} k(x_i, \cdot) \otimes e_{y_i}
              + \sigma G \Big), \qquad
              k(x, w) = \frac1H \sum_h e^{-\|x - w\|^2 / 2 h^2},

    G is a Gaussian process with covariance :math:`k \otimes I`, drawn again at every
    step, q is ``sampling_rate``, n is ``expected_rows``, and sigma comes from the
    ledger, which is charged for all steps on entry [1]_.

    *Why it is private.* A row adds a function of norm :math:`\sqrt{k(x, x)} = 1` to the
    sum, whatever x is. Slopes at given points are a bounded linear map A of f, and
    :math:`A G` is normal with covariance :math:`A A^*`. If two tables differ by g, the
    Mahalanobis distance of the two outputs is that of the projection of g on the row
    space of A: at most :math:`\|g\|`. So a step is a Gaussian mechanism of sensitivity
    1, at any points, and points may come from earlier steps because each step draws
    its own G. Covariances are those of the slopes of G themselves, exactly (see
    ``slope_noise``), not of an approximation that spans fewer directions than the
    function does. The divisor is fixed beforehand: the realised sample size would tell
    about rows.

    Parameters
    ----------
    rows : Takeable
        ``take(indices)`` gives ``x`` (n, width) and ``labels``; not kept after the
        block.
    ledger : SubsampledLedger
        Charged on entry.
    name : str
        Entry in the report.
    share : float
        Part of the budget's squared mu.
    sampling_rate, n_steps
        Public; one more step raises ``BudgetExceededError``.
    length_scales : sequence of float
        The kernel is the mean of Gaussians of these length scales; public.
    width : int
        How many numbers a row has.
    expected_rows : float
        Number of rows: the true one under ``"replace"``, a noisy one under
        ``"add_remove"``.

    Yields
    ------
    step : callable
        ``step(points, labels) -> ndarray of shape (n_points, width)``.

    References
    ----------
    .. [1] Hall, Rinaldo & Wasserman, "Differential privacy for functions and functional
       data", JMLR 2013.
    """
    scales = np.asarray(list(length_scales), dtype=np.float64)
    if not (len(scales) and ((scales >= SHORTEST) & (scales <= LONGEST)).all()):
        raise ValueError(
            f"length_scales must be in [{SHORTEST:g}, {LONGEST:g}]. "
            f"Got {list(length_scales)!r} instead."
        )
    if not 0 < sampling_rate <= 1:
        raise ValueError(
            f"sampling_rate must be in (0, 1]. Got {sampling_rate!r} instead."
        )
    if n_steps < 1 or width < 1:
        raise ValueError(
            f"n_steps and width must be at least 1. Got {n_steps!r} and {width!r}."
        )
    if not 0 < expected_rows < math.inf:
        raise ValueError(
            f"expected_rows must be in (0, inf). Got {expected_rows!r} instead."
        )
    sigma = ledger.charge_subsampled(
        name,
        share=share,
        sampling_rate=sampling_rate,
        n_steps=n_steps,
        norm_bound=1.0,
    )
    std = math.sqrt(float((1 / scales**2).mean()))  # of a slope of G
    opened: Takeable[Labelled] | None = rows
    n_done = 0

    def step(points: Floats, labels: Labels) -> Floats:
        nonlocal n_done
        if opened is None:
            raise RuntimeError("The oracle is closed. Step inside its `with` block.")
        if n_done >= n_steps:
            raise BudgetExceededError(
                f"{name!r} was charged for {n_steps} steps, and all are done. "
                "Ask for more steps when the oracle is opened."
            )
        points = np.asarray(points, dtype=np.float64)
        labels = np.asarray(labels)
        if points.ndim != 2 or points.shape != (len(labels), width):
            raise ValueError(
                f"There must be one label and {width} numbers per point. Got another "
                "shape."
            )
        if not (np.abs(points) <= FARTHEST).all() or not (labels >= 0).all():
            raise ValueError(
                f"points must be finite, at most {FARTHEST:g}, and labels not negative."
            )
        if np.unique(labels, return_counts=True)[1].max(initial=0) > MOST_POINTS:
            raise ValueError(f"A step takes at most {MOST_POINTS} points per label.")
        n_done += 1  # before the rows are read: an interrupted step is spent too
        sample = opened.take(poisson_sample(len(opened), sampling_rate))
        slopes = np.zeros(points.shape)
        for label in np.unique(labels):
            selected = np.flatnonzero(labels == label)
            near = rows_in_range(sample.x[np.asarray(sample.labels) == label])
            slopes[selected] = kernel_slopes(near, points[selected], scales)
            if sigma:
                slopes[selected] += sigma * slope_noise(points[selected], scales)
                slopes[selected] = on_grid(slopes[selected], sigma * std)
        if is_noise_insecure():
            ledger.mark_insecure()
        return slopes / (sampling_rate * expected_rows)

    try:
        yield step
    finally:
        opened = None
        del rows


def rows_in_range(x: ArrayLike) -> Floats:
    """Return rows in float64, without those that are not finite or too far away.

    A row that is left out adds the function 0. There may be no rows at all.
    """
    rows = np.asarray(x, dtype=np.float64)
    rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    return np.asarray(rows[(np.abs(rows) <= FARTHEST).all(axis=1)])


def kernel_slopes(x: Floats, points: Floats, scales: Floats) -> Floats:
    r"""Return the gradient at each point of :math:`\sum_i k(x_i, w)`.

    Examples
    --------
    >>> x, points = np.array([[1.0]]), np.array([[0.0]])
    >>> kernel_slopes(x, points, np.array([1.0])).round(4).tolist()
    [[0.6065]]
    """
    squares = cdist(x, points, "sqeuclidean")  # of differences: nothing cancels
    weights = sum(np.exp(-squares / (2 * h**2)) / h**2 for h in scales) / len(scales)
    weights = np.asarray(weights)
    x, points = x - points[0], points - points[0]
    return np.asarray(weights.T @ x - weights.sum(axis=0)[:, None] * points)


def slope_noise(points: Floats, scales: Floats) -> Floats:
    r"""Draw the slopes of a Gaussian process with covariance k at some points.

    .. math:: \mathrm{Cov}[\partial_a G(w_i), \partial_b G(w_j)] = \frac1H \sum_h
       k_h(w_i, w_j) \Big(\frac{\delta_{ab}}{h^2} - \frac{D_a D_b}{h^4}\Big),
       \quad D = w_i - w_j

    Orthogonal to all differences D this covariance is :math:`A \otimes I` with A the
    mean of :math:`K_h / h^2`: one factorisation, with as many rows as there are points,
    is enough. Within the span of the differences, which has fewer dimensions than there
    are points, it is factorised whole. The two parts are independent, and nothing is
    left out.
    """
    m, width = points.shape
    basis = orthonormal(points[1:] - points[0])  # (width, at most m - 1)
    projected = (points - points[0]) @ basis
    inner = slope_covariance(projected, scales)
    outer, _ = covariance_parts(projected, scales)
    noise = factor(outer) @ gaussian_noise((m, width), 1.0)
    noise -= (noise @ basis) @ basis.T
    rank = basis.shape[1]
    if rank:
        inner_noise = factor(inner) @ gaussian_noise((m * rank,), 1.0)
        noise += inner_noise.reshape(m, rank) @ basis.T
    return noise


def covariance_parts(points: Floats, scales: Floats) -> tuple[Floats, Floats]:
    """Return mean of K / h² and of K / h⁴."""
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    kernels = [np.exp(-squares / (2 * h**2)) for h in scales]
    pairs = list(zip(kernels, scales, strict=True))
    first = sum(kernel / h**2 for kernel, h in pairs) / len(scales)
    second = sum(kernel / h**4 for kernel, h in pairs) / len(scales)
    return np.asarray(first), np.asarray(second)


def slope_covariance(points: Floats, scales: Floats) -> Floats:
    """Return the covariance of all slopes, (m width, m width), point by point."""
    m, width = points.shape
    first, second = covariance_parts(points, scales)
    covariance = np.einsum("ij,ab->iajb", first, np.eye(width))
    gaps = points[:, None] - points[None]
    covariance -= np.einsum("ij,ija,ijb->iajb", second, gaps, gaps)
    return np.asarray(covariance.reshape(m * width, m * width))


def factor(covariance: Floats) -> Floats:
    """Return L with L Lᵀ = covariance + a little; raises rather than leave noise out.

    The little is additional independent noise, so it takes no privacy away.
    """
    if not len(covariance):
        return covariance
    jitter = JITTER * float(np.trace(covariance)) / len(covariance)
    for _ in range(4):
        try:
            ridge = jitter * np.eye(len(covariance))
            return np.asarray(np.linalg.cholesky(covariance + ridge))
        except np.linalg.LinAlgError:
            jitter *= 100  # points that coincide: rounding is larger than their gaps
    raise FloatingPointError("The noise at these points could not be drawn.")


def orthonormal(rows: Floats) -> Floats:
    """Return orthonormal directions whose span has all rows, (width, n_directions).

    A direction in which rows hardly differ is kept. Without it, two points that are
    near to each other, beside ones that are far away, would get the same noise, and one
    row could move the difference of their slopes by many times that noise.
    """
    if not rows.size:
        return np.zeros((rows.shape[1], 0))
    _, _, right = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(right.T)
