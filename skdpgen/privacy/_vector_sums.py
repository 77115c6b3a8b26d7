"""Sums of several vectors, of their squares, and of outer products."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from skdpgen.privacy._blocks import (
    WIDEST_BLOCK,
    Floats,
    Integers,
    RowVectors,
    Vectors,
    check_shape,
    clip_rows,
)
from skdpgen.privacy._exact_sum import (
    LARGEST_BOUND,
    SMALLEST_BOUND,
    ExactSum,
    below,
    cut_digits,
    power_of_two_from,
)
from skdpgen.privacy._sensitivity import (
    NonNegative,
    Signed,
    Structure,
    Weighted,
    WithSquares,
)
from skdpgen.utils import (
    asked,
    is_amount,
    is_whole,
    refuse_unless,
    saved,
)

Factor = tuple[torch.Tensor, torch.Tensor]  # rows, and their norms
Formed = tuple[Factor, Factor, torch.Tensor]  # u, v, and the norm of their product

# ----------------------------------------------------------------------------
# Several vectors side by side, each with a bound and signs of its own.


@asked("block")
@saved("block.side_by_side")
@dataclass(frozen=True)
class SideBySide:
    r"""Sum of :math:`\phi(x) \otimes y` for :math:`\phi = (\phi_1, \phi_2, \dots)`.

    Each part is clipped by itself, and clamped at 0 if it says so. Squared moves of
    disjoint coordinates add up: with norms :math:`a_i`, a replaced row moves the sum
    by at most :math:`(\sum_i k_i a_i^2)^{1/2}`, where k is 4 for signed parts and 2
    for those that are never negative.

    Parameters
    ----------
    parts : tuple of Vectors

    Examples
    --------
    >>> block = SideBySide((Vectors(2, 0.6), Vectors(3, 0.8, is_nonnegative=True)))
    >>> round(block.structure.replace() ** 2, 2)  # 4 * 0.36 + 2 * 0.64
    2.72
    """

    parts: tuple[Vectors, ...]

    def check_asked(self) -> None:
        """Check the assumptions of the proof, for a block from another process."""
        refuse_unless(
            type(self.parts) is tuple
            and len(self.parts) > 0
            and all(type(part) is Vectors for part in self.parts)
            and self.width <= WIDEST_BLOCK,
            "vectors side by side",
        )

    @property
    def width(self) -> int:
        """Length of a row."""
        return sum(part.width for part in self.parts)

    @property
    def structure(self) -> Structure:
        """Each part's, with weight 1."""
        structures = tuple(part.structure for part in self.parts)
        return Weighted(structures, (1.0,) * len(structures))

    def start(self, n_classes: int) -> list[ExactSum]:
        """Return the sums over no rows, part by part."""
        return [part.start(n_classes) for part in self.parts]

    def add(
        self, total: list[ExactSum], vectors: torch.Tensor | Floats, labels: Integers
    ) -> list[ExactSum]:
        """Add the rows of one batch."""
        if vectors.shape[1:] != (self.width,):
            raise ValueError(
                f"A batch must hold {self.width} values per row. Got another shape."
            )
        start = 0
        for part, part_sum in zip(self.parts, total, strict=True):
            end = start + part.width
            part.add(part_sum, vectors[:, start:end], labels)
            start = end
        return total

    def merge(self, total: list[ExactSum], other: list[ExactSum]) -> list[ExactSum]:
        """Return the sum over the rows of two parts."""
        return [a.merge(b) for a, b in zip(total, other, strict=True)]

    def value(self, total: list[ExactSum]) -> Floats:
        """Return the sums side by side."""
        return np.concatenate([part_sum.value() for part_sum in total], axis=1)


# ----------------------------------------------------------------------------
# Sums of vectors and of their squares, for means and covariances.

BITS_OF_ENTRY = 21  # products of two are summed, which have twice as many


