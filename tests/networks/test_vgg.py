"""VGG-19: names of its weights, and what they compute."""

import torch
from torch.nn.functional import conv2d, max_pool2d

from skdpgen.networks import VGG

# Where the 16 convolutions stand among torchvision's layers.
PLACES = (0, 2, 5, 7, 10, 12, 14, 16, 19, 21, 23, 25, 28, 30, 32, 34)
CLASSIFIER = (0, 3, 6)  # not part of this network
BEFORE_POOLING = (2, 7, 16, 25)


def names_of(part, places):
    return [f"{part}.{i}.{kind}" for i in places for kind in ("weight", "bias")]


def test_weights_have_the_names_and_shapes_of_torchvision():
    state = VGG().state_dict()
    assert list(state) == names_of("features", PLACES)
    assert len(state) + len(names_of("classifier", CLASSIFIER)) == 38
    assert state["features.0.weight"].shape == (64, 3, 3, 3)
    assert state["features.10.weight"].shape == (256, 128, 3, 3)
    assert state["features.34.weight"].shape == (512, 512, 3, 3)
    assert sum(weight.numel() for weight in state.values()) == 20_024_384


def test_maps_are_what_the_formulas_say():
    rng = torch.Generator().manual_seed(0)
    network = VGG((2, 3, 4, 5, 6))
    state = {
        name: torch.randn(value.shape, generator=rng) / 3
        for name, value in network.state_dict().items()
    }
    network.load_state_dict(state)
    images = torch.randn(2, 3, 35, 48, generator=rng)
    maps, expected = images, []
    for place in PLACES:
        weight, bias = (state[name] for name in names_of("features", [place]))
        maps = conv2d(maps, weight, bias, padding=1).clamp_min(0)
        expected.append(maps)
        if place in BEFORE_POOLING:
            maps = max_pool2d(maps, 2, 2)
    with torch.no_grad():
        found = network(images)
    assert len(found) == 16
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
