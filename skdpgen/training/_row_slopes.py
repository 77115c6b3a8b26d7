"""Gradients of a loss for each row by itself; linear layers give theirs as factors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.utils._pytree import tree_leaves, tree_map

from skdpgen.privacy import Layer

Call = Callable[..., Any]  # the network
RowLoss = Callable[[Call, Any], Tensor]  # of one row
MOST_ROWS, NUMBERS = 64, 2**22  # rows that are mapped together, and their gradients
MIXING = (nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm)


class RowSlopes:
    r"""The gradient of each row's loss, as the layers that privacy clips and sums.

    Of a linear layer :math:`y_t = W v_t + b` the gradient is :math:`\sum_t u_t (v_t,
    1)^\top`, where u is the slope of the loss along y: two thin factors instead of a
    matrix, for each row. All other weights, and linear layers that a row passes at so
    many places t that factors would be larger, give their gradient as it is.

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
        and squares, but not ReLU and absolute values.

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
        self._taps = self._trace(empty)
        linears = dict(network.named_modules())
        own = {name: _own_parameters(name, linears[name]) for name in self._taps}
        self._names = [name for names in own.values() for name in names]
        sizes = {name: one.numel() for name, one in self._weights(network).items()}
        self._dense = [name for name in sizes if name not in self._names]
        self._names += self._dense
        self._sizes = sizes
        factors = [_shape(linears[name]) for name in self._taps]
        dense = sum(sizes[name] for name in self._dense)
        self.layers: tuple[Layer, ...] = (*factors, *([dense] if dense else []))
        self.width = sum(sizes.values())
        together = min(max(NUMBERS // max(dense, 1), 1), MOST_ROWS)
        self._together = together if is_smooth else 1

    def __call__(self, rows: Any) -> list[Any]:
        """Return the layers of each row's gradient; of a linear one both factors."""
        rows = self._prepared(rows)
        n = len(tree_leaves(rows)[0])
        state = self._state()
        dense = {name: state.pop(name) for name in self._dense}
        device = next(iter(self._network.parameters())).device
        taps = {
            name: [
                torch.zeros(shape, dtype=torch.float64, device=device)
                for shape in shapes
            ]
            for name, shapes in self._taps.items()
        }

        def of_one(dense: Any, taps: Any, row: Any) -> Any:
            with self._tapped(taps) as inputs:
                value = self._loss(self._caller({**state, **dense}), row)
            return value, inputs

        slopes = vmap(
            grad(of_one, argnums=(0, 1), has_aux=True), in_dims=(None, None, 0)
        )
        found = []
        for first in range(0, n, self._together):
            some = tree_map(lambda one: self._filled(one, first), rows)  # noqa: B023
            (flat, u), v = slopes(dense, taps, some)
            found.append(self._layers_of(flat, u, v, min(n - first, self._together)))
        by_layer = zip(*found, strict=True)
        return [tree_map(lambda *parts: torch.cat(parts), *one) for one in by_layer]

    def to_weights(self, flat: Tensor) -> dict[str, Tensor]:
        """Return a sum of gradients by the names of the weights."""
        found, start = {}, 0
        linears = dict(self._network.named_modules())
        shapes = self._weights(self._network)
        for name in self._taps:
            a, b = _shape(linears[name])
            part = flat[start : start + a * b].view(a, b)
            weight, *bias = _own_parameters(name, linears[name])
            found[weight] = part[:, : b - len(bias)]
            found.update(dict.fromkeys(bias, part[:, -1]))
            start += a * b
        for name in self._dense:
            end = start + self._sizes[name]
            found[name] = flat[start:end].view(shapes[name].shape)
            start = end
        return found

    def _trace(self, empty: Any) -> dict[str, list[Any]]:
        """Return at which shapes a row of zeros passes linear layers worth factors."""
        empty = self._prepared(empty)
        zeros = tree_map(lambda one: one.new_zeros(1, *one.shape[1:]), empty)
        linears = {
            name: module
            for name, module in self._network.named_modules()
            if type(module) is nn.Linear
        }
        taps: dict[str, list[Any]] = {name: [] for name in linears}
        state = self._state()

        def of_one(row: Any) -> Any:
            seen: dict[str, list[Any]] = {name: [] for name in linears}
            with self._tapped({}, seen):
                self._loss(self._caller(state), row)
            taps.update(seen)
            return row

        with torch.no_grad():
            vmap(of_one)(zeros)
        tied = _tied(self._network)
        chosen = {}
        for name, shapes in taps.items():
            a, b = linears[name].weight.shape
            places = sum(shape[:-1].numel() for shape in shapes)
            if 0 < places * (a + b) < a * b and name not in tied:
                chosen[name] = shapes
        return chosen

    @contextmanager
    def _tapped(self, taps: Any, seen: Any = None) -> Iterator[dict[str, list[Tensor]]]:
        """Add a tap to outputs of linear layers, and yield what goes into them."""
        inputs: dict[str, list[Tensor]] = {name: [] for name in taps}
        calls = {name: iter(some) for name, some in taps.items()}
        linears = dict(self._network.named_modules())

        def listen(name: str) -> Any:
            def hook(module: Any, given: Any, output: Any) -> Any:
                if seen is not None:
                    seen[name].append(output.shape)
                    return output
                inputs[name].append(given[0].reshape(-1, given[0].shape[-1]))
                return output + next(calls[name])

            return linears[name].register_forward_hook(hook)

        handles = [listen(name) for name in (taps if seen is None else seen)]
        try:
            yield inputs
        finally:
            for handle in handles:
                handle.remove()

    def _layers_of(self, flat: Any, u: Any, v: Any, n: int) -> list[Any]:
        """Return factors and vectors of the first ``n`` rows of a batch."""
        found: list[Any] = []
        linears = dict(self._network.named_modules())
        for name in self._taps:
            left = torch.cat(
                [one.reshape(len(one), -1, one.shape[-1]) for one in u[name]], 1
            )
            right = torch.cat(v[name], dim=1)
            if linears[name].bias is not None:
                right = torch.cat([right, right.new_ones(*right.shape[:2], 1)], dim=2)
            found.append((left[:n].detach(), right[:n].detach()))
        if self._dense:
            parts = [flat[name].flatten(1)[:n] for name in self._dense]
            found.append(torch.cat(parts, dim=1).detach())
        return found

    def _state(self) -> dict[str, Tensor]:
        """Return weights and buffers in double precision."""
        both = [*self._network.named_parameters(), *self._network.named_buffers()]
        return {
            name: one.detach().double() if one.is_floating_point() else one
            for name, one in both
        }

    def _weights(self, network: nn.Module) -> dict[str, Tensor]:
        return dict(network.named_parameters())

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
        some = part[first : first + self._together]
        missing = self._together - len(some)
        return (
            torch.cat([some, some.new_zeros(missing, *some.shape[1:])])
            if missing
            else some
        )


def _check_rows_apart(network: nn.Module) -> None:
    for name, module in network.named_modules():
        if isinstance(module, MIXING):
            raise ValueError(
                f"network must treat each row by itself. Layer {name!r} is a "
                f"{type(module).__name__}; use a LayerNorm or GroupNorm instead."
            )
        if isinstance(module, nn.modules.dropout._DropoutNd) and module.p > 0:
            raise ValueError(f"network must draw nothing. {name!r} is a dropout layer.")


def _own_parameters(name: str, linear: nn.Module) -> list[str]:
    prefix = f"{name}." if name else ""
    return [prefix + own for own, _ in linear.named_parameters()]


def _shape(linear: Any) -> tuple[int, int]:
    return linear.out_features, linear.in_features + (linear.bias is not None)


def _tied(network: nn.Module) -> set[str]:
    """Return layers of which a weight stands in another one, too."""
    owners: dict[int, list[str]] = {}
    for name, module in network.named_modules(remove_duplicate=False):
        for weight in module._parameters.values():
            if weight is not None:
                owners.setdefault(id(weight), []).append(name)
    return {name for names in owners.values() if len(names) > 1 for name in names}