@saved("block.moments")
@dataclass(frozen=True)
class Moments:
    r"""First and second moments of clipped vectors, formed here in float64.

    ``second`` is ``"outer"`` (v vᵀ, width² entries) or ``"diagonal"`` (v∘v), scaled by
    ``b``; at b² = 1/2 the second moments cost nothing.

    *Exact.* Entries of v are rounded towards zero, which lets no norm grow, and sums
    have the same bits for rows in any order (``ExactSum``). Outer products of
    entries with 21 bits are exact: they are those of another vector, no longer than v.
    Squares of finer entries are rounded in turn, by less than g each, so they are
    squares up to :math:`e = \sqrt d\, g`, and two rows are up to 2be farther apart than
    :class:`WithSquares` says. That is paid for by a norm of at most r = 1 - 4e.

    *Proof.* With this norm rows are at most :math:`\sqrt{F(r)}` apart:
    :math:`F(r) = 4 r^2` for :math:`b^2 \le 1/2`, and
    :math:`\sqrt{F(1)} - \sqrt{F(r)} = 8e \ge 2be`. Else
    :math:`F(r) = 2r^2 + 2b^2r^4 + 1/(2b^2)`, so that :math:`F(1) \le 3(1 + b^2)`,
    :math:`F(1) - F(r) \ge (2 + 2b^2)(1 - r^2) \ge (2 + 2b^2) 4e`, and the difference of
    roots is at least that over :math:`2\sqrt{F(1)}`, hence
    :math:`4e \sqrt{(1 + b^2)/3} \ge 2be`. Norms are below those of vectors of norm 1. ∎
    """

    width: int
    b: float = 0.5**0.5
    second: str = "diagonal"

    @property
    def structure(self) -> Structure:
        """A unit vector with its squares."""
        return WithSquares(self.b)

    @property
    def _n_bits(self) -> int:
        if self.second == "outer":
            return 2 * BITS_OF_ENTRY
        return min(36 + self.width.bit_length() - 1, 44)

    def start(self, n_classes: int) -> ExactSum:
        """Return the sum over no rows."""
        extra = self.width**2 if self.second == "outer" else self.width
        shape = n_classes, self.width + extra
        return ExactSum.of(shape, bound=1.0, n_bits=self._n_bits)

    def add(self, total: ExactSum, vectors: RowVectors, labels: Integers) -> ExactSum:
        """Add the rows of one batch."""
        rows = self._rounded(clip_rows(vectors, 1.0), total.step)
        check_shape(rows, labels, self.width)
        for label in range(len(total.low)):
            of_label = rows[labels == label]
            for start in range(0, len(of_label), total.most):
                batch = of_label[start : start + total.most]
                target = total.room_for(len(batch), label)[0]
                target[: self.width] += batch.sum(axis=0)
                target[self.width :] += self._squares(batch, total.step)
        return total

    def merge(self, total: ExactSum, other: ExactSum) -> ExactSum:
        """Return the sum over the rows of two parts."""
        return total.merge(other)

    def value(self, total: ExactSum) -> Floats:
        """Return the sum, its second moments scaled."""
        moments = total.value()
        moments[:, self.width :] *= self.b
        return moments

    def _rounded(self, rows: Floats, step: float) -> Floats:
        """Return rows on their grid."""
        if self.second == "outer":
            grid, longest = 2.0**-BITS_OF_ENTRY, 1.0
        else:
            grid, longest = step, 1.0 - 4.0 * math.sqrt(self.width) * step
        rows *= below(self.width) * longest / grid
        np.trunc(rows, out=rows)
        rows *= grid
        return rows

    def _squares(self, rows: Floats, step: float) -> Floats:
        """Return the sum of products, or of rounded squares."""
        if self.second == "outer":
            return np.asarray((rows.T @ rows).ravel())
        return np.asarray(np.trunc(rows**2 / step).sum(axis=0) * step)


# ----------------------------------------------------------------------------
# Sums of outer products, formed and clipped without a vector for any row.

ROWS_AT_ONCE = 4096
N_BITS = 42  # of a product, half of them of each factor
Kind = Literal["signed", "nonnegative", "square"]


