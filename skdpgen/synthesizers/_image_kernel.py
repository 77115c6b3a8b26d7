"""The kernel on images: bounded features of pixels, one bounded vector."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from skdpgen.privacy import Counts
from skdpgen.synthesizers._feature_map import Mapper, feature_block
from skdpgen.tables import EncodedBatch, ImageLayout, as_pixels

PAID = 0.1  # squared weight of class counts where they are not free


@dataclass(frozen=True, eq=False)
class ImageKernel:
    r"""An image becomes :math:`\phi(x)`, of norm 1 at most; class counts ride along.

    Replacing an image moves the sum of :math:`\phi(x) \otimes y` by at most 2, and
    counts of weight 1 beside it cost nothing (proof:
    :class:`~skdpgen.privacy.WithCounts`); adding or removing one moves both by at most
    :math:`\sqrt{1 + \beta}`.

    Parameters
    ----------
    phi : FeatureMap or None
        Of the pixels of an image, channel by channel and row by row.
    layout : ImageLayout
    beta : float, default=1.0
        Squared weight of the counts.
    decoder : dict of Tensor or None
        Of an auto-encoder whose codes ``phi`` sees: what the generator ends with.
    """

    phi: Any
    layout: ImageLayout
    beta: float = 1.0
    decoder: Any = None

    @classmethod
    def of(
        cls, phi: Any, layout: ImageLayout, adjacency: str, decoder: Any = None
    ) -> "ImageKernel":
        """Weigh the counts as highly as is free, or as little as they need."""
        return cls(phi, layout, 1.0 if adjacency == "replace" else PAID, decoder)

    @property
    def what(self) -> str:
        """What the certificate calls it."""
        return f"{self.layout.n_pixels} pixels"

    @property
    def blocks(self) -> dict[str, Any]:
        """What a release sums."""
        counts = {"classes": Counts(self.beta)}
        if self.phi is None:
            return counts
        return {"features": feature_block(self.phi), **counts}

    @property
    def weights(self) -> dict[str, float]:
        """What each block is scaled by."""
        return {"features": 1.0}

    def encode(
        self, batches: Iterable[EncodedBatch], device: torch.device
    ) -> Iterator[EncodedBatch]:
        """Map images, a few at a time: n x features is never in memory."""
        mapper = Mapper.of(self.phi, device)
        for batch in batches:
            images = batch.parts["pixels"]
            for start in range(0, len(images), mapper.at_once):
                some = slice(start, start + mapper.at_once)
                features = mapper(as_pixels(images[some]))
                yield EncodedBatch(batch.labels[some], {"features": features})

    @property
    def width(self) -> int:
        """Numbers of a point."""
        return self.layout.n_pixels

    def rows_of(self, batch: EncodedBatch) -> Any:
        """Return what :meth:`inputs` takes, of a batch."""
        return batch.parts["pixels"]

    def inputs(self, rows: Any) -> Any:
        """Return rows as points."""
        return as_pixels(rows)

    def points(self, outputs: list[Tensor]) -> Tensor:
        """Return what a generator makes as points."""
        return outputs[0]

    def embedding(self, device: torch.device, rng: Generator) -> Any:
        """Return what turns a batch of images into the mean features of each class."""
        del rng  # nothing is drawn
        phi = self.phi.to(device)

        def embed(outputs: list[Tensor], n_groups: int = 1) -> dict[str, Tensor]:
            return {"features": phi.mean(outputs[0], n_groups)}

        return embed
