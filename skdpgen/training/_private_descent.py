"""DP-SGD: a network trained on private rows, through the door that privacy keeps."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from skdpgen.privacy import private_oracle
from skdpgen.training._matching import Averages
from skdpgen.training._row_slopes import RowLoss, RowSlopes

Network = TypeVar("Network", bound=nn.Module)
QUIET = 6.0  # noise of a mean gradient, in clipping norms, that needs no slower steps


class PrivateDescent:
    """Steps of DP-SGD, one at a time: between them other networks may be trained."""

    def __init__(
        self,
        network: nn.Module,
        slopes: RowSlopes,
        oracle: Callable[[Any], NDArray[np.float64]],
        optimiser: torch.optim.Optimizer,
        *,
        n_steps: int,
        learning_rate: float,
    ) -> None:
        self._network, self._slopes, self._oracle = network, slopes, oracle
        self._optimiser, self._averages = optimiser, Averages()
        self._n_steps, self.learning_rate = n_steps, learning_rate
        self.n_done = 0

    def step(self, public_loss: Callable[[nn.Module], Tensor] | None = None) -> None:
        """Descend along one noisy sum of clipped gradients of a secret sample.

        Parameters
        ----------
        public_loss : callable or None, default=None
            ``public_loss(network)``, of quantities that are public or made of
            releases, such as generated rows: its gradient is added, exactly and free.
        """
        progress = self.n_done / self._n_steps
        self.n_done += 1
        for group in self._optimiser.param_groups:
            group["lr"] = self.learning_rate * min(2.0 * (1.0 - progress), 1.0)
        noisy = self._slopes.to_weights(torch.from_numpy(self._oracle(self._slopes)))
        self._optimiser.zero_grad(set_to_none=True)
        if public_loss is not None:
            public_loss(self._network).backward()  # type: ignore[no-untyped-call]
        for name, weight in self._network.named_parameters():
            private = noisy[name].to(weight)
            weight.grad = private if weight.grad is None else weight.grad + private
        self._optimiser.step()
        self._averages.update(self._network, self.n_done - 1)

    def average(self) -> None:
        """Give the network the moving average of its weights; free."""
        self._averages.load_into(self._network)


@contextmanager
def private_descent(
    network: nn.Module,
    loss: RowLoss,
    rows: Any,
    ledger: Any,
    *,
    name: str,
    share: float,
    sampling_rate: float,
    n_steps: int,
    norm_bound: float,
    expected_rows: float,
    learning_rate: float,
    momentum: float = 0.9,
    is_adam: bool = False,
    quiet: float = QUIET,
    is_smooth: bool = False,
) -> Iterator[PrivateDescent]:
    r"""Open private rows for ``n_steps`` steps of DP-SGD, charged on entry.

    A step takes a secret Poisson sample S of the rows and moves the weights along

    .. math:: \frac{1}{q\,n} \Big( \sum_{i \in S} \mathrm{clip}_C(\nabla \ell_i)
              + \mathcal{N}(0, \sigma^2 C^2 I) \Big).

    *Why it is private.* :class:`RowSlopes` gives each row's gradient by itself, and
    :func:`~skdpgen.privacy.private_oracle` samples, clips, sums and adds noise: a row
    moves the sum by at most C when it joins or leaves. All else, the optimiser, its
    averages, ``public_loss``, sees nothing but noisy sums. Gradients are computed in
    double precision: it costs less than twice the time, and linear layers, whose
    gradients are not formed, gain more than that.

    Memory does not grow with the sample: rows come in chunks.

    Parameters
    ----------
    network : Module
        Trained in place. No layer may mix rows, as batch normalisation does.
    loss : callable
        ``loss(call, row)``: the loss of one row, without a dimension for the batch;
        ``call`` is the network.
    rows : object with ``len`` and ``take(indices)``
        ``take`` returns a tensor or array, or a tuple of them, one line a row; it is
        also asked for no rows, to tell their shape.
    ledger : Ledger
        Charged on entry.
    name : str
        Entry in the report.
    share : float
        Part of the budget's squared mu; fixed before anything is released.
    sampling_rate, n_steps, norm_bound, expected_rows
        As in :func:`~skdpgen.privacy.private_oracle`.
    learning_rate : float
        At its highest: it is lower if the noise is above ``quiet``, and falls to 0 in
        the second half.
    momentum : float, default=0.9
        Of stochastic gradient descent.
    is_adam : bool, default=False
        Use Adam instead, which scales noise up as much as gradients.
    quiet : float, default=6.0
        Norm of a step's noise, in clipping norms, up to which the learning rate stays.
    is_smooth : bool, default=False
        See :class:`RowSlopes`; rows go one by one if False.

    Yields
    ------
    descent : PrivateDescent
        With ``step()`` and ``average()``.
    """
    slopes = RowSlopes(
        network, loss, rows.take(np.empty(0, dtype=np.intp)), is_smooth=is_smooth
    )
    if is_adam:
        optimiser: Any = torch.optim.Adam(network.parameters(), betas=(momentum, 0.999))
    else:
        optimiser = torch.optim.SGD(network.parameters(), lr=0.0, momentum=momentum)
    with private_oracle(
        rows,
        ledger,
        name=name,
        share=share,
        sampling_rate=sampling_rate,
        n_steps=n_steps,
        norm_bound=norm_bound,
        width=slopes.width,
        expected_rows=expected_rows,
        layers=slopes.layers,
        at_once=slopes.at_once,
    ) as oracle:
        std = ledger.entries[-1].noise_std / (sampling_rate * expected_rows)
        noise = std * math.sqrt(slopes.width) / norm_bound  # public, or released
        yield PrivateDescent(
            network,
            slopes,
            oracle,
            optimiser,
            n_steps=n_steps,
            learning_rate=learning_rate / max(noise / quiet, 1.0),
        )


def descend_privately(
    network: Network,
    loss: RowLoss,
    rows: Any,
    ledger: Any,
    *,
    n_steps: int,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
    **settings: Any,
) -> Network:
    """Train a network by DP-SGD; return it with averaged weights, in evaluation mode.

    Parameters
    ----------
    network, loss, rows, ledger, n_steps, **settings
        As in :func:`private_descent`.
    progress : callable, default=iter
        Wraps the steps, to show how far they are.

    Examples
    --------
    >>> from skdpgen.privacy import Ledger, PrivacyBudget
    >>> class Rows:
    ...     x = np.random.default_rng(0).normal(1.0, 0.1, size=(1000, 2))
    ...     __len__ = lambda self: len(self.x)
    ...     take = lambda self, indices: self.x[indices]
    >>> def loss(call, row):
    ...     return (call(row) - row.sum()).square().sum()
    >>> network = descend_privately(
    ...     nn.Linear(2, 1),
    ...     loss,
    ...     Rows(),
    ...     Ledger(PrivacyBudget(1.0, 1e-5)),
    ...     name="a line",
    ...     share=1.0,
    ...     sampling_rate=0.1,
    ...     n_steps=200,
    ...     norm_bound=1.0,
    ...     expected_rows=1000,
    ...     learning_rate=0.05,
    ...     is_smooth=True,
    ... )
    >>> abs(network(torch.ones(2)).item() - 2.0) < 0.5
    True
    """
    network.train()
    with private_descent(
        network, loss, rows, ledger, n_steps=n_steps, **settings
    ) as descent:
        for _ in progress(range(n_steps)):
            descent.step()
        descent.average()
    return network.eval()
