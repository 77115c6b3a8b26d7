"""Images as rows: arrays of pixels, of which only shape and dtype are public."""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdpgen.utils import (
    Images,
    saved,
)

if TYPE_CHECKING:
    import torch

SMALLEST_SIDE = 8  # pixels
MOST_CHANNELS = 4
FLOATS = ("float16", "float32", "float64")
# Of the range: an image without a brighter pixel uses hardly any of it.
DARK_BELOW = 0.1
HALF_STEP = 1 / 510  # of 255: pixels are beyond the range by more than that


@saved("layout.images")
@dataclass(frozen=True)
class ImageLayout:
    """Shape and dtype of images; the counterpart of :class:`Layout` of a table.

    Parameters
    ----------
    container : {"numpy", "torch"}
        The container of X.
    shape : tuple of int
        Of one image: (height, width) or (channels, height, width).
    dtype : str
        ``"uint8"`` runs from 0 to 255, any float from 0 to 1.
    """

    container: str
    shape: tuple[int, ...]
    dtype: str

    names: ClassVar[tuple[Any, ...]] = ()  # no columns
    kinds: ClassVar[tuple[Any, ...]] = ()
    dtypes: ClassVar[tuple[Any, ...]] = ()
    limits: ClassVar[tuple[Any, ...]] = ()
    can_be_missing: ClassVar[tuple[Any, ...]] = ()

    @property
    def size(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        channels = self.shape[0] if len(self.shape) == 3 else 1
        return channels, self.shape[-2], self.shape[-1]

    @property
    def n_pixels(self) -> int:
        """Numbers of an image."""
        return int(np.prod(self.shape))

    n_features = n_pixels

    def restore(self, pixels: NDArray[Any]) -> "NDArray[Any] | torch.Tensor":
        """Return pixels in [0, 1] as images of this shape and dtype.

        Examples
        --------
        >>> layout = ImageLayout("numpy", (8, 8), "uint8")
        >>> layout.restore(np.ones((2, 64)))[0, 0, 0]
        np.uint8(255)
        """
        images = np.clip(np.asarray(pixels), 0.0, 1.0).reshape(-1, *self.shape)
        if self.dtype == "uint8":
            images = np.rint(255.0 * images)
        images = images.astype(self.dtype)
        if self.container == "torch":
            import torch

            return torch.from_numpy(images)
        return images


def is_image(X: object) -> bool:
    """Return whether an array holds images, by its number of dimensions."""
    return getattr(X, "ndim", 0) in (3, 4) and hasattr(X, "dtype")


def read_images(X: Any) -> tuple[Any, ImageLayout]:
    """Return images unchanged, and their layout; raise for wrong shapes or dtypes.

    Examples
    --------
    >>> read_images(np.zeros((5, 28, 28), dtype=np.uint8))[1].size
    (1, 28, 28)
    """
    if not is_image(X):
        raise ValueError(
            "Images must be an array (n, height, width) or (n, channels, height, "
            f"width). Got {type(X).__name__} of {getattr(X, 'ndim', 'no')} dimensions."
        )
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("Images must be whole. Got a masked array; use `X.filled(0)`.")
    container = "torch" if type(X).__module__.startswith("torch") else "numpy"
    shape = tuple(int(side) for side in X.shape[1:])
    dtype = str(X.dtype).removeprefix("torch.")
    if len(shape) == 3 and not 1 <= shape[0] <= MOST_CHANNELS:
        sides = f"(n, {', '.join(map(str, shape))})"
        if 1 <= shape[2] <= MOST_CHANNELS:
            sides = f"channels last, {sides}; use `np.moveaxis(X, -1, 1)`"
        raise ValueError(
            f"Images must be (n, channels, height, width), of 1 to {MOST_CHANNELS} "
            f"channels. Got {sides}."
        )
    if min(shape[-2:]) < SMALLEST_SIDE:
        raise ValueError(
            f"Images must have at least {SMALLEST_SIDE} pixels a side, and a table two "
            f"dimensions. Got rows of shape {shape}."
        )
    is_float = dtype in FLOATS if container == "torch" else X.dtype.kind == "f"
    if dtype != "uint8" and not is_float:
        raise ValueError(
            "Images must be uint8 from 0 to 255, or floats from 0 to 1. Got dtype "
            f"{dtype}; convert to uint8 if they run from 0 to 255, and to float32 if "
            "from 0 to 1."
        )
    return X, ImageLayout(container, shape, dtype)


def as_pixels(images: Any) -> NDArray[np.float32]:
    """Return rows of pixels in [0, 1]; NaN becomes 0.

    Examples
    --------
    >>> as_pixels(np.full((1, 8, 8), 51, dtype=np.uint8))[0, :2].tolist()
    [0.20000000298023224, 0.20000000298023224]
    """
    if hasattr(images, "detach"):
        images = images.detach().cpu().numpy()
    array = np.asarray(images)
    rows = array.reshape(len(array), math.prod(array.shape[1:]))
    if rows.dtype == np.uint8:
        return rows.astype(np.float32) / np.float32(255.0)
    with np.errstate(all="ignore"):  # a warning would tell about a value
        rows = np.nan_to_num(rows.astype(np.float64), nan=0.0, posinf=1.0, neginf=0.0)
        return np.clip(rows, 0.0, 1.0).astype(np.float32)


class InRange(IntEnum):
    """The position of the pixels of an image relative to the range of its dtype."""

    WITHIN = 0
    DARK = 1
    BELOW = 2
    ABOVE = 3
    BELOW_AND_ABOVE = 4


def range_codes(images: "Images | torch.Tensor") -> NDArray[np.int64]:
    """Return the cell of each image, independently of other images; NaN counts as 0.

    Examples
    --------
    >>> dark, bright = np.full((8, 8), 0.05), np.full((8, 8), 16.0)
    >>> range_codes(np.stack([dark, bright, bright - 16.5, bright / 16])).tolist()
    [1, 3, 2, 0]
    """
    if hasattr(images, "detach"):
        images = images.detach().cpu().numpy()
    array = np.asarray(images)
    rows = array.reshape(len(array), math.prod(array.shape[1:]))
    unit = 255.0 if rows.dtype == np.uint8 else 1.0
    with np.errstate(all="ignore"):  # a warning would tell about a value
        rows = np.nan_to_num(rows, nan=0.0) if unit == 1.0 else rows
        darkest = rows.min(axis=1).astype(np.float64) / unit
        brightest = rows.max(axis=1).astype(np.float64) / unit
    codes = np.where(brightest <= DARK_BELOW, InRange.DARK, InRange.WITHIN)
    is_below, is_above = darkest < -HALF_STEP, brightest > 1.0 + HALF_STEP
    codes[is_below] = InRange.BELOW
    codes[is_above] = InRange.ABOVE
    codes[is_below & is_above] = InRange.BELOW_AND_ABOVE
    return codes.astype(np.int64)


def image_size(*several: Any) -> tuple[int, int, int]:
    """Return channels, height and width of images, the same of all arrays.

    Examples
    --------
    >>> image_size(np.zeros((5, 8, 8)), np.zeros((2, 1, 8, 8)))
    (1, 8, 8)
    """
    sizes = {read_images(images)[1].size for images in several}
    if len(sizes) > 1:
        raise ValueError(
            "Images must have one size. Got "
            + ", ".join(str(size) for size in sorted(sizes))
            + " (channels, height, width)."
        )
    return sizes.pop()
