"""Sums of outer products, formed and clipped without a vector for any row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.privacy._sensitivity import Signed, Structure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class OuterProducts:
    r"""Sum of :math:`\phi(x) \otimes y` for :math:`\phi = (u_1 v_1^\top, u_2 v_2^\top, \dots)`.

    Rows come as factors, layer by layer; the products are formed here. *Bound.* The
    squared norm of a row is :math:`\sum_l \|u_l\|^2 \|v_l\|^2`, computed in float64 from
    the very numbers that are summed, and a row beyond ``bound`` is scaled down to it. A
    row whose norm is not finite becomes zero. Hence :math:`\|\phi(x)\| \le` ``bound``
    whatever the map promised, and entries have any sign: ``Signed``.

    Parameters
    ----------
    shapes : tuple of (int, int)
        Length of u and of v in each layer.
    bound : float, default=1.0
    """  # noqa: E501

    shapes: tuple[tuple[int, int], ...]
    bound: float = 1.0

    @property
    def structure(self) -> Structure:
        """Vectors of any sign."""
        return Signed(self.bound)

    def start(self, n_classes: int) -> Floats:
        """Return the sum over no rows."""
        return np.zeros((n_classes, sum(a * b for a, b in self.shapes)))

    def add(self, total: Floats, factors: Sequence[Any], labels: Integers) -> Floats:
        """Add the rows of one batch."""
        shapes = [(len(labels), a, len(labels), b) for a, b in self.shapes]
        if labels.ndim != 1 or [(*u.shape, *v.shape) for u, v in factors] != shapes:
            raise ValueError(
                "A batch must hold one label and the factors of each layer a row. Got "
                "another shape."
            )
        for first in range(0, len(labels), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            parts = [(_double(u[some]), _double(v[some])) for u, v in factors]
            self._add(total, self._clipped(parts), labels[some])
        return total

    def _clipped(self, parts: list[Any]) -> list[Any]:
        each = [_norms(u) * _norms(v) for u, v in parts]
        norms = torch.linalg.vector_norm(torch.stack(each), dim=0)
        fine = norms.isfinite()[:, None]  # also says that each factor is finite
        scale = (self.bound / norms.clamp_min(self.bound))[:, None]
        return [
            (torch.where(fine, u * scale, 0.0), torch.where(fine, v, 0.0))
            for u, v in parts
        ]

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


def _norms(rows: torch.Tensor) -> torch.Tensor:
    """Return norms whose squares neither overflow nor vanish."""
    largest = rows.abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest, 1.0)
    return largest[:, 0] * torch.linalg.vector_norm(rows / scale, dim=1)


def _double(values: Any) -> torch.Tensor:
    rows = values.detach() if hasattr(values, "detach") else torch.tensor(values)
    return rows.to(torch.float64)
