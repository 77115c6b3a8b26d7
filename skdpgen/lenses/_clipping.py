"""What all lenses do to images before they look, and to rows after."""

import torch
from torch import Tensor

SLACK = 1e-12  # of a norm, for rounding in double precision
SMALLEST = 1e-6  # norm that is scaled to 1


def within_range(images: Tensor) -> Tensor:
    """Return images with every pixel in [0, 1], or as NaN.

    Examples
    --------
    >>> within_range(torch.full((1, 1, 1, 2), 1e30)).tolist()
    [[[[1.0, 1.0]]]]
    """
    if images.ndim != 4 or images.dtype not in (torch.float32, torch.float64):
        raise ValueError(
            "Images must be a float32 or float64 tensor of shape (n, channels, "
            f"height, width). Got {images.dtype} of shape {tuple(images.shape)}."
        )
    return images.clamp(0.0, 1.0)


def finite(rows: Tensor) -> Tensor:
    """Return rows; one with an entry that is no finite number becomes 0.

    Examples
    --------
    >>> finite(torch.tensor([[1.0, float("nan")], [1.0, 2.0]])).tolist()
    [[0.0, 0.0], [1.0, 2.0]]
    """
    known = rows.detach()  # largest and smallest entry: NaN if there is one
    ends = known.amax(dim=1, keepdim=True), known.amin(dim=1, keepdim=True)
    return torch.where(ends[0].isfinite() & ends[1].isfinite(), rows, 0.0)


def clipped(rows: Tensor) -> Tensor:
    """Divide each row by its norm if that is more than 1, and finite ones only.

    *Bound.* Norms are taken in double precision, of rows divided by their largest
    entry, so that nothing overflows; what rounding can add is taken off.

    Examples
    --------
    >>> clipped(torch.tensor([[3.0, 4.0], [0.3, 0.4]]).double()).round(decimals=3)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]], dtype=torch.float64)
    """
    exact = finite(rows).double()
    largest = 1.0 - max(torch.finfo(rows.dtype).eps, SLACK)
    return (exact * (largest / _norms(exact).clamp_min(largest))).to(rows.dtype)


def normalised(rows: Tensor) -> Tensor:
    """Divide each row by its norm; rows that are almost 0 stay small.

    Examples
    --------
    >>> normalised(torch.tensor([[0.3, 0.4], [0.0, 0.0]])).round(decimals=3)
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    exact = finite(rows).double()
    return clipped((exact / _norms(exact).clamp_min(SMALLEST)).to(rows.dtype))


def _norms(rows: Tensor) -> Tensor:
    peaks = rows.abs().amax(dim=1, keepdim=True).clamp_min(1.0)
    return peaks * (rows / peaks).norm(dim=1, keepdim=True)
