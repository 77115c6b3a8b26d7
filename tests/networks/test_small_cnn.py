"""A small classifier: its shapes, its sums, and each image by itself."""

import numpy as np
import pytest
import torch
from torch.nn.functional import avg_pool2d, conv2d, linear, max_pool2d

from skdpgen.networks import SmallCNN

SHAPES = [(1, 8, 8), (3, 32, 32), (1, 28, 28), (2, 7, 13), (1, 16, 17), (1, 1, 1)]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def images(n, shape, seed=0):
    return torch.rand(n, *shape, generator=torch.Generator().manual_seed(seed))


def made(shape, n_classes=4, seed=0):
    return SmallCNN(shape, n_classes, rng=torch.Generator().manual_seed(seed))


@each_shape
def test_images_of_any_side_become_logits(shape):
    network = made(shape)
    assert network(images(3, shape)).shape == (3, 4)
    assert network(images(0, shape)).shape == (0, 4)
    assert network.is_halved == (min(shape[1:]) >= 16)


@each_shape
def test_logits_are_what_the_formulas_say(shape):
    network, rows = made(shape), images(2, shape)
    state, maps = network.state_dict(), rows
    if min(shape[1:]) >= 16:
        maps = avg_pool2d(maps, 2, ceil_mode=True)
    for name in ("first", "second"):
        weight, bias = state[f"{name}.weight"], state[f"{name}.bias"]
        maps = max_pool2d(
            conv2d(maps, weight, bias, padding=1).clamp_min(0), 2, ceil_mode=True
        )
    expected = linear(maps.flatten(1), state["last.weight"], state["last.bias"])
    torch.testing.assert_close(network(rows), expected)


def test_weights_go_by_the_generator_alone():
    torch.manual_seed(0)
    one = made((1, 8, 8)).state_dict()
    torch.manual_seed(1)
    two, three = made((1, 8, 8)).state_dict(), made((1, 8, 8), seed=1).state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not all(torch.equal(one[name], three[name]) for name in one)


@each_shape
def test_an_image_is_seen_by_itself(shape):
    network, rows = made(shape).double(), images(64, shape).double()
    order = torch.from_numpy(np.random.default_rng(0).permutation(64))
    beside = rows[order].clone()
    beside[1::2] = float("nan")
    with torch.no_grad():
        found, alone = network(rows)[order][::2], network(beside)[::2]
    torch.testing.assert_close(alone, found, rtol=1e-12, atol=1e-12)


def test_every_weight_has_a_slope():
    network = made((1, 28, 28))
    network(images(20, (1, 28, 28))).square().sum().backward()
    assert all(one.grad.abs().sum() > 0 for one in network.parameters())
