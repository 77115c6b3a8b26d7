"""Private images through a lens: batch by batch, but each independently of others."""

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skdpgen.lenses import (
    CosineLens,
    Lens,
    check_pure,
    clipped,
    each_alone,
    goes_alone,
    lens_of,
)
from skdpgen.lenses._lens_of import LensLike
from skdpgen.synthesizers.opening import Fitting
from skdpgen.tables import (
    Batches,
    Cells,
    EncodedBatch,
    ImageLayout,
    as_pixels,
    holds_images,
    image_size,
)
from skdpgen.utils import Images, Key, saved

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Shape = tuple[int, int, int]  # channels, height, width
# From labels and pixels (or codes) of a batch to labels and vectors.
BatchMap = Callable[[Integers, Floats], tuple[Integers, Any]]
IMAGES_AT_ONCE = 1024
CODE_GRID = 2.0**-20  # codes are rounded to multiples of it where they are compared


CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class Pictures:
    """Private images as codes of a lens; each pass reads them again.

    The code of an image must not depend on the images beside it. So images go through
    the lens in batches of one shape and in double precision, or one by one if the lens
    is opaque.
    """

    opening: Fitting[Any]
    labels: Cells | None
    lens: Any  # a Lens; None where only pixels are read
    device: torch.device = CPU  # of the lens, and of networks that see the pixels

    @property
    def shape(self) -> Shape:
        """Channels, height and width."""
        layout = self.opening.facts.layout
        assert isinstance(layout, ImageLayout)
        return layout.size

    @property
    def width(self) -> int:
        """Number of codes of an image."""
        return int(self.lens.n_latent(self.shape))

    def pixels(self, row: BatchMap) -> Batches:
        """Return batches of ``row(labels, pixels)``, with pixels in [0, 1]."""
        batches = self.opening.rows.batches({}, self.labels)
        return batches.through(partial(_in_one_shape, row, int(np.prod(self.shape))))

    def codes(self, row: BatchMap) -> Batches:
        """Return batches of ``row(labels, codes)``."""
        encode = encoder(self.lens, self.shape, self.device)
        return self.pixels(lambda labels, pixels: row(labels, encode(pixels)))


def _in_one_shape(
    row: BatchMap, n_pixels: int, batches: Iterable[EncodedBatch]
) -> Iterator[EncodedBatch]:
    """Yield ``row(labels, pixels)``, computed in batches of one shape.

    The last batch is filled up with black images without a label; their vectors are
    dropped afterwards. Without this, rounding would depend on the number of images.
    """
    for batch in batches:
        images = batch.parts[Key.PIXELS]
        for start in range(0, len(images), IMAGES_AT_ONCE):
            part = slice(start, start + IMAGES_AT_ONCE)
            labels = batch.labels[part]
            pixels = np.zeros((IMAGES_AT_ONCE, n_pixels))
            pixels[: len(labels)] = as_pixels(images[part])
            padded = np.full(IMAGES_AT_ONCE, -1, dtype=np.int64)
            padded[: len(labels)] = labels
            label, vectors = row(padded, pixels)
            yield EncodedBatch(
                label[: len(labels)], {Key.FEATURES: _first_rows(vectors, len(labels))}
            )


def encoder(
    lens: Lens, shape: Shape, device: torch.device = CPU
) -> Callable[[Floats], Floats]:
    """Return a function from pixels to codes, of norm 1 at most for any lens.

    The function has a copy of the lens: a lens of the user may store what it encodes,
    and must not be kept. An opaque lens is tried on made-up images first.
    """
    lens, is_alone = copy.deepcopy(lens.double()), goes_alone(lens)
    width = int(lens.n_latent(shape))
    if is_alone:
        with torch.no_grad():
            check_pure(lens.encode, shape, width, "lens")
    lens = lens.to(device)

    def encode(pixels: Floats) -> Floats:
        images = torch.from_numpy(pixels).unflatten(1, shape).to(device)
        codes: Tensor
        with torch.no_grad():
            if is_alone:
                codes = each_alone(lens.encode, images, width)
            else:
                codes = lens.encode(images.clone())
        return np.asarray(clipped(codes.double()).cpu().numpy())

    return encode


