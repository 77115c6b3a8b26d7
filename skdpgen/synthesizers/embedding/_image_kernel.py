"""The kernel on images: bounded features of pixels, one bounded vector."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn.functional import avg_pool2d

from skdpgen.privacy import Counts, Release
from skdpgen.synthesizers.embedding._feature_map import Mapper, feature_block
from skdpgen.synthesizers.models import (
    CodesModel,
    Denoised,
    Density,
    ImageModel,
    learn_images,
    new_generator,
    refuse_container,
    train_images,
)
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import Cells, EncodedBatch, ImageLayout, as_pixels
from skdpgen.utils import (
    Key,
    saved,
)

# ----------------------------------------------------------------------------
# Private rows as points in memory, for methods that read some of them at each step.


class PointKernel(Protocol):
    """A kernel that makes points of rows."""

    @property
    def width(self) -> int:
        """Number of values of a point."""

    def rows_of(self, batch: EncodedBatch) -> Any:
        """Return the part of a batch that :meth:`inputs` takes."""

    def inputs(self, rows: Any, /) -> NDArray[Any]:
        """Return rows as points."""


@dataclass(eq=False)
class Points:
    """Some rows: their points, and their labels."""

    x: NDArray[Any]
    labels: NDArray[np.int64]


class PointRows:
    """Rows kept as cells or pixels, turned into points when they are taken."""

    def __init__(self, kernel: PointKernel, batches: Iterable[EncodedBatch]) -> None:
        parts, labels = [], []
        for batch in batches:
            rows = kernel.rows_of(batch)
            rows = rows.detach().cpu().numpy() if hasattr(rows, "detach") else rows
            parts.append(np.asarray(rows))
            labels.append(batch.labels)
        self._kernel = kernel
        self._rows = np.concatenate(parts) if parts else np.empty((0, 0))
        self._labels = np.concatenate(labels) if labels else np.empty(0, np.int64)

    def close(self) -> None:
        """Forget the rows."""
        self._rows, self._labels = np.empty((0, 0)), np.empty(0, np.int64)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def take(self, indices: NDArray[np.intp]) -> Points:
        """Return the rows at ``indices``.

        An error for an empty sample would disclose that it is empty.
        """
        if not len(indices):
            return Points(np.empty((0, self._kernel.width)), np.empty(0, np.int64))
        return Points(self._kernel.inputs(self._rows[indices]), self._labels[indices])


class Labelled:
    """Private rows as a pair of arrays: points, and one-hot labels.

    A label without a class is all zeros: such a row has no gradient.
    """

    def __init__(self, points: PointRows, n_classes: int) -> None:
        self._points, self._n_classes = points, n_classes

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._points)

    def take(
        self, indices: NDArray[np.intp]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the rows at ``indices``."""
        sample = self._points.take(indices)
        one_hots = np.arange(self._n_classes) == np.asarray(sample.labels)[:, None]
        return sample.x.astype(np.float32), one_hots.astype(np.float32)


# ----------------------------------------------------------------------------
# The kernel on images: bounded features of pixels, one bounded vector.

Size = tuple[int, int, int]  # channels, height, width
HALVED_FROM_SIDE = 16  # pixels; "auto" then averages 2 x 2 of them
COUNTS_WEIGHT = 0.1  # squared, of class counts where they are not free


