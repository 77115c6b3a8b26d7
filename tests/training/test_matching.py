"""The loop on a problem whose solution is known: a mixture that is not a product."""

from dataclasses import fields

import numpy as np
import pytest
import torch

from skdpgen.networks import CellsHead, TableGenerator, TableShape
from skdpgen.training import Goal, LossWeight, Steps, match_embedding

SHARES = torch.tensor([0.7, 0.3])
# two columns of two cells, more often equal than not: not a product of columns
MIXTURE = torch.tensor([[0.4, 0.1, 0.1, 0.4], [0.2, 0.1, 0.1, 0.6]])
STEADY = {"pairs": LossWeight(1.0, 1.0)}


def pairs(outputs, n_groups=1):
    one, two = outputs
    rows = (one[:, :, None] * two[:, None, :]).flatten(1)
    return {"pairs": rows.unflatten(0, (n_groups, -1)).mean(dim=1)}


def fresh(seed=0, has_batch_norm=False):
    shape = TableShape((CellsHead(2), CellsHead(2)), 2, 2, (16,), has_batch_norm)
    rng = torch.Generator().manual_seed(seed)
    return TableGenerator(shape, rng=rng, start=np.zeros((2, 4)))


def match(generator, seed=1, **changes):
    def take(cls, given):
        given |= {f.name: changes.pop(f.name) for f in fields(cls) if f.name in changes}
        return cls(**given)

    goal = {
        "targets": [{"pairs": SHARES[:, None] * MIXTURE}],
        "shares": SHARES,
        "weights": STEADY,
        "noise_energy": {"pairs": 0.0},
    }
    steps = {"n_latent": 2, "max_iter": 60, "batch_size": 128, "learning_rate": 3e-2}
    rng = changes.pop("rng", torch.Generator().manual_seed(seed))
    goal, steps = take(Goal, goal), take(Steps, steps)
    return match_embedding(generator, [pairs], goal, steps, rng=rng, **changes)


def mixture_of(generator, n=4000):
    """Return what a generator makes of each class, (2, 4)."""
    latents = torch.randn(n, 2, generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        return torch.stack(
            [
                pairs(generator(latents, torch.full((n,), label)))["pairs"][0]
                for label in range(2)
            ]
        )


@pytest.mark.parametrize("has_batch_norm", [False, True])
def test_a_known_mixture_is_found(has_batch_norm):
    generator = fresh(has_batch_norm=has_batch_norm)
    losses = match(generator)
    assert len(losses) == 60
    assert losses[-1] < losses[0] / 10
    assert (mixture_of(generator) - MIXTURE).abs().max() < 0.06
    assert not generator.training


def test_a_generator_without_latents_cannot(monkeypatch):
    generator = fresh()
    monkeypatch.setattr(
        type(generator), "forward", lambda self, z, y, f=generator.forward: f(0 * z, y)
    )
    losses = match(generator, max_iter=150)
    assert min(losses) > losses[0] / 10  # the mixture is no product: it takes latents


def test_the_same_seed_gives_the_same_generator():
    runs = []
    state = torch.get_rng_state()
    for seed in (1, 1, 2):
        generator = fresh()
        losses = match(generator, seed=seed, max_iter=20)
        runs.append((losses, mixture_of(generator)))
    assert runs[0][0] == runs[1][0]
    assert torch.equal(runs[0][1], runs[1][1])
    assert runs[0][0] != runs[2][0]
    assert torch.equal(torch.get_rng_state(), state)


def test_it_settles_as_soon_as_it_is_at_the_level_of_the_noise():
    full = match(fresh())
    baseline = full[0] / 10
    losses = match(fresh(), noise_energy={"pairs": baseline})
    n_alike = sum(a == b for a, b in zip(full, losses, strict=False))
    assert losses[:n_alike] == full[:n_alike]  # only the end is new
    assert full[n_alike - 1] < 2 * baseline
    assert 4 <= len(losses) - n_alike <= 6  # the last tenth of the cycle
    assert len(losses) < 50
    at_once = match(fresh(), noise_energy={"pairs": 1.0})
    assert 12 <= len(at_once) <= 13  # the first and the last tenth
    assert len(match(fresh(), noise_energy={})) == 60


def test_interrupting_gets_through():
    def steps(iterable):
        for step in iterable:
            if step == 4:
                raise KeyboardInterrupt
            yield step

    with pytest.raises(KeyboardInterrupt):
        match(fresh(), progress=steps)


def test_no_steps_leave_the_generator_alone():
    generator = fresh()
    before = {name: value.clone() for name, value in generator.state_dict().items()}
    assert match(generator, max_iter=0) == []
    assert not generator.training
    for name, value in generator.state_dict().items():
        assert torch.equal(value, before[name])


def test_targets_take_turns():
    apart = torch.tensor([[0.1, 0, 0, -0.1], [0, 0.1, -0.1, 0]])
    middle = SHARES[:, None] * MIXTURE
    targets = [{"pairs": middle + apart}, {"pairs": middle - apart}]
    generator = fresh()
    match(generator, targets=targets, max_iter=150)
    assert (mixture_of(generator) - MIXTURE).abs().max() < 0.1


def test_the_mix_says_which_classes_count():
    generator, other = fresh(), fresh()
    match(generator, mix=torch.diag(torch.tensor([1.0, 0.0])), max_iter=100)
    match(other, mix=torch.diag(torch.tensor([0.0, 3.0])), max_iter=100)
    errors = [(mixture_of(g) - MIXTURE).norm(dim=1) for g in (generator, other)]
    assert errors[0][0] < 0.1 < errors[0][1]
    assert errors[1][1] < 0.1 < errors[1][0]


def test_a_weight_grows_by_a_steady_factor():
    weight = LossWeight(0.1, 10.0)
    assert [weight.at(x) for x in (0.0, 0.5, 1.0, 7.0)] == pytest.approx(
        [0.1, 1.0, 10.0, 10.0]
    )
    assert LossWeight(2.0, 2.0).at(0.3) == 2.0


def test_a_batch_has_some_vectors_of_each_class():
    seen = []

    def spy(outputs, n_groups):
        seen.append((len(outputs[0]), n_groups))
        return pairs(outputs, n_groups)

    match_embedding(
        fresh(),
        [spy],
        Goal([{"pairs": MIXTURE}], SHARES, STEADY, {"pairs": 0.0}),
        Steps(n_latent=2, max_iter=1, batch_size=1, learning_rate=0.1),
        rng=torch.Generator().manual_seed(0),
    )
    assert seen == [(8, 2)]


def test_embeddings_and_targets_take_turns_together():
    """Each turn sees half of the cells; a target of the other half would be missed."""

    def seeing(part):
        return lambda outputs, n: {"pairs": pairs(outputs, n)["pairs"][:, part]}

    halves = slice(0, 2), slice(2, 4)
    generator = fresh()
    targets = [{"pairs": SHARES[:, None] * MIXTURE[:, half]} for half in halves]
    match_embedding(
        generator,
        [seeing(half) for half in halves],
        Goal(targets, SHARES, STEADY, {}),
        Steps(n_latent=2, max_iter=100, batch_size=128, learning_rate=3e-2),
        rng=torch.Generator().manual_seed(0),
    )
    assert (mixture_of(generator) - MIXTURE).abs().max() < 0.1
