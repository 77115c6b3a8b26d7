"""What is done to rows: no norm above 1, to the last digit."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.lenses._lens import clipped, finite, normalised, within_range
from tests.lenses._images import HOSTILE, worst_norm


def rows(dtype, width):
    largest = float(np.finfo(dtype).max)
    numbers = st.sampled_from(HOSTILE) | st.floats(
        -largest, largest, width=8 * np.dtype(dtype).itemsize
    )
    return arrays(dtype, (4, width), elements=numbers).map(torch.from_numpy)


@pytest.mark.parametrize("function", [clipped, normalised])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_no_norm_is_above_one(function, dtype, data):
    found = function(data.draw(rows(dtype, 7)))
    assert worst_norm(found) <= 1.0
    assert found.isfinite().all()


@pytest.mark.parametrize("function", [clipped, normalised])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_adds_nothing_to_many_numbers(function, dtype):
    many = torch.randn(20, 50_000, generator=torch.Generator().manual_seed(0))
    found = function(many.to(dtype))
    assert found.dtype == dtype
    assert 1.0 - 1e-6 < worst_norm(found) <= 1.0


def test_short_rows_stay_as_they_are_and_long_ones_keep_their_direction():
    rows = [[0.3, -0.4], [0.0, 0.0], [3e200, 4e200]]
    given = torch.tensor(rows, dtype=torch.float64)
    found = clipped(given)
    assert torch.equal(found[:2], given[:2])
    torch.testing.assert_close(found[2], torch.tensor([0.6, 0.8]).double())


def test_a_row_with_what_is_no_number_becomes_zero_alone():
    given = torch.tensor([[1.0, np.nan], [np.inf, 0.0], [0.25, 0.5]])
    assert finite(given).tolist() == [[0.0, 0.0], [0.0, 0.0], [0.25, 0.5]]


def test_almost_nothing_is_not_made_large():
    assert worst_norm(normalised(torch.full((1, 3), 1e-20))) < 1e-10


@pytest.mark.parametrize("function", [clipped, normalised])
def test_slopes_are_numbers_everywhere(function):
    given = torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.1, 0.1]], requires_grad=True)
    function(given).sum().backward()
    assert given.grad.isfinite().all()


@pytest.mark.parametrize(
    "images",
    [torch.zeros(2, 8, 8), torch.zeros(1, 1, 8, 8, dtype=torch.uint8)],
    ids=["no channels", "bytes"],
)
def test_what_is_no_image_is_refused(images):
    with pytest.raises(ValueError, match=r"float32 or float64 tensor of shape \(n, ch"):
        within_range(images)
