"""Squared errors of mean embeddings: what they are, and their slope."""

import pytest
import torch

from skdpgen.training._matching import SquaredError


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_values_and_slopes_are_those_of_the_formula(dtype):
    rng = torch.Generator().manual_seed(0)
    mean = torch.randn(3, 5, generator=rng).to(dtype).requires_grad_()
    target = torch.randn(3, 5, generator=rng)
    shares = torch.tensor([0.5, 0.3, 0.2])
    if dtype is torch.float64:
        target, shares = target.double(), shares.double()
    wanted = (target - shares[:, None] * mean).square().sum()
    found = SquaredError.apply(mean, target, shares)
    torch.testing.assert_close(found, wanted)
    slopes = [torch.autograd.grad(7.0 * size, mean)[0] for size in (found, wanted)]
    torch.testing.assert_close(*slopes)


def test_a_slope_is_not_taken_twice():
    mean = torch.ones(1, 2, requires_grad=True)
    found = SquaredError.apply(mean, torch.zeros(1, 2), torch.ones(1))
    found.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        found.backward()
