"""The way there and back is that of the formula, followed by autograd step by step."""

import math

import pytest
import torch
from torch.nn.functional import normalize

from skdpgen.lenses import _unit_means
from skdpgen.lenses._unit_means import UnitMeans

LIMIT = 1e-3


def by_steps(rows, n_parts, share, limit):
    unit = normalize(rows, dim=1, eps=limit)
    parts = [math.sqrt(1 - share) * unit]
    if share:
        parts.append(math.sqrt(share) * normalize(unit.square(), dim=1, eps=limit**2))
    parts = [one.reshape(n_parts, -1, one.shape[1]).mean(dim=1) for one in parts]
    return torch.cat(parts, dim=1)


def assert_alike(rows, n_parts, share, limit, rng):
    """Values and slopes of both ways."""
    rows = rows.requires_grad_()
    both = [way(rows, n_parts, share, limit) for way in (UnitMeans.apply, by_steps)]
    torch.testing.assert_close(*both)
    weights = torch.randn(both[0].shape, generator=rng, dtype=torch.float64)
    slopes = [torch.autograd.grad((weights * one).sum(), rows) for one in both]
    torch.testing.assert_close(*slopes)


# long and short rows, one entry alone, many alike, and rows below the limits of norms
SIZES = {"ordinary": 1.0, "large": 1e3, "small": 1e-2, "below": 1e-4, "tiny": 1e-7}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("n_parts", [1, 3])
def test_values_and_slopes(size, share, n_parts):
    rng = torch.Generator().manual_seed(0)
    rows = torch.randn(12, 7, generator=rng, dtype=torch.float64)
    rows[0, 1:] = 0.0
    rows[1] = 1.0
    rows[2].clamp_(min=0.0)
    assert_alike(SIZES[size] * rows, n_parts, share, LIMIT, rng)


@pytest.mark.parametrize("n_together", [1, 3, 4, 5, 8, 11, 100])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_few_rows_at_a_time_or_groups_together(n_together, share, monkeypatch):
    monkeypatch.setattr(_unit_means, "NUMBERS_IN_CACHE", 7 * n_together)
    rng = torch.Generator().manual_seed(2)
    rows = torch.randn(12, 7, generator=rng, dtype=torch.float64)
    rows[5] *= 1e-5
    assert_alike(rows, 3, share, LIMIT, rng)


def test_squares_that_are_below_their_limit():
    """Of so many features that a unit vector's squares are all but 0."""
    rng = torch.Generator().manual_seed(1)
    rows = torch.rand(4, 400, generator=rng, dtype=torch.float64) + 1.0
    limit = 0.3  # its square is above 1 / 20, the norm of squares of 400 equal entries
    for scale in (1.0, 1e-3):
        assert_alike(scale * rows, 1, 0.5, limit, rng)


def test_rows_of_zeros_stay_zero():
    rows = torch.zeros(2, 5, requires_grad=True)
    found = UnitMeans.apply(rows, 1, 0.5, 1e-6)
    found.sum().backward()
    assert torch.equal(found, torch.zeros(1, 10))
    assert rows.grad.isfinite().all()
