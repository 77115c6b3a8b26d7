"""Images as codes of a public lens, and a game that is played among codes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Generator, Tensor

from skdpgen.networks import ImageGenerator, ImageShape
from skdpgen.privacy import Counts
from skdpgen.synthesizers.embedding import ImageKernel
from skdpgen.synthesizers.gaussian import check_lens, encoder
from skdpgen.synthesizers.models import CodesModel
from skdpgen.tables import EncodedBatch, as_pixels
from skdpgen.utils import Key, saved

AT_ONCE = 1024
REACH = 8.0  # of a code: so many usual deviations, if all codes have norm 1


@saved
@dataclass(frozen=True, eq=False)
class CodesKernel(ImageKernel):
    """An image becomes its codes v of a lens, of norm 1 at most (DP-GAN-MI).

    The lens is public and fixed before rows are read, so what is paid for is the game
    among codes; the way back to images is free.

    Parameters
    ----------
    lens : Lens
        With a decoder.
    """

    lens: Any = None

    @classmethod
    def seen_through(cls, lens: Any, layout: Any) -> "CodesKernel":
        """Return the kernel of a lens, which a black image has gone through."""
        check_lens(lens, layout.size)
        return cls(None, layout, lens=lens)

    @property
    def certificate_name(self) -> str:
        """What the certificate calls it."""
        return f"{self.width} codes of images"

    @property
    def blocks(self) -> dict[str, Any]:
        """What a release sums, if it starts from nothing."""
        return {Key.CLASSES: Counts(self.beta)}

    @property
    def width(self) -> int:
        """How many codes an image has."""
        return int(self.lens.n_latent(self.layout.size))

    @property
    def reach(self) -> float:
        """How far a code can be from 0 in what is generated."""
        return min(REACH / math.sqrt(self.width), 1.0)

    def rows_of(self, batch: EncodedBatch) -> Any:
        """Return codes: images go through the lens once.

        In batches of one shape, filled up with black images, since what an image
        becomes must not depend on how many are beside it.
        """
        encode = encoder(self.lens, self.layout.size)
        images = batch.parts[Key.PIXELS]
        codes = np.empty((len(images), self.width), dtype=np.float32)
        for start in range(0, len(images), AT_ONCE):
            some = as_pixels(images[start : start + AT_ONCE])
            filled = np.zeros((AT_ONCE, some.shape[1]))
            filled[: len(some)] = some
            codes[start : start + len(some)] = encode(filled)[: len(some)]
        return codes

    def inputs(self, rows: Any) -> Any:
        """Return codes as they are."""
        return rows

    def points(self, outputs: list[Tensor]) -> Tensor:
        """Return what a generator draws, from 0 to 1, as codes."""
        return self.reach * (2.0 * outputs[0] - 1.0)

    def untrained(
        self, totals: Any, settings: Any, cells: Any, rng: Generator
    ) -> CodesModel:
        """Return a generator of codes that knows nothing but class counts."""
        del cells
        shape = ImageShape(
            1,
            1,
            self.width,
            n_classes=len(totals),
            n_latent=settings.n_latent,
            hidden=settings.hidden_layer_sizes,
            is_parallel=settings.models != "conditional",
        )
        generator = ImageGenerator(shape, rng=rng)
        size = self.layout.size
        return CodesModel(generator, totals, self.lens, self.reach, size)