@saved("kernel.image")
@dataclass(frozen=True, eq=False)
class ImageKernel:
    r"""An image becomes :math:`\phi(x)`, of norm 1 at most, next to class counts.

    Replacing an image moves the sum of :math:`\phi(x) \otimes y` by at most 2, and by
    less if features cannot point in opposite directions (proof: the structure of the
    block); counts of squared weight :math:`\beta` beside it cost nothing up to
    :math:`\Delta^2/2 - B^2` (proof: :class:`~skdpgen.privacy.WithCounts`). Adding or
    removing one moves both by at most :math:`\sqrt{1 + \beta}`.

    Parameters
    ----------
    phi : FeatureMap or None
        Map of :meth:`view` of an image, channel by channel and row by row.
    layout : ImageLayout
    pooling : int, default=1
        How many pixels a side are averaged to one.
    beta : float, default=1.0
        Squared weight of the counts.
    decoder : dict of Tensor or None
        Weights of the decoder of an auto-encoder whose codes ``phi`` maps; the
        generator ends with this decoder.
    """

    phi: Any  # a FeatureMap or None; optional attributes are read of it
    layout: ImageLayout
    pooling: int = 1
    beta: float = 1.0
    decoder: dict[str, Tensor] | None = None

    share = 1.0  # of a row's squared norm that features get

    @classmethod
    def of(
        cls,
        phi: Any,
        layout: ImageLayout,
        adjacency: str,
        *,
        pooling: int = 1,
        decoder: dict[str, Tensor] | None = None,
    ) -> Self:
        """Give the counts the weight that is free, or else the least that they need."""
        free = 0.0
        if phi is not None and adjacency == "replace":
            structure = feature_block(phi).structure
            free = structure.replace() ** 2 / 2 - structure.bound**2
        return cls(phi, layout, pooling, max(free, COUNTS_WEIGHT), decoder)

    @property
    def certificate_name(self) -> str:
        """Name in the certificate."""
        if self.pooling == 1:
            return f"{self.layout.n_pixels} pixels"
        return f"{self.width} means of {self.pooling} x {self.pooling} pixels"

    @property
    def blocks(self) -> dict[str, Any]:
        """Blocks that a release sums."""
        counts: dict[str, Any] = {Key.CLASSES: Counts(self.beta)}
        if self.phi is None:
            return counts
        return {Key.FEATURES: feature_block(self.phi), **counts}

    @property
    def weights(self) -> dict[str, float]:
        """Scale of each block."""
        return {Key.FEATURES: 1.0}

    def encode(
        self, batches: Iterable[EncodedBatch], device: torch.device
    ) -> Iterator[EncodedBatch]:
        """Map images, a few at a time: n x features is never in memory."""
        mapper = Mapper.of(self.phi, device)
        for batch in batches:
            images = batch.parts[Key.PIXELS]
            for start in range(0, len(images), mapper.at_once):
                chunk = slice(start, start + mapper.at_once)
                features = mapper(self.inputs(images[chunk]))
                yield EncodedBatch(batch.labels[chunk], {Key.FEATURES: features})

    @property
    def width(self) -> int:
        """Number of values of a point."""
        return n_seen(self.layout.size, self.pooling)

    def rows_of(self, batch: EncodedBatch) -> NDArray[Any]:
        """Return the part of a batch that :meth:`inputs` takes."""
        pixels: NDArray[Any] = batch.parts[Key.PIXELS]
        return pixels

    def inputs(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows as points."""
        return self.view(torch.from_numpy(as_pixels(rows))).numpy()

    def points(self, outputs: list[Tensor]) -> Tensor:
        """Return the outputs of a generator as points."""
        return self.view(outputs[0])

    def view(self, pixels: Tensor) -> Tensor:  # (n, n_pixels) -> (n, width)
        """Return the inputs of features; public, and image by image."""
        if self.pooling == 1:
            return pixels
        maps = pixels.reshape(-1, *self.layout.size)
        return avg_pool2d(maps, self.pooling, ceil_mode=True).flatten(1)

    def learn(
        self,
        released: Release,
        cells: Mapping[Any, Cells],
        facts: Facts,
        *,
        n_classes: int,
        n_rows: float | None,
        seed: int,
    ) -> Denoised:
        """Return the denoised release."""
        del cells, facts, seed  # there are no columns, and nothing is drawn
        return learn_images(released, n_classes=n_classes, n_rows=n_rows)

    def train(
        self, denoised: Denoised, settings: Any, **how: Any
    ) -> tuple[ImageModel, list[float]]:
        """Return a generator trained on the denoised release, and its losses."""
        return train_images(denoised, self, settings, **how)

    def untrained(
        self,
        totals: NDArray[np.float64],
        settings: Any,
        cells: Mapping[Any, Cells],
        rng: Generator,
    ) -> ImageModel | CodesModel:
        """Return a generator with random weights, and released class counts."""
        del cells
        return ImageModel(new_generator(self, settings, len(totals), rng), totals)

    def draw(
        self,
        model: ImageModel,
        labels: NDArray[np.int64],
        cells: Mapping[Any, Cells],
        facts: Facts,
        *,
        denoised: Denoised | None,
        container: str | None,
        rng: np.random.Generator,
    ) -> Any:
        """Draw images with the given labels, in the layout of the fitted array."""
        del cells, facts
        refuse_container(container)
        density = None if denoised is None else Density.of(self, denoised)
        return self.layout.restore(model.draw(labels, rng=rng, density=density))

    def embedding(
        self, device: torch.device, rng: Generator
    ) -> Callable[..., dict[str, Tensor]]:
        """Return a function from images to the mean features of each class."""
        del rng  # nothing is drawn
        phi = self.phi.to(device)

        def embed(outputs: list[Tensor], n_parts: int = 1) -> dict[str, Tensor]:
            if self.decoder:  # of codes: pixels computed from them lose information
                return {Key.FEATURES: phi.phi.mean(outputs[1], n_parts)}
            return {Key.FEATURES: phi.mean(self.view(outputs[0]), n_parts)}

        return embed


def pooling_of(size: Size, pooling: int | str) -> int:
    """Return how many pixels a side are averaged to one.

    Examples
    --------
    >>> pooling_of((1, 8, 8), "auto"), pooling_of((1, 8, 8), 2)
    (1, 2)
    """
    if isinstance(pooling, str):
        return 2 if min(size[1:]) >= HALVED_FROM_SIDE else 1
    if pooling > min(size[1:]):
        raise ValueError(
            f"pooling must be at most the side of an image. Got {pooling!r} for images "
            f"of {size[1]} x {size[2]} pixels."
        )
    return int(pooling)


def size_seen(size: Size, pooling: int) -> Size:
    """Return channels, height and width of an image after pooling."""
    channels, height, width = size
    return channels, math.ceil(height / pooling), math.ceil(width / pooling)


def n_seen(size: Size, pooling: int) -> int:
    """Return how many numbers an image has after pooling."""
    return math.prod(size_seen(size, pooling))