@asked("block")
@saved("block.outer_products")
@dataclass(frozen=True)
class OuterProducts:
    r"""Sum of :math:`\phi(x) \otimes y` for :math:`\phi = (u_1 v_1^\top, u_2 v_2^\top, \dots)`.

    Rows come as factors, layer by layer; the products are formed here. *Bound.* The
    squared norm of a row is :math:`\sum_l \|u_l\|^2 \|v_l\|^2`, computed in float64 from
    the very numbers that are summed, and a row beyond ``bound`` is scaled down to it, by
    a factor that is not negative, so no sign changes. A row with a factor or a norm that
    is not finite becomes zero. Hence :math:`\|\phi(x)\| \le` ``bound`` whatever the map
    promised. With a bound for each layer, each layer is clipped by itself, and
    :math:`\|\phi(x)\|^2 \le \sum_l b_l^2`.

    *Exact.* What is left of the norm of a layer, :math:`r^2 \le b_l`, is shared out
    evenly, :math:`\|u\| = \|v\| = r`, and both are rounded towards zero, to multiples
    of h, a power of two and :math:`2^{-21}` times a root of the bound. No norm grows, so
    neither does :math:`\|u\| \|v\|`, truly (``below``); no sign changes, and of
    a square u and v are the same vector still. Entries of the product are multiples of
    :math:`h^2`, :math:`2^{42}` of them at most, which matrix products in float64 add
    without rounding: the sum has the same bits for rows in any order
    (``ExactSum``). Computed norms, their products, roots and quotients are off by a
    relative :math:`(m/2 + 24) u` at most, m being the lengths of all factors together;
    the margin, which both factors get, is more than :math:`2 (m + 16) u`.

    *Sign.* The inner product of two rows is
    :math:`\sum_l (u_l^\top u'_l)(v_l^\top v'_l)`. A layer cannot make it negative if
    its kind is "nonnegative" (u and v are clamped at 0) or "square" (u is replaced by a
    multiple :math:`c v` with :math:`c \ge 0`, so that the layer's part is :math:`c c'
    (v^\top v')^2`). If no layer can, rows are ``NonNegative`` and move the sum by
    :math:`\sqrt 2` times their bound; otherwise they are ``Signed``. If each layer has
    a bound of its own, squared moves add up, :math:`2 b_l^2` or :math:`4 b_l^2`:
    ``Weighted``.

    Parameters
    ----------
    shapes : tuple of (int, int)
        Length of u and of v in each layer.
    bound : float or tuple of float, default=1.0
        Largest norm of all layers together, or of each layer.
    kinds : tuple of {"signed", "nonnegative", "square"} or None, default=None
        One per layer; None means that all are signed.
    """  # noqa: E501

    shapes: tuple[tuple[int, int], ...]
    bound: float | tuple[float, ...] = 1.0
    kinds: tuple[Kind, ...] | None = None

    def __post_init__(self) -> None:
        """Check what the proof assumes: known kinds, square shapes, positive bounds."""
        n, bound = len(self.shapes), self.bound
        bounds = bound if isinstance(bound, tuple) else (bound,) * n
        for name, entries in (("bound", bounds), ("kinds", self._kinds)):
            if len(entries) != n:
                raise ValueError(
                    f"{name} must have one entry per layer, {n}. Got {len(entries)}."
                )
        for layer_bound in bounds:
            power_of_two_from(layer_bound)  # refuses what has no grid
        for kind, (a, b) in zip(self._kinds, self.shapes, strict=True):
            if kind not in FORMED or (kind == "square" and a != b):
                raise ValueError(
                    f"kinds must be among {', '.join(FORMED)}, and a square needs u as "
                    f"long as v. Got {kind!r} for lengths {a} and {b}."
                )

    def check_asked(self) -> None:
        """Check the assumptions of the proof, for a block from another process."""
        shapes, bound, kinds = self.shapes, self.bound, self.kinds
        refuse_unless(
            type(shapes) is tuple
            and len(shapes) > 0
            and all(type(shape) is tuple and len(shape) == 2 for shape in shapes)
            and all(is_whole(n, 1, WIDEST_BLOCK) for shape in shapes for n in shape)
            and self.width <= WIDEST_BLOCK,
            "layers that have a width",
        )
        bounds = bound if type(bound) is tuple else (bound,)
        refuse_unless(
            all(
                is_amount(layer_bound, SMALLEST_BOUND, LARGEST_BOUND)
                for layer_bound in bounds
            ),
            "bounds",
        )
        refuse_unless(kinds is None or type(kinds) is tuple, "kinds of layers")

    @property
    def width(self) -> int:
        """Numbers of all layers."""
        return sum(a * b for a, b in self.shapes)

    @property
    def structure(self) -> Structure:
        """What the kinds of its layers allow."""
        signed = [kind not in ("nonnegative", "square") for kind in self._kinds]
        if isinstance(self.bound, tuple):
            layers = tuple(
                Signed() if is_signed else NonNegative() for is_signed in signed
            )
            return Weighted(layers, self.bound)
        return Signed(self.bound) if any(signed) else NonNegative(self.bound)

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        signed: Kind = "signed"
        return self.kinds or (signed,) * len(self.shapes)

    @property
    def _bounds(self) -> tuple[float, ...]:
        bounds = self.bound if isinstance(self.bound, tuple) else (self.bound,)
        return bounds if len(bounds) == len(self.shapes) else bounds * len(self.shapes)

    def start(self, n_classes: int) -> list[ExactSum]:
        """Return the sums over no rows, layer by layer."""
        return [
            ExactSum.of(
                (n_classes, a * b),
                bound=math.ldexp(_grid(bound) ** 2, N_BITS),  # so that step is h²
                n_bits=N_BITS,
            )
            for (a, b), bound in zip(self.shapes, self._bounds, strict=True)
        ]

    def add(
        self, total: list[ExactSum], factors: Sequence[Any], labels: Integers
    ) -> list[ExactSum]:
        """Add the rows of one batch."""
        shapes = [(len(labels), a, len(labels), b) for a, b in self.shapes]
        if labels.ndim != 1 or [(*u.shape, *v.shape) for u, v in factors] != shapes:
            raise ValueError(
                "A batch must hold, for each row, one label and the factors of each "
                "layer. Got another shape."
            )
        for first in range(0, len(labels), ROWS_AT_ONCE):
            batch = slice(first, first + ROWS_AT_ONCE)
            doubles = [(_double(u[batch]), _double(v[batch])) for u, v in factors]
            for layer_sum, (u, v) in zip(total, self._clipped(doubles), strict=True):
                _add(layer_sum, u, v, labels[batch])
        return total

    def merge(self, total: list[ExactSum], other: list[ExactSum]) -> list[ExactSum]:
        """Return the sum over the rows of two parts."""
        return [a.merge(b) for a, b in zip(total, other, strict=True)]

    def value(self, total: list[ExactSum]) -> Floats:
        """Return the sums side by side."""
        return np.concatenate([layer_sum.value() for layer_sum in total], axis=1)

    def _clipped(
        self, factors: list[tuple[torch.Tensor, torch.Tensor]]
    ) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return factors of each layer on their grid, as whole numbers of steps."""
        sizes = [(_norms(u), _norms(v)) for u, v in factors]  # finite if each factor is
        formed: list[Any] = [
            FORMED[kind](u, v, a, b)
            for kind, (u, v), (a, b) in zip(self._kinds, factors, sizes, strict=True)
        ]
        joint = sum(norm.square() for *_, norm in formed).sqrt()  # a row by itself
        have_finite_factors = (
            torch.stack([a + b for a, b in sizes]).isfinite().all(dim=0)
        )
        is_finite = have_finite_factors & joint.isfinite()
        is_joint = not isinstance(self.bound, tuple)
        margin = below(sum(a + b + 1 for a, b in self.shapes))
        clipped = []
        for (u, v, norm), bound in zip(formed, self._bounds, strict=True):
            longest = (joint if is_joint else norm).clamp_min(bound)
            length = (norm / longest).sqrt() * margin * math.sqrt(bound) / _grid(bound)
            rounded_u = _rounded(u, length, is_finite)
            clipped.append(
                (rounded_u, rounded_u if v is u else _rounded(v, length, is_finite))
            )
        return clipped


def _grid(bound: float) -> float:
    """Return the step of the grid of entries of factors."""
    return math.ldexp(power_of_two_from(math.sqrt(bound)), -N_BITS // 2)


def _rounded(
    factor: Factor, length: torch.Tensor, is_finite: torch.Tensor
) -> torch.Tensor:
    """Stretch rows to a length and round them towards zero; some become zero."""
    rows, norms = factor
    scale = length / norms
    is_finite = is_finite & scale.isfinite()  # a row of zeros has no direction
    rows = cut_digits(rows * scale[:, None])
    if not is_finite.all():
        rows[~is_finite] = 0.0
    return rows


def _add(total: ExactSum, u: torch.Tensor, v: torch.Tensor, labels: Integers) -> None:
    """Add the products of whole numbers, class by class."""
    for label in range(len(total.low)):
        of_label = torch.from_numpy(np.flatnonzero(labels == label)).to(u.device)
        for first in range(0, len(of_label), total.most):
            batch = of_label[first : first + total.most]
            target = torch.from_numpy(total.room_for(len(batch), label)[0])
            target = target.view(u.shape[1], v.shape[1])
            if u.device == target.device:
                target.addmm_(u[batch].T, v[batch], alpha=total.step)
            else:
                target += total.step * (u[batch].T @ v[batch]).cpu()


def _signed(
    u: torch.Tensor, v: torch.Tensor, a: torch.Tensor, b: torch.Tensor
) -> Formed:
    return (u, a), (v, b), a * b


def _nonnegative(
    u: torch.Tensor, v: torch.Tensor, a: torch.Tensor, b: torch.Tensor
) -> Formed:
    """Clamp at 0."""
    del a, b
    u, v = u.clamp_min(0.0), v.clamp_min(0.0)
    return _signed(u, v, _norms(u), _norms(v))


def _square(
    u: torch.Tensor, v: torch.Tensor, a: torch.Tensor, b: torch.Tensor
) -> Formed:
    """Replace u by the nearest multiple of v, or by 0 if that multiple is negative."""
    del a
    projection = (
        (u * (v / torch.where(b > 0, b, 1.0)[:, None])).sum(dim=1).clamp_min(0.0)
    )
    unit = (v, b)
    return unit, unit, projection * b


FORMED = {"signed": _signed, "nonnegative": _nonnegative, "square": _square}


def _norms(rows: torch.Tensor) -> torch.Tensor:
    """Return norms whose squares neither overflow nor vanish."""
    largest = rows.abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest, 1.0)
    return largest[:, 0] * torch.linalg.vector_norm(rows / scale, dim=1)


def _double(values: RowVectors) -> torch.Tensor:
    """Return a matrix of one layout, so that a row is added up in one way."""
    if not hasattr(values, "detach"):
        values = torch.from_numpy(np.array(values, order="C"))
    return values.detach().to(torch.float64).contiguous()


# ----------------------------------------------------------------------------
# Sums of rows' gradients; layers that come as factors are summed unformed.

Layer = int | tuple[int, int]  # entries of a vector, or lengths of both factors
VANISHING_NORM = 2.0**-510  # of an entry whose square is 0 in float64: it is below
ROUNDING_OF_TERM = 2.0**-50  # of an inner product: four times what it is


@dataclass(frozen=True)
class Layers:
    r"""Sum of :math:`\mathrm{clip}_C(g)` for rows :math:`g = (g_1, g_2, \dots)` of layers.

    A layer of a row is a vector, or :math:`g_l = \sum_t u_t v_t^\top` given by its
    factors, as the gradient of a linear layer is: u are slopes of its outputs and v its
    inputs, at every place t where the row passes through it.

    *Bound.* With all numbers in float64, the squared norm of a row is
    :math:`\sum_l \|g_l\|^2`, and of factors :math:`\|g_l\|^2 = \sum_{t,t'} (u_t^\top
    u_{t'}) (v_t^\top v_{t'})`. Terms of this sum may cancel, and what rounding leaves of
    them may then be too small; so :math:`r (\sum_t \|u_t\| \|v_t\|)^2` is added, where r
    is above the relative error of any term. A product below :math:`2^{-1022}` may vanish,
    which takes less than :math:`w = 2^{-510}` times the root of its length off the norm of
    a vector. So w is added to norms, and :math:`(w_u \sum_t \|v_t\|)^2 + (w_v \sum_t
    \|u_t\|)^2` to the sum. What comes out is at least the squared norm up to the rounding
    of a sum of squares, for which every row is made shorter (``below``), and the row is
    divided by its root over C if that is above 1. A row with an entry, or a norm, that is
    not finite becomes zero. Hence a row that joins or leaves moves the sum by at most C,
    independently of what ``per_row`` returns.

    Parameters
    ----------
    layers : tuple of int or (int, int)
        Entries of a layer, or lengths of its u and v.
    bound : float
        The norm C.

    Examples
    --------
    >>> block = Layers((1, (2, 2)), bound=1.0)
    >>> u, v = np.array([[[3.0, 0.0]]]), np.array([[[0.0, 1.0]]])
    >>> sums = block.add(block.start(1), [np.array([[4.0]]), (u, v)], np.array([0]))
    >>> sums.round(6).tolist()
    [[0.8, 0.0, 0.6, 0.0, 0.0]]
    """  # noqa: E501

    layers: tuple[Layer, ...]
    bound: float = 1.0

    def __post_init__(self) -> None:
        """Check that squares of the bound are numbers."""
        if not 1e-100 < self.bound < 1e100:
            raise ValueError(f"bound must be in (1e-100, 1e100). Got {self.bound!r}.")

    @property
    def structure(self) -> Structure:
        """Signed."""
        return Signed(self.bound)

    @property
    def width(self) -> int:
        """Entries of a row."""
        return sum(_size(layer) for layer in self.layers)

    def start(self, n_classes: int) -> Floats:
        """Return the sum over no rows."""
        return np.zeros((n_classes, self.width))

    def add(self, total: Floats, parts: Sequence[Any], labels: Integers) -> Floats:
        """Add the rows of one batch: per layer (n, w), or (n, t, a) and (n, t, b)."""
        doubles: list[tuple[torch.Tensor, ...]] = [
            _factors(part) if isinstance(layer, tuple) else (_as_double(part),)
            for layer, part in zip(self.layers, parts, strict=True)
        ]
        self._check(doubles, len(labels))
        scale, is_finite = self._scale(doubles, len(labels))
        for label in range(len(total)):
            of_label = torch.as_tensor(labels == label).to(scale.device)
            weight = torch.where(of_label & is_finite, scale, 0.0)
            start = 0
            for layer, part in zip(self.layers, doubles, strict=True):
                end = start + _size(layer)
                target = torch.from_numpy(total[label, start:end])
                _add_layer(target, part, weight, is_finite)
                start = end
        return total

    def value(self, total: Floats) -> Floats:
        """Return the sum."""
        return total

    def _scale(
        self, doubles: list[tuple[torch.Tensor, ...]], n: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the factor of each row, and which rows are finite."""
        device = doubles[0][0].device
        squares = torch.zeros(n, dtype=torch.float64, device=device)
        for part in doubles:
            squares += _squared_norms(part, self.bound)
        # an entry that is not finite makes a norm, or its product with another, so
        margin = below(self.width + 2 * len(self.layers))
        return margin / squares.sqrt().clamp_min(1.0), squares.isfinite()

    def _check(self, doubles: list[tuple[torch.Tensor, ...]], n: int) -> None:
        """Check shapes: those that broadcast would count a row many times."""
        for layer, part in zip(self.layers, doubles, strict=True):
            shapes: list[tuple[int, ...]] = [(n, _size(layer))]
            if isinstance(layer, tuple):
                places = part[0].shape[1] if part[0].ndim == 3 else 0
                shapes = [(n, places, length) for length in layer]
            if [tuple(factor.shape) for factor in part] != shapes:
                raise ValueError(
                    "A batch must hold each layer, or its factors, for each row. "
                    "Got another shape."  # which would tell the size of the sample
                )


