"""Sums of layers by their factors: what one row moves, whatever it holds."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen.privacy import Layers

BLOCK = Layers((3, (4, 2), (2, 5)), bound=0.7)


def parts(n, places=2, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: scale * rng.normal(size=shape)  # noqa: E731
    return [
        draw(n, 3),
        (draw(n, places, 4), draw(n, places, 2)),
        (draw(n, 1, 2), draw(n, 1, 5)),
    ]


def formed(layers):
    """Return every row as one vector."""
    rows = [
        np.einsum("nta,ntb->nab", *layer).reshape(len(layer[0]), -1)
        if isinstance(layer, tuple)
        else layer
        for layer in layers
    ]
    return np.concatenate(rows, axis=1)


def summed(layers, block=BLOCK):
    n = len(layers[0][0] if isinstance(layers[0], tuple) else layers[0])
    return block.add(block.start(1), layers, np.zeros(n, dtype=np.int64))[0]


def set_row(layers, row, values):
    """Replace one row by numbers that are taken in turn."""
    numbers = iter(np.resize(values, 10_000))
    for layer in layers:
        for factor in layer if isinstance(layer, tuple) else (layer,):
            for index in np.ndindex(factor[row].shape):
                factor[row][index] = next(numbers)
    return layers


def without(layers, row):
    def left(one):
        return np.delete(one, row, axis=0)

    return [
        tuple(map(left, layer)) if isinstance(layer, tuple) else left(layer)
        for layer in layers
    ]


@pytest.mark.parametrize("scale", [0.01, 0.4, 30.0])
@pytest.mark.parametrize("places", [1, 2, 7])
def test_it_is_the_sum_of_clipped_rows(scale, places):
    layers = parts(20, places, scale=scale)
    rows = formed(layers)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    expected = (rows / np.maximum(norms / 0.7, 1.0)).sum(axis=0)
    np.testing.assert_allclose(summed(layers), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("places", [1, 2])
def test_a_short_factor_beside_a_long_one_is_clipped(places):
    short, long = 1e-163, 1e153  # the square of the first is 0 in float64
    block = Layers(((2, 3),), bound=1e-12)
    u, v = np.full((1, places, 2), short), np.full((1, places, 3), long)
    assert np.linalg.norm(summed([(u, v)], block)) <= 1e-12
    u, v = np.zeros((1, places, 2)), np.zeros((1, places, 3))
    u[0, :, 0], v[0, :, 1] = [short, long][:places], [long, short][:places]
    assert np.linalg.norm(summed([(u, v)], block)) <= 1e-12


@pytest.mark.parametrize("bound", [1e-99, 1e-6, 1.0, 1e99])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers that overflow
def test_no_scales_of_two_factors_take_a_row_beyond_the_bound(bound):
    rng = np.random.default_rng(3)
    for _ in range(150):
        places, n_slopes, n_inputs = rng.integers(1, 4, 3)
        exponents = rng.choice([-310, -170, -155, -60, 0, 60, 145, 153], 2)
        u, v = (
            rng.normal(size=(1, places, n))
            * 10.0 ** (exponent + rng.uniform(-5, 5, (1, places, 1)))
            for n, exponent in zip((n_slopes, n_inputs), exponents, strict=True)
        )
        block = Layers(((int(n_slopes), int(n_inputs)),), bound=bound)
        assert np.linalg.norm(summed([(u, v)], block) / bound) <= 1.0


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.floats(allow_nan=True, allow_infinity=True)
        | st.sampled_from([1e30, -1e200, 1.7e308, 1e-300, -0.0, math.nan, math.inf]),
        min_size=1,
        max_size=7,
    )
)
def test_one_row_moves_the_sum_by_the_bound_at_most(values):
    layers = set_row(parts(5), 2, values)
    other = set_row(parts(5), 2, [-value for value in values])
    alone = summed(without(layers, 2))
    assert np.linalg.norm(summed(layers) - alone) <= 0.7 * (1 + 1e-9)
    assert np.linalg.norm(summed(other) - summed(layers)) <= 1.4 * (1 + 1e-9)


@pytest.mark.parametrize("size", [1.0, 1e4, 1e8, 1e12])
def test_places_that_cancel_do_not_hide_a_long_row(size):
    """Two huge places that nearly cancel: their squares would leave no true digit."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        u = size * rng.normal(size=(1, 1, 40))
        v = rng.normal(size=(1, 1, 30))
        rest = rng.normal(size=(1, 1, 30)) * rng.choice([1.0, 1e-4, 1e-8])
        factors = (np.concatenate([u, -u], 1), np.concatenate([v, v + rest], 1))
        block = Layers(((40, 30),), bound=1.0)
        # what remains after rounding is what is summed: at most the bound
        assert np.linalg.norm(summed([factors], block)) <= 1.0 + 1e-9


def test_rows_that_are_not_finite_count_as_zero():
    layers = parts(3)
    layers[1][1][1, 0, 0] = math.nan
    layers[2][0][2, 0, 1] = math.inf
    expected = summed(
        [
            tuple(f[:1] for f in one) if isinstance(one, tuple) else one[:1]
            for one in layers
        ]
    )
    np.testing.assert_allclose(summed(layers), expected)


def test_tensors_are_taken_as_well():
    tensors = [
        tuple(map(torch.tensor, one)) if isinstance(one, tuple) else torch.tensor(one)
        for one in parts(3)
    ]
    np.testing.assert_array_equal(summed(tensors), summed(parts(3)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda layers: [*layers[:2], (layers[2][0], layers[2][1][:, :, :4])],
        lambda layers: [*layers[:2], (layers[2][0], layers[2][1][:2])],
        lambda layers: [layers[0][:1], *layers[1:]],
        lambda layers: [*layers[:1], (layers[1][0], layers[1][1][:, :1]), *layers[2:]],
        lambda layers: [*layers[:2], (layers[2][0][:, 0], layers[2][1][:, 0])],
    ],
)
def test_other_shapes_are_refused_without_the_sample_size(wrong):
    with pytest.raises(ValueError, match="Got another shape") as error:
        summed(wrong(parts(3)))
    assert "3" not in str(error.value)
