"""A kernel as a step of an encoder: from cells or pixels to what a release sums."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from skdpgen.tables import EncodedBatch
from skdpgen.utils import saved


@saved
@dataclass(frozen=True, eq=False)
class Encoding:
    """Rows through the map of a kernel, a few at a time, on a device."""

    kernel: Any
    device: Any  # a name will do

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield what the blocks of the kernel sum, each row by itself."""
        return self.kernel.encode(batches, torch.device(self.device))
