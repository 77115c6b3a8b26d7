"""A row with an entry that is no finite number becomes 0, and no other."""

import itertools

import pytest
import torch

from skdpgen.lenses._lens import finite

ODD = [float("nan"), float("inf"), -float("inf"), 1e38, -1e38, -0.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_pair_of_odd_numbers(dtype):
    pairs = list(itertools.product(ODD, repeat=2))
    rows = torch.tensor([[1.0, a, b, 2.0] for a, b in pairs], dtype=dtype)
    wanted = torch.where(rows.isfinite().all(dim=1, keepdim=True), rows, 0.0)
    assert torch.equal(finite(rows), wanted)


def test_slopes_are_those_of_rows_that_stay():
    rows = torch.tensor([[1.0, 2.0], [float("nan"), 1.0]], requires_grad=True)
    finite(rows).sum().backward()
    assert rows.grad.tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_rows_one_by_one():
    rows = torch.tensor([[1.0, 2.0], [float("nan"), 1.0]])
    found = torch.func.vmap(lambda row: finite(row[None])[0])(rows)
    assert torch.equal(found, finite(rows))
