"""Gradients of a loss for each row by itself; thin layers give theirs as factors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.utils._pytree import tree_leaves, tree_map

from skdpgen.privacy import Layer
from skdpgen.training._places import Shapes, matrices, shapes_of, tapped

Call = Callable[..., Any]  # the network
RowLoss = Callable[[Call, Any], Tensor]  # of one row
MOST_ROWS, NUMBERS = 128, 2**24  # rows that are mapped together, and their gradients
MIXING = (nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm)


class RowSlopes:
    r"""The gradient of each row's loss, as the layers that privacy clips and sums.

    Of a linear layer or a convolution the gradient is :math:`\sum_t u_t (v_t,
    1)^\top` over places t, where u is the slope of the loss along its outputs and v
    what went in: two thin factors. They are kept as they are where they are smaller
    than the gradient. All other weights give their gradient by ``vmap(grad(loss))``.

    *Each row by itself.* ``vmap`` maps a function of one row, so no row enters another
    one's gradient; layers that mix rows or draw random numbers are refused. How a sum
    is rounded may depend on the shape of a batch: so all batches have one shape (the
    last one is filled with zeros), in double precision, and what is left is some
    1e-16 of a smooth function. **A jump makes more of it**: unless ``is_smooth``, rows
    go one by one.

    Parameters
    ----------
    network : Module
        Not changed; its weights are read at each call.
    loss : callable
        ``loss(call, row)``, a scalar of one row, that reaches the weights through
        ``call``, which is the network.
    empty : tensor or tuple of tensors
        A batch of no rows: their shape and dtype.
    is_smooth : bool, default=False
        Whether the slopes of network and loss have no jump: tanh, SiLU, GELU, softplus
        and squares, but not ReLU, max-pooling and absolute values.

    Attributes
    ----------
    layers : tuple of int or (int, int)
        What a call returns, as :class:`~skdpgen.privacy.Layers` takes it.
    width : int
        Number of weights.
    at_once : int
        Rows that are mapped together.

    Examples
    --------
    >>> network = nn.Linear(9, 3, bias=False)
    >>> def loss(call, row):
    ...     return (call(row) * torch.arange(3)).sum()
    >>> slopes = RowSlopes(network, loss, torch.zeros(0, 9))
    >>> slopes.layers
    ((3, 9),)
    >>> ((u, v),) = slopes(torch.ones(1, 9))
    >>> u.tolist()
    [[[0.0, 1.0, 2.0]]]
    """

    def __init__(
        self, network: nn.Module, loss: RowLoss, empty: Any, *, is_smooth: bool = False
    ) -> None:
        _check_rows_apart(network)
        self._network, self._loss = network, loss
        self._matrices = matrices(network)
        self._shapes = self._trace(empty)
        self._matrices = {name: self._matrices[name] for name in self._shapes}
        own = {one.weight for one in self._matrices.values()}
        own |= {one.bias for one in self._matrices.values() if one.bias is not None}
        weights = dict(network.named_parameters())
        self._rest = {
            name: weight.shape for name, weight in weights.items() if name not in own
        }
        places = [self._matrices[k].n_places(self._shapes[k]) for k in self._shapes]
        shapes = [one.shape for one in self._matrices.values()]
        self._is_thin = [
            n * (a + b) < a * b for n, (a, b) in zip(places, shapes, strict=True)
        ]
        self.layers: tuple[Layer, ...] = tuple(
            (a, b) if is_thin else a * b
            for is_thin, (a, b) in zip(self._is_thin, shapes, strict=True)
        ) + tuple(shape.numel() for shape in self._rest.values())
        self.width = sum(weight.numel() for weight in weights.values())
        numbers = sum(one for one in self.layers if isinstance(one, int))
        numbers += sum(n * (a + b) for n, (a, b) in zip(places, shapes, strict=True))
        most = min(max(NUMBERS // max(numbers, 1), 1), MOST_ROWS)
        self.at_once = most if is_smooth else 1

    def __call__(self, rows: Any) -> list[Any]:
        """Return the layers of each row's gradient."""
        rows = self._prepared(rows)
        n = len(tree_leaves(rows)[0])
        state = self._state()
        rest = {name: state.pop(name) for name in self._rest}
        like = next(iter(self._network.parameters()))
        taps = {
            name: [like.new_zeros(shape, dtype=torch.float64) for shape in shapes]
            for name, shapes in self._shapes.items()
        }

        def of_one(rest: Any, taps: Any, row: Any) -> Any:
            with tapped(self._matrices, taps) as inputs:
                value = self._loss(self._caller({**state, **rest}), row)
            return value, inputs

        each = vmap(grad(of_one, argnums=(0, 1), has_aux=True), in_dims=(None, None, 0))
        found = []
        for first in range(0, n, self.at_once):
            some = tree_map(lambda one: self._filled(one, first), rows)  # noqa: B023
            (flat, u), v = each(rest, taps, some)
            found.append(self._layers_of(flat, u, v, min(n - first, self.at_once)))
        if len(found) == 1:
            return found[0]
        by_layer = zip(*found, strict=True)
        return [tree_map(lambda *parts: torch.cat(parts), *one) for one in by_layer]

    def to_weights(self, flat: Tensor) -> dict[str, Tensor]:
        """Return a sum of gradients by the names of the weights."""
        sizes = [a * b for a, b in (one.shape for one in self._matrices.values())]
        sizes += [shape.numel() for shape in self._rest.values()]
        parts = iter(flat.split(sizes))
        found: dict[str, Tensor] = {}
        for one in self._matrices.values():
            found |= one.to_weights(next(parts))
        return found | {k: next(parts).view(shape) for k, shape in self._rest.items()}

    def _trace(self, empty: Any) -> Shapes:
        """Return how a row of zeros passes matrices: public, as all rows are alike."""
        zeros = tree_map(
            lambda one: one.new_zeros(1, *one.shape[1:]), self._prepared(empty)
        )
        state = self._state()

        def of_one(row: Any) -> Any:
            self._loss(self._caller(state), row)
            return row

        with torch.no_grad(), shapes_of(self._matrices) as found:
            vmap(of_one)(zeros)
        return {name: shapes for name, shapes in found.items() if shapes}

    def _layers_of(self, flat: Any, u: Any, v: Any, n: int) -> list[Any]:
        """Return the layers of the first ``n`` rows of a batch."""
        found: list[Any] = []
        named = zip(self._matrices.items(), self._is_thin, strict=True)
        for (name, matrix), is_thin in named:
            left = [one[:n].detach() for one in u[name]]
            right = [one[:n].detach() for one in v[name]]
            if is_thin:
                found.append((matrix.slopes(left), matrix.inputs(right)))
            else:
                found.append(matrix.formed(left, right))
        return found + [flat[name][:n].detach().flatten(1) for name in self._rest]

    def _state(self) -> dict[str, Tensor]:
        """Return weights and buffers in double precision."""
        both = [*self._network.named_parameters(), *self._network.named_buffers()]
        return {
            name: one.detach().double() if one.is_floating_point() else one
            for name, one in both
        }

    def _caller(self, state: dict[str, Tensor]) -> Call:
        return lambda *given: functional_call(self._network, state, given)

    def _prepared(self, rows: Any) -> Any:
        """Return rows in double precision, on the network's device."""
        device = next(iter(self._network.parameters())).device

        def one(part: Any) -> Tensor:
            if not isinstance(part, Tensor):
                part = torch.from_numpy(np.array(part))
            part = part.to(device)
            return part.double() if part.is_floating_point() else part

        return tree_map(one, rows)

    def _filled(self, part: Tensor, first: int) -> Tensor:
        """Return a batch of the one shape, filled up with zeros."""
        some = part[first : first + self.at_once]
        missing = self.at_once - len(some)
        if not missing:
            return some
        return torch.cat([some, some.new_zeros(missing, *some.shape[1:])])


def _check_rows_apart(network: nn.Module) -> None:
    for name, module in network.named_modules():
        if isinstance(module, MIXING):
            raise ValueError(
                f"network must treat each row by itself. Layer {name!r} is a "
                f"{type(module).__name__}; use a LayerNorm or GroupNorm instead."
            )
        if isinstance(module, nn.modules.dropout._DropoutNd) and module.p > 0:
            raise ValueError(f"network must draw nothing. {name!r} is a dropout layer.")
