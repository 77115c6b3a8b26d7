"""The moving average of DP-MEPF, beside what its authors' steps are in torch."""

import pytest
import torch
from torch.nn.functional import mse_loss

from skdpgen.training._matching import MovingErrors

SHARES = torch.tensor([0.5, 0.3, 0.2])
WIDTHS = (4, 2)
PARTS = ((4, 0.6), (2, 0.8))  # widths and norms of both moments
RATE = 1e-3


def batches(n=6):
    rng = torch.Generator().manual_seed(0)
    return [
        torch.randn(3, 6, generator=rng, dtype=torch.float64) / 10.0 for _ in range(n)
    ]


@pytest.mark.parametrize("size", [1.0, 1e-7])  # there Adam's constant decides
def test_each_moment_is_followed_by_adam_with_a_mean_squared_error_of_its_own(size):
    shares = SHARES.double()
    moving = MovingErrors(size * RATE, shares, parts=PARTS)
    # errors of a class's own mean, of moments with norm 1
    given = [[size * part for part in own.split(WIDTHS, dim=1)] for own in batches()]
    means = [torch.nn.Parameter(part.clone()) for part in given[0]]
    adams = [torch.optim.Adam([mean], size * RATE, (0.5, 0.999)) for mean in means]
    scales = [norm * shares[:, None] for _, norm in PARTS]
    for parts in given:
        for mean, adam, part in zip(means, adams, parts, strict=True):
            adam.zero_grad()
            mse_loss(mean, part).backward()
            adam.step()
        errors = [scale * part for scale, part in zip(scales, parts, strict=True)]
        error = torch.cat(errors, dim=1).requires_grad_()
        moving.follow("all", error).sum().backward()
        # by an own mean the slope is its m, times share and norm, squared, and 2
        slopes = error.grad.split(WIDTHS, dim=1)
        for slope, scale, mean in zip(slopes, scales, means, strict=True):
            expected = 2.0 * scale**2 * mean.detach()
            torch.testing.assert_close(scale * slope, expected, rtol=1e-9, atol=0.0)


def test_a_class_without_rows_is_followed_by_finite_numbers():
    moving = MovingErrors(RATE, torch.tensor([1.0, 0.0]))
    for error in torch.randn(5, 2, 3):
        assert moving.follow("all", error).isfinite().all()
