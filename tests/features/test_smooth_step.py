"""The step of a ReLU's slope: exact values, and the gradient that means have."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.features import NTKFeatures
from skdpgen.features._ntk import smooth_step

nasty = st.sampled_from([0.0, -0.0, 1e30, -1e30, 5e-324, 1e-45, np.inf, np.nan])


@given(x=arrays(np.float64, (3, 4), elements=nasty | st.floats(-3, 3)))
@settings(max_examples=100, deadline=None)
def test_private_rows_get_the_step_and_nothing_else(x):
    rows = torch.from_numpy(x)
    found = smooth_step(rows)
    assert found.dtype == rows.dtype
    assert torch.equal(found, (rows > 0).double())
    assert not found.requires_grad


@given(x=arrays(np.float32, (3, 4), elements=st.floats(-32, 32, width=32)))
@settings(max_examples=100, deadline=None)
def test_rows_of_a_generator_get_the_same_values_and_finite_gradients(x):
    rows = torch.from_numpy(x).requires_grad_()
    found = smooth_step(rows)
    assert torch.equal(found.detach(), (rows > 0).float())
    (slope,) = torch.autograd.grad(found.sum(), rows)
    assert slope.isfinite().all()
    assert (slope >= 0).all()


def test_the_gradient_points_where_means_grow():
    """The share of units that are on for x and for y is (pi - angle) / (2 pi)."""
    rng = torch.Generator().manual_seed(0)
    units = torch.randn(100_000, 5, generator=rng, dtype=torch.float64)
    x, y = torch.randn(2, 5, generator=rng, dtype=torch.float64)
    x = (x / x.norm())[None].requires_grad_()
    both = smooth_step(x @ units.T) @ (units @ y > 0).double() / len(units)
    (found,) = torch.autograd.grad(both.sum(), x)
    found = found - (found * x).sum() * x  # how far x is from 0 switches nothing
    cosine = (x[0] @ y) / (x.norm() * y.norm())
    limit = (math.pi - torch.arccos(cosine)) / (2 * math.pi)
    (wanted,) = torch.autograd.grad(limit, x)
    assert both.item() == pytest.approx(limit.item(), abs=0.005)
    assert torch.cosine_similarity(found, wanted).item() > 0.99
    assert 0.6 < (found.norm() / wanted.norm()).item() < 1.05  # smoothed: slower


def limit_kernel(x, y):
    """Return what features of a wide layer with fixed biases multiply to."""

    def cosines(a, b):
        a, b = (v / v.norm(dim=1, keepdim=True) for v in (a, b))
        return (a @ b.T).clamp(-1 + 1e-12, 1 - 1e-12)

    with_bias = (torch.cat([v, torch.ones_like(v[:, :1])], dim=1) for v in (x, y))
    return cosines(x, y) * (math.pi - cosines(*with_bias).arccos()) / math.pi


def test_a_generator_is_told_which_units_to_switch_on():
    """The gradient of a loss is nearly that of infinite width; switches are a part."""
    rng = torch.Generator().manual_seed(0)
    phi = NTKFeatures.draw(6, 50_000, is_positive=True, rng=rng).double()
    real = torch.rand(40, 6, generator=rng, dtype=torch.float64) ** 4
    rows = torch.rand(40, 6, generator=rng, dtype=torch.float64).requires_grad_()
    loss = (phi.mean(rows) - phi.mean(real)).square().sum()
    (found,) = torch.autograd.grad(loss, rows)
    limit = limit_kernel(rows, rows).mean() - 2 * limit_kernel(rows, real).mean()
    (wanted,) = torch.autograd.grad(limit, rows)
    assert (found - wanted).norm() < 0.25 * wanted.norm()  # fixed switches: 0.4
