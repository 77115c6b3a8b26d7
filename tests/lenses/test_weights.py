"""Weights that are brought: every way in, and what is said when they do not fit."""

import pickle

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from skdpgen.lenses._network_lens import weights_for


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 2, 3), nn.BatchNorm2d(2), nn.Conv2d(2, 1, 1))


NEEDED = [name for name in network().state_dict() if "tracked" not in name]


def file_of(state, path):
    torch.save(state, path)
    return path


@pytest.mark.parametrize("way", ["module", "dict", "more", "path", "text"])
def test_all_ways_in_give_the_same(way, tmp_path):
    module = network()
    state = module.state_dict()
    path = file_of(state, tmp_path / "weights.pth")
    more = state | {"fc.weight": torch.ones(2, 2)}
    ways = {"module": module, "dict": dict(state), "more": more, "path": path}
    found = weights_for(network(), (ways | {"text": str(path)})[way])
    assert list(found) == NEEDED
    assert all(torch.equal(found[name], state[name]) for name in NEEDED)


def test_weights_are_copies():
    module = network()
    found = weights_for(network(), module)
    with torch.no_grad():
        module[0].weight.zero_()
    assert found["0.weight"].abs().max() > 0
    assert not found["0.weight"].requires_grad


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
    ids=str,
)
def test_half_precision_becomes_single(given, kept):
    found = weights_for(network(), network().to(given))
    assert {value.dtype for value in found.values()} == {kept}


def test_three_of_the_missing_are_named():
    with pytest.raises(
        ValueError, match=r"must have 8 .* 8 are missing, such as 0.wei"
    ):
        weights_for(network(), {"other": torch.ones(1)})
    state = network().state_dict()
    del state["1.running_mean"]
    with pytest.raises(ValueError, match=r"1 are missing, such as 1\.running_mean"):
        weights_for(network(), state)


def test_wrong_shapes_are_named():
    state = network().state_dict() | {"0.bias": torch.ones(7)}
    with pytest.raises(
        ValueError, match=r"'0.bias' must have shape \(2,\). Got \(7,\)"
    ):
        weights_for(network(), state)


@pytest.mark.parametrize("wrong", [None, 3, [torch.ones(1)], {"a": 1}], ids=str)
def test_what_is_no_state_dict_is_refused(wrong):
    with pytest.raises(ValueError, match="weights must be a state dict"):
        weights_for(network(), wrong)


def test_no_code_of_a_file_is_run(tmp_path):
    path = file_of(network(), tmp_path / "module.pt")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        weights_for(network(), path)


def test_safetensors_are_read_by_their_own_package(tmp_path):
    state = network().state_dict()
    save_file(state, tmp_path / "a.safetensors")
    found = weights_for(network(), str(tmp_path / "a.safetensors"))
    assert all(torch.equal(found[name], state[name]) for name in found)
