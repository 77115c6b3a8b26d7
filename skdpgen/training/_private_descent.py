"""DP-SGD: a network trained on private rows, through the oracle of `privacy`."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import unfold
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.hooks import RemovableHandle

from skdpgen.privacy import Layer, Ledger, private_oracle
from skdpgen.training._matching import Averages

# ----------------------------------------------------------------------------
# Layers that multiply their inputs, at each place of a row, by one matrix.

Shapes = Mapping[str, list[torch.Size]]  # of outputs at each call, by layer


class Matrix:
    r"""A linear layer, or a convolution: a linear layer on the patches of an image.

    Its outputs are :math:`y_t = W v_t + b` at places t, so its gradient is
    :math:`\sum_t u_t (v_t, 1)^\top`, where u is the slope of the loss along y.

    Parameters
    ----------
    name : str
        Name of the layer in the network.
    module : Linear or Conv2d
    """

    def __init__(self, name: str, module: nn.Linear | nn.Conv2d) -> None:
        self.module = module
        prefix = f"{name}." if name else ""
        self.weight = prefix + "weight"
        self.bias = None if module.bias is None else prefix + "bias"
        n_out = module.weight.shape[0]
        self.shape = (n_out, module.weight.numel() // n_out + (self.bias is not None))

    @staticmethod
    def is_supported(module: nn.Module) -> bool:
        """Return whether a layer can be handled as a matrix; subclasses cannot."""
        if type(module) is nn.Conv2d:
            plain = module.groups == 1 and module.padding_mode == "zeros"
            return plain and not isinstance(module.padding, str)
        return type(module) is nn.Linear

    def n_places(self, outputs: list[torch.Size]) -> int:
        """Return the number of places of a row, over all calls."""
        return sum(shape.numel() for shape in outputs) // self.shape[0]

    def slopes(self, outputs: list[Tensor]) -> Tensor:
        """Return gradients by the outputs of all calls, (n, places, a)."""
        return _all_places([self._by_place(output) for output in outputs])

    def inputs(self, inputs: list[Tensor]) -> Tensor:
        """Return the inputs of all calls, (n, places, b), with ones for the bias."""
        values = self._inputs(inputs)
        if self.bias is None:
            return values
        return torch.cat([values, values.new_ones(*values.shape[:2], 1)], dim=2)

    def formed(self, outputs: list[Tensor], inputs: list[Tensor]) -> Tensor:
        """Return the full gradient by the matrix, (n, a * b)."""
        u = self.slopes(outputs)
        gradients = u.mT @ self._inputs(inputs)
        if self.bias is not None:
            gradients = torch.cat([gradients, u.sum(dim=1)[:, :, None]], dim=2)
        return gradients.flatten(1)

    def to_weights(self, gradient: Tensor) -> dict[str, Tensor]:
        """Return a gradient by the names of the weights."""
        gradient = gradient.view(self.shape)
        n_in = self.shape[1] - (self.bias is not None)
        shape = self.module.weight.shape
        named = {self.weight: gradient[:, :n_in].reshape(shape)}
        return named if self.bias is None else named | {self.bias: gradient[:, -1]}

    def _inputs(self, inputs: list[Tensor]) -> Tensor:
        return _all_places([self._by_place(self._patches(x)) for x in inputs])

    def _by_place(self, values: Tensor) -> Tensor:
        """Return (n, places, width)."""
        if type(self.module) is nn.Conv2d:  # (n, ..., channels, height, width)
            values = values.flatten(-2).mT
        return values.reshape(len(values), -1, values.shape[-1])

    def _patches(self, images: Tensor) -> Tensor:
        """Return patches of images, (n, ..., width, places, 1); other inputs as is."""
        module = self.module
        if type(module) is not nn.Conv2d:
            return images
        flat = images.reshape(-1, *images.shape[-3:])
        assert not isinstance(module.padding, str)  # `is_supported` excludes "same"
        patches = unfold(
            flat,
            module.kernel_size,
            dilation=module.dilation,
            padding=module.padding,
            stride=module.stride,
        )
        return patches.view(*images.shape[:-3], *patches.shape[1:], 1)


def _all_places(calls: list[Tensor]) -> Tensor:
    """Join the places of all calls; one call is not copied."""
    return torch.cat(calls, dim=1) if len(calls) > 1 else calls[0]


def matrices(network: nn.Module) -> dict[str, Matrix]:
    """Return the layers of a network that are matrices and share no weight."""
    owners: dict[int, list[str]] = {}
    for name, module in network.named_modules(remove_duplicate=False):
        for weight in module._parameters.values():
            if weight is not None:
                owners.setdefault(id(weight), []).append(name)
    tied = {name for names in owners.values() if len(names) > 1 for name in names}
    return {
        name: Matrix(name, module)
        for name, module in network.named_modules()
        if Matrix.is_supported(module) and name not in tied
    }


@contextmanager
def recorded_shapes(
    layers: Mapping[str, Matrix],
) -> Iterator[dict[str, list[torch.Size]]]:
    """Record the shapes of outputs while the network is called."""
    record: dict[str, list[torch.Size]] = {name: [] for name in layers}

    def listen(name: str) -> RemovableHandle:
        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            del module, inputs
            record[name].append(output.shape)

        return layers[name].module.register_forward_hook(hook)

    handles = [listen(name) for name in layers]
    try:
        yield record
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def recorded_inputs(
    layers: Mapping[str, Matrix], taps: Mapping[str, list[Tensor]]
) -> Iterator[dict[str, list[Tensor]]]:
    """Add a tap to each output, and record the inputs of each call.

    A tap is 0, so outputs do not change; its gradient is the gradient by the output.
    """
    record: dict[str, list[Tensor]] = {name: [] for name in taps}
    calls = {name: iter(taps_of_calls) for name, taps_of_calls in taps.items()}

    def listen(name: str) -> RemovableHandle:
        def hook(
            module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor
        ) -> Tensor:
            del module
            record[name].append(inputs[0])
            return output + next(calls[name])

        return layers[name].module.register_forward_hook(hook)

    handles = [listen(name) for name in taps]
    try:
        yield record
    finally:
        for handle in handles:
            handle.remove()


# ----------------------------------------------------------------------------
# Gradients of a loss for each row independently; those of thin layers as factors.

Call = Callable[..., Any]  # the network
PyTree: TypeAlias = Any  # a tensor, or a tuple or dict of them; a line for each row
RowLoss = Callable[[Call, Any], Tensor]  # loss of one row
LayerRows = Tensor | tuple[Tensor, Tensor]  # gradients of a layer, or their factors
MOST_ROWS = 512  # rows that are mapped together; more do not fit a cache
NUMBERS_AT_ONCE = 2**23  # in the gradients of these rows; 64 MiB
MIXING_LAYERS = (nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm)


class RowSlopes:
    r"""The gradient of each row's loss, in the layers that `privacy` clips and sums.

    The gradient by a linear layer or a convolution is :math:`\sum_t u_t (v_t,
    1)^\top` over places t, where u is the gradient of the loss by its outputs and v its
    inputs: two thin factors. They are not multiplied if they are smaller than the
    product. Gradients by all other weights come from ``vmap(grad(loss))``.

    *Independence of rows.* ``vmap`` maps a function of one row, so no row enters the
    gradient of another; layers that mix rows or draw random numbers are refused. The
    rounding of a sum may depend on the shape of a batch. So all batches have one shape
    (the last one is filled with zeros) and double precision, and what is left is about
    1e-16 of a smooth function. **A jump would amplify it**: unless ``is_smooth``, rows
    are mapped one by one.

    Parameters
    ----------
    network : Module
        Not changed; its weights are read at each call.
    loss : callable
        ``loss(call, row)``, a scalar for one row; ``call`` is the network.
    empty : tensor or tuple of tensors
        A batch without rows, for their shape and dtype.
    is_smooth : bool, default=False
        Whether gradients of network and loss are continuous: those of tanh, SiLU, GELU,
        softplus and squares are, those of ReLU, max-pooling and absolute values are
        not.
    n_usual : float, default=inf
        Number of rows that few calls exceed; public, or released. The size of batches
        is one that it fills.

    Attributes
    ----------
    layers : tuple of int or (int, int)
        Shapes of the layers that a call returns, for :class:`~skdpgen.privacy.Layers`.
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
        self,
        network: nn.Module,
        loss: RowLoss,
        empty: PyTree,
        *,
        is_smooth: bool = False,
        n_usual: float = math.inf,
    ) -> None:
        _check_rows_independent(network)
        self._network, self._loss = network, loss
        self._matrices = matrices(network)
        self._shapes = self._trace(empty)
        self._matrices = {name: self._matrices[name] for name in self._shapes}
        handled = {matrix.weight for matrix in self._matrices.values()}
        handled |= {m.bias for m in self._matrices.values() if m.bias is not None}
        weights = dict(network.named_parameters())
        self._rest = {
            name: weight.shape
            for name, weight in weights.items()
            if name not in handled
        }
        places = [self._matrices[k].n_places(self._shapes[k]) for k in self._shapes]
        shapes = [matrix.shape for matrix in self._matrices.values()]
        self._is_thin = [
            n * (a + b) < a * b for n, (a, b) in zip(places, shapes, strict=True)
        ]
        self.layers: tuple[Layer, ...] = tuple(
            (a, b) if is_thin else a * b
            for is_thin, (a, b) in zip(self._is_thin, shapes, strict=True)
        ) + tuple(shape.numel() for shape in self._rest.values())
        self.width = sum(weight.numel() for weight in weights.values())
        numbers = sum(layer for layer in self.layers if isinstance(layer, int))
        numbers += sum(n * (a + b) for n, (a, b) in zip(places, shapes, strict=True))
        largest = min(max(NUMBERS_AT_ONCE // max(numbers, 1), 1), MOST_ROWS)
        self.at_once = _batch_size(n_usual, largest) if is_smooth else 1

    def __call__(self, rows: PyTree) -> list[LayerRows]:
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

        def of_one(
            rest: dict[str, Tensor], taps: dict[str, list[Tensor]], row: PyTree
        ) -> tuple[Tensor, dict[str, list[Tensor]]]:
            with recorded_inputs(self._matrices, taps) as inputs:
                value = self._loss(self._caller({**state, **rest}), row)
            return value, inputs

        gradients = vmap(
            grad(of_one, argnums=(0, 1), has_aux=True), in_dims=(None, None, 0)
        )
        parts = []
        for first in range(0, n, self.at_once):
            batch = tree_map(lambda part: self._filled(part, first), rows)  # noqa: B023
            (flat, u), v = gradients(rest, taps, batch)
            parts.append(self._layers_of(flat, u, v, min(n - first, self.at_once)))
        if len(parts) == 1:
            return parts[0]
        by_layer = zip(*parts, strict=True)
        return [tree_map(lambda *x: torch.cat(x), *layer) for layer in by_layer]

    def to_weights(self, flat: Tensor) -> dict[str, Tensor]:
        """Return a sum of gradients by the names of the weights."""
        sizes = [a * b for a, b in (matrix.shape for matrix in self._matrices.values())]
        sizes += [shape.numel() for shape in self._rest.values()]
        parts = iter(flat.split(sizes))
        named: dict[str, Tensor] = {}
        for matrix in self._matrices.values():
            named |= matrix.to_weights(next(parts))
        return named | {k: next(parts).view(shape) for k, shape in self._rest.items()}

    def _trace(self, empty: PyTree) -> Shapes:
        """Return output shapes of matrices for a row of zeros; they are public."""
        zeros = tree_map(
            lambda part: part.new_zeros(1, *part.shape[1:]), self._prepared(empty)
        )
        state = self._state()

        def of_one(row: PyTree) -> PyTree:
            self._loss(self._caller(state), row)
            return row

        with torch.no_grad(), recorded_shapes(self._matrices) as record:
            vmap(of_one)(zeros)
        return {name: shapes for name, shapes in record.items() if shapes}

    def _layers_of(
        self,
        flat: Mapping[str, Tensor],
        u: Mapping[str, list[Tensor]],
        v: Mapping[str, list[Tensor]],
        n: int,
    ) -> list[LayerRows]:
        """Return the layers of the first ``n`` rows of a batch."""
        layers: list[LayerRows] = []
        named = zip(self._matrices.items(), self._is_thin, strict=True)
        for (name, matrix), is_thin in named:
            slopes = [slope[:n].detach() for slope in u[name]]
            inputs = [x[:n].detach() for x in v[name]]
            if is_thin:
                layers.append((matrix.slopes(slopes), matrix.inputs(inputs)))
            else:
                layers.append(matrix.formed(slopes, inputs))
        return layers + [flat[name][:n].detach().flatten(1) for name in self._rest]

    def _state(self) -> dict[str, Tensor]:
        """Return weights and buffers in double precision."""
        state = [*self._network.named_parameters(), *self._network.named_buffers()]
        return {
            name: value.detach().double() if value.is_floating_point() else value
            for name, value in state
        }

    def _caller(self, state: dict[str, Tensor]) -> Call:
        return lambda *inputs: functional_call(self._network, state, inputs)

    def _prepared(self, rows: PyTree) -> PyTree:
        """Return rows in double precision, on the network's device."""
        device = next(iter(self._network.parameters())).device

        def prepared(part: Tensor | NDArray[Any]) -> Tensor:
            if not isinstance(part, Tensor):
                part = torch.from_numpy(np.array(part))
            part = part.to(device)
            return part.double() if part.is_floating_point() else part

        return tree_map(prepared, rows)

    def _filled(self, part: Tensor, first: int) -> Tensor:
        """Return a batch of ``at_once`` rows, filled up with zeros."""
        batch = part[first : first + self.at_once]
        missing = self.at_once - len(batch)
        if not missing:
            return batch
        return torch.cat([batch, batch.new_zeros(missing, *batch.shape[1:])])


def _batch_size(n_rows: float, largest: int) -> int:
    """Return the size of the fewest equal batches that hold a number of rows.

    Examples
    --------
    >>> _batch_size(600.0, 512)
    300
    """
    if math.isinf(n_rows):
        return largest
    n_batches = math.ceil(n_rows / largest)
    return math.ceil(n_rows / n_batches)


def _check_rows_independent(network: nn.Module) -> None:
    for name, module in network.named_modules():
        if isinstance(module, MIXING_LAYERS):
            raise ValueError(
                f"network must treat each row by itself. Layer {name!r} is a "
                f"{type(module).__name__}; use a LayerNorm or GroupNorm instead."
            )
        if isinstance(module, nn.modules.dropout._DropoutNd) and module.p > 0:
            raise ValueError(f"network must draw nothing. {name!r} is a dropout layer.")


# ----------------------------------------------------------------------------
# DP-SGD: a network trained on private rows, through the oracle of `privacy`.

Network = TypeVar("Network", bound=nn.Module)


class RowsInMemory(Protocol):
    """Rows in memory, of which secret samples are taken."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def take(self, indices: NDArray[np.intp], /) -> PyTree:
        """Return the rows at ``indices``, which may be empty."""
        ...


RARE_SIZE_STDS = 4.0  # above the expected size of a sample
QUIET_NOISE = 6.0  # of a step, in clipping norms; above, steps get shorter


class PrivateDescent:
    """Steps of DP-SGD, one at a time; other networks may be trained in between."""

    def __init__(
        self,
        network: nn.Module,
        slopes: RowSlopes,
        oracle: Callable[[Any], NDArray[np.float64]],
        optimiser: torch.optim.Optimizer,
        *,
        n_steps: int,
        learning_rate: float,
        schedule: str = "one_cycle",
    ) -> None:
        self._schedule = schedule
        self._network, self._slopes, self._oracle = network, slopes, oracle
        self._optimiser, self._averages = optimiser, Averages()
        self._n_steps, self.learning_rate = n_steps, learning_rate
        self.n_done = 0

    def step(self, public_loss: Callable[[nn.Module], Tensor] | None = None) -> None:
        """Descend along one noisy sum of clipped gradients of a secret sample.

        Parameters
        ----------
        public_loss : callable or None, default=None
            ``public_loss(network)``, of quantities that are public or computed from
            releases, such as generated rows. Its exact gradient is added, for free.
        """
        progress = self.n_done / self._n_steps
        self.n_done += 1
        for group in self._optimiser.param_groups:
            is_constant = self._schedule == "constant"
            fall = 1.0 if is_constant else min(2.0 * (1.0 - progress), 1.0)
            group["lr"] = self.learning_rate * fall
        noisy = self._slopes.to_weights(torch.from_numpy(self._oracle(self._slopes)))
        self._optimiser.zero_grad(set_to_none=True)
        if public_loss is not None:
            public_loss(self._network).backward()
        for name, weight in self._network.named_parameters():
            private = noisy[name].to(weight)
            weight.grad = private if weight.grad is None else weight.grad + private
        self._optimiser.step()
        self._averages.update(self._network, self.n_done - 1)

    def average(self) -> None:
        """Load the moving average of its weights into the network; free."""
        self._averages.load_into(self._network)


@contextmanager
def private_descent(
    network: nn.Module,
    loss: RowLoss,
    rows: RowsInMemory,
    ledger: Ledger,
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
    quiet: float = QUIET_NOISE,
    is_smooth: bool = False,
    schedule: str = "one_cycle",
) -> Iterator[PrivateDescent]:
    r"""Open private rows for ``n_steps`` steps of DP-SGD, charged on entry.

    A step takes a secret Poisson sample S of the rows and moves the weights along

    .. math:: \frac{1}{q\,n} \Big( \sum_{i \in S} \mathrm{clip}_C(\nabla \ell_i)
              + \mathcal{N}(0, \sigma^2 C^2 I) \Big).

    *Why it is private.* :class:`RowSlopes` computes each row's gradient independently
    of others, and :func:`~skdpgen.privacy.private_oracle` samples, clips, sums and adds
    noise: a row moves the sum by at most C when it joins or leaves. The optimiser, its
    averages and ``public_loss`` depend on noisy sums only. Double precision takes less
    than twice the time, and factors of linear layers save more than that.

    Memory does not grow with the sample: rows are read in chunks.

    Parameters
    ----------
    network : Module
        Trained in place. No layer may mix rows, as batch normalisation does.
    loss : callable
        ``loss(call, row)``: the loss of one row, without a dimension for the batch;
        ``call`` is the network.
    rows : object with ``len`` and ``take(indices)``
        ``take`` returns a tensor or array, or a tuple of them, with one line for each
        row. It is also called with no indices, for the shape of rows.
    ledger : Ledger
        Charged on entry.
    name : str
        Entry in the report.
    share : float
        Part of the budget's squared mu; fixed before anything is released.
    sampling_rate, n_steps, norm_bound, expected_rows
        As in :func:`~skdpgen.privacy.private_oracle`.
    learning_rate : float
        The highest rate: it is lower if the noise exceeds ``quiet``, and falls to 0 in
        the second half.
    momentum : float, default=0.9
        Of stochastic gradient descent, or the first beta of Adam.
    is_adam : bool, default=False
        Use Adam instead. It rescales gradients with their noise.
    quiet : float, default=6.0
        Norm of a step's noise, in clipping norms, up to which the learning rate stays.
    is_smooth : bool, default=False
        See :class:`RowSlopes`; rows are mapped one by one if False.
    schedule : {"one_cycle", "constant"}, default="one_cycle"
        "constant" keeps the learning rate, whatever the noise is.

    Yields
    ------
    descent : PrivateDescent
        With ``step()`` and ``average()``.
    """
    n_expected = sampling_rate * expected_rows
    n_usual = math.inf  # of what the oracle refuses
    if 0 < n_expected < math.inf:
        spread = math.sqrt(n_expected * max(1.0 - sampling_rate, 0.0))
        n_usual = n_expected + RARE_SIZE_STDS * spread
    slopes = RowSlopes(
        network,
        loss,
        rows.take(np.empty(0, dtype=np.intp)),
        is_smooth=is_smooth,
        n_usual=n_usual,
    )
    if is_adam:
        optimiser: torch.optim.Optimizer = torch.optim.Adam(
            network.parameters(), betas=(momentum, 0.999)
        )
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
        std = ledger.entries[-1].noise_std / n_expected
        noise = std * math.sqrt(slopes.width) / norm_bound  # public, or released
        if schedule == "constant":
            noise = 0.0
        yield PrivateDescent(
            network,
            slopes,
            oracle,
            optimiser,
            n_steps=n_steps,
            learning_rate=learning_rate / max(noise / quiet, 1.0),
            schedule=schedule,
        )


def descend_privately(
    network: Network,
    loss: RowLoss,
    rows: RowsInMemory,
    ledger: Ledger,
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
