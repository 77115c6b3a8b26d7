"""The mixture: it reaches moments that a mixture has, and says how far it is."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from skdpgen.training import PairTarget, _mixture, fit_mixture

SIZES = (3, 2, 4)
ENDS = np.cumsum([0, *SIZES])
WIDTH = sum(SIZES)
SHARES = np.array([0.7, 0.3])


def across():
    """Return where two different columns meet."""
    block = np.repeat(np.arange(len(SIZES)), SIZES)
    return block[:, None] != block[None, :]


def components(rng, n=3):
    """Return random products of columns, (n_classes, n, S)."""
    columns = [rng.dirichlet(np.full(size, 0.4), size=(2, n)) for size in SIZES]
    return np.concatenate(columns, axis=2)


def target_of(tables, has_own=True):
    """Return the exact target whose solution is the given components."""
    singles = tables.mean(axis=1)
    seen = across()
    moments = np.einsum("cka,ckb->cab", tables, tables) / tables.shape[1]
    excess = seen * (moments - np.einsum("ca,cb->cab", singles, singles))
    common = np.einsum("c,cab->ab", SHARES, excess)
    own = SHARES[:, None, None] * (excess - common)
    return PairTarget(singles, SHARES, common, own if has_own else None, seen)


def fit(target, **params):
    given = {
        "n_components": 40,
        "max_iter": 200,
        "learning_rate": 0.1,
        "device": torch.device("cpu"),
        "seed": 0,
    }
    return fit_mixture(target, SIZES, **given | params)


def counted_together(target):
    """Return the target where both classes are one part."""
    return replace(target, part_of_class=np.zeros(2, dtype=int))


def loss_by_hand(target, tables):
    """Return the distance of all moments from the target, a number at a time."""
    total = energy = 0.0
    if target.part_of_class is not None:
        for a, b in np.argwhere(target.is_measured):
            for part in set(target.part_of_class):
                error = excess = 0.0
                for c in np.flatnonzero(target.part_of_class == part):
                    moment = (tables[c, :, a] * tables[c, :, b]).mean()
                    alone = target.singles[c, a] * target.singles[c, b]
                    beyond = target.shares[c] * target.common[a, b]
                    if target.own is not None:
                        beyond += target.own[c, a, b]
                    error += target.shares[c] * (moment - alone) - beyond
                    excess += beyond
                total += error**2
                energy += excess**2
        means = tables.mean(axis=1) - target.singles
        return (total + 30.0 * ((target.shares[:, None] * means) ** 2).sum()) / energy
    for c, share in enumerate(target.shares):
        for a in range(WIDTH):
            mean = tables[c, :, a].mean()
            total += 30.0 * (share * (mean - target.singles[c, a])) ** 2
            for b in range(WIDTH):
                moment = (tables[c, :, a] * tables[c, :, b]).mean()
                wanted = target.singles[c, a] * target.singles[c, b]
                wanted = share * (wanted + target.common[a, b])
                if target.own is not None:
                    wanted += target.own[c, a, b]
                total += target.is_measured[a, b] * (share * moment - wanted) ** 2
    return total / target.energies.sum()


@pytest.mark.parametrize("seed", range(3))
def test_moments_of_a_mixture_are_reached(seed):
    target = target_of(components(np.random.default_rng(seed)))
    tables, losses = fit(target)
    assert len(losses) == 200
    assert losses[-1] < 0.02
    assert losses[-1] < 0.1 * losses[0]
    np.testing.assert_allclose(tables.mean(axis=1), target.singles, atol=0.01)


def test_a_relation_of_all_classes_is_enough():
    rng = np.random.default_rng(1)
    same = np.repeat(components(rng)[:1], 2, axis=0)
    target = target_of(same, has_own=False)
    tables, losses = fit(target)
    assert losses[-1] < 0.02
    np.testing.assert_allclose(tables[0], tables[1], atol=0.1)


@pytest.mark.usefixtures("in_tiles")
def test_tables_are_probabilities():
    tables, _ = fit(target_of(components(np.random.default_rng(0))), max_iter=30)
    assert tables.shape == (2, 40, WIDTH)
    assert tables.dtype == np.float64
    assert (tables >= 0).all()
    for start, end in pairwise(ENDS):
        np.testing.assert_allclose(tables[:, :, start:end].sum(axis=2), 1, atol=1e-5)


@pytest.mark.usefixtures("in_tiles")
@pytest.mark.parametrize("is_together", [True, False])
@pytest.mark.parametrize("has_own", [True, False])
def test_the_loss_is_what_it_says(has_own, is_together):
    target = target_of(components(np.random.default_rng(2)), has_own)
    if is_together:
        target = counted_together(target)
    start, losses = fit(target, max_iter=0)
    assert losses == []
    _, losses = fit(target, max_iter=1)
    assert losses[0] == pytest.approx(loss_by_hand(target, start), rel=1e-3)


@pytest.fixture(params=[False, True], ids=["whole", "in-tiles"])
def in_tiles(request, monkeypatch):
    """As a wide table is, of which most cells never meet."""
    if request.param:
        monkeypatch.setattr(_mixture, "UNTILED_CELLS", 4)
        monkeypatch.setattr(_mixture, "TILE_CELLS", 4)
    return request.param


@pytest.mark.parametrize("has_own", [True, False])
@pytest.mark.parametrize("at_once", [1, 2**18])
def test_slopes_are_those_of_the_loss(has_own, at_once, in_tiles, monkeypatch):
    """By hand, some classes at a time; autograd says the same of the same loss."""
    monkeypatch.setattr(_mixture, "PROBABILITIES_AT_ONCE", at_once)
    target = target_of(components(np.random.default_rng(8)), has_own)
    if in_tiles:  # 4, 4 and 1 cells: the last column meets the first alone
        target.is_measured[ENDS[1] : ENDS[2]] = False
        target.is_measured[:, ENDS[1] : ENDS[2]] = False
        target.common[~target.is_measured] = 0.0
        if has_own:
            target.own[:, ~target.is_measured] = 0.0
    start = torch.as_tensor(np.log(target.singles)).float()
    rng = torch.Generator().manual_seed(0)
    mixture = _mixture.Mixture(start, SIZES, 5, rng)
    for one in (mixture.of_class, mixture.own):
        one += torch.randn(one.shape, generator=rng)
    assert len(mixture.blocks) == (2 if at_once == 1 else 1)
    factors = 1.0 / np.asarray(SHARES)
    pull = _mixture.PairLoss(target, factors=factors, device=torch.device("cpu"))
    assert len(pull.cell_blocks) == (2 if in_tiles else 1)
    assert len(mixture.columns) == (3 if in_tiles else 1)
    by_hand = mixture.set_gradients(pull)
    weights = target.weights(factors)

    logits = [one.clone().requires_grad_() for one in mixture.parts]
    columns = (sum(logits) + mixture.start).split(list(SIZES), dim=2)
    tables = torch.cat([column.softmax(dim=2) for column in columns], dim=2)
    moments = tables.mT @ tables / 5 - torch.as_tensor(
        np.einsum("ca,cb->cab", target.singles, target.singles) + target.common
    )
    shares = torch.as_tensor(SHARES)[:, None, None]
    error = shares * moments - (torch.as_tensor(target.own) if has_own else 0.0)
    off = shares[:, 0] * (tables.mean(dim=1) - torch.as_tensor(target.singles))
    squares = (torch.as_tensor(target.is_measured) * error).square().sum(dim=(1, 2))
    squares = squares + 30.0 * off.square().sum(dim=1)
    loss = (torch.as_tensor(weights) ** 2 * squares).sum()
    loss = loss / float((weights**2 * target.energies).sum())
    loss.backward()
    assert by_hand == pytest.approx(loss.item(), rel=1e-4)
    for mine, other in zip(mixture.parts, logits, strict=True):
        np.testing.assert_allclose(mine.grad, other.grad, rtol=1e-3, atol=1e-6)


@pytest.mark.usefixtures("in_tiles")
def test_slopes_of_parts_are_those_of_the_loss():
    """A small step against the slope lowers the loss by as much as the slope says."""
    target = counted_together(target_of(components(np.random.default_rng(9))))
    start = torch.as_tensor(np.log(target.singles)).float()
    rng = torch.Generator().manual_seed(0)
    mixture = _mixture.Mixture(start, SIZES, 5, rng, at_once=True)
    objective = _mixture.PairLoss(target, factors=None, device=torch.device("cpu"))
    assert not objective.cell_blocks
    mixture.set_gradients(objective)
    for part in mixture.parts:
        slope = part.grad.clone()
        step = 1e-3 * slope / slope.norm()
        losses = []
        for sign in (1, -1):
            part += sign * step
            losses.append(mixture.set_gradients(objective))
            part -= sign * step
        expected = float(2 * (slope * step).sum())
        assert losses[0] - losses[1] == pytest.approx(expected, rel=1e-2)


def test_classes_of_a_part_need_not_have_its_excess():
    """Classes that are at two ends of columns cannot have the excess of both together.

    Pairs were counted over both classes. Sums of both are reached more closely if no
    class has to have the excess by itself.
    """
    tables = components(np.random.default_rng(11))
    target = target_of(tables, has_own=False)
    moments = np.einsum("c,cka,ckb->ab", SHARES, tables, tables) / tables.shape[1]

    def error(tables):
        mine = np.einsum("c,cka,ckb->ab", SHARES, tables, tables) / tables.shape[1]
        return float((target.is_measured * (mine - moments) ** 2).sum())

    assert error(fit(counted_together(target))[0]) < 0.5 * error(fit(target)[0])


def test_balanced_errors_care_for_a_rare_class():
    """With few components classes must share them, and the rare one gives way."""
    target = target_of(components(np.random.default_rng(6)))
    target = replace(target, shares=np.array([0.97, 0.03]), own=None)

    def rare_error(**params):
        tables, _ = fit(target, n_components=2, **params)
        moments = tables[1].T @ tables[1] / 2
        wanted = np.outer(target.singles[1], target.singles[1]) + target.common
        return float((target.is_measured * (moments - wanted) ** 2).sum())

    assert rare_error(factors=1.0 / target.shares) < 0.95 * rare_error()


def test_independent_columns_have_a_loss_of_one():
    target = target_of(components(np.random.default_rng(3)))
    assert loss_by_hand(target, target.singles[:, None]) == pytest.approx(1.0)
    _, losses = fit(target, n_components=1, max_iter=100)
    assert losses[-1] == pytest.approx(1.0, abs=0.1)  # one product has no relation


@pytest.mark.parametrize("has_own", [True, False])
def test_the_energy_is_the_distance_from_independence(has_own):
    rng = np.random.default_rng(4)
    common = rng.normal(size=(WIDTH, WIDTH))
    own = rng.normal(size=(2, WIDTH, WIDTH)) if has_own else None
    seen = np.ones((WIDTH, WIDTH), dtype=bool)
    target = PairTarget(rng.random((2, WIDTH)), SHARES, common, own, seen)
    total = 0.0
    for c in range(2):
        beyond = SHARES[c] * common + (own[c] if has_own else 0.0)
        total += float((beyond**2).sum())
    assert target.energies.sum() == pytest.approx(total)


def test_a_cell_that_nobody_has_stays_empty():
    tables = components(np.random.default_rng(5))
    tables[:, :, 0] = 0.0
    tables[:, :, :3] /= tables[:, :, :3].sum(axis=2, keepdims=True)
    found, losses = fit(target_of(tables))
    assert found[:, :, 0].mean() < 1e-3
    assert losses[-1] < 0.05


def test_without_any_relation_single_columns_are_kept():
    rng = np.random.default_rng(6)
    singles = components(rng, 1)[:, 0]
    nothing = np.zeros((WIDTH, WIDTH))
    target = PairTarget(singles, SHARES, nothing, None, across())
    tables, losses = fit(target)
    assert all(map(math.isfinite, losses))
    np.testing.assert_allclose(tables.mean(axis=1), singles, atol=0.01)
    moments = np.einsum("cka,ckb->cab", tables, tables) / tables.shape[1]
    alone = np.einsum("ca,cb->cab", singles, singles)
    np.testing.assert_allclose((moments - alone)[:, across()], 0, atol=0.01)


def test_pairs_that_nobody_measured_cost_nothing():
    target = target_of(components(np.random.default_rng(7)))
    seen = np.zeros_like(target.is_measured)
    seen[ENDS[0] : ENDS[1], ENDS[1] : ENDS[2]] = True
    wild = np.where(seen | seen.T, target.common, 1e3)
    some = [
        PairTarget(target.singles, SHARES, values, None, seen | seen.T)
        for values in (wild, np.where(seen | seen.T, target.common, -1e3))
    ]
    one, two = (fit(each, max_iter=20)[0] for each in some)
    np.testing.assert_allclose(one, two, atol=1e-5)


def test_the_seed_alone_decides_and_torch_is_left_as_it_was():
    target = target_of(components(np.random.default_rng(0)))
    before = torch.get_rng_state()
    one, losses = fit(target, max_iter=20)
    torch.manual_seed(1)
    again, same_losses = fit(target, max_iter=20)
    other, _ = fit(target, max_iter=20, seed=1)
    torch.set_rng_state(before)
    fit(target, max_iter=20)
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(one, again)
    assert losses == same_losses
    assert np.abs(one - other).max() > 0.01


def test_progress_sees_each_step():
    steps = []

    def spy(sequence):
        for step in sequence:
            steps.append(step)
            yield step

    fit(target_of(components(np.random.default_rng(0))), max_iter=5, progress=spy)
    assert steps == list(range(5))


def test_training_that_diverges_is_an_error():
    target = target_of(components(np.random.default_rng(0)))
    with pytest.raises(FloatingPointError, match="smaller learning_rate"):
        fit(target, learning_rate=1e38)
