"""Sums of clipped vectors against a plain reference in float64."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.privacy import Vectors, _blocks
from skdpgen.privacy._blocks import clip_rows, one_hot

WIDTH, N_CLASSES = 3, 2
NASTY = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e30,
    -1e30,
    1e308,
    -1e308,
    5e-324,
    1e-30,
    np.nan,
    np.inf,
    -np.inf,
)
entries = st.sampled_from(NASTY) | st.floats(-3, 3)
rows = arrays(float, (7, WIDTH), elements=entries)
labels = arrays(np.int64, 7, elements=st.integers(-2, N_CLASSES + 1))
TYPES = {
    "float64": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "columns": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=0)[::2],
    "tensor": torch.tensor,
    "tensor32": lambda x: torch.tensor(x).float(),
    "gradient": lambda x: torch.tensor(x).requires_grad_(),
    "transposed": lambda x: torch.tensor(x.T.copy()).T,
}


def as_array(vectors):
    if isinstance(vectors, torch.Tensor):
        return vectors.detach().double().numpy()
    return np.array(vectors, dtype=np.float64)


def reference(vectors, labels, bound, is_nonnegative):
    clipped = clip_rows(as_array(vectors), bound, is_nonnegative=is_nonnegative)
    return one_hot(labels, N_CLASSES).T @ clipped


def summed(block, vectors, labels, n_classes=N_CLASSES):
    return block.value(block.add(block.start(n_classes), vectors, labels))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("bound", "is_nonnegative"), [(1.0, False), (2.5, False), (0.7, True)]
)
@given(x=rows, y=labels)
@settings(max_examples=40, deadline=None)
def test_the_sum_is_that_of_clipped_rows(kind, bound, is_nonnegative, x, y):
    with np.errstate(over="ignore"):
        vectors = TYPES[kind](x)
    before = as_array(vectors).copy()
    block = Vectors(WIDTH, bound, is_nonnegative)
    found = summed(block, vectors, y)
    wanted = reference(before, y, bound, is_nonnegative)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=7 * 4 * 2.0**-36)
    np.testing.assert_array_equal(as_array(vectors), before)


@pytest.mark.parametrize("is_nonnegative", [False, True])
@given(x=arrays(float, WIDTH, elements=entries))
@settings(max_examples=100, deadline=None)
def test_one_row_adds_no_more_than_its_bound(is_nonnegative, x):
    block = Vectors(WIDTH, 0.7, is_nonnegative)
    total = summed(block, x[None], np.array([1]))
    assert np.linalg.norm(total) <= 0.7 * (
        1 + 1e-15
    )  # the last digit is that of this norm
    assert not total[0].any()
    assert not is_nonnegative or (total >= 0).all()


@pytest.mark.parametrize("cached", [1, 6, 50])
def test_blocks_of_rows_do_not_show(monkeypatch, cached):
    rng = np.random.default_rng(0)
    x, y = 3 * rng.normal(size=(40, WIDTH)), rng.integers(-1, 3, 40)
    x[::7, 1] = np.inf
    block = Vectors(WIDTH)
    whole = summed(block, x, y)
    monkeypatch.setattr(_blocks, "NUMBERS_IN_CACHE", cached)
    np.testing.assert_array_equal(summed(block, x, y), whole)


def test_no_rows_add_nothing():
    block = Vectors(WIDTH)
    nothing = summed(block, np.empty((0, WIDTH)), np.empty(0, dtype=int), 1)
    np.testing.assert_array_equal(nothing, np.zeros((1, WIDTH)))


@pytest.mark.parametrize("shape", [(7, WIDTH + 1), (1, WIDTH), (7, 1), (7,)])
def test_shapes_that_would_broadcast_are_refused(shape):
    block = Vectors(WIDTH)
    with pytest.raises(ValueError, match="one label and 3 values per row"):
        block.add(block.start(1), np.ones(shape), np.zeros(7, dtype=int))
