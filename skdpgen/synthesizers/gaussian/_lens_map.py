"""Private images through a lens, a few at a time, each as if it were alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.synthesizers.opening import Opening
from skdpgen.tables import Cells, ImageLayout, as_pixels
from skdpgen.utils import Key

Floats = NDArray[np.float64]
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class LensMap:
    """The codes of images, in batches of one shape and in double precision."""

    lens: Any
    layout: ImageLayout

    @property
    def width(self) -> int:
        return int(self.lens.n_latent(self.layout.size))

    def batches(
        self, opening: Opening, cells: Any, labels: Cells | None
    ) -> Iterator[tuple[Any, Any, Floats]]:
        """Yield labels, pixels in [0, 1], and codes."""
        lens = self.lens.double()
        for batch in opening.rows.batches(cells, labels):
            images = batch.parts[Key.PIXELS]
            for start in range(0, len(images), AT_ONCE):
                some = slice(start, start + AT_ONCE)
                pixels = as_pixels(images[some])
                yield batch.labels[some], pixels, self._encode(lens, pixels)

    def _encode(self, lens: Any, pixels: NDArray[np.float32]) -> Floats:
        padded = np.zeros((AT_ONCE, pixels.shape[1]))
        padded[: len(pixels)] = pixels
        images = torch.from_numpy(padded).unflatten(1, self.layout.size)
        if lens.is_opaque:
            alone = [lens.encode(one) for one in images[: len(pixels)].split(1)]
            codes = torch.cat(alone)
        else:
            codes = lens.encode(images)[: len(pixels)]
        return np.asarray(codes.detach().numpy(), dtype=np.float64)
