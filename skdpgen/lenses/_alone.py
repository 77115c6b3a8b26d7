"""Private rows through a map that a user gave: one by one, whatever it does."""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

N_MADE_UP = 8  # public rows that a map is tried on
LARGEST_CHANGE = 1e-6  # of the largest entry; the same row twice should give 0


def goes_alone(lens: Any) -> bool:
    """Say whether private rows must go through a lens one by one.

    It is so where the lens ``is_opaque``, and for each class that is not of this
    package: what it states about itself is not checked by anyone.

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

    An error, a result of another shape and a warning would each tell something about
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
    found = torch.zeros(len(rows), width, dtype=torch.float64, device=rows.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in range(len(rows)):
            try:
                seen = see(rows[index : index + 1].clone())  # it may change in place
                if seen.shape == (1, width):
                    found[index] = seen[0].double()
            except Exception:  # whatever its type, it would tell of the row
                found[index] = 0.0
    return found


def check_pure(
    see: Callable[[Tensor], Tensor], size: tuple[int, ...], width: int, what: str
) -> None:
    """Raise unless a map gives the same result for a row whatever it saw before.

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
        How an error calls the map.

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
