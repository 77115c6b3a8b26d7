"""Private rows as points in memory, for methods that read some of them at each step."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables import EncodedBatch


@dataclass(frozen=True, eq=False)
class Points:
    """Some rows: their points, and their labels."""

    x: Any
    labels: NDArray[np.int64]


class PointRows:
    """Rows kept as cells or pixels, turned into points when they are taken."""

    def __init__(self, kernel: Any, batches: Iterable[EncodedBatch]) -> None:
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

        An error for an empty sample would tell that it is empty.
        """
        if not len(indices):
            return Points(np.empty((0, self._kernel.width)), np.empty(0, np.int64))
        return Points(self._kernel.inputs(self._rows[indices]), self._labels[indices])
