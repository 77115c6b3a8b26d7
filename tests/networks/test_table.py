"""The table generator: what its heads give, and where its weights come from."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen.networks import CellsHead, PositionHead, TableGenerator, TableShape

HEADS = (CellsHead(3), PositionHead(), PositionHead(is_nullable=True), CellsHead(1))


def shape(**changes):
    given = {"n_classes": 2, "n_latent": 4, "hidden": (8, 5)} | changes
    return TableShape(HEADS, **given)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def inputs(n=50, scale=1.0):
    return scale * torch.randn(n, 4, generator=seeded(9)), torch.arange(n) % 2


@pytest.mark.parametrize("has_batch_norm", [False, True])
@pytest.mark.parametrize("hidden", [(), (8,), (8, 5)])
def test_every_column_has_its_head(hidden, has_batch_norm):
    layers = shape(hidden=hidden, has_batch_norm=has_batch_norm)
    outputs = TableGenerator(layers, rng=seeded())(*inputs())
    assert layers.sizes == [3, 1, 2, 1]
    assert [output.shape for output in outputs] == [(50, n) for n in layers.sizes]
    has_norm = any(
        isinstance(layer, torch.nn.BatchNorm1d)
        for layer in TableGenerator(layers, rng=seeded()).modules()
    )
    assert has_norm == (has_batch_norm and bool(hidden))


@given(scale=st.sampled_from([0.0, 1.0, 1e3, 1e6, 1e30]), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_outputs_are_probabilities_and_positions(scale, seed):
    generator = TableGenerator(shape(), rng=seeded(seed))
    cells, place, nullable, single = generator(*inputs(scale=scale))
    for head in (cells, single):
        assert (head >= 0).all()
        torch.testing.assert_close(head.sum(dim=1), torch.ones(50))
    assert (single == 1).all()
    for position in (place, nullable):
        assert ((position >= 0) & (position <= 1)).all()
    # "missing" stands at (1/2, 1/2): a row is somewhere between it and a number
    known, missing = nullable.T
    assert (missing <= 0.5).all()
    assert ((known - 0.5).abs() <= 0.5 - missing + 1e-6).all()


def test_the_generator_that_is_passed_decides_alone():
    state = torch.get_rng_state()
    one, two, other = (TableGenerator(shape(), rng=seeded(s)) for s in (0, 0, 1))
    rows = inputs()
    for a, b in zip(one(*rows), two(*rows), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(one(*rows)[0], other(*rows)[0])
    assert torch.equal(torch.get_rng_state(), state)


def test_a_start_is_what_heads_without_weights_give():
    table = np.random.default_rng(0).normal(size=(2, 7))
    generator = TableGenerator(shape(), rng=seeded(), start=table)
    with torch.no_grad():
        generator.heads.weight.zero_()
    latents, labels = inputs()
    start = torch.as_tensor(table, dtype=torch.float32)[labels]
    cells, place, _, _ = generator(latents, labels)
    assert torch.equal(cells, start[:, :3].softmax(dim=1))
    assert torch.equal(place, start[:, 3:4].sigmoid())


def test_equal_heads_that_stand_together_are_those_of_single_columns():
    heads = [PositionHead()] * 3 + [CellsHead(4)] * 2 + [PositionHead(True)] * 2
    heads += [CellsHead(3), CellsHead(4), PositionHead()]
    layers = TableShape(tuple(heads), n_classes=2, n_latent=4, hidden=())
    assert [len(run) for run in layers.runs] == [3, 2, 2, 1, 1, 1]
    table = np.random.default_rng(0).normal(size=(2, sum(layers.sizes)))
    generator = TableGenerator(layers, rng=seeded(), start=table)
    generator.heads.weight.data.zero_()
    latents, labels = inputs()
    logits = torch.as_tensor(table, dtype=torch.float32)[labels]
    for head, own, output in zip(
        heads, logits.split(layers.sizes, 1), generator(latents, labels), strict=True
    ):
        if isinstance(head, CellsHead):
            expected = own.softmax(dim=1)
        elif head.is_nullable:
            place, missing = own.sigmoid().T
            expected = torch.stack([place + missing * (0.5 - place), missing / 2], 1)
        else:
            expected = own.sigmoid()
        torch.testing.assert_close(output, expected)


def test_with_a_start_rows_differ_from_the_first_step_on():
    generator = TableGenerator(shape(), rng=seeded(), start=np.zeros((2, 7)))
    cells = generator(*inputs())[0]
    assert cells.std(dim=0).min() > 0
    assert (cells - 1 / 3).abs().max() < 0.3


def test_labels_are_distinguished():
    generator = TableGenerator(shape(), rng=seeded())
    latents, labels = inputs()
    assert not torch.equal(
        generator(latents, labels)[0], generator(latents, 1 - labels)[0]
    )


@pytest.mark.parametrize("has_batch_norm", [False, True])
def test_loaded_weights_give_the_same_rows(has_batch_norm):
    layers = shape(has_batch_norm=has_batch_norm)
    start = np.random.default_rng(0).normal(size=(2, 7))
    generator = TableGenerator(layers, rng=seeded(), start=start)
    generator(*inputs())  # batch norm has seen something
    copy = TableGenerator(layers)
    copy.load_state_dict(generator.state_dict())
    for a, b in zip(generator.eval()(*inputs()), copy.eval()(*inputs()), strict=True):
        assert torch.equal(a, b)


def test_start_and_weights_get_the_right_kind_of_care():
    generator = TableGenerator(shape(), rng=seeded(), start=np.zeros((2, 7)))
    trained = {name for name, _ in generator.named_parameters()}
    assert "start" not in trained
    assert "heads.weight" in trained
    assert "start" in generator.state_dict()
