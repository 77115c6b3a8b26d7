"""Sums of outer products, formed and clipped without a vector for any row."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.privacy._sensitivity import NonNegative, Signed, Structure, Weighted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ROWS_AT_ONCE = 4096
Kind = Literal["signed", "nonnegative", "square"]


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
        if not all(0 < one < math.inf for one in bounds):
            raise ValueError(f"bound must be positive and finite. Got {bound!r}.")
        for kind, (a, b) in zip(self._kinds, self.shapes, strict=True):
            if kind not in FORMED or (kind == "square" and a != b):
                raise ValueError(
                    f"kinds must be among {', '.join(FORMED)}, and a square needs u as "
                    f"long as v. Got {kind!r} for lengths {a} and {b}."
                )

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

    def start(self, n_classes: int) -> Floats:
        """Return the sum over no rows."""
        return np.zeros((n_classes, sum(a * b for a, b in self.shapes)))

    def add(self, total: Floats, factors: Sequence[Any], labels: Integers) -> Floats:
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
            self._add(total, self._clipped(parts), labels[some])
        return total

    def _clipped(self, parts: list[Any]) -> list[Any]:
        raw = [_norms(u) + _norms(v) for u, v in parts]  # finite if each factor is
        parts = [
            FORMED[kind](u, v) for kind, (u, v) in zip(self._kinds, parts, strict=True)
        ]
        norms = torch.stack([_norms(u) * _norms(v) for u, v in parts])
        joint = torch.linalg.vector_norm(norms, dim=0)
        fine = (joint.isfinite() & torch.stack(raw).isfinite().all(dim=0))[:, None]
        bounds = self.bound
        if not isinstance(bounds, tuple):
            bounds, norms = (bounds,) * len(parts), joint.expand(len(parts), -1)
        clipped = []
        for (u, v), bound, norm in zip(parts, bounds, norms, strict=True):
            scale = (bound / norm.clamp_min(bound))[:, None]
            u, v = torch.where(fine, u * scale, 0.0), torch.where(fine, v, 0.0)
            clipped.append((u, v))
        return clipped

    def _add(self, total: Floats, parts: list[Any], labels: Integers) -> None:
        for label in range(len(total)):
            mine = torch.from_numpy(np.flatnonzero(labels == label))
            if not len(mine):
                continue
            start = 0
            for u, v in parts:
                mine, width = mine.to(u.device), u.shape[1] * v.shape[1]
                there = torch.from_numpy(total[label, start : start + width])
                there = there.view(u.shape[1], v.shape[1])
                if u.device == there.device:
                    there.addmm_(u[mine].T, v[mine])
                else:
                    there += (u[mine].T @ v[mine]).cpu()
                start += width


def _signed(u: torch.Tensor, v: torch.Tensor) -> Any:
    return u, v


def _nonnegative(u: torch.Tensor, v: torch.Tensor) -> Any:
    """Clamp at 0."""
    return u.clamp_min(0.0), v.clamp_min(0.0)


def _square(u: torch.Tensor, v: torch.Tensor) -> Any:
    """Replace u by the nearest multiple of v, or by 0 if that multiple is negative."""
    n = _norms(v)[:, None]
    unit = torch.where(n > 0, v / n, v)
    along = (u * unit).sum(dim=1, keepdim=True).clamp_min(0.0)
    return along * unit, v


FORMED = {"signed": _signed, "nonnegative": _nonnegative, "square": _square}


def _norms(rows: torch.Tensor) -> torch.Tensor:
    """Return norms whose squares neither overflow nor vanish."""
    largest = rows.abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest, 1.0)
    return largest[:, 0] * torch.linalg.vector_norm(rows / scale, dim=1)


def _double(values: Any) -> torch.Tensor:
    rows = values.detach() if hasattr(values, "detach") else torch.tensor(values)
    return rows.to(torch.float64)
