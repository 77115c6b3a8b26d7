"""The losses of a critic, row by row, and the optimiser of functional RDP."""

import numpy as np
import pytest
import torch

from skdpgen.networks import Discriminator
from skdpgen.training import LOSSES, RowSlopes
from skdpgen.training._steps import RMSprop

N, WIDTH = 6, 4
RNG = torch.Generator().manual_seed(0)
ROWS = torch.randn(N, WIDTH, generator=RNG).double()
LABELS = torch.eye(2)[torch.arange(N) % 2].double()


def critic():
    rng = torch.Generator().manual_seed(1)
    ones = torch.ones(WIDTH)
    return Discriminator(0 * ones, ones, 2, (5, 3), rng=rng, is_critic=True).double()


def loss_of(network, x, label):
    """Algorithm 2 of the paper for one pair, with the sign of the score changed."""
    x = x.clone().requires_grad_()
    score = network(x[None], label[None])[0]
    (slope,) = torch.autograd.grad(score, x, create_graph=True)
    return slope.norm() - score


def test_a_row_has_the_loss_of_algorithm_2():
    network = critic()
    for x, label in zip(ROWS, LABELS, strict=True):
        found = LOSSES["critic"].real(network, (x, label))
        expected = loss_of(network, x, label)
        assert found.item() == pytest.approx(expected.item(), abs=1e-3)
        fake = LOSSES["critic"].fake(network, (x, label))
        assert fake.item() == pytest.approx(network(x[None], label[None]).item())


def test_gradients_of_rows_have_the_penalty_in_them():
    """A record of layers would miss what the slope adds to a gradient."""
    network = critic()
    slopes = RowSlopes(
        network, LOSSES["critic"].real, (ROWS[:0], LABELS[:0]), is_smooth=True
    )
    found = torch.cat(slopes((ROWS, LABELS)), dim=1)
    for row, x, label in zip(found, ROWS, LABELS, strict=True):
        gradients = torch.autograd.grad(
            loss_of(network, x, label), list(network.parameters()), allow_unused=True
        )
        expected = torch.cat(
            [
                torch.zeros_like(weight).flatten() if part is None else part.flatten()
                for weight, part in zip(network.parameters(), gradients, strict=True)
            ]
        )
        np.testing.assert_allclose(row, expected, atol=1e-3)


def test_a_row_without_a_label_has_no_gradient():
    network = critic()
    slopes = RowSlopes(
        network, LOSSES["critic"].real, (ROWS[:0], LABELS[:0]), is_smooth=True
    )
    for layer in slopes((ROWS, 0 * LABELS)):
        assert layer.abs().max() == 0


def test_losses_of_a_batch_are_those_of_its_rows():
    network = critic()
    loss = LOSSES["critic"]
    found = loss.of_public(network, ROWS, LABELS)
    expected = [
        loss.real(network, row).item() for row in zip(ROWS, LABELS, strict=True)
    ]
    np.testing.assert_allclose(found.detach(), expected)


def test_rmsprop_is_that_of_torch():
    ours, theirs = (torch.arange(3.0).requires_grad_() for _ in range(2))
    mine, other = RMSprop([ours]), torch.optim.RMSprop([theirs], lr=0.1)
    for step in range(5):
        for place in (ours, theirs):
            place.grad = torch.tensor([1.0, -2.0, 0.5]) * (step + 1)
        mine.step(0.1)
        other.step()
    np.testing.assert_allclose(ours.detach(), theirs.detach(), rtol=1e-6)
    mine.clear()
    assert ours.grad is None
