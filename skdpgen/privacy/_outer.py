"""Sums of outer products, formed and clipped without a vector for any row."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from skdpgen.privacy._blocks import WIDEST, Floats, Integers
from skdpgen.privacy._exact_sum import (
    LARGEST,
    SMALLEST,
    ExactSum,
    below,
    cut_digits,
    top_of,
)
from skdpgen.privacy._sensitivity import NonNegative, Signed, Structure, Weighted
from skdpgen.utils import asked, is_amount, is_whole, refuse_unless, saved

ROWS_AT_ONCE = 4096
N_BITS = 42  # of a product, half of them of each factor
Kind = Literal["signed", "nonnegative", "square"]


@asked("block")
@saved
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
    neither does :math:`\|u\| \|v\|`, truly (:func:`below`); no sign changes, and of
    a square u and v are the same vector still. Entries of the product are multiples of
    :math:`h^2`, :math:`2^{42}` of them at most, which matrix products in float64 add
    without rounding: the sum has the same bits for rows in any order
    (:class:`ExactSum`). Computed norms, their products, roots and quotients are off by a
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
        for name, given in (("bound", bounds), ("kinds", self._kinds)):
            if len(given) != n:
                raise ValueError(
                    f"{name} must have one entry per layer, {n}. Got {len(given)}."
                )
        for one in bounds:
            top_of(one)  # refuses what has no grid
        for kind, (a, b) in zip(self._kinds, self.shapes, strict=True):
            if kind not in FORMED or (kind == "square" and a != b):
                raise ValueError(
                    f"kinds must be among {', '.join(FORMED)}, and a square needs u as "
                    f"long as v. Got {kind!r} for lengths {a} and {b}."
                )

    def check_asked(self) -> None:
        """Check what the proof assumes of one that someone else made."""
        shapes, bound, kinds = self.shapes, self.bound, self.kinds
        refuse_unless(
            type(shapes) is tuple
            and len(shapes) > 0
            and all(type(shape) is tuple and len(shape) == 2 for shape in shapes)
            and all(is_whole(n, 1, WIDEST) for shape in shapes for n in shape)
            and self.width <= WIDEST,
            "layers that have a width",
        )
        bounds = bound if type(bound) is tuple else (bound,)
        refuse_unless(
            all(is_amount(one, SMALLEST, LARGEST) for one in bounds), "bounds"
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
            layers = tuple(Signed() if one else NonNegative() for one in signed)
            return Weighted(layers, self.bound)
        return Signed(self.bound) if any(signed) else NonNegative(self.bound)

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        signed: Kind = "signed"
        return self.kinds or (signed,) * len(self.shapes)

    @property
    def _bounds(self) -> tuple[float, ...]:
        same = self.bound if isinstance(self.bound, tuple) else (self.bound,)
        return same if len(same) == len(self.shapes) else same * len(self.shapes)

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
            some = slice(first, first + ROWS_AT_ONCE)
            parts = [(_double(u[some]), _double(v[some])) for u, v in factors]
            for own, (u, v) in zip(total, self._clipped(parts), strict=True):
                _add(own, u, v, labels[some])
        return total

    def merge(self, total: list[ExactSum], other: list[ExactSum]) -> list[ExactSum]:
        """Return the sum over the rows of two parts."""
        return [a.merge(b) for a, b in zip(total, other, strict=True)]

    def value(self, total: list[ExactSum]) -> Floats:
        """Return the sums side by side."""
        return np.concatenate([own.value() for own in total], axis=1)

    def _clipped(self, parts: list[Any]) -> list[Any]:
        """Return factors of each layer on their grid, as whole numbers of steps."""
        sizes = [(_norms(u), _norms(v)) for u, v in parts]  # finite if each factor is
        formed = [
            FORMED[kind](u, v, a, b)
            for kind, (u, v), (a, b) in zip(self._kinds, parts, sizes, strict=True)
        ]
        joint = sum(norm.square() for *_, norm in formed).sqrt()  # a row by itself
        finite = torch.stack([a + b for a, b in sizes]).isfinite().all(dim=0)
        fine = finite & joint.isfinite()
        together = not isinstance(self.bound, tuple)
        margin = below(sum(a + b + 1 for a, b in self.shapes))
        clipped = []
        for (u, v, norm), bound in zip(formed, self._bounds, strict=True):
            longest = (joint if together else norm).clamp_min(bound)
            length = (norm / longest).sqrt() * margin * math.sqrt(bound) / _grid(bound)
            left = _rounded(u, length, fine)
            clipped.append((left, left if v is u else _rounded(v, length, fine)))
        return clipped


def _grid(bound: float) -> float:
    """Return what entries of factors are multiples of."""
    return math.ldexp(top_of(math.sqrt(bound)), -N_BITS // 2)


def _rounded(factor: Any, length: torch.Tensor, fine: torch.Tensor) -> torch.Tensor:
    """Stretch rows to a length and round them towards zero; some become zero."""
    rows, norms = factor
    scale = length / norms
    fine = fine & scale.isfinite()  # a row of zeros has no direction
    rows = cut_digits(rows * scale[:, None])
    if not fine.all():
        rows[~fine] = 0.0
    return rows


def _add(total: ExactSum, u: torch.Tensor, v: torch.Tensor, labels: Integers) -> None:
    """Add the products of whole numbers, class by class."""
    for label in range(len(total.low)):
        mine = torch.from_numpy(np.flatnonzero(labels == label)).to(u.device)
        for first in range(0, len(mine), total.most):
            some = mine[first : first + total.most]
            there = torch.from_numpy(total.room_for(len(some), label)[0])
            there = there.view(u.shape[1], v.shape[1])
            if u.device == there.device:
                there.addmm_(u[some].T, v[some], alpha=total.step)
            else:
                there += total.step * (u[some].T @ v[some]).cpu()


def _signed(u: Any, v: Any, a: Any, b: Any) -> Any:
    return (u, a), (v, b), a * b


def _nonnegative(u: Any, v: Any, a: Any, b: Any) -> Any:
    """Clamp at 0."""
    del a, b
    u, v = u.clamp_min(0.0), v.clamp_min(0.0)
    return _signed(u, v, _norms(u), _norms(v))


def _square(u: Any, v: Any, a: Any, b: Any) -> Any:
    """Replace u by the nearest multiple of v, or by 0 if that multiple is negative."""
    del a
    along = (u * (v / torch.where(b > 0, b, 1.0)[:, None])).sum(dim=1).clamp_min(0.0)
    unit = (v, b)
    return unit, unit, along * b


FORMED = {"signed": _signed, "nonnegative": _nonnegative, "square": _square}


def _norms(rows: torch.Tensor) -> torch.Tensor:
    """Return norms whose squares neither overflow nor vanish."""
    largest = rows.abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest, 1.0)
    return largest[:, 0] * torch.linalg.vector_norm(rows / scale, dim=1)


def _double(values: Any) -> torch.Tensor:
    """Return a matrix of one layout, so that a row is added up in one way."""
    if not hasattr(values, "detach"):
        values = torch.from_numpy(np.array(values, order="C"))
    return values.detach().to(torch.float64).contiguous()
