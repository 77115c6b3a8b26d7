"""Neural-tangent features: closed form, torch.func and autograd agree."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import nn

from skdpgen.features import (
    EncodedFeatures,
    JointFeatures,
    ModuleNTKFeatures,
    NTKFeatures,
    Part,
)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def on_grid(x):
    return x + ((x * 2**14).round() / 2**14 - x).detach()


class Network(nn.Module):
    """The network of the docs, left to automatic differentiation."""

    def __init__(self, phi):
        super().__init__()
        every = (*phi.weights, phi.readout)
        self.weights = nn.ParameterList([nn.Parameter(w) for w in every])
        self.has_layer_norm = phi.has_layer_norm
        self.centre, self.scale = phi.centre, phi.scale

    def forward(self, x):
        *hidden, readout = self.weights
        x = self.scale * (x - self.centre)
        for weight in hidden:
            x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
            x = nn.functional.linear(on_grid(x), weight) / math.sqrt(x.shape[1])
            if self.has_layer_norm:
                x = on_grid(x)
                x = on_grid(x - x.mean(dim=1, keepdim=True))
                x = x / (x.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()
            x = x.relu() * math.sqrt(2.0)
        return nn.functional.linear(x, readout)[:, 0] / math.sqrt(x.shape[1])


MAPS = {
    "one layer": NTKFeatures.draw(4, 6, rng=seeded()),
    "normalised": NTKFeatures.draw(4, 6, has_layer_norm=True, rng=seeded()),
    "two layers": NTKFeatures.draw(4, 5, 2, rng=seeded()),
    "two, normalised": NTKFeatures.draw(4, 5, 2, has_layer_norm=True, rng=seeded()),
    "scaled": NTKFeatures.draw(4, 6, centre=0.5, scale=[1, 2, 3, 4], rng=seeded()),
    "three layers": NTKFeatures.draw(4, 6, 3, rng=seeded()),
}
each_map = pytest.mark.parametrize("name", MAPS)
X = torch.randn(7, 4, generator=seeded(1))


def by_autograd(phi, x):
    """Return normalised gradients, row by row."""
    network, rows = Network(phi), []
    for row in x:
        value = network(row[None])[0]
        gradients = torch.autograd.grad(value, list(network.parameters()))
        gradient = torch.cat([g.flatten() for g in gradients])
        rows.append(gradient / gradient.norm())
    return torch.stack(rows)


@each_map
def test_closed_form_torch_func_and_autograd_agree(name):
    phi, x = MAPS[name].double(), X.double()
    wanted = by_autograd(phi, x)
    assert wanted.shape == (7, phi.n_features)
    torch.testing.assert_close(phi(x), wanted, rtol=1e-8, atol=1e-10)
    general = ModuleNTKFeatures(Network(phi))
    assert general.n_features == phi.n_features
    torch.testing.assert_close(general(x), wanted, rtol=1e-8, atol=1e-10)
    single = ModuleNTKFeatures(Network(MAPS[name]))
    torch.testing.assert_close(single.double()(x), wanted, rtol=1e-8, atol=1e-10)
    assert single(X).dtype == torch.float32


@each_map
def test_single_precision_is_near_double(name):
    difference = MAPS[name](X).double() - MAPS[name].double()(X.double())
    assert difference.norm(dim=1).max() < 1e-5


@each_map
def test_factors_are_the_features(name):
    phi = MAPS[name]
    factors = phi.factors(X)
    assert [(u.shape[1], v.shape[1]) for u, v in factors] == list(phi.shapes)
    assert phi.row_size == sum(u.shape[1] + v.shape[1] for u, v in factors)
    blocks = [torch.einsum("na,nb->nab", u, v).flatten(1) for u, v in factors]
    torch.testing.assert_close(torch.cat(blocks, dim=1), phi(X))


@each_map
@pytest.mark.parametrize("n_parts", [1, 3])
def test_means_need_no_row_and_have_its_gradient(name, n_parts):
    phi = MAPS[name]
    x = X[:6].clone().requires_grad_()
    wanted = phi(x).unflatten(0, (n_parts, -1)).mean(dim=1)
    found = phi.mean(x, n_parts)
    torch.testing.assert_close(found, wanted)
    weights = torch.randn(found.shape, generator=seeded())
    one = torch.autograd.grad((found * weights).sum(), x, retain_graph=True)[0]
    two = torch.autograd.grad((wanted * weights).sum(), x)[0]
    torch.testing.assert_close(one, two)
    torch.testing.assert_close(Part(phi, torch.tensor([3]))(X), phi(X)[:, [3]])
    general = ModuleNTKFeatures(Network(phi))
    torch.testing.assert_close(general.mean(X[:6], n_parts), wanted)


nasty = st.sampled_from([0.0, -0.0, 1e30, -1e30, 1e-45, 1.0, np.inf, np.nan])


@each_map
@given(x=arrays(np.float32, (3, 4), elements=nasty | st.floats(-3, 3, width=32)))
@settings(max_examples=60, deadline=None)
def test_the_norm_is_one_or_the_row_is_nothing(name, x):
    norms = MAPS[name](torch.from_numpy(x)).norm(dim=1)
    assert ((norms - 1).abs() < 1e-4).logical_or(norms == 0).all()


def test_equal_outputs_are_one_output():
    """Several logits, summed: the kernel of one with the sum of their weights."""

    def gradients(network, x):
        general = ModuleNTKFeatures(network)
        return general(x) @ general(x).T

    torch.manual_seed(0)
    many = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3, bias=False))
    phi = ModuleNTKFeatures(many)
    rows = phi(X)
    last = rows[:, -18:].reshape(7, 3, 6)
    torch.testing.assert_close(last[:, 0], last[:, 1])
    torch.testing.assert_close(last[:, 0], last[:, 2])
    collapsed = torch.cat([rows[:, :-18], math.sqrt(3) * last[:, 0]], dim=1)
    torch.testing.assert_close(collapsed @ collapsed.T, gradients(many, X))


def test_the_kernel_goes_to_that_of_infinite_width():
    """One ReLU layer: k0 (x·y + 1)/(d + 1) + k1, by the arc-cosine kernels."""
    x = torch.cat([X, torch.ones(7, 1)], dim=1).double()
    x = x / math.sqrt(5)
    norms = x.norm(dim=1)
    cosine = (x @ x.T / norms[:, None] / norms).clamp(-1, 1)
    angle = cosine.arccos()
    slopes = (math.pi - angle) / math.pi
    values = (angle.sin() + (math.pi - angle) * cosine) / math.pi
    kernel = slopes * (x @ x.T) + values * norms[:, None] * norms
    kernel = kernel / kernel.diagonal().sqrt() / kernel.diagonal().sqrt()[:, None]
    phi = NTKFeatures.draw(4, 20_000, rng=seeded()).double()
    found = phi(X.double())
    assert (found @ found.T - kernel).abs().max() < 0.02


def test_weights_that_are_frozen_have_no_features():
    network = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    network[0].requires_grad_(False)
    assert ModuleNTKFeatures(network).n_features == 4


def test_features_of_positive_inputs_are_not_negative():
    phi = NTKFeatures.draw(4, 6, is_positive=True, rng=seeded()).double()
    x = torch.rand(20, 4, generator=seeded(1), dtype=torch.float64)
    found, x = phi(x), on_grid(x)
    assert (phi.kinds, phi.shapes) == (("nonnegative",), ((6, 4),))
    assert found.min() >= 0
    with_bias = torch.cat([x, torch.ones(20, 1)], dim=1)
    weight = phi.weights[0].clone().requires_grad_()
    for row, features in zip(with_bias, found, strict=True):  # readout: ones, fixed
        (wanted,) = torch.autograd.grad((weight @ row).relu().sum(), weight)
        wanted = wanted[:, :-1]  # and so are the biases
        torch.testing.assert_close(features, (wanted / wanted.norm()).flatten())


@pytest.mark.parametrize("params", [{"depth": 2}, {"has_layer_norm": True}])
def test_features_that_can_be_negative_do_not_claim_otherwise(params):
    phi = NTKFeatures.draw(4, 6, is_positive=True, rng=seeded(), **params)
    assert set(phi.kinds) == {"signed"}
    assert phi(torch.rand(20, 4, generator=seeded(1))).min() < 0


@pytest.mark.parametrize("n_inputs", [8, 64, 196])  # 9, 65, 197 with the bias
@pytest.mark.parametrize(
    "params",
    [{"is_positive": True}, {"depth": 2}, {"depth": 2, "has_layer_norm": True}],
)
def test_slopes_at_the_threshold_do_not_go_by_the_place_of_a_row(n_inputs, params):
    """Sums that are 0 but for rounding: a step there would move by one row removed."""
    phi = NTKFeatures.draw(n_inputs, 40, rng=seeded(), **params)
    half = phi.weights[0][:, : n_inputs // 2]
    opposite = torch.cat([half, -half, torch.zeros(40, 1)], dim=1)
    phi = replace(phi, weights=(opposite, *phi.weights[1:])).double()
    x = torch.rand(1, n_inputs // 2, generator=seeded(1), dtype=torch.float64)
    rows = torch.cat([x, x], dim=1).expand(130, -1)  # any unit of the first layer: 0
    for some in (rows, rows[1:], rows[3:]):
        slopes = [u != 0 for u, _ in phi.factors(some)]
        assert all((u == slopes[k][0]).all() for k, u in enumerate(slopes))
        assert not slopes[0].any()


def test_sums_of_a_layer_are_exact():
    phi = NTKFeatures.draw(196, 30, rng=seeded()).double()
    x = 40.0 * torch.rand(5, 196, generator=seeded(1), dtype=torch.float64) - 4.0
    (slopes, _), *_ = phi.factors(x)
    numbers = (x.clamp(-32, 32) * 2**14).round().long().tolist()
    weights = (phi.weights[0] * 2**12).round().long().tolist()
    for row, found in zip(numbers, slopes.tolist(), strict=True):
        for unit, slope in zip(weights, found, strict=True):  # in whole numbers
            total = sum(a * b for a, b in zip([*row, 2**14], unit, strict=True))
            assert (slope != 0) == (total > 0)


@pytest.mark.parametrize(
    ("shape", "has_layer_norm"), [((2, 2**19 + 1), False), ((2**15 + 1, 2), True)]
)
def test_layers_whose_sums_would_not_be_exact_are_refused(shape, has_layer_norm):
    part = torch.zeros(shape), torch.zeros(1, shape[0])
    ends = torch.zeros(shape[1] - 1), torch.ones(shape[1] - 1)
    with pytest.raises(ValueError, match=r"at most 2\^19 inputs"):
        NTKFeatures(part[:1], part[1], *ends, has_layer_norm=has_layer_norm)


def test_a_map_around_somebody_elses_network_is_opaque_too():
    given = ModuleNTKFeatures(nn.Linear(2, 1))
    encoder = tuple(torch.zeros(size) for size in ((3, 4), 3, (2, 3), 2))
    assert JointFeatures((given, given), (1.0, 3.0)).double().is_opaque
    assert EncodedFeatures(given, encoder).double().is_opaque
    own = MAPS["one layer"]
    assert not JointFeatures((own,), (1.0,)).is_opaque
    assert not EncodedFeatures(own, encoder).is_opaque
