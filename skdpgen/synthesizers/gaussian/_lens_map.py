"""Private images through a lens, a few at a time, each as if it were alone."""

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skdpgen.lenses import (
    CosineLens,
    check_pure,
    clipped,
    each_alone,
    goes_alone,
    lens_of,
)
from skdpgen.synthesizers.opening import Fitting
from skdpgen.tables import (
    Batches,
    Cells,
    EncodedBatch,
    as_pixels,
    holds_images,
    image_size,
)
from skdpgen.utils import Key, saved

Floats = NDArray[np.float64]
Row = Callable[[Any, Floats], Any]  # labels and pixels to labels and vectors
AT_ONCE = 1024
GRID = 2.0**-20


@dataclass(frozen=True, eq=False)
class Pictures:
    """Private images as codes of a lens; each pass reads them again.

    What an image becomes must not depend on those beside it. So images go in batches
    of one shape and in double precision, or one by one through a lens that is opaque.
    """

    opening: Fitting[Any]
    labels: Cells | None
    lens: Any

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        size: tuple[int, int, int] = self.opening.facts.layout.size  # type: ignore[union-attr]
        return size

    @property
    def width(self) -> int:
        """Number of codes of an image."""
        return int(self.lens.n_latent(self.shape))

    def pixels(self, row: Row) -> Batches:
        """Return what ``row`` makes of labels and pixels in [0, 1]."""
        batches = self.opening.rows.batches({}, self.labels)
        return batches.through(partial(_in_one_shape, row, int(np.prod(self.shape))))

    def codes(self, row: Row) -> Batches:
        """Return what ``row`` makes of labels and codes."""
        encode = encoder(self.lens, self.shape)
        return self.pixels(lambda labels, pixels: row(labels, encode(pixels)))


