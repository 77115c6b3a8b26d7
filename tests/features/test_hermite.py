"""Hermite features: the kernel they expand, and their norm for every row."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.features import HermiteFeatures, JointFeatures, Part, hermite_functions

WIDTHS, ARE_NUMBERS = (1, 2, 3, 9), (True, True, False, False)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def draw(order=4, **given):
    return HermiteFeatures.draw(WIDTHS, ARE_NUMBERS, order, rng=seeded(), **given)


MAPS = {
    "sums": draw(n_together=1),
    "pairs": draw(),
    "threes": draw(order=2, n_together=3, length_scale=1.0),
    "some": draw(order=11, n_subsets=3, length_scale=0.05),
    "constant": draw(order=0),
}
LARGEST = float(np.float32(1e30))
nasty = st.sampled_from([0.0, -0.0, 1e30, -1e30, 1e-45, 0.5, 1.0])
numbers = nasty | st.floats(-LARGEST, LARGEST, width=32)


@pytest.mark.parametrize(
    ("length_scale", "order"), [(0.3, 150), (0.5, 60), (1.0, 40), (5.0, 12)]
)
def test_the_series_is_the_gaussian_kernel(length_scale, order):
    x = torch.linspace(-1, 1, 51, dtype=torch.float64)
    phi = hermite_functions(x, order, length_scale)
    kernel = torch.exp(-((x[:, None] - x) ** 2) / (2 * length_scale**2))
    assert (phi @ phi.T - kernel).abs().max() < 1e-6


def test_few_terms_are_short_of_the_kernel():
    x = torch.tensor([1.0], dtype=torch.float64)
    assert (hermite_functions(x, 20, 0.3) ** 2).sum() < 0.95


@pytest.mark.parametrize("x", [3.0, 15.0, -30.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_recursion_is_stable_far_out_and_at_high_orders(x, dtype):
    norms = hermite_functions(torch.tensor([x], dtype=dtype), 3000, 1.0).norm(dim=1)
    assert norms.item() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("x", [1e3, -1e8, 1e30, float("inf")])
def test_what_is_far_beyond_the_order_is_nothing(x):
    found = hermite_functions(torch.tensor([x]), 60, 1.0)
    assert found.isfinite().all()
    assert found.norm() < 1e-6


def test_the_functions_have_their_gradient():
    x = torch.tensor([0.3, -0.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: hermite_functions(x, 30, 0.4), x)


@pytest.mark.parametrize("name", MAPS)
@given(x=arrays(np.float32, (3, sum(WIDTHS)), elements=numbers))
@settings(max_examples=60, deadline=None)
def test_the_norm_is_at_most_one_for_every_row(name, x):
    found = MAPS[name](torch.from_numpy(x))
    assert found.shape == (3, MAPS[name].n_features)
    assert found.isfinite().all()
    assert found.norm(dim=1).max() <= 1 + 1e-5


def rows(n=40):
    """Return rows that tables have: ranks, "missing", points of categories."""
    rng = np.random.default_rng(0)
    x = rng.random((n, sum(WIDTHS)))
    x[:, 2] = 0.5 * (rng.random(n) < 0.3)
    x[x[:, 2] > 0, 1] = 0.5
    x[:, 3:] = 0.0
    one, two = rng.integers(3, size=n), rng.integers(9, size=n)
    x[np.arange(n), 3 + one] = x[np.arange(n), 6 + two] = 0.5**0.5
    return torch.from_numpy(x).float()


@pytest.mark.parametrize("n_together", [1, 2, 3])
def test_products_have_the_kernel_of_the_docs(n_together):
    x = rows()
    phi = draw(order=40, n_together=n_together, length_scale=0.6)
    each = []
    for j, (a, b) in enumerate(itertools.pairwise(np.cumsum([0, *WIDTHS]))):
        if ARE_NUMBERS[j]:
            gap = (x[:, None, a] - x[None, :, a]) ** 2
            known = torch.exp(-gap / (2 * 0.6**2))
            missing = x[:, b - 1] > 0 if b - a == 2 else torch.zeros(len(x)).bool()
            both, neither = missing[:, None] & missing, ~missing[:, None] & ~missing
            known = torch.where(both, 1.0, torch.where(neither, known, torch.nan))
            each.append(known)
        else:
            each.append(((x[:, None, a:b] * x[None, :, a:b]).sum(2) * 2).round())
    products = [
        torch.stack(some).prod(dim=0)
        for some in itertools.combinations(each, n_together)
    ]
    wanted = torch.stack(products).mean(dim=0)
    is_plain = ~wanted.isnan()  # "missing" beside a number: a random direction
    found = phi(x) @ phi(x).T
    assert is_plain.sum() > 400
    torch.testing.assert_close(found[is_plain], wanted[is_plain], atol=1e-5, rtol=1e-5)


def test_many_categories_share_few_directions():
    phi = MAPS["pairs"]
    cosines = phi.directions[3] @ phi.directions[3].T
    torch.testing.assert_close(cosines.diagonal(), torch.ones(9))
    assert (cosines - torch.eye(9)).abs().max() < 1.0
    torch.testing.assert_close(phi.directions[2] @ phi.directions[2].T, torch.eye(3))


def test_what_is_cut_off_between_the_public_ends_is_made_up():
    x = torch.linspace(0, 1, 101)[:, None]
    for order, scale in [(2, 0.5), (4, 0.3), (9, 0.1)]:
        phi = HermiteFeatures.draw(
            (1,), (True,), order, length_scale=scale, rng=seeded()
        )
        norms = phi(x).norm(dim=1)
        assert norms.max() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("name", MAPS)
def test_the_expected_features_are_the_mean_over_all_rows(name):
    points = [torch.rand(k, w) for k, w in zip((3, 2, 3, 9), WIDTHS, strict=True)]
    tables = [torch.rand(2, len(at)).softmax(dim=1) for at in points]
    found = MAPS[name].expected(points)(tables)
    for row in range(2):
        mean = 0.0
        for cells in itertools.product(*(range(len(at)) for at in points)):
            x = torch.cat([at[c] for at, c in zip(points, cells, strict=True)])
            chance = np.prod([t[row, c] for t, c in zip(tables, cells, strict=True)])
            mean = mean + chance * MAPS[name](x[None])[0]
        torch.testing.assert_close(found[row], mean, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("n_each", [2, 200])  # of many rows by a product of matrices
@pytest.mark.parametrize("name", MAPS)
def test_means_of_groups(name, n_each):
    phi, x = MAPS[name], rows(3 * n_each).requires_grad_()
    wanted = phi(x).reshape(3, n_each, -1).mean(dim=1)
    found = phi.mean(x, 3)
    torch.testing.assert_close(found, wanted)
    weights = torch.rand(found.shape)
    slopes = [torch.autograd.grad((weights * one).sum(), x) for one in (found, wanted)]
    torch.testing.assert_close(*slopes)


def test_maps_side_by_side_have_the_weighted_kernel():
    both, x = JointFeatures((MAPS["sums"], MAPS["pairs"]), (1.0, 3.0)), rows()
    found = both(x)
    assert found.norm(dim=1).max() <= 1 + 1e-6
    one, two = (phi(x) @ phi(x).T for phi in both.maps)
    torch.testing.assert_close(found @ found.T, 0.25 * one + 0.75 * two)
    points = [torch.rand(2, w) for w in WIDTHS]
    tables = [torch.full((4, 2), 0.5) for _ in WIDTHS]
    mean = both.expected(points).mean(tables, 2)
    assert mean.shape == (2, both.n_features)
    torch.testing.assert_close(both.to(torch.device("cpu"))(x), found)


def test_a_part_has_some_of_the_features():
    phi, x = MAPS["pairs"], rows()
    part = Part(phi, torch.tensor([5, 0, 17]))
    assert part.n_features == 3
    torch.testing.assert_close(part(x), phi(x)[:, [5, 0, 17]])
    points = [torch.rand(2, w) for w in WIDTHS]
    tables = [torch.full((4, 2), 0.5) for _ in WIDTHS]
    wanted = phi.expected(points).mean(tables, 2)[:, [5, 0, 17]]
    torch.testing.assert_close(part.expected(points).mean(tables, 2), wanted)
