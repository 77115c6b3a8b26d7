"""No tensor is left behind on the CPU: all of a training step runs on "meta".

Tensors there have a device and a shape and no values. It is no GPU: nothing here was
timed on one.
"""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from skdpgen.features import FourierFeatures, HermitePairs, NTKFeatures
from skdpgen.lenses import PerceptualMap, RandomLens
from skdpgen.networks import (
    CellsHead,
    ImageGenerator,
    ImageShape,
    TableGenerator,
    TableShape,
)
from skdpgen.training import Goal, LossWeight, PairTarget, Steps, match_embedding
from skdpgen.training._mixture import Mixture, PairLoss

META = torch.device("meta")
SIDE = 16
PIXELS = SIDE**2


def seeded():
    return torch.Generator().manual_seed(0)


MAPS = {
    "fourier": FourierFeatures.draw((1,) * PIXELS, 20, rng=seeded()),
    "pairs": HermitePairs.draw(
        PIXELS, 3, 1, length_scale=0.3, product_weight=2.0, radius=0.5, rng=seeded()
    ),
    "tangent": NTKFeatures.draw(PIXELS, 5, is_positive=True, rng=seeded()),
    "lens": PerceptualMap(RandomLens((2, 3)), (1, SIDE, SIDE)),
}


MAY_MIX = {"aten::_to_copy", "aten::copy_", "aten::index"}  # moves; places of rows


class OneDevice(TorchDispatchMode):
    """Refuses to work out anything of tensors of two devices; numbers may mix."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        tensors = [one for one in tree_leaves((args, kwargs)) if torch.is_tensor(one)]
        devices = {one.device for one in tensors if one.ndim}
        if len(devices) > 1 and func._schema.name not in MAY_MIX:
            raise AssertionError(f"{func} was given tensors of {devices}")
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def _one_device(monkeypatch):
    """Numbers that a loss curve is made of have no values here."""
    for name, value in {"item": 1.0, "__float__": 1.0, "__bool__": True}.items():
        monkeypatch.setattr(torch.Tensor, name, lambda _, value=value: value)
    with OneDevice():
        yield


def test_tensors_of_two_devices_are_noticed():
    with pytest.raises(AssertionError, match="tensors of"):
        torch.ones(2, 2) @ torch.ones(2, 2, device=META)


def assert_trained(generator, embed, width, noise_energy, mix=None, moving_rate=None):
    """Take two steps towards a target of so many numbers a class."""
    generator.to(META)
    losses = match_embedding(
        generator,
        [lambda outputs, n_parts: {"all": embed(outputs, n_parts)}],
        Goal(
            [{"all": torch.zeros(2, width, device=META)}],
            torch.full((2,), 0.5, device=META),
            {"all": LossWeight(1.0, 1.0)},
            noise_energy,
            mix,
        ),
        Steps(3, max_iter=2, batch_size=8, learning_rate=0.1, moving_rate=moving_rate),
        rng=seeded(),
    )
    assert len(losses) == 2
    assert {one.device for one in generator.parameters()} == {META}


@pytest.mark.parametrize("name", MAPS)
def test_images_are_trained_where_they_are_asked_to(name):
    shape = ImageShape(1, SIDE, SIDE, 2, 3, hidden=(4,))
    phi = MAPS[name].to(META)
    assert_trained(
        ImageGenerator(shape, rng=seeded()),
        lambda outputs, n_parts: phi.mean(outputs[0], n_parts),
        phi.n_features,
        noise_energy={},
    )


def test_networks_of_each_class_are_trained_without_a_look_at_labels():
    generator = ImageGenerator(
        ImageShape(1, 8, 8, 2, 3, hidden=(4,), is_parallel=True), rng=seeded()
    )
    with generator.even_classes():
        assert_trained(
            generator,
            lambda outputs, n: outputs[0].unflatten(0, (n, -1)).mean(1),
            64,
            noise_energy={},
        )


def test_tables_are_trained_where_they_are_asked_to():
    shape = TableShape((CellsHead(3), CellsHead(2)), 2, 3, (4,))
    assert_trained(
        TableGenerator(shape, rng=seeded(), start=np.zeros((2, 5))),
        lambda outputs, n: torch.cat(outputs, 1).unflatten(0, (n, -1)).mean(1),
        5,
        noise_energy={"all": 0.0},
        mix=torch.eye(2, device=META),
    )


def test_mixtures_are_trained_where_they_are_asked_to():
    sizes, n_classes = (2, 3), 2
    table = np.full((n_classes, 5), 0.4)
    pairs = np.zeros((5, 5))
    target = PairTarget(
        table, np.array([0.5, 0.5]), pairs, np.zeros((2, 5, 5)), pairs == 0
    )
    mixture = Mixture(torch.zeros(2, 5, device=META), sizes, 4, seeded())
    mixture.set_gradients(PairLoss(target, factors=None, device=META))
    assert {one.grad.device for one in mixture.parts} == {META}