def encode_images(lens: Lens, shape: Shape, pixels: NDArray[Any]) -> Floats:
    """Return the codes of images, public or private, (n, n_latent).

    All batches have one shape: the last one is filled up with black images. Else
    rounding, and so the code of an image, would depend on how many are beside it.
    """
    encode = encoder(lens, shape)
    codes = np.empty((len(pixels), int(lens.n_latent(shape))))
    for start in range(0, len(pixels), IMAGES_AT_ONCE):
        chunk = pixels[start : start + IMAGES_AT_ONCE]
        padded = np.zeros((IMAGES_AT_ONCE, pixels.shape[1]))
        padded[: len(chunk)] = chunk
        codes[start : start + len(chunk)] = encode(padded)[: len(chunk)]
    return codes


def check_lens(lens: Lens, shape: Shape) -> None:
    """Encode and decode a black image, so that a bad lens fails before any release."""
    black = np.zeros((1, int(np.prod(shape))))
    codes = torch.from_numpy(encoder(lens, shape)(black))
    decoder: Any = copy.deepcopy(lens)
    with torch.no_grad():
        decoder.decode(codes, shape)


def nearest(codes: Floats, centres: Floats, labels: Integers) -> Integers:
    """Return the index of the nearest centre of its class for each row.

    The last digit decides for a row that is equally far from two centres, and rounding
    depends on the order of a sum. So codes and centres are rounded to multiples of
    2^-20 in [-1, 1] first: their products are multiples of 2^-40, and sums of up to
    2^12 of them are exact in any order.

    Examples
    --------
    >>> centres = np.array([[[0.0, 0.0], [1.0, 0.0]]])
    >>> nearest(np.array([[0.2, 0.1], [0.9, 0.0]]), centres, np.array([0, 0])).tolist()
    [0, 1]
    """
    z, p = (
        np.round(np.clip(x, -1, 1) / CODE_GRID) * CODE_GRID for x in (codes, centres)
    )
    indices = np.zeros(len(z), dtype=np.int64)
    if centres.shape[1] > 1:
        for label in range(len(centres)):
            in_class = labels == label
            distances = (p[label] ** 2).sum(axis=1) - 2.0 * z[in_class] @ p[label].T
            indices[in_class] = distances.argmin(axis=1)
    return indices


def from_centres(
    codes: Floats, centres: Floats, labels: Integers
) -> tuple[Floats, Integers]:
    """Return codes minus their nearest centres, and the indices of these."""
    indices = nearest(codes, centres, labels)
    return codes - centres[np.maximum(labels, 0), indices], indices


def _first_rows(vectors: Any, n: int) -> Any:
    """Return the first rows of vectors, or of the factors of products."""
    if isinstance(vectors, list):
        return [(u[:n], v[:n]) for u, v in vectors]
    return vectors[:n]


# ----------------------------------------------------------------------------
# Integers along the principal directions of public images.

EVENING_POWER = 0.25  # directions are divided by their variance to this power
UNCLIPPED_PART = 0.95  # of the public images
MOST_IMAGES = 20_000  # public images that are read
LEAST_VARIANCE = 1e-6  # of a direction, relative to the largest


