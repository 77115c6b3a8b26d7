"""Expected features against the sum over every row that could be drawn."""

import itertools
import math

import pytest
import torch

from skdpgen.features import ExpectedFourier, FourierFeatures

WIDTHS, N_POINTS = (1, 2, 1, 3), (2, 3, 1, 4)


def problem(n_together, n_features=24, seed=0):
    """Return a map in float64, points of every column, and scores of 5 rows."""
    rng = torch.Generator().manual_seed(seed)
    phi = FourierFeatures.draw(
        WIDTHS, n_features, length_scale=(0.3, 1.0), n_together=n_together, rng=rng
    )
    phi = FourierFeatures(phi.frequencies.double(), phi.subsets, phi.widths)
    points, scores = [], []
    for n, width in zip(N_POINTS, WIDTHS, strict=True):
        points.append(torch.rand(n, width, generator=rng, dtype=torch.float64))
        score = 2 * torch.randn(5, n, generator=rng, dtype=torch.float64)
        scores.append(score.requires_grad_())
    return phi, points, scores


def softmax(scores):
    return [score.softmax(dim=1) for score in scores]


def plain(phi, points, probabilities):
    """Average phi over all combinations of points, one by one."""
    total = 0.0
    for cells in itertools.product(*(range(len(at)) for at in points)):
        row = torch.cat([at[k] for at, k in zip(points, cells, strict=True)])
        chosen = [p[:, k] for p, k in zip(probabilities, cells, strict=True)]
        total = total + math.prod(chosen)[:, None] * phi(row)
    return total


@pytest.mark.parametrize("n_together", [1, 2, 3, None])
def test_it_is_the_mean_over_all_rows_and_so_is_its_gradient(n_together):
    phi, points, scores = problem(n_together)
    wanted = plain(phi, points, softmax(scores))
    found = ExpectedFourier.of(phi, points)(softmax(scores))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    direction = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1))
    back = [
        torch.autograd.grad((mean * direction).sum(), scores)
        for mean in (found, wanted)
    ]
    for one, two in zip(*back, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-11)


def test_a_certain_row_has_the_features_of_that_row():
    phi, points, _ = problem(2)
    certain = [torch.eye(n, dtype=torch.float64)[torch.arange(4) % n] for n in N_POINTS]
    rows = torch.cat(
        [at[torch.arange(4) % len(at)] for at in points], dim=1
    )  # (4, all inputs)
    found = ExpectedFourier.of(phi, points)(certain)
    torch.testing.assert_close(found, phi(rows))


def test_float32_is_nearly_as_good():
    phi, points, scores = problem(2)
    exact = ExpectedFourier.of(phi, points)(softmax(scores))
    rough = FourierFeatures(phi.frequencies.float(), phi.subsets, phi.widths)
    found = ExpectedFourier.of(rough, points)([p.float() for p in softmax(scores)])
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_features", [2, 4])
def test_columns_that_no_frequency_looks_at(n_features):
    phi, points, scores = problem(2, n_features)
    found = ExpectedFourier.of(phi, points)(softmax(scores))
    torch.testing.assert_close(found, plain(phi, points, softmax(scores)))


def test_one_column_for_all_frequencies():
    rng = torch.Generator().manual_seed(0)
    phi = FourierFeatures.draw((2,), 10, rng=rng)
    points = [torch.rand(3, 2, generator=rng)]
    probabilities = [torch.rand(4, 3, generator=rng)]
    found = ExpectedFourier.of(phi, points)(probabilities)
    torch.testing.assert_close(found, probabilities[0] @ phi(points[0]))


def test_means_are_of_as_many_equal_groups():
    phi, points, scores = problem(2)
    expected = ExpectedFourier.of(phi, points)
    rows = [score[:4].softmax(dim=1) for score in scores]
    each = expected(rows)
    wanted = torch.stack([each[:2].mean(dim=0), each[2:].mean(dim=0)])
    torch.testing.assert_close(expected.mean(rows, 2), wanted)
    torch.testing.assert_close(expected.mean(rows), wanted.mean(dim=0)[None])


def test_points_and_columns_must_agree():
    phi, points, scores = problem(2)
    with pytest.raises(ValueError, match="zip"):
        ExpectedFourier.of(phi, points[:-1])
    with pytest.raises(ValueError, match="zip"):
        ExpectedFourier.of(phi, points)(softmax(scores)[:-1])