def _squared_norms(part: tuple[torch.Tensor, ...], bound: float) -> torch.Tensor:
    """Return squared norms of a layer in units of the bound, rounded up."""
    if len(part) == 1:
        return (_layer_norms(part[0]) / bound).square()
    u, v = part
    lost_u, lost_v = (VANISHING_NORM * math.sqrt(factor.shape[2]) for factor in part)
    a, b = _layer_norms(u) + lost_u, _layer_norms(v) + lost_v
    lengths = (a / bound * b).sum(dim=1)  # of the product at each place
    if u.shape[1] == 1:
        return lengths.square()
    exact = ((u @ u.mT) / bound**2 * (v @ v.mT)).sum(dim=(1, 2))
    rounding = ROUNDING_OF_TERM * (u.shape[2] + v.shape[2] + u.shape[1] ** 2)
    of_u = (lost_u / bound + VANISHING_NORM) * b.sum(dim=1)
    of_v = lost_v / bound * a.sum(dim=1)
    vanished = of_u.square() + of_v.square()
    return exact.clamp_min(0.0) + rounding * lengths.square() + vanished


def _add_layer(
    target: torch.Tensor,
    part: tuple[torch.Tensor, ...],
    weight: torch.Tensor,
    is_finite: torch.Tensor,
) -> None:
    """Add the weighted rows; zero times infinity must not be formed."""
    if not is_finite.all():
        part = tuple(
            torch.where(is_finite.view(-1, *[1] * (factor.ndim - 1)), factor, 0.0)
            for factor in part
        )
    if len(part) == 1:
        target += (weight @ part[0]).cpu()
        return
    u, v = part
    u = (u * weight[:, None, None]).flatten(0, 1)
    target = target.view(u.shape[1], -1)
    if u.device == target.device:
        target.addmm_(u.T, v.flatten(0, 1))
    else:
        target += (u.T @ v.flatten(0, 1)).cpu()


def _layer_norms(rows: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(rows, dim=-1)


def _size(layer: Layer) -> int:
    return layer[0] * layer[1] if isinstance(layer, tuple) else layer


def _factors(part: Any) -> tuple[torch.Tensor, torch.Tensor]:
    u, v = part
    return _as_double(u), _as_double(v)


def _as_double(values: Any) -> torch.Tensor:
    rows = values.detach() if hasattr(values, "detach") else torch.tensor(values)
    return rows.to(torch.float64)
