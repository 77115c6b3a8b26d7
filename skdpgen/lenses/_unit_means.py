"""Means of unit vectors, and of their squares as unit vectors, in a few passes."""

import copy
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from skdpgen.lenses._lens import Lens


class UnitMeans(torch.autograd.Function):
    r"""Means over groups of rows of :math:`[a f/\|f\| ; b f^2/\|f^2\|]`.

    Autograd would write some twenty arrays of rows x features a step; they are most of
    the time of a step. Means are products with the vector of 1 / norms. With A and B
    the gradients of the two means, and all else numbers of a row, the slope of a row is
    :math:`k_0 A + f \circ (k_1 B - k_2 f^2 - k_3)`:

    * u = f/r, r the norm; from A it gets :math:`(A - u (u^T A)) / r`.
    * q = f² c; :math:`f \circ 2c (B - q (q^T B))`. It has no part along f, as q does
      not change if f is made longer.

    Where a norm is below its limit, it is that limit, and a constant. On a processor a
    few rows at a time go all the way, so that they stay in a cache.
    """

    @staticmethod
    def forward(
        context: Any, rows: Tensor, n_parts: int, share: float, limit: float
    ) -> Tensor:
        """Return (n_parts, d), or (n_parts, 2 d) if squares have a share."""
        grouped = rows.view(n_parts, -1, rows.shape[1])
        n_each, width = grouped.shape[1:]
        norms, scales = rows.new_zeros(2, n_parts, n_each, 1)
        short, flat = rows.new_zeros(2, n_parts, n_each, 1, dtype=torch.bool)
        means = rows.new_zeros(n_parts, 1, 2 * width if share else width)
        first, second = math.sqrt(1.0 - share) / n_each, math.sqrt(share) / n_each
        for group, some in _pieces(grouped):
            f = grouped[group, some]
            norm = torch.linalg.vector_norm(f, dim=2, keepdim=True)
            r = norm.clamp_min(limit)
            norms[group, some], short[group, some] = r, norm < limit
            means[group, :, :width] += (first / r).mT @ f
            if share:
                squares = f.square()
                lengths = torch.linalg.vector_norm(squares, dim=2, keepdim=True)
                of_units = lengths / r.square()
                c = 1.0 / (r.square() * of_units.clamp_min(limit**2))
                means[group, :, width:] += (second * c).mT @ squares
                scales[group, some], flat[group, some] = c, of_units < limit**2
        context.share = share
        context.save_for_backward(grouped, norms, scales, short, flat)
        return means[:, 0]

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the slopes of all rows."""
        share, (rows, *of_rows) = context.share, context.saved_tensors
        n_each, width = rows.shape[1:]
        (gradient,) = gradients
        a = gradient[:, None, :width] * (math.sqrt(1.0 - share) / n_each)
        b = gradient[:, None, width:] * (math.sqrt(share) / n_each)
        slopes = torch.empty_like(rows)
        for group, some in _pieces(rows):
            f, to_a, slope = rows[group, some], a[group], slopes[group, some]
            r, c, is_short, is_flat = (values[group, some] for values in of_rows)
            k_3 = (f @ to_a.mT / r**3).masked_fill(is_short, 0.0)  # f^T A
            if not share:
                torch.mul(f, -k_3, out=slope)
            else:
                squares, to_b = f.square(), b[group]
                dots = squares @ to_b.mT  # f²^T B
                k_2 = (2.0 * c**3 * dots).masked_fill(is_flat, 0.0)
                # a flat row of squares has a slope along f unless its own norm is a
                # constant
                along = 2.0 * c * dots / r.square()
                along = torch.where(is_flat & ~is_short, along, 0.0)
                torch.mul(2.0 * c, to_b, out=slope)
                slope.addcmul_(squares, k_2, value=-1.0).sub_(k_3 + along).mul_(f)
            slope.addcmul_(1.0 / r, to_a)
        return slopes.flatten(0, 1), None, None, None


NUMBERS_IN_CACHE = 2**19  # of rows that are taken together


def _pieces(grouped: Tensor) -> Iterator[tuple[slice, slice]]:
    """Yield which groups, and which of their rows, are taken together."""
    n_parts, n_each, width = grouped.shape
    if grouped.is_cuda:
        yield slice(None), slice(None)
        return
    n_rows = max(NUMBERS_IN_CACHE // width, 1)
    n_groups = max(n_rows // n_each, 1)
    for group in range(0, n_parts, n_groups):
        for first in range(0, n_each, n_rows):
            yield slice(group, group + n_groups), slice(first, first + n_rows)


# ----------------------------------------------------------------------------
# Private rows through a map of the user, one at a time: its code is not trusted.

N_MADE_UP = 8  # public rows that a map is tried on
LARGEST_CHANGE = 1e-6  # of the largest entry; the same row twice should give 0


def goes_alone(lens: Lens) -> bool:
    """Return whether private rows must pass a lens one at a time.

    True if the lens ``is_opaque``, and for each class of another package, whose
    statements about itself are not verified.

    Examples
    --------
    >>> from skdpgen.lenses import CosineLens
    >>> class Mine(CosineLens):
    ...     is_opaque = False
    ...     __module__ = "mine"
    >>> goes_alone(CosineLens()), goes_alone(Mine())
    (False, True)
    """
    is_ours = type(lens).__module__.split(".")[0] == "skdpgen"
    return bool(lens.is_opaque) or not is_ours


def each_alone(see: Callable[[Tensor], Tensor], rows: Tensor, width: int) -> Tensor:
    """Return ``see`` of each row, (n, width); a row on which it fails becomes 0.

    An error, a result of another shape and a warning would each reveal something about
    one row. So errors and shapes become zeros, which add nothing to any sum, and
    warnings are not shown. *Why the bound holds:* row i of the result is a function of
    row i alone, if ``see`` is one (:func:`check_pure` tries that on public rows).

    Examples
    --------
    >>> def see(rows):
    ...     if rows.sum() > 1:
    ...         raise ValueError(f"{rows.tolist()} is too bright")
    ...     return 2 * rows
    >>> each_alone(see, torch.tensor([[0.25, 0.5], [1.0, 1.0]]), 2).tolist()
    [[0.5, 1.0], [0.0, 0.0]]
    """
    features = torch.zeros(len(rows), width, dtype=torch.float64, device=rows.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in range(len(rows)):
            try:
                output = see(rows[index : index + 1].clone())  # it may change in place
                if output.shape == (1, width):
                    features[index] = output[0].double()
            except Exception:  # any error would reveal something about the row
                features[index] = 0.0
    return features


def check_map(see: Any, shape: Sequence[int]) -> None:
    """Try a map of flat images on made-up ones, so that it fails before budget is used.

    Parameters
    ----------
    see : PerceptualMap, or a map with the same attributes
    shape : tuple of int
        Channels, height and width.
    """
    size = (math.prod(shape),)
    copy.deepcopy(see)(torch.zeros(1, *size))
    if see.is_opaque:
        with torch.no_grad():
            check_pure(see.double(), size, see.n_features, "lens")


def check_pure(
    see: Callable[[Tensor], Tensor], size: tuple[int, ...], width: int, what: str
) -> None:
    """Raise if the result of a map for a row depends on earlier calls.

    It is tried on made-up rows before it sees private ones. This finds random numbers
    (dropout by ``torch.nn.functional``), running means and counters. It is a trial and
    no proof: a map may behave differently on other rows.

    Parameters
    ----------
    see : callable
        From a tensor (1, *size) in [0, 1] to a tensor (1, width).
    size : tuple of int
    width : int
    what : str
        Name of the map in error messages.

    Examples
    --------
    >>> check_pure(lambda rows: rows.flatten(1), (2, 2), 4, "lens")
    >>> check_pure(lambda rows: torch.rand(1, 4), (2, 2), 4, "lens")
    Traceback (most recent call last):
    ...
    ValueError: lens must give an input the same result whatever it saw before...
    """
    rng = torch.Generator().manual_seed(0)
    rows = torch.rand(N_MADE_UP, *size, generator=rng, dtype=torch.float64)
    first = see(rows[:1].clone())
    if first.shape != (1, width):
        raise ValueError(
            f"{what} must return {width} numbers for each input, as for one of zeros. "
            f"Got a tensor of shape {tuple(first.shape)} for one input."
        )
    largest = LARGEST_CHANGE * first.abs().max()
    for index in range(1, len(rows)):
        see(rows[index : index + 1].clone())
        again = see(rows[:1].clone())
        if again.shape != first.shape or not (again - first).abs().max() <= largest:
            raise ValueError(
                f"{what} must give an input the same result whatever it saw before. "
                "Got one that draws random numbers, or remembers inputs: use layers "
                "that `eval()` switches off, and no state in `forward`."
            )
