"""What any picture may do without becoming another: a public prior, never fitted."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import grid_sample, interpolate

from skdpgen.utils import saved

DEFORMED_AT_ONCE = 4096
SIZES = ("shift", "turn", "shear", "zoom", "warp")


@saved
@dataclass(frozen=True)
class Deformations:
    """Small random shifts, turns, shears, zooms and elastic warps of images.

    Each number is a standard deviation; lengths are parts of an image's side.

    Parameters
    ----------
    shift : float, default=0.036
        Along each axis.
    turn : float, default=8.0
        In degrees.
    shear : float, default=0.12
        How far the top is moved against the bottom, relative to their distance.
    zoom : float, default=0.08
        Logarithm of the enlargement, of each axis by itself.
    warp : float, default=0.03
        How far points move that are ``n_waves`` to a side, smooth in between.
    n_waves : int, default=5

    Examples
    --------
    >>> images = torch.zeros(2, 1, 8, 8)
    >>> Deformations()(images, torch.Generator().manual_seed(0)).shape
    torch.Size([2, 1, 8, 8])
    """

    shift: float = 0.036
    turn: float = 8.0
    shear: float = 0.12
    zoom: float = 0.08
    warp: float = 0.03
    n_waves: int = 5

    def times(self, factor: float) -> "Deformations":
        """Return weaker or stronger ones of the same kind.

        Examples
        --------
        >>> Deformations().times(0.5).turn
        4.0
        """
        sizes = {name: factor * getattr(self, name) for name in SIZES}
        return replace(self, **sizes)

    def __call__(self, images: Tensor, rng: torch.Generator) -> Tensor:
        """Deform each image by itself; pixels from outside repeat the border."""
        parts = [self._deformed(some, rng) for some in images.split(DEFORMED_AT_ONCE)]
        return torch.cat(parts) if parts else images

    def _deformed(self, images: Tensor, rng: torch.Generator) -> Tensor:
        n, _, height, width = images.shape
        grid = _grid(height, width).to(images.dtype)
        places = (grid @ self._maps(n, rng).to(images.dtype)).unflatten(
            1, (height, width)
        )
        places = places + 2 * self.shift * _normal(rng, n, 1, 1, 2)
        waves = 2 * self.warp * _normal(rng, n, 2, self.n_waves, self.n_waves)
        smooth = interpolate(waves, (height, width), mode="bicubic", align_corners=True)
        places = places + smooth.movedim(1, -1)
        found: Tensor = grid_sample(
            images, places.to(images), padding_mode="border", align_corners=False
        )
        return found

    def _maps(self, n: int, rng: torch.Generator) -> Tensor:
        """Return a linear map of the plane for each image, (n, 2, 2)."""
        turn = math.radians(self.turn) * _normal(rng, n)
        turned = torch.stack(
            [turn.cos(), turn.sin(), -turn.sin(), turn.cos()], dim=1
        ).unflatten(1, (2, 2))
        sheared = torch.eye(2).repeat(n, 1, 1)
        sheared[:, 1, 0] = self.shear * _normal(rng, n)
        zoomed = torch.diag_embed((self.zoom * _normal(rng, n, 2)).exp())
        return turned @ sheared @ zoomed


def _grid(height: int, width: int) -> Tensor:
    """Return the centres of pixels in [-1, 1], (height * width, 2), x before y."""
    sides = [(2 * torch.arange(k) + 1.0) / k - 1 for k in (height, width)]
    y, x = torch.meshgrid(*sides, indexing="ij")
    return torch.stack([x, y], dim=-1).flatten(0, 1)


def _normal(rng: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=rng)