def _in_one_shape(
    row: Row, n_pixels: int, batches: Iterable[EncodedBatch]
) -> Iterator[EncodedBatch]:
    """Yield ``row`` of labels and pixels, in batches of one shape.

    The last batch is filled up with black images; ``row`` returns labels and vectors,
    of which the images that are there are kept.
    """
    for batch in batches:
        images = batch.parts[Key.PIXELS]
        for start in range(0, len(images), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            known = batch.labels[some]
            pixels = np.zeros((AT_ONCE, n_pixels))
            pixels[: len(known)] = as_pixels(images[some])
            filled = np.full(AT_ONCE, -1, dtype=np.int64)
            filled[: len(known)] = known
            label, vectors = row(filled, pixels)
            yield EncodedBatch(
                label[: len(known)], {Key.FEATURES: _first(vectors, len(known))}
            )


def encoder(lens: Any, shape: tuple[int, int, int]) -> Callable[[Floats], Floats]:
    """Return a function from pixels to codes, of norm 1 at most whatever the lens is.

    It has a copy of the lens: one that remembers what it saw must not be kept. A lens
    of which nothing is known is tried on made-up images first.
    """
    lens, is_alone = copy.deepcopy(lens.double()), goes_alone(lens)
    width = int(lens.n_latent(shape))
    if is_alone:
        with torch.no_grad():
            check_pure(lens.encode, shape, width, "lens")

    def encode(pixels: Floats) -> Floats:
        images = torch.from_numpy(pixels).unflatten(1, shape)
        codes: Tensor
        with torch.no_grad():
            if is_alone:
                codes = each_alone(lens.encode, images, width)
            else:
                codes = lens.encode(images.clone())
        return np.asarray(clipped(codes.double()).numpy())

    return encode


def check_lens(lens: Any, shape: tuple[int, int, int]) -> None:
    """Send a black image there and back, so that a lens fails before it costs."""
    black = np.zeros((1, int(np.prod(shape))))
    codes = torch.from_numpy(encoder(lens, shape)(black))
    with torch.no_grad():
        copy.deepcopy(lens).decode(codes, shape)


def nearest(codes: Floats, centres: Floats, labels: Any) -> Any:
    """Return which centre of its class each row is nearest to.

    A row on the border of two goes to one of them by its last digit. So codes and
    centres are cut to multiples of 2^-20 in [-1, 1] first: their products are multiples
    of 2^-40, and sums of up to 2^12 of them are exact in any order.

    Examples
    --------
    >>> centres = np.array([[[0.0, 0.0], [1.0, 0.0]]])
    >>> nearest(np.array([[0.2, 0.1], [0.9, 0.0]]), centres, np.array([0, 0])).tolist()
    [0, 1]
    """
    z, p = (np.round(np.clip(x, -1, 1) / GRID) * GRID for x in (codes, centres))
    found = np.zeros(len(z), dtype=np.int64)
    if centres.shape[1] > 1:
        for label in range(len(centres)):
            mine = labels == label
            away = (p[label] ** 2).sum(axis=1) - 2.0 * z[mine] @ p[label].T
            found[mine] = away.argmin(axis=1)
    return found


def from_centres(codes: Floats, centres: Floats, labels: Any) -> tuple[Floats, Any]:
    """Return rows minus their nearest centres, and which these are."""
    near = nearest(codes, centres, labels)
    return codes - centres[np.maximum(labels, 0), near], near


def _first(vectors: Any, n: int) -> Any:
    """Return the first rows of vectors, or of the factors of products."""
    if isinstance(vectors, list):
        return [(u[:n], v[:n]) for u, v in vectors]
    return vectors[:n]


# ----------------------------------------------------------------------------
# Codes along the principal directions of public images.

EVENED = 0.25  # power of variances that directions are divided by
INSIDE = 0.95  # of public images have codes that are not clipped
MOST = 20_000  # public images that are looked at
SMALLEST = 1e-6  # of the largest variance


@saved("lens.public_basis")
@dataclass(frozen=True, eq=False)
class PublicBasis:
    r"""A lens whose codes stand along the principal directions of public images.

    .. math:: v = \mathrm{clip}\big(W V^\top (z - m)\big)

    where z are codes of another lens, m and V their mean and principal directions in
    public images, and W makes weak directions larger, as far as noise that all codes
    get alike asks for it. A private row changes none of these.

    Parameters
    ----------
    lens : Lens
        With a way back.
    mean : ndarray of shape (n_inner,)
    directions : ndarray of shape (n_inner, n_latent)
        Orthonormal columns, the strongest first.
    weights : ndarray of shape (n_latent,)
    n_images : int
        How many images were looked at.
    """

    lens: Any
    mean: Floats
    directions: Floats
    weights: Floats
    n_images: int

    has_decoder = True
    has_features = False

    @classmethod
    def of(cls, images: Any, lens: Any, n_latent: int) -> "PublicBasis":
        """Return the lens that public images make of another."""
        images = images[:MOST]
        pixels = torch.from_numpy(as_pixels(images).astype(np.float64))
        parts = pixels.unflatten(1, image_size(images)).split(
            1 if goes_alone(lens) else 1024
        )
        inner = lens.double()
        with torch.no_grad():
            z = torch.cat([inner.encode(part) for part in parts]).numpy()
        mean = z.mean(axis=0)
        found, vectors = np.linalg.eigh(np.cov(z.T).reshape(len(mean), -1))
        found, vectors = found[::-1][:n_latent], vectors[:, ::-1][:, :n_latent]
        if not found[0] > 0:
            raise ValueError(
                "public_data must hold images that differ. Got the same one "
                f"{len(images)} times, or none with finite pixels."
            )
        there = found > SMALLEST * found[0]
        found, vectors = found[there], vectors[:, there].copy()
        weights = found ** (-EVENED / 2)
        norms = np.linalg.norm((z - mean) @ vectors * weights, axis=1)
        weights = weights / np.quantile(norms, INSIDE)
        return cls(lens, mean, vectors, weights, len(images))

    @property
    def name(self) -> str:
        """What a certificate says about the lens."""
        return f"principal directions of {self.n_images} public images"

    @property
    def is_opaque(self) -> bool:
        """Whether the other lens must have rows one by one."""
        return goes_alone(self.lens)

    def n_latent(self, shape: Any) -> int:
        """Return how many directions there are."""
        del shape
        return len(self.weights)

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        z = self.lens.encode(images)
        turn = torch.from_numpy(self.directions * self.weights).to(z)
        return clipped((z - torch.from_numpy(self.mean).to(z)) @ turn)

    def decode(self, codes: Tensor, shape: Any) -> Tensor:
        """Return images in [0, 1]."""
        back = torch.from_numpy((self.directions / self.weights).T).to(codes)
        z = codes @ back + torch.from_numpy(self.mean).to(codes)
        images: Tensor = self.lens.decode(z, shape)
        return images

    def to(self, device: torch.device) -> "PublicBasis":
        """Return itself: directions go where images are."""
        return self

    def double(self) -> "PublicBasis":
        """Return itself: directions have the precision of images."""
        return self


def check_public(images: Any, size: tuple[int, int, int]) -> None:
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
# Which lens images are seen through: what was asked for, or a public one of ours.

COEFFICIENTS = 160, 300  # of a channel, and of all channels together
RADIUS, EMPHASIS = 2.0, 0.5
FINER = 2  # times as many frequencies, where public images say which matter


def choose_lens(
    given: Any, public_data: Any, size: tuple[int, int, int], *, is_plain: bool = False
) -> Any:
    """Return the lens for images of a size, after it has seen a black one.

    Parameters
    ----------
    given : what the user asked for, or None
    public_data : array of images or None
    size : tuple of int
        Channels, height and width.
    is_plain : bool, default=False
        Whether codes are released as they are. Those of our lens are then near norm 1;
        else they are small, so that none is cut, and enlarged by a released size.
    """
    whole = size[1] * size[2]
    n = min(COEFFICIENTS[0], COEFFICIENTS[1] // size[0], whole)
    many = n if public_data is None else min(FINER * n, whole)
    ours = CosineLens(many, radius=RADIUS, emphasis=EMPHASIS)
    usual = CosineLens(many) if is_plain else ours
    lens = usual if given is None else lens_of(given, needs_decoder=True)
    check_lens(lens, size)
    if public_data is None:
        return lens
    check_public(public_data, size)
    n_latent = n * size[0] if given is None else lens.n_latent(size)
    return PublicBasis.of(public_data, lens, n_latent)
