"""A kernel as a step of an encoder: from cells or pixels to what a release sums."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from skdpgen.tables import EncodedBatch
from skdpgen.utils import asked, has_role, refuse_unless, saved

DEVICE = re.compile(r"(cpu|cuda)(:\d{1,3})?")


@asked("step")
@saved
@dataclass(frozen=True, eq=False)
class Encoding:
    """Rows through the map of a kernel, a few at a time, on a device."""

    kernel: Any
    device: Any  # a name will do

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        is_device = type(self.device) is str and DEVICE.fullmatch(self.device)
        is_fine = has_role(self.kernel, "kernel") and is_device
        refuse_unless(is_fine, "a kernel on rows, and a device")

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield what the blocks of the kernel sum, each row by itself."""
        return self.kernel.encode(batches, torch.device(self.device))
