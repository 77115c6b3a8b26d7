"""Private images through a lens, a few at a time, each as if it were alone."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skdpgen.lenses import check_pure, clipped, each_alone, goes_alone
from skdpgen.synthesizers.opening import Opening
from skdpgen.tables import Cells, EncodedBatch, as_pixels
from skdpgen.utils import Key

Floats = NDArray[np.float64]
AT_ONCE = 1024
GRID = 2.0**-20


@dataclass(frozen=True, eq=False)
class Pictures:
    """Private images as codes of a lens; each pass reads them again.

    What an image becomes must not depend on those beside it. So images go in batches
    of one shape and in double precision, or one by one through a lens that is opaque.
    """

    opening: Opening
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

    def pixels(self, row: Callable[[Any, Floats], Any]) -> Iterator[EncodedBatch]:
        """Yield ``row`` of labels and pixels in [0, 1], in batches of one shape.

        The last batch is filled up with black images; ``row`` returns labels and
        vectors, of which the images that are there are kept.
        """
        for batch in self.opening.rows.batches({}, self.labels):
            images = batch.parts[Key.PIXELS]
            for start in range(0, len(images), AT_ONCE):
                some = slice(start, start + AT_ONCE)
                known = batch.labels[some]
                pixels = np.zeros((AT_ONCE, int(np.prod(self.shape))))
                pixels[: len(known)] = as_pixels(images[some])
                filled = np.full(AT_ONCE, -1, dtype=np.int64)
                filled[: len(known)] = known
                label, vectors = row(filled, pixels)
                yield EncodedBatch(
                    label[: len(known)], {Key.FEATURES: _first(vectors, len(known))}
                )

    def codes(self, row: Callable[[Any, Floats], Any]) -> Iterator[EncodedBatch]:
        """Yield ``row`` of labels and codes."""
        encode = encoder(self.lens, self.shape)
        return self.pixels(lambda labels, pixels: row(labels, encode(pixels)))


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
