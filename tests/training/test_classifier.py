"""A classifier that learns from rows which cost nothing."""

import copy

import pytest
import torch
from torch import nn

from skdpgen.networks import SmallCNN
from skdpgen.training import train_classifier
from skdpgen.training._steps import BATCH, PEAK_RATE, Adam


def stripes(n, seed=0):
    """Images of horizontal or vertical stripes, and which of them they are."""
    rng = torch.Generator().manual_seed(seed)
    labels = torch.randint(2, (n,), generator=rng)
    waves = (torch.arange(8) // 2 % 2).float()
    across, down = waves.expand(8, 8), waves.expand(8, 8).T
    images = torch.where(labels[:, None, None].bool(), across, down)
    noise = 0.3 * torch.randn(n, 8, 8, generator=rng)
    return (images + noise).clamp(0, 1)[:, None], labels


def trained(seed=0, max_iter=60):
    rng = torch.Generator().manual_seed(seed)
    network = SmallCNN((1, 8, 8), 2, rng=rng)
    return train_classifier(network, *stripes(400), max_iter=max_iter, rng=rng)


def test_what_can_be_distinguished_is():
    images, labels = stripes(500, seed=1)
    network = trained()
    assert not network.training
    found = network(images).argmax(dim=1)
    assert (found == labels).float().mean() > 0.98


def test_training_goes_by_the_generator_alone():
    torch.manual_seed(0)
    one = trained(max_iter=5).state_dict()
    torch.manual_seed(1)
    two, three = trained(max_iter=5).state_dict(), trained(1, max_iter=5).state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not all(torch.equal(one[name], three[name]) for name in one)


def test_no_step_leaves_weights_as_they_were():
    rng = torch.Generator().manual_seed(0)
    network = SmallCNN((1, 8, 8), 2, rng=rng)
    before = copy.deepcopy(network.state_dict())
    train_classifier(network, *stripes(10), max_iter=0, rng=rng)
    assert all(torch.equal(before[k], v) for k, v in network.state_dict().items())


def test_few_rows_are_seen_often():
    rng = torch.Generator().manual_seed(0)
    seen = []

    class Looks(nn.Module):
        def __init__(self):
            super().__init__()
            self.last = nn.Linear(64, 2)

        def forward(self, rows):
            seen.append(rows.shape)
            return self.last(rows.flatten(1))

    train_classifier(Looks(), *stripes(3), max_iter=2, rng=rng)
    assert seen == 2 * [(BATCH, 1, 8, 8)]


def test_the_learning_rate_rises_then_falls(monkeypatch):
    rates, step = [], Adam.step

    def spied(optimiser, rate):
        rates.append(rate)
        return step(optimiser, rate)

    monkeypatch.setattr(Adam, "step", spied)
    trained(max_iter=50)
    top = rates.index(max(rates))
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert 2 <= top <= 8
    assert max(rates) == pytest.approx(PEAK_RATE, rel=0.1)
    assert rates[-1] == pytest.approx(PEAK_RATE / 50)
