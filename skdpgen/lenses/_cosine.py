"""A lens of low frequencies, which are the content of a blurred image."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from skdpgen.lenses._lens import Shape, clipped, within_range
from skdpgen.utils import (
    saved,
)


@saved("lens.cosine")
@dataclass(frozen=True)
class CosineLens:
    r"""The lowest frequencies of a cosine transform of channels, rows and columns.

    .. math:: v_{kij} = \frac{1}{r \sqrt{d}} \sum_l (C_m)_{kl}\,
              (C_h (x_l - c)\, C_w^\top)_{ij}, \qquad
              \mathrm{code} = v / \max(1, \|v\|)

    The rows of the matrices C are cosines, orthonormal. An image has m channels
    :math:`x_l` of height h and width w, d numbers in all, and c is the centre. Channels
    are transformed into a brightness and differences of colours: red, green and blue
    are nearly alike in photographs, and these are nearly independent. Those pairs
    (i, j) are kept for which i/h + j/w is smallest. So a code describes a blurred
    image, and decoding is the same sum of cosines.

    *Bound.* The norm is clipped, whatever the image is. A smaller radius makes codes
    larger, and clips more of them: an image stays as it is if its low frequencies,
    after the centre is subtracted, have a root mean square of r at most. With the
    defaults all images do: a pixel is at most .5 from .5, and the transform keeps
    norms. An image that is clipped comes back nearer to the centre: around 0, darker.

    Parameters
    ----------
    n_coefficients : int, default=80
        Frequencies of each channel; all of them if an image has fewer.
    centre : float, default=0.5
        Public brightness that is subtracted from each pixel. With 0 and a radius of .35
        strokes on black have larger codes, beside the same noise.
    radius : float, default=0.5
        The constant r.
    emphasis : float, default=0.0
        A frequency (i, j) is multiplied by :math:`(1 + \sqrt{i^2 + j^2})` to this
        power, and divided by it when decoded. All codes get the same noise, and high
        frequencies are weak in images; this makes them larger.

    Examples
    --------
    >>> lens = CosineLens(10)
    >>> images = torch.full((2, 1, 8, 8), 0.25)
    >>> codes = lens.encode(images)
    >>> codes.shape
    torch.Size([2, 10])
    >>> lens.decode(codes, (1, 8, 8))[0, 0, 0, :2]
    tensor([0.2500, 0.2500])
    """

    n_coefficients: int = 80
    centre: float = 0.5
    radius: float = 0.5
    emphasis: float = 0.0

    is_opaque = False
    has_decoder = True
    has_features = False

    def __post_init__(self) -> None:
        if self.n_coefficients < 1:
            raise ValueError(
                f"n_coefficients must be at least 1. Got {self.n_coefficients} instead."
            )
        if not 0.0 <= self.centre <= 1.0:
            raise ValueError(f"centre must be in [0, 1]. Got {self.centre!r} instead.")
        if isinstance(self.radius, str) or not 0.0 < self.radius < math.inf:
            raise ValueError(f"radius must be positive. Got {self.radius!r} instead.")
        if not 0.0 <= self.emphasis <= 2.0:
            raise ValueError(
                f"emphasis must be in [0, 2]. Got {self.emphasis!r} instead."
            )

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        return (
            "low frequencies of a cosine transform, "
            f"{self.n_coefficients} a channel, radius {self.radius:g} "
            f"around {self.centre:g}"
            + (f", emphasis {self.emphasis:g}" if self.emphasis else "")
        )

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return shape[0] * self._n_kept(shape)

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        images = within_range(images)
        _, channels, height, width = images.shape
        shape = channels, height, width
        rows, columns, tall, wide = self._waves(shape, images)
        n_bits = bits_of(height, width)
        tall, wide = on_grid(tall, n_bits), on_grid(wide, n_bits)
        tall_waves = tall @ on_grid(images - self.centre, n_bits)
        waves = on_grid(tall_waves, n_bits) @ wide.T
        kept = waves[:, :, rows, columns] * self._gain(rows, columns, images)
        kept = mixed(kept, cosines(channels, channels).to(images)).flatten(1)
        return clipped(kept / (self.radius * math.sqrt(math.prod(shape))))

    def decode(self, codes: Tensor, shape: Shape) -> Tensor:
        """Return images in [0, 1]; differentiable."""
        rows, columns, tall, wide = self._waves(shape, codes)
        waves = codes.new_zeros(len(codes), shape[0], len(tall), len(wide))
        size = self.radius * math.sqrt(math.prod(shape))
        kept = size * codes.reshape(len(codes), shape[0], len(rows))
        kept = mixed(kept, cosines(shape[0], shape[0]).to(codes).T)
        waves[:, :, rows, columns] = kept / self._gain(rows, columns, codes)
        return (tall.T @ waves @ wide + self.centre).clamp(0.0, 1.0)

    def to(self, device: torch.device) -> "CosineLens":
        """Return itself: cosines go where images are."""
        return self

    def double(self) -> "CosineLens":
        """Return itself: cosines have the precision of images."""
        return self

    def _gain(self, rows: Tensor, columns: Tensor, like: Tensor) -> Tensor:
        """Return the factor of each frequency."""
        distance = (rows.double() ** 2 + columns.double() ** 2).sqrt()
        return ((1.0 + distance) ** self.emphasis).to(like)

    def _n_kept(self, shape: Shape) -> int:
        return min(self.n_coefficients, shape[1] * shape[2])

    def _waves(self, shape: Shape, like: Tensor) -> tuple[Tensor, ...]:
        """Return where the kept frequencies stand, and the cosines they take."""
        _, height, width = shape
        rows, columns = lowest(self._n_kept(shape), height, width)
        tall = cosines(height, int(rows.max()) + 1).to(like)
        wide = cosines(width, int(columns.max()) + 1).to(like)
        return rows, columns, tall, wide


def on_grid(values: Tensor, n_bits: int) -> Tensor:
    r"""Round to multiples of a power of two: products with cosines add exactly.

    The code of an image is then independent of its position in a batch, and of how
    matrix products treat the edges of a block. *Proof.* With b bits, partial sums of
    both products are multiples of :math:`2^{-2b}`, and at most
    :math:`\sqrt{2hw}`: numbers are at most 1 in an image and :math:`\sqrt h` after the
    first product, :math:`\sqrt{2/w}` in a cosine. With :func:`bits_of` an image that is
    up to :math:`2^{53}` of them, which float64 holds. ∎ What is differentiated, or
    single, is left as it is.

    Examples
    --------
    >>> on_grid(torch.tensor([1 / 3], dtype=torch.float64), 20) * 2**20
    tensor([349525.], dtype=torch.float64)
    """
    if values.dtype is not torch.float64 or values.requires_grad:
        return values
    return (values * 2.0**n_bits).round() * 2.0**-n_bits


def mixed(rows: Tensor, matrix: Tensor) -> Tensor:
    """Return products of a matrix with the channels of rows, (n, channels, k).

    Each product and sum is a step of its own, so the result for a row does not depend
    on its position, as it may in a product of matrices.

    Examples
    --------
    >>> turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    >>> mixed(torch.tensor([[[1.0], [2.0]]]), turn).tolist()
    [[[2.0], [-1.0]]]
    """
    if len(matrix) == 1:
        return rows
    channels = rows.unbind(dim=1)
    sums = []
    for factors in matrix:
        total = channels[0] * factors[0]
        for channel, factor in zip(channels[1:], factors[1:], strict=True):
            total = total + channel * factor
        sums.append(total)
    return torch.stack(sums, dim=1)


def bits_of(height: int, width: int) -> int:
    """Return how many bits an image, and cosines, may have.

    Examples
    --------
    >>> bits_of(28, 28), bits_of(512, 512)
    (23, 21)
    """
    return int((52 - 0.5 * math.log2(2 * height * width)) / 2)  # one to spare


def cosines(n: int, n_rows: int) -> Tensor:
    """Return the first rows of the orthonormal cosine transform, (n_rows, n).

    Examples
    --------
    >>> cosines(4, 2).round(decimals=2)
    tensor([[ 0.5000,  0.5000,  0.5000,  0.5000],
            [ 0.6500,  0.2700, -0.2700, -0.6500]], dtype=torch.float64)
    """
    frequencies = torch.arange(n_rows, dtype=torch.float64)[:, None]
    places = torch.arange(n, dtype=torch.float64) + 0.5
    rows = torch.cos(math.pi / n * frequencies * places) * math.sqrt(2 / n)
    rows[0] /= math.sqrt(2)
    return rows


def lowest(n: int, height: int, width: int) -> tuple[Tensor, Tensor]:
    """Return where the n lowest frequencies stand, by i / height + j / width.

    Compared as whole numbers, so equal ones are equal; then the smaller i comes first.

    Examples
    --------
    >>> [places.tolist() for places in lowest(4, 8, 8)]
    [[0, 0, 1, 0], [0, 1, 0, 2]]
    """
    i, j = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    order = (i * width + j * height).flatten().argsort(stable=True)[:n]
    return order // width, order % width
