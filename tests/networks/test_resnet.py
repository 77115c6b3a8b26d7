"""ResNet-18: names of its weights, and what they compute."""

import torch
from torch.nn.functional import batch_norm, conv2d, max_pool2d

from skdpgen.networks import ResNet

NORM = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
STAGES = ("layer1", "layer2", "layer3", "layer4")


def names():
    """The entries of torchvision's ``resnet18``, without those of ``fc``."""
    found = ["conv1.weight", *(f"bn1.{name}" for name in NORM)]
    for stage in STAGES:
        for block in ("0", "1"):
            start = f"{stage}.{block}"
            for i in ("1", "2"):
                found.append(f"{start}.conv{i}.weight")
                found += [f"{start}.bn{i}.{name}" for name in NORM]
            if block == "0" and stage != "layer1":
                found.append(f"{start}.downsample.0.weight")
                found += [f"{start}.downsample.1.{name}" for name in NORM]
    return found


def test_weights_have_the_names_and_shapes_of_torchvision():
    network = ResNet()
    state = network.state_dict()
    assert list(state) == names()
    assert len(state) + len(["fc.weight", "fc.bias"]) == 122
    assert state["conv1.weight"].shape == (64, 3, 7, 7)
    assert state["layer2.0.conv1.weight"].shape == (128, 64, 3, 3)
    assert state["layer2.0.downsample.0.weight"].shape == (128, 64, 1, 1)
    assert state["layer4.1.bn2.running_var"].shape == (512,)
    n_weights = sum(weight.numel() for weight in network.parameters())
    assert n_weights == 11_689_512 - (512 * 1000 + 1000)  # torchvision's, less fc


def drawn(network):
    rng = torch.Generator().manual_seed(0)
    state = network.state_dict()
    for name, value in state.items():
        if value.is_floating_point():
            state[name] = torch.randn(value.shape, generator=rng) / 2
        if name.endswith("running_var"):
            state[name] = 0.5 + state[name].abs()
    return state


def convolved(state, maps, convolution, norm, stride, padding):
    maps = conv2d(maps, state[f"{convolution}.weight"], stride=stride, padding=padding)
    mean, variance, weight, bias = (
        state[f"{norm}.{name}"]
        for name in ("running_mean", "running_var", "weight", "bias")
    )
    return batch_norm(maps, mean, variance, weight, bias, eps=1e-5)


def test_maps_are_what_the_formulas_say():
    network = ResNet((2, 3, 4, 5))
    state = drawn(network)
    network.load_state_dict(state)
    images = torch.randn(2, 3, 45, 64, generator=torch.Generator().manual_seed(1))
    first = convolved(state, images, "conv1", "bn1", 2, 3).clamp_min(0)
    expected, maps = [first], max_pool2d(first, 3, 2, 1)
    for stage in STAGES:
        for block in ("0", "1"):
            start, stride = f"{stage}.{block}", 1
            beside = maps
            if f"{start}.downsample.0.weight" in state:
                stride, down = 2, f"{start}.downsample"
                beside = convolved(state, maps, f"{down}.0", f"{down}.1", 2, 0)
            maps = convolved(state, maps, f"{start}.conv1", f"{start}.bn1", stride, 1)
            expected.append(maps.clamp_min(0))
            maps = convolved(
                state, expected[-1], f"{start}.conv2", f"{start}.bn2", 1, 1
            )
            maps = (maps + beside).clamp_min(0)
            expected.append(maps)
    with torch.no_grad():
        found = network.eval()(images)
    assert len(found) == 17
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
