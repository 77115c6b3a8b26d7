from itertools import product

import numpy as np
import pytest

from skdpgen.privacy._blocks import Histograms

SIZES, N_CLASSES = (3, 200, 2), 2
SUBSETS = ((0,), (1,), (0, 1), (0, 2), (2, 1, 0))


def by_hand(block, codes, labels):
    """Count cell by cell: rows with a code or a label outside are in none."""
    subsets = block.subsets or tuple((j,) for j in range(len(block.sizes)))
    columns = []
    for subset in subsets:
        counts = np.zeros((N_CLASSES, *(block.sizes[j] for j in subset)), int)
        for row, label in zip(codes.tolist(), labels.tolist(), strict=True):
            cell = tuple(row[j] for j in subset)
            fits = all(0 <= row[j] < block.sizes[j] for j in subset)
            if fits and 0 <= label < N_CLASSES:
                is_pooled = block.pooled and cell[0] in block.pooled[subset[0]]
                counts[(0 if is_pooled else label, *cell)] += 1
        columns.append(counts.reshape(N_CLASSES, -1))
    return np.hstack(columns)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8])
@pytest.mark.parametrize(
    "block",
    [
        Histograms(SIZES),
        Histograms(SIZES, None, SUBSETS),
        Histograms(SIZES, None, None, ((1,), (0, 199), ())),
    ],
    ids=["columns", "subsets", "pooled"],
)
def test_each_row_is_in_one_cell_of_a_histogram_or_in_none(block, dtype):
    limits = np.iinfo(dtype)
    first = [code for code in (-1, 0, 2, 3) if limits.min <= code]
    second = (-128, -1, 0, 100, 199, 200, 255)
    second = [code for code in second if limits.min <= code <= limits.max]
    rows = list(product(first, second, first, (-1, 0, 1, 2)))
    codes = np.array([row[:3] for row in rows], dtype=dtype)
    labels = np.array([row[3] for row in rows])
    found = block.add(block.start(N_CLASSES), codes, labels)
    np.testing.assert_array_equal(found, by_hand(block, codes, labels))
