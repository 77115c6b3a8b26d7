"""Hermite features of all pairs: the kernel they are of, and their bound."""

import pytest
import torch

from skdpgen.features import HermitePairs, JointFeatures
from skdpgen.features._hermite import HermiteFeatures


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def draw(
    n=5, order=3, product_order=2, product_weight=2.0, length_scale=0.3, radius=None
):
    return HermitePairs.draw(
        n,
        order,
        product_order,
        length_scale=length_scale,
        product_weight=product_weight,
        radius=radius,
        rng=seeded(),
    )


def rows(n=40, width=5, scale=1.0):
    return scale * torch.rand(n, width, generator=seeded(1), dtype=torch.float64)


def test_the_kernel_is_of_all_pairs():
    phi, x = draw(order=60, product_order=60, length_scale=0.5), rows(10)
    gaps = x[:, None] - x[None]
    each = (-(gaps**2) / (2 * 0.5**2)).exp()  # (10, 10, 5)
    pairs = torch.einsum("ija,ijb->ij", each, each) / 25
    wanted = each.mean(dim=2) / 3 + 2 * pairs / 3
    found = phi(x) @ phi(x).T
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-3)


def test_pairs_are_those_of_subsets_and_each_column_with_itself():
    phi, x = draw(product_weight=1e6), rows(8)  # hardly anything but the pairs
    pairs = HermiteFeatures.draw(
        (1,) * 5, (True,) * 5, 2, length_scale=0.3, rng=seeded()
    )
    one = HermiteFeatures.draw(
        (1,) * 5, (True,) * 5, 2, length_scale=0.3, n_together=1, rng=seeded()
    )
    alone = one(x).reshape(8, 3, 5)
    squares = torch.einsum("naj,maj->nmj", alone, alone) * 5  # kernel of each column
    wanted = (20 * (pairs(x) @ pairs(x).T) + (squares**2).sum(dim=2)) / 25
    torch.testing.assert_close(phi(x) @ phi(x).T, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0, 1e12])
@pytest.mark.parametrize("product_weight", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("radius", [None, 0.01, 0.5])
def test_no_row_is_longer_than_1(scale, product_weight, radius):
    x = rows(200, scale=scale) - scale / 3
    norms = torch.linalg.vector_norm(
        draw(product_weight=product_weight, radius=radius)(x), dim=1
    )
    assert norms.isfinite().all()
    assert norms.max() <= 1 + 1e-6


def test_means_are_those_of_the_rows():
    phi, x = draw(), rows(12).float()
    wanted = phi(x).reshape(3, 4, -1).mean(dim=1)
    torch.testing.assert_close(phi.mean(x, 3), wanted)
    assert phi.n_features == wanted.shape[1] == 5 * 4 + 15**2
    assert phi.shapes == ((20, 1), (15, 15))


def test_the_sum_kernel_is_beside_it():
    phi, x = draw(product_weight=3.0), rows(6)
    parts = JointFeatures((phi.single, phi.paired), (1.0, 3.0))
    first = phi(x)[:, :20]
    torch.testing.assert_close(first, parts(x)[:, :20])


def test_pairs_are_squares_and_each_layer_keeps_its_bound():
    phi, x = draw(product_weight=2.0), rows(40)
    (one, ones), (two, base) = phi.factors(x)
    assert phi.kinds == ("signed", "square")
    assert phi.norm_bounds == pytest.approx(((1 / 3) ** 0.5, (2 / 3) ** 0.5))
    torch.testing.assert_close(two, phi.norm_bounds[1] * base)
    lengths = one.norm(dim=1) * ones.norm(dim=1), two.norm(dim=1) * base.norm(dim=1)
    for length, bound in zip(lengths, phi.norm_bounds, strict=True):
        assert length.max() <= bound * (1 + 1e-6)


def test_pairs_around_0_are_those_of_the_centred_kernel():
    phi, x = draw(product_weight=1e9, radius=5.0), rows(8)  # nothing is as long as 5
    found = phi(x)[:, 20:].reshape(8, 15, 15)

    def kernel(a, b):
        return phi.paired(a) @ phi.paired(b).T

    zero = torch.zeros(1, 5, dtype=torch.float64)
    centred = kernel(x, x) - kernel(x, zero) - kernel(zero, x) + kernel(zero, zero)
    wanted = (centred / 25) ** 2
    inner = torch.einsum("iab,jab->ij", found, found)
    torch.testing.assert_close(inner, wanted, rtol=1e-6, atol=1e-12)


def test_black_rows_have_no_pairs_and_rows_near_them_a_gradient():
    phi, x = draw(radius=0.5), torch.zeros(2, 5)
    assert phi(x)[:, 20:].abs().max() == 0
    x.requires_grad_()
    phi(x).square().sum().backward()
    assert x.grad.isfinite().all()


def test_pairs_beyond_the_radius_have_norm_1():
    phi, x = draw(product_weight=1e9, radius=0.01), rows(50) + 0.1
    norms = torch.linalg.vector_norm(phi(x)[:, 20:], dim=1)
    torch.testing.assert_close(norms, torch.ones_like(norms), rtol=0, atol=1e-6)
