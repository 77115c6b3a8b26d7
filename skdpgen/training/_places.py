"""Layers that multiply one matrix by what they get at each place of a row."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import unfold

Shapes = Mapping[str, list[torch.Size]]  # of outputs at each call, by layer


class Matrix:
    r"""A linear layer, or a convolution, which is one over the patches of an image.

    Its outputs are :math:`y_t = W v_t + b` at places t, so its gradient is
    :math:`\sum_t u_t (v_t, 1)^\top`, where u is the slope of the loss along y.

    Parameters
    ----------
    name : str
        In the network.
    module : Linear or Conv2d
    """

    def __init__(self, name: str, module: Any) -> None:
        self.module = module
        prefix = f"{name}." if name else ""
        self.weight = prefix + "weight"
        self.bias = None if module.bias is None else prefix + "bias"
        n_out = module.weight.shape[0]
        self.shape = (n_out, module.weight.numel() // n_out + (self.bias is not None))

    @staticmethod
    def is_one(module: nn.Module) -> bool:
        """Return whether a layer is understood; others, and subclasses, are not."""
        if type(module) is nn.Conv2d:
            plain = module.groups == 1 and module.padding_mode == "zeros"
            return plain and not isinstance(module.padding, str)
        return type(module) is nn.Linear

    def n_places(self, outputs: list[torch.Size]) -> int:
        """Return at how many places of a row it is, over all calls."""
        return sum(shape.numel() for shape in outputs) // self.shape[0]

    def slopes(self, outputs: list[Tensor]) -> Tensor:
        """Return slopes along outputs, (n, places, a), of all calls."""
        return _together([self._by_place(one) for one in outputs])

    def inputs(self, inputs: list[Tensor]) -> Tensor:
        """Return what goes in, (n, places, b), with ones for the bias."""
        found = self._inputs(inputs)
        if self.bias is None:
            return found
        return torch.cat([found, found.new_ones(*found.shape[:2], 1)], dim=2)

    def formed(self, outputs: list[Tensor], inputs: list[Tensor]) -> Tensor:
        """Return the gradient itself, (n, a * b)."""
        u = self.slopes(outputs)
        found = u.mT @ self._inputs(inputs)
        if self.bias is not None:
            found = torch.cat([found, u.sum(dim=1)[:, :, None]], dim=2)
        return found.flatten(1)

    def to_weights(self, gradient: Tensor) -> dict[str, Tensor]:
        """Return a gradient by the names of the weights."""
        gradient = gradient.view(self.shape)
        n_in = self.shape[1] - (self.bias is not None)
        shape = self.module.weight.shape
        found = {self.weight: gradient[:, :n_in].reshape(shape)}
        return found if self.bias is None else found | {self.bias: gradient[:, -1]}

    def _inputs(self, inputs: list[Tensor]) -> Tensor:
        return _together([self._by_place(self._patches(one)) for one in inputs])

    def _by_place(self, values: Tensor) -> Tensor:
        """Return (n, places, width)."""
        if type(self.module) is nn.Conv2d:  # (n, ..., channels, height, width)
            values = values.flatten(-2).mT
        return values.reshape(len(values), -1, values.shape[-1])

    def _patches(self, images: Tensor) -> Tensor:
        """Return patches of images, (n, ..., width, places, 1); others as they are."""
        module = self.module
        if type(module) is not nn.Conv2d:
            return images
        flat = images.reshape(-1, *images.shape[-3:])
        patches = unfold(
            flat,
            module.kernel_size,
            dilation=module.dilation,
            padding=module.padding,
            stride=module.stride,
        )
        return patches.view(*images.shape[:-3], *patches.shape[1:], 1)


def _together(calls: list[Tensor]) -> Tensor:
    """Return the places of all calls; of a single one without a copy."""
    return torch.cat(calls, dim=1) if len(calls) > 1 else calls[0]


def matrices(network: nn.Module) -> dict[str, Matrix]:
    """Return the layers of a network that are matrices with weights of their own."""
    owners: dict[int, list[str]] = {}
    for name, module in network.named_modules(remove_duplicate=False):
        for weight in module._parameters.values():
            if weight is not None:
                owners.setdefault(id(weight), []).append(name)
    tied = {name for names in owners.values() if len(names) > 1 for name in names}
    return {
        name: Matrix(name, module)
        for name, module in network.named_modules()
        if Matrix.is_one(module) and name not in tied
    }


@contextmanager
def shapes_of(layers: Mapping[str, Matrix]) -> Iterator[dict[str, list[torch.Size]]]:
    """Yield a record of the shapes of outputs, filled as the network is called."""
    found: dict[str, list[torch.Size]] = {name: [] for name in layers}

    def listen(name: str) -> Any:
        def hook(module: Any, given: Any, output: Tensor) -> None:
            del module, given
            found[name].append(output.shape)

        return layers[name].module.register_forward_hook(hook)

    handles = [listen(name) for name in layers]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def tapped(
    layers: Mapping[str, Matrix], taps: Mapping[str, list[Tensor]]
) -> Iterator[dict[str, list[Tensor]]]:
    """Add a tap to each output, and yield a record of what goes in."""
    found: dict[str, list[Tensor]] = {name: [] for name in taps}
    calls = {name: iter(some) for name, some in taps.items()}

    def listen(name: str) -> Any:
        def hook(module: Any, given: Any, output: Tensor) -> Tensor:
            del module
            found[name].append(given[0])
            return output + next(calls[name])

        return layers[name].module.register_forward_hook(hook)

    handles = [listen(name) for name in taps]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()
