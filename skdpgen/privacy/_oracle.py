"""A door for methods that must read rows while they train, such as DP-SGD."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy._blocks import Vectors
from skdpgen.privacy._noise import add_noise, is_noise_insecure, poisson_sample
from skdpgen.privacy._row_layers import Layer, Layers
from skdpgen.utils import BudgetExceededError

T = TypeVar("T", covariant=True)
AT_ONCE = 2**24  # numbers of the rows' vectors that are in memory together


class Takeable(Protocol[T]):
    """Rows in memory: a length, and the subset at some indices."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def take(self, indices: NDArray[np.intp], /) -> T:
        """Return the rows at ``indices``, which may be empty."""
        ...


class SubsampledLedger(Protocol):
    """What the door needs of a ledger."""

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
    The divisor is fixed beforehand: the realised sample size would tell about rows.
    ``per_row`` must treat each row by itself, which cannot be checked here: batch
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
        Most rows for which ``per_row`` is asked together; None bounds their memory.

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
    for what, size in (("n_steps", n_steps), ("width", width)):
        if size < 1:
            raise ValueError(f"{what} must be at least 1. Got {size!r} instead.")
    for what, value in (("norm_bound", norm_bound), ("expected_rows", expected_rows)):
        if not 0 < value < math.inf:
            raise ValueError(f"{what} must be in (0, inf). Got {value!r} instead.")
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
    n_done, at_once = 0, at_once or max(AT_ONCE // width, 1)

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
            some = indices[first : first + at_once]
            vectors = per_row(opened.take(some))
            if layers is None and tuple(vectors.shape) != (len(some), width):
                raise ValueError(
                    f"per_row must return one vector of width {width} for each row. "
                    "Got another shape instead."  # which would tell the sample size
                )
            total = block.add(total, vectors, np.zeros(len(some), dtype=np.int64))
        if is_noise_insecure():
            ledger.mark_insecure()
        noisy = add_noise(block.value(total)[0], noise_multiplier * norm_bound)
        return noisy / (sampling_rate * expected_rows)

    try:
        yield step
    finally:
        opened = None
        del rows
