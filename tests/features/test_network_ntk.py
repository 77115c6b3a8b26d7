"""Features of the networks of DP-NTK's table 5: the gradients that torch computes."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from skdpgen import DPNTKSynthesizer
from skdpgen.features import ARCHITECTURES, NetworkNTKFeatures
from tests.planted.bug import Bug

HERE = "tests/features/test_network_ntk.py::"
N_INPUTS, WIDTHS = 6, {"fc_1l": (7,), "fc_2l": (7, 4), "cnn_2l": (3, 5)}
each_network = pytest.mark.parametrize("name", ARCHITECTURES)


class Convolution(nn.Module):
    def __init__(self, channels, units):
        super().__init__()
        self.first = nn.Conv1d(1, channels, kernel_size=1)
        self.second = nn.Linear(channels * N_INPUTS, units)
        self.last = nn.Linear(units, 1)

    def forward(self, x):
        maps = self.first(x[:, None]).relu().flatten(1)
        return self.last(self.second(maps).relu())


def network_of(name):
    widths = WIDTHS[name]
    if name == "cnn_2l":
        return Convolution(*widths)
    layers = [nn.Linear(N_INPUTS, widths[0]), nn.ReLU()]
    layers += [nn.Linear(*widths)] if name == "fc_2l" else []
    norm = nn.LayerNorm(widths[-1], elementwise_affine=False)
    return nn.Sequential(*layers, norm, nn.Linear(widths[-1], 1))


def drawn(name, seed=0):
    rng = torch.Generator().manual_seed(seed)
    return NetworkNTKFeatures.draw(name, N_INPUTS, WIDTHS[name], rng=rng)


def with_weights(network, phi):
    """Return the network with the weights of the features; only a bias is free."""
    weights = list(network.parameters())
    with torch.no_grad():
        for (matrix, bias), weight in zip(
            zip(weights[::2], weights[1::2], strict=True), phi.weights, strict=True
        ):
            matrix.copy_(weight[:, :-1].view_as(matrix))
            bias.copy_(weight[:, -1])
    return network.double()


@each_network
def test_features_are_the_gradients_of_the_network(name):
    phi = drawn(name)
    network = with_weights(network_of(name), phi)
    x = torch.rand(20, N_INPUTS, generator=torch.Generator().manual_seed(1)).double()
    x = (x * 2**14).round() / 2**14
    found = phi.double()(x)
    for row, features in zip(x, found, strict=True):
        (output,) = network(row[None])
        gradients = torch.autograd.grad(output, list(network.parameters()))
        parts = [
            torch.cat([matrix.reshape(len(bias), -1), bias[:, None]], dim=1)
            for matrix, bias in zip(gradients[::2], gradients[1::2], strict=True)
        ]
        if name == "cnn_2l":
            parts[0] = parts[0].T
        expected = torch.cat([part.flatten() for part in parts])
        expected = expected / expected.norm()
        # outputs of layers are rounded to 2^-14
        np.testing.assert_allclose(features, expected, atol=2e-3)


@each_network
def test_a_row_has_the_same_features_in_every_batch(name):
    phi = drawn(name).double()
    x = torch.randn(64, N_INPUTS, generator=torch.Generator().manual_seed(2)).double()
    order = torch.randperm(64, generator=torch.Generator().manual_seed(3))
    np.testing.assert_allclose(phi(x)[order], phi(x[order]), atol=1e-14)


@each_network
def test_weights_are_uniform_as_torch_has_them(name):
    phi = drawn(name)
    for weight, matrix in zip(
        phi.weights, list(network_of(name).parameters())[::2], strict=True
    ):
        bound = 1.0 / math.sqrt(matrix[0].numel())
        assert weight.abs().max() <= bound + 2**-12
        assert weight[:, :-1].numel() == matrix.numel()


@each_network
@pytest.mark.parametrize("value", [0.0, 1e30, float("nan"), float("inf")])
def test_norms_never_exceed_1(name, value):
    rows = torch.full((2, N_INPUTS), value)
    assert drawn(name)(rows).norm(dim=1).max() <= 1 + 1e-5


@each_network
def test_a_generator_learns_through_them(name):
    x = torch.rand(4, N_INPUTS).requires_grad_()
    phi = drawn(name)
    phi.mean(x).square().sum().backward()
    assert x.grad.abs().max() > 0
    np.testing.assert_allclose(
        phi.mean(x.detach(), 2), phi(x.detach()).unflatten(0, (2, 2)).mean(1), atol=1e-6
    )


@pytest.mark.parametrize(
    ("architecture", "width", "n_needed"),
    [("fc_2l", 5, 2), ("cnn_2l", (5,), 2), ("fc_1l", (5, 4), 1), ("mlp", (5, 4), 1)],
)
def test_each_layer_needs_a_width(architecture, width, n_needed):
    synth = DPNTKSynthesizer(architecture=architecture, width=width)
    with pytest.raises(ValueError, match=f"width must be {n_needed} numbers of units"):
        synth.fit(np.zeros((20, 2)))


# ------------------------------------------------------------- sums before a step

N_HALF = 1024


def balanced(name):
    """Return a network and rows with which every sum before a step is 0.

    Numbers are as large as they may be, so that sums have many digits.
    """
    widths = {"fc_1l": (40,), "fc_2l": (40, 4), "cnn_2l": (5, 40)}[name]
    rng = torch.Generator().manual_seed(0)
    phi = NetworkNTKFeatures.draw(name, 2 * N_HALF, widths, rng=rng)
    layer = 1 if name == "cnn_2l" else 0
    weights = [8.0 * w.abs() / w.abs().max() for w in phi.weights]
    units, bias = weights[layer][:, :-1], 0 * weights[layer][:, -1:]
    halves = units.reshape(len(units), -1, 2, N_HALF)[:, :, 0]
    opposite = torch.stack([halves, -halves], dim=2).flatten(1)
    weights[layer] = torch.cat([opposite, bias], dim=1)
    x = 32.0 * torch.rand(1, N_HALF, generator=rng, dtype=torch.float64)
    rows = torch.cat([x, x], dim=1).expand(130, -1)
    return replace(phi, weights=tuple(weights)).double(), rows, layer


@each_network
def test_steps_at_a_sum_of_0_do_not_go_by_the_place_of_a_row(name):
    """Rounding would lift some sums above 0, by one row more or less in the batch."""
    phi, rows, layer = balanced(name)
    for some in (rows, rows[1:], rows[3:]):
        slopes, _ = phi.factors(some)[layer]
        assert not slopes.any()


PLANTED = (
    Bug(
        "steps-at-sums-that-were-rounded",
        "outputs of a convolution are not rounded, so a step goes by how sums were",
        "skdpgen.features:NetworkNTKFeatures._of_convolution",
        "_rounded(z.relu(), INPUT_STEP, LARGEST_INPUT)",
        "z.relu()",
        (HERE + "test_steps_at_a_sum_of_0_do_not_go_by_the_place_of_a_row",),
    ),
    Bug(
        "inputs-of-a-network-as-they-come",
        "inputs of the papers' networks are not rounded before the first step",
        "skdpgen.features:NetworkNTKFeatures.factors",
        "x = _rounded(x, INPUT_STEP, LARGEST_INPUT)",
        "x = x + 0.0 * INPUT_STEP * LARGEST_INPUT",
        (HERE + "test_steps_at_a_sum_of_0_do_not_go_by_the_place_of_a_row",),
    ),
)