@saved("lens.public_basis")
@dataclass(frozen=True, eq=False)
class PublicBasis:
    r"""A lens whose codes are coordinates along principal directions of public images.

    .. math:: v = \mathrm{clip}\big(W V^\top (z - m)\big)

    where z are codes of another lens, and m and V their mean and principal directions
    in public images. W enlarges weak directions, since all codes get the same noise. No
    private row changes any of these.

    Parameters
    ----------
    lens : Lens
        With a way back.
    mean : ndarray of shape (n_inner,)
    directions : ndarray of shape (n_inner, n_latent)
        Orthonormal columns, the strongest first.
    weights : ndarray of shape (n_latent,)
    n_images : int
        Number of public images that were read.
    """

    lens: Any
    mean: Floats
    directions: Floats
    weights: Floats
    n_images: int

    has_decoder = True
    has_features = False

    @classmethod
    def of(cls, images: Images, lens: Lens, n_latent: int) -> "PublicBasis":
        """Fit the principal directions of public images, in codes of another lens."""
        images = images[:MOST_IMAGES]
        pixels = torch.from_numpy(as_pixels(images).astype(np.float64))
        parts = pixels.unflatten(1, image_size(images)).split(
            1 if goes_alone(lens) else 1024
        )
        inner = lens.double()
        with torch.no_grad():
            codes = torch.cat([inner.encode(part) for part in parts]).numpy()
        mean = codes.mean(axis=0)
        variances, vectors = np.linalg.eigh(np.cov(codes.T).reshape(len(mean), -1))
        variances, vectors = variances[::-1][:n_latent], vectors[:, ::-1][:, :n_latent]
        if not variances[0] > 0:
            raise ValueError(
                "public_data must hold images that differ. Got the same one "
                f"{len(images)} times, or none with finite pixels."
            )
        is_kept = variances > LEAST_VARIANCE * variances[0]
        variances, vectors = variances[is_kept], vectors[:, is_kept].copy()
        weights = variances ** (-EVENING_POWER / 2)
        norms = np.linalg.norm((codes - mean) @ vectors * weights, axis=1)
        weights = weights / np.quantile(norms, UNCLIPPED_PART)
        return cls(lens, mean, vectors, weights, len(images))

    @property
    def name(self) -> str:
        """The lens as the certificate names it."""
        return f"principal directions of {self.n_images} public images"

    @property
    def is_opaque(self) -> bool:
        """Whether the inner lens must get images one by one."""
        return goes_alone(self.lens)

    def n_latent(self, shape: Shape) -> int:
        """Return the number of directions."""
        del shape
        return len(self.weights)

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        z = self.lens.encode(images)
        matrix = torch.from_numpy(self.directions * self.weights).to(z)
        return clipped((z - torch.from_numpy(self.mean).to(z)) @ matrix)

    def decode(self, codes: Tensor, shape: Shape) -> Tensor:
        """Return images in [0, 1]."""
        matrix = torch.from_numpy((self.directions / self.weights).T).to(codes)
        inner_codes = codes @ matrix + torch.from_numpy(self.mean).to(codes)
        images: Tensor = self.lens.decode(inner_codes, shape)
        return images

    def to(self, device: torch.device) -> "PublicBasis":
        """Return it with its lens on another device; directions go where images are."""
        return replace(self, lens=self.lens.to(device))

    def double(self) -> "PublicBasis":
        """Return itself: directions are cast to the precision of the images."""
        return self


def check_public_images(images: Any, size: Shape) -> None:
    """Raise unless public images have the shape of the private ones."""
    if not holds_images(images) or len(images) < 2:
        raise ValueError(
            "public_data must be an array of two images or more, (n, height, width) or "
            f"(n, channels, height, width). Got {type(images).__name__} of shape "
            f"{getattr(images, 'shape', None)}."
        )
    if image_size(images) != size:
        raise ValueError(
            "public_data must have images of the shape of X. Got "
            f"{image_size(images)} and {size} (channels, height, width)."
        )


# ----------------------------------------------------------------------------
# The lens for images: the user's, or a cosine transform.

MOST_FREQUENCIES = 160, 300  # of a channel, and of all channels together
RADIUS, EMPHASIS = 2.0, 0.5  # of the usual cosine lens: high frequencies count more
MORE_FREQUENCIES = 2  # factor, where public images select directions


def choose_lens(
    lens: LensLike | None,
    public_data: Images | None,
    size: Shape,
    *,
    is_plain: bool = False,
) -> Lens:
    """Return the lens for images of a size, tested on a black image.

    Parameters
    ----------
    lens : lens of the user, or None
    public_data : array of images or None
    size : tuple of int
        Channels, height and width.
    is_plain : bool, default=False
        Whether codes are released without scaling. The default lens then has codes
        near norm 1. Else its codes are small, so that none is clipped, and a released
        size enlarges them.
    """
    n_pixels = size[1] * size[2]
    n = min(MOST_FREQUENCIES[0], MOST_FREQUENCIES[1] // size[0], n_pixels)
    n_frequencies = n if public_data is None else min(MORE_FREQUENCIES * n, n_pixels)
    emphasised = CosineLens(n_frequencies, 0.0, RADIUS, EMPHASIS)
    default: Lens = CosineLens(n_frequencies) if is_plain else emphasised
    chosen = default if lens is None else lens_of(lens, needs_decoder=True)
    check_lens(chosen, size)
    if public_data is None:
        return chosen
    check_public_images(public_data, size)
    n_latent = n * size[0] if lens is None else chosen.n_latent(size)
    return PublicBasis.of(public_data, chosen, n_latent)
