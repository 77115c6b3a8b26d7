"""DP-SGD: gradients of each row, what a row moves, and steps between other steps."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from skdpgen.privacy import Layers, Ledger, PrivacyBudget
from skdpgen.training import RowSlopes, descend_privately, private_descent


class Images(nn.Module):
    """Convolutions, a norm, and linear layers at many places and at one."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3)
        self.norm = nn.GroupNorm(1, 3)
        self.places = nn.Linear(3, 4)
        self.thin = nn.Conv2d(4, 9, 3, stride=2, padding=1)
        self.last = nn.Linear(9 * 4, 5, bias=False)

    def forward(self, x):  # (n, 1, 6, 6)
        x = torch.tanh(self.norm(self.conv(x)))
        x = torch.tanh(self.places(x.flatten(2).mT))
        x = torch.tanh(self.thin(x.mT.unflatten(2, (4, 4))))
        return self.last(x.flatten(1))


class Tied(nn.Module):
    """A layer whose weight another one has, and one that is passed three times."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(30, 30), nn.Linear(30, 30)
        self.two.weight = self.one.weight
        self.often = nn.Linear(30, 30)

    def forward(self, x):
        x = self.two(torch.tanh(self.one(x)))
        for _ in range(3):
            x = torch.tanh(self.often(x))
        return x


def mlp(width=20):
    return nn.Sequential(
        nn.Linear(width, 40), nn.Tanh(), nn.LayerNorm(40), nn.Linear(40, 3)
    )


CASES = {
    "mlp": (mlp, (20,)),
    "images": (Images, (1, 6, 6)),
    "tied": (Tied, (30,)),
    "a line": (lambda: nn.Linear(7, 2), (7,)),
}


def loss(call, row):
    x, y = row
    return (call(x[None])[0] - y).square().sum()


def a_case(name, n=9, seed=0):
    make, shape = CASES[name]
    torch.manual_seed(seed)
    network = make()
    x = torch.randn(n, *shape)
    return network, (x, torch.randn(n, 1))


def formed(layers):
    rows = [
        torch.einsum("nta,ntb->nab", *one).flatten(1) if isinstance(one, tuple) else one
        for one in layers
    ]
    return torch.cat(rows, dim=1)


def gradient_of(network, x, y):
    twin = network.double()
    twin.zero_grad()
    loss(twin, (x.double(), y.double())).backward()
    return {name: one.grad.clone() for name, one in twin.named_parameters()}


@pytest.mark.parametrize("is_smooth", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_each_row_has_its_own_gradient(name, is_smooth):
    network, rows = a_case(name)
    slopes = RowSlopes(
        network, loss, tuple(one[:0] for one in rows), is_smooth=is_smooth
    )
    flat = formed(slopes(rows))
    assert flat.dtype == torch.float64
    for row, x, y in zip(flat, *rows, strict=True):
        expected = gradient_of(network, x, y)
        found = slopes.to_weights(row)
        assert found.keys() == expected.keys()
        for key, gradient in expected.items():
            torch.testing.assert_close(found[key], gradient, rtol=1e-10, atol=1e-12)


def test_thin_layers_are_not_formed_and_wide_or_tied_ones_are():
    def layers(name):
        network, rows = a_case(name)
        return RowSlopes(network, loss, tuple(one[:0] for one in rows)).layers

    assert layers("mlp") == ((40, 21), (3, 41), 40, 40)  # a norm's weights as they are
    # 16 places are too many, 4 are not
    assert layers("images") == (3 * 10, 4 * 4, (9, 37), (5, 36), 3, 3)
    assert layers("tied") == ((30, 31), 900, 30, 30)


class Rows:
    def __init__(self, *parts):
        self.parts = parts

    def __len__(self):
        return len(self.parts[0])

    def take(self, indices):
        return tuple(part[indices] for part in self.parts)


EXPECTED = 16.0  # more than there are, so all rows are in one batch


def one_step(network, rows, **changes):
    """Return the clipped sum of one step without noise that takes every row."""
    weights = {key: value.clone() for key, value in network.state_dict().items()}
    settings = {
        "name": "steps",
        "share": 1.0,
        "sampling_rate": 1.0,
        "n_steps": 1,
        "norm_bound": 0.5,
        "expected_rows": EXPECTED,
        "learning_rate": EXPECTED,
        "quiet": math.inf,
        "is_smooth": True,
    }
    ledger = Ledger(PrivacyBudget(math.inf, 1e-5))
    with private_descent(network, loss, rows, ledger, **settings | changes) as descent:
        descent.step()
    moved = [weights[key] - value for key, value in network.state_dict().items()]
    network.load_state_dict(weights)
    return torch.cat([one.flatten() for one in moved]).double().numpy()


@pytest.mark.parametrize("value", [0.0, 1e3, 1e30, -3e38, math.nan, math.inf, None])
@pytest.mark.parametrize("name", ["mlp", "images"])
def test_one_row_moves_a_step_by_the_norm_bound_at_most(name, value):
    network, (x, y) = a_case(name)
    network.double()
    x, y = x.double(), y.double()
    odd = x.clone()
    odd[4] = -x[4] if value is None else value
    all_ = one_step(network, Rows(x, y))
    other = one_step(network, Rows(odd, y))
    kept = [0, 1, 2, 3, 5, 6, 7, 8]
    fewer = one_step(network, Rows(x[kept], y[kept]))
    assert np.linalg.norm(all_ - fewer) <= 0.5 * (1 + 1e-9)
    assert np.linalg.norm(other - fewer) <= 0.5 * (1 + 1e-9)
    assert np.linalg.norm(all_ - other) <= 1.0 * (1 + 1e-9)


def by_the_mean(layers):
    """The twin: all rows are scaled by their mean norm."""
    rows = formed(layers)
    return rows / rows.norm(dim=1).mean().clamp_min(0.5) * 0.5


@pytest.mark.parametrize("expected_rows", [-1.0, 0.0, math.inf, math.nan])
def test_wrong_numbers_of_rows_are_refused(expected_rows):
    network, rows = a_case("mlp")
    with pytest.raises(ValueError, match="expected_rows must be"):
        one_step(network, Rows(*rows), expected_rows=expected_rows)


def test_a_twin_that_clips_by_the_mean_moves_further():
    network, (x, y) = a_case("mlp")
    odd = x.clone()
    odd[4] = 1e6
    slopes = RowSlopes(network, loss, (x[:0], y[:0]))
    sums = [by_the_mean(slopes((some, y))).sum(dim=0) for some in (x, odd)]
    assert torch.linalg.norm(sums[0] - sums[1]) > 1.0


def test_rows_beside_it_do_not_change_a_row():
    network, (x, y) = a_case("mlp", n=70)
    slopes = RowSlopes(network, loss, (x[:0], y[:0]), is_smooth=True)
    alone = [formed(slopes((x[k : k + 1], y[k : k + 1]))) for k in (0, 3, 64, 69)]
    together = formed(slopes((x, y)))[[0, 3, 64, 69]]
    torch.testing.assert_close(torch.cat(alone), together, rtol=1e-12, atol=1e-14)
    singly = RowSlopes(network, loss, (x[:0], y[:0]))
    alone = [formed(singly((x[k : k + 1], y[k : k + 1]))) for k in (0, 3, 69)]
    assert torch.equal(torch.cat(alone), formed(singly((x, y)))[[0, 3, 69]])


@pytest.mark.parametrize(
    ("n_usual", "at_once"), [(math.inf, 512), (600.0, 300), (40.5, 41)]
)
def test_rows_are_mapped_in_batches_of_one_shape(n_usual, at_once):
    network, (x, y) = a_case("mlp", n=600)
    shapes = set()
    network[1].register_forward_hook(
        lambda module, given, output: shapes.add(tuple(unwrapped(output).shape))
    )
    slopes = RowSlopes(network, loss, (x[:0], y[:0]), is_smooth=True, n_usual=n_usual)
    shapes.clear()
    for n in (600, 128, 1):
        assert all(len(part) == n for part in slopes((x[:n], y[:n]))[-2:])
    assert slopes.at_once == at_once
    assert shapes == {(at_once, 1, 40)}


def unwrapped(batched):
    """Return what `vmap` and `grad` have wrapped."""
    while torch._C._functorch.is_functorch_wrapped_tensor(batched):
        batched = torch._C._functorch.get_unwrapped(batched)
    return batched


@pytest.mark.parametrize(
    ("layer", "match"),
    [(nn.BatchNorm1d(3), "BatchNorm1d"), (nn.Dropout(0.1), "dropout layer")],
)
def test_layers_that_mix_rows_or_draw_are_refused(layer, match):
    network = nn.Sequential(nn.Linear(3, 3), layer)
    with pytest.raises(ValueError, match=match):
        RowSlopes(network, loss, (torch.zeros(0, 3), torch.zeros(0, 1)))


def test_other_steps_may_come_between_and_a_public_loss_is_added():
    network, rows = a_case("a line")
    ledger = Ledger(PrivacyBudget(math.inf, 1e-5))
    before = network.weight.detach().clone()
    with private_descent(
        network,
        lambda call, row: 0.0 * call(row[0]).sum(),
        Rows(*rows),
        ledger,
        name="steps",
        share=1.0,
        sampling_rate=0.5,
        n_steps=2,
        norm_bound=1.0,
        expected_rows=9,
        learning_rate=0.1,
        momentum=0.0,
    ) as descent:
        descent.step()
        assert torch.equal(network.weight, before)
        descent.step(lambda network: network.weight.sum())
        torch.testing.assert_close(network.weight, before - 0.1)


@pytest.mark.parametrize("is_adam", [False, True])
def test_it_learns_and_averages(is_adam):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3))
    y = x @ np.array([[1.0], [-2.0], [0.5]])
    torch.manual_seed(0)
    ledger = Ledger(PrivacyBudget(3.0, 1e-5))
    network = descend_privately(
        nn.Linear(3, 1),
        loss,
        Rows(x.astype(np.float32), y.astype(np.float32)),
        ledger,
        name="a line",
        share=1.0,
        sampling_rate=0.1,
        n_steps=150,
        norm_bound=1.0,
        expected_rows=2000,
        learning_rate=0.05,
        is_adam=is_adam,
        is_smooth=True,
    )
    assert not network.training
    found = network.weight.detach().numpy()
    np.testing.assert_allclose(found, [[1.0, -2.0, 0.5]], atol=0.3)
    (entry,) = ledger.entries
    assert (entry.sampling_rate, entry.n_steps) == (0.1, 150)


def test_noise_slows_it_down():
    network, rows = a_case("mlp")

    def rate(epsilon):
        ledger = Ledger(PrivacyBudget(epsilon, 1e-5))
        with private_descent(
            network,
            loss,
            Rows(*rows),
            ledger,
            name="steps",
            share=1.0,
            sampling_rate=1.0,
            n_steps=1,
            norm_bound=1.0,
            expected_rows=9,
            learning_rate=1.0,
        ) as descent:
            std = ledger.entries[-1].noise_std / 9
            return descent.learning_rate, std * math.sqrt(1043)

    slow, noise = rate(0.1)
    assert slow == pytest.approx(6.0 / noise)
    assert rate(math.inf)[0] == 1.0


def test_layers_are_those_that_privacy_sums():
    network, rows = a_case("images")
    slopes = RowSlopes(network, loss, tuple(one[:0] for one in rows))
    assert Layers(slopes.layers).width == slopes.width
    assert slopes.width == sum(one.numel() for one in network.parameters())
