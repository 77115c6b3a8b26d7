"""Neural-tangent features: the gradient of an untrained network, normalised."""

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from numpy.typing import ArrayLike
from torch import Generator, Tensor, nn
from torch.func import functional_call, grad, vmap

from skdpgen.features._parts import Factors, mean_outer, outer
from skdpgen.utils import (
    are_amounts,
    asked,
    is_whole,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# The slope of a ReLU, 0 or 1, for a generator that learns by gradients.

LEAST_DIVISOR = 1e-12  # for a row whose units all receive 0


def smooth_step(x: Tensor) -> Tensor:  # (n, n_units) -> (n, n_units)
    r"""Return 1 where x > 0 and 0 elsewhere, with a useful gradient.

    The gradient of the step is 0 nearly everywhere, so a generator would not learn
    which units its rows should activate, and its images would be speckled. But a mean
    over many units with random weights changes smoothly, at the rate at which units
    cross 0. That rate is estimated with a Gaussian as wide as the inputs of a row's
    units: the gradient is that of :math:`\Phi(x / s)`, where s is their root mean
    square, held fixed.

    Values are exactly those of the step, and only rows of a generator are
    differentiated. So features of private rows, and their sensitivity, are unchanged.

    Examples
    --------
    >>> x = Tensor([[-1.0, 1.0]]).requires_grad_()
    >>> step = smooth_step(x)
    >>> step.sum().backward()
    >>> step.tolist()
    [[0.0, 1.0]]
    >>> x.grad
    tensor([[0.2420, 0.2420]])
    """
    step = (x > 0).to(x.dtype)
    if not x.requires_grad:
        return step
    width = x.detach().square().mean(dim=1, keepdim=True).sqrt() + LEAST_DIVISOR
    smooth = 0.5 * (x / (width * math.sqrt(2.0))).erf()
    return step + (smooth - smooth.detach())  # the bracket is 0


# ----------------------------------------------------------------------------
# Neural-tangent features: the gradient of an untrained network, normalised.

INPUT_STEP, LARGEST_INPUT = 2.0**-14, 32.0  # of a layer
WEIGHT_STEP, LARGEST_WEIGHT = 2.0**-12, 8.0


@asked("map")
@saved("features.tangent")
@dataclass(frozen=True, eq=False)
class NTKFeatures:
    r"""Neural-tangent features of a fully connected network, in closed form.

    .. math:: \phi(x) = \nabla_\theta f_\theta(x) / \|\nabla_\theta f_\theta(x)\|

    for a network f with public random weights, which is never trained [1]_. The
    gradient by a layer's weights is an outer product, of what comes back to the layer
    and what goes into it. So

    * its norm is a product of norms: no row's gradient is ever formed;
    * the sum over rows is a matrix product, :math:`\sum_i u_i v_i^\top = U^\top V`.

    The sum of several outputs has the gradient of one output with other weights, except
    that its last block is repeated: one output is enough, and has less noise. Weights
    are normal and divided by the root of a layer's inputs (the tangent
    parametrisation), so no layer outweighs another; a bias is one more input.

    *Bound.* :math:`\|\phi(x)\| = 1` unless the gradient is 0 or not finite, where it is
    the zero vector. Entries have any sign, unless ``is_nonnegative``: one hidden layer,
    inputs that are not negative, and fixed biases and a fixed readout of ones, which do
    not count as weights, so that the gradient is :math:`1[w_k^\top x + b_k > 0] x`.
    (Only the squares of a readout enter the kernel, so ones give what random signs
    would. The gradient by the readout, the ReLU outputs, tells little more than
    brightness, and would take half of the norm; the one by biases tells how dark a row
    is.)

    *Why features of a row do not depend on its position.* The last digit of a matrix
    product depends on the position of a row, and can decide whether a slope of ReLU is
    0 or 1. Removing a row could then flip the slopes of all later ones. So products are
    exact.
    Inputs of a layer are multiples of 2⁻¹⁴ up to 32, weights multiples of 2⁻¹² up to 8;
    a sum of K products is then a multiple of 2⁻²⁶ up to K 2⁸, which float64 holds for
    K <= 2¹⁹, in whatever order it is added. In a normalised layer the sums over 2¹⁵
    units and over their squares are exact, too. The rest up to the slopes is done
    number by number.

    Parameters
    ----------
    weights : tuple of Tensor of shape (n_outputs, n_inputs + 1)
        Of the hidden layers; the last column is the bias. They are rounded.
    readout : Tensor of shape (1, width)
    centre, scale : Tensor of shape (n_inputs,)
        Public constants: inputs become ``scale * (x - centre)`` first.
    has_layer_norm : bool
        Whether layers are normalised before their ReLU; the normalisation has no
        weights.
    is_nonnegative : bool
        Whether no entry is negative, and biases and the readout are fixed.

    References
    ----------
    .. [1] Yang, Adamczewski, Li, Sutherland & Park, "Differentially private neural
       tangent kernels for privacy-preserving data generation", JAIR 2024.

    Examples
    --------
    >>> phi = NTKFeatures.draw(3, 5, rng=Generator().manual_seed(0))
    >>> rows = phi(torch.ones(2, 3))
    >>> rows.shape, rows.norm(dim=1).round(decimals=4).tolist()
    (torch.Size([2, 25]), [1.0, 1.0])
    """

    weights: tuple[Tensor, ...]
    readout: Tensor
    centre: Tensor
    scale: Tensor
    has_layer_norm: bool = False
    is_nonnegative: bool = False

    norm_bound = 1.0

    def check_asked(self) -> None:
        """Check fields that another party may have set; weights were rounded."""
        refuse_unless(
            all(are_amounts(weight, LARGEST_WEIGHT, 2) for weight in self.weights)
            and are_amounts(self.readout, 1e6, 2)
            and are_amounts(self.centre, 1e6, 1)
            and are_amounts(self.scale, 1e6, 1)
            and type(self.has_layer_norm) is bool
            and type(self.is_nonnegative) is bool,
            "the weights of a network",
        )

    def __post_init__(self) -> None:
        """Round the weights; sums over larger layers would not be exact."""
        sizes = [w.shape for w in self.weights]
        width, n_inputs = (max(size[k] for size in sizes) for k in (0, 1))
        if n_inputs > 2**19 or (self.has_layer_norm and width > 2**15):
            raise ValueError(
                "A layer must have at most 2^19 inputs and, if it is normalised, 2^15 "
                f"units. Got {n_inputs} and {width}."
            )
        weights = tuple(_rounded(w, WEIGHT_STEP, LARGEST_WEIGHT) for w in self.weights)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def draw(
        cls,
        n_inputs: int,
        width: int,
        depth: int = 1,
        *,
        centre: Tensor | ArrayLike = 0.0,
        scale: Tensor | ArrayLike = 1.0,
        has_layer_norm: bool = False,
        is_positive: bool = False,
        rng: Generator,
    ) -> Self:
        """Draw the weights of ``depth`` hidden layers of ``width`` units.

        ``is_positive`` says that inputs, centred and scaled, are never negative: then
        the gradients by a single hidden layer without normalisation are not negative
        either, and they are the features.
        """
        centre, scale = (
            torch.as_tensor(value, dtype=torch.float32).expand(n_inputs).contiguous()
            for value in (centre, scale)
        )
        sizes = [n_inputs, *[width] * depth]
        weights = [
            torch.randn(after, before + 1, generator=rng)
            for before, after in itertools.pairwise(sizes)
        ]
        readout = torch.randn(1, width, generator=rng)
        is_nonnegative = is_positive and depth == 1 and not has_layer_norm
        if is_nonnegative:
            readout = torch.ones_like(readout)
        return cls(
            tuple(weights), readout, centre, scale, has_layer_norm, is_nonnegative
        )

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Shape of the gradient by each layer."""
        if self.is_nonnegative:
            return ((self.weights[0].shape[0], self.weights[0].shape[1] - 1),)
        return tuple((w.shape[0], w.shape[1]) for w in (*self.weights, self.readout))

    @property
    def kinds(self) -> tuple[str, ...]:
        """What signs the gradient by each layer can have."""
        kind = "nonnegative" if self.is_nonnegative else "signed"
        return (kind,) * len(self.shapes)

    @property
    def n_features(self) -> int:
        """Number of features: of weights and biases."""
        return sum(a * b for a, b in self.shapes)

    @property
    def row_size(self) -> int:
        """Number of values that one row takes."""
        return sum(a + b for a, b in self.shapes)

    def to(self, device: torch.device) -> "NTKFeatures":
        """Return the same map on another device."""
        weights = tuple(w.to(device) for w in self.weights)
        return replace(
            self,
            weights=weights,
            readout=self.readout.to(device),
            centre=self.centre.to(device),
            scale=self.scale.to(device),
        )

    def double(self) -> "NTKFeatures":
        """Return the same map in double precision."""
        weights = tuple(w.double() for w in self.weights)
        return replace(
            self,
            weights=weights,
            readout=self.readout.double(),
            centre=self.centre.double(),
            scale=self.scale.double(),
        )

    def factors(self, x: Tensor) -> Factors:
        """Return u and v of each layer, whose outer products are the features.

        Differentiable, jumps of slopes included (:func:`smooth_step`). Forward through
        the layers and back by the chain rule.
        """
        inputs, slopes = [], []
        x = self.scale * (x - self.centre)
        for weight in self.weights:
            x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
            x, root = _rounded(x, INPUT_STEP, LARGEST_INPUT), math.sqrt(x.shape[1])
            inputs.append(x / root)
            x, slope = self._layer(x @ weight.T / root)  # the product is exact
            slopes.append(slope)
        inputs.append(x / math.sqrt(x.shape[1]))
        back = self.readout / math.sqrt(x.shape[1])  # d f / d x
        outputs = [torch.ones_like(x[:, :1])]
        for weight, slope in zip(self.weights[::-1], slopes[::-1], strict=True):
            back = self._back(back, slope)
            outputs.append(back)
            back = back @ weight[:, :-1] / math.sqrt(weight.shape[1])
        if self.is_nonnegative:  # biases and the readout are fixed
            return _normalised(outputs[-1:], [inputs[0][:, :-1]])
        return _normalised(outputs[::-1], inputs)

    def __call__(self, x: Tensor) -> Tensor:  # (n, n_inputs) -> (n, n_features)
        """Map the rows of ``x``; differentiable."""
        return outer(self.factors(x))

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features).

        Rows x features are never in memory.
        """
        return mean_outer(self.factors(x), n_parts)

    def expected(self, points: Sequence[Tensor]) -> None:
        """Return None: a mean over rows has no closed form, so rows must be drawn."""

    def _layer(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor | None]]:
        """Return a layer's output, and what its backward pass needs."""
        scale = None
        if self.has_layer_norm:
            x = _rounded(x, INPUT_STEP, LARGEST_INPUT)
            centred = _rounded(
                x - x.mean(dim=1, keepdim=True), INPUT_STEP, LARGEST_INPUT
            )
            scale = 1.0 / (centred.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()
            x = centred * scale
        return x.relu() * math.sqrt(2.0), (x, scale)

    def _back(self, back: Tensor, slope: tuple[Tensor, Tensor | None]) -> Tensor:
        """Go back through ReLU and normalisation."""
        x, scale = slope
        back = back * math.sqrt(2.0) * smooth_step(x)
        if scale is None:
            return back
        back = (back - (back * x).mean(dim=1, keepdim=True) * x) * scale
        return back - back.mean(dim=1, keepdim=True)


ARCHITECTURES = {"fc_1l": 1, "fc_2l": 2, "cnn_2l": 2}  # numbers of widths


@asked("map")
@saved("features.tangent_network")
@dataclass(frozen=True, eq=False)
class NetworkNTKFeatures:
    r"""Neural-tangent features of the networks of DP-NTK's table 5, in closed form.

    With linear layers :math:`W_k` that have biases, the networks are

    * "fc_1l": :math:`w_2\, \mathrm{norm}(\mathrm{relu}(W_1 x))`;
    * "fc_2l": :math:`w_3\, \mathrm{norm}(W_2\, \mathrm{relu}(W_1 x))`;
    * "cnn_2l": :math:`w_3\, \mathrm{relu}(W_2\, \mathrm{relu}(W_1 * x))`, where
      :math:`W_1 *` is a convolution of width 1: each input alone, in each channel.

    Here norm is a layer normalisation without weights. First weights are uniform, up to
    one over the root of a layer's inputs, as torch has them. One output is enough, as
    for :class:`NTKFeatures`, which also says why gradients are not formed.

    *Bound.* As there, :math:`\|\phi(x)\| = 1` unless the gradient is 0 or not finite.

    *Why features of a row do not depend on its position.* As there: what decides a
    slope of ReLU is a sum of products of multiples of :math:`2^{-14}` and
    :math:`2^{-12}`, which is exact in float64 in any order, for up to 2¹⁹ inputs. So
    outputs of a layer are rounded before the next one. All else is smooth.

    Parameters
    ----------
    architecture : {"fc_1l", "fc_2l", "cnn_2l"}
    n_inputs : int
    weights : tuple of Tensor of shape (n_outputs, n_inputs + 1)
        Of all layers; the last column is the bias. They are rounded.

    References
    ----------
    .. [1] Yang, Adamczewski, Li, Sutherland & Park, "Differentially private neural
       tangent kernels for privacy-preserving data generation", JAIR 2024, table 5.

    Examples
    --------
    >>> rng = Generator().manual_seed(0)
    >>> phi = NetworkNTKFeatures.draw("cnn_2l", 3, (2, 5), rng=rng)
    >>> rows = phi(torch.ones(2, 3))
    >>> rows.shape, rows.norm(dim=1).round(decimals=4).tolist()
    (torch.Size([2, 45]), [1.0, 1.0])
    """

    architecture: str
    n_inputs: int
    weights: tuple[Tensor, ...]

    norm_bound = 1.0

    def check_asked(self) -> None:
        """Check fields that another party may have set; weights were rounded."""
        refuse_unless(
            self.architecture in ARCHITECTURES
            and is_whole(self.n_inputs, 1, 2**19)
            and len(self.weights) == ARCHITECTURES[self.architecture] + 1
            and all(are_amounts(weight, LARGEST_WEIGHT, 2) for weight in self.weights),
            "the weights of a network",
        )

    def __post_init__(self) -> None:
        """Round the weights; sums over larger layers would not be exact."""
        if max(weight.shape[1] for weight in self.weights) > 2**19:
            raise ValueError("A layer must have at most 2^19 inputs. Got more.")
        weights = tuple(_rounded(w, WEIGHT_STEP, LARGEST_WEIGHT) for w in self.weights)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def draw(
        cls, architecture: str, n_inputs: int, widths: Sequence[int], *, rng: Generator
    ) -> Self:
        """Draw the weights of a network with hidden layers of the given widths."""
        sizes = [(widths[0], 1 if architecture == "cnn_2l" else n_inputs)]
        for units in widths[1:]:
            before = widths[0] * n_inputs if architecture == "cnn_2l" else widths[0]
            sizes.append((units, before))
        sizes.append((1, widths[-1]))
        weights = [
            (2.0 * torch.rand(units, before + 1, generator=rng) - 1.0)
            / math.sqrt(before)
            for units, before in sizes
        ]
        return cls(architecture, n_inputs, tuple(weights))

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Shape of the gradient by each layer."""
        first, *others = [(w.shape[0], w.shape[1]) for w in self.weights]
        if self.architecture == "cnn_2l":  # of a channel: a weight and a bias
            first = (1, 2 * first[0])
        return (first, *others)

    @property
    def n_features(self) -> int:
        """Number of features: of weights and biases."""
        return sum(a * b for a, b in self.shapes)

    @property
    def row_size(self) -> int:
        """Number of values that one row takes."""
        return sum(a + b for a, b in self.shapes)

    def to(self, device: torch.device) -> "NetworkNTKFeatures":
        """Return the same map on another device."""
        return replace(self, weights=tuple(w.to(device) for w in self.weights))

    def double(self) -> "NetworkNTKFeatures":
        """Return the same map in double precision."""
        return replace(self, weights=tuple(w.double() for w in self.weights))

    def factors(self, x: Tensor) -> Factors:
        """Return u and v of each layer, whose outer products are the features."""
        x = _rounded(x, INPUT_STEP, LARGEST_INPUT)
        if self.architecture == "cnn_2l":
            return self._of_convolution(x)
        first, *middle, last = self.weights
        inputs, ones = [_with_one(x)], torch.ones_like(x[:, :1])
        z = inputs[0] @ first.T  # exact
        hidden = _rounded(z.relu(), INPUT_STEP, LARGEST_INPUT)
        for weight in middle:
            inputs.append(_with_one(hidden))
            hidden = inputs[-1] @ weight.T
        normed, scale = _layer_norm(hidden)
        back = _back_through_norm(last[:, :-1].expand(len(x), -1), normed, scale)
        slopes = []
        for weight in middle:
            slopes.append(back)
            back = back @ weight[:, :-1]
        return _normalised(
            [back * smooth_step(z), *slopes, ones], [*inputs, _with_one(normed)]
        )

    def _of_convolution(self, x: Tensor) -> Factors:
        """Return factors of the network that begins with a convolution."""
        first, second, last = self.weights
        ones = torch.ones_like(x[:, :1])
        z = first[:, :1] * x[:, None] + first[:, 1:]  # (n, channels, inputs)
        hidden = _with_one(_rounded(z.relu(), INPUT_STEP, LARGEST_INPUT).flatten(1))
        y = hidden @ second.T  # exact
        back = last[:, :-1] * smooth_step(y)
        onto = (back @ second[:, :-1]).view_as(z)
        slope = onto * smooth_step(z.flatten(1)).view_as(z)
        of_channels = torch.cat([(slope * x[:, None]).sum(2), slope.sum(2)], dim=1)
        return _normalised(
            [ones, back, ones], [of_channels, hidden, _with_one(y.relu())]
        )

    def __call__(self, x: Tensor) -> Tensor:  # (n, n_inputs) -> (n, n_features)
        """Map the rows of ``x``; differentiable."""
        return outer(self.factors(x))

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return mean_outer(self.factors(x), n_parts)

    def expected(self, points: Sequence[Tensor]) -> None:
        """Return None: a mean over rows has no closed form, so rows must be drawn."""


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def _layer_norm(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows of mean 0 and variance 1, and what they were multiplied by."""
    centred = x - x.mean(dim=1, keepdim=True)
    scale = 1.0 / (centred.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()
    return centred * scale, scale


def _back_through_norm(back: Tensor, normed: Tensor, scale: Tensor) -> Tensor:
    back = back - (back * normed).mean(dim=1, keepdim=True) * normed
    return (back - back.mean(dim=1, keepdim=True)) * scale


class ModuleNTKFeatures:
    """Neural-tangent features of any module, by automatic differentiation.

    Slower than :class:`NTKFeatures`, for networks without a closed form. The gradient
    of the sum of all outputs is taken by all weights that require one, and divided by
    its norm. The module is copied. It must treat each row by itself, its weights must
    be public (random, or trained on public data), and its ``forward`` must be pure: it
    is run on private rows, and nobody accounts for what it may write down about them.
    The last digit of what it computes may decide a ReLU's slope, so it sees private
    rows one at a time: in a batch, removing one row could flip the slopes of all.

    Parameters
    ----------
    module : torch.nn.Module
        From (n, n_inputs) to (n, n_outputs) or (n,).

    Examples
    --------
    >>> phi = ModuleNTKFeatures(nn.Sequential(nn.Linear(3, 4), nn.Tanh()))
    >>> phi(torch.ones(2, 3)).shape
    torch.Size([2, 16])
    """

    norm_bound = 1.0
    is_opaque = True

    def __init__(self, module: nn.Module) -> None:
        self.module = copy.deepcopy(module).eval()
        self.weights = {
            name: value.detach()
            for name, value in self.module.named_parameters()
            if value.requires_grad
        }

    @property
    def n_features(self) -> int:
        """Number of features: of weights."""
        return sum(weight.numel() for weight in self.weights.values())

    @property
    def row_size(self) -> int:
        """Number of values that one row takes."""
        return self.n_features

    def to(self, device: torch.device) -> "ModuleNTKFeatures":
        """Return the same map on another device."""
        return self._moved(device)

    def _moved(self, where: torch.device | torch.dtype) -> "ModuleNTKFeatures":
        return ModuleNTKFeatures(copy.deepcopy(self.module).to(where))

    def double(self) -> "ModuleNTKFeatures":
        """Return the same map in double precision."""
        return self._moved(torch.float64)

    def __call__(self, x: Tensor) -> Tensor:  # (n, ...) -> (n, n_features)
        """Map the rows of ``x``; differentiable."""

        def output(weights: dict[str, Tensor], row: Tensor) -> Tensor:
            value: Tensor = functional_call(self.module, weights, (row[None],))
            return value.sum()

        gradients = vmap(grad(output), in_dims=(None, 0))(self.weights, x)
        rows = torch.cat([g.flatten(1) for g in gradients.values()], dim=1)
        ones = torch.ones_like(rows[:, :1])
        return _normalised([ones], [rows])[0][1]

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return self(x).reshape(n_parts, -1, self.n_features).mean(dim=1)

    def expected(self, points: Sequence[Tensor]) -> None:
        """Return None: a mean over rows has no closed form, so rows must be drawn."""


def _rounded(x: Tensor, step: float, largest: float) -> Tensor:
    """Clamp and round, number by number; the slope is that of clamping alone."""
    near = x.clamp(-largest, largest)
    return near + ((near / step).round() * step - near).detach()


def _normalised(outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Factors:
    """Divide by the joint norm of all outer products of a row."""
    squares = [
        u.square().sum(dim=1) * v.square().sum(dim=1)
        for u, v in zip(outputs, inputs, strict=True)
    ]
    square = torch.stack(squares).sum(dim=0)
    fine = (square > 0) & square.isfinite()
    scale = torch.where(fine, square, 1.0).sqrt()[:, None]
    fine = fine[:, None]
    return [
        (torch.where(fine, u, 0.0), torch.where(fine, v, 0.0) / scale)
        for u, v in zip(outputs, inputs, strict=True)
    ]
