"""Images as rows: shape and dtype are public, and no pixel is ever an error."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import Chunks, Rows, as_pixels, image_size, is_image, read_table
from skdpgen.tables._images import read_images

SHAPES = [(8, 8), (9, 13), (1, 8, 8), (3, 8, 12)]
DTYPES = ["uint8", "float16", "float32", "float64"]
CONTAINERS = {"numpy": np.asarray, "torch": torch.from_numpy}
NASTY = [np.nan, np.inf, -np.inf, -1.0, -1e-7, -0.0, 0.0, 0.3, 1.0, 1.001, 255.0, 6e4]

each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_container = pytest.mark.parametrize("container", CONTAINERS)


def noise(shape=(8, 9), dtype="float32", n=5):
    pixels = np.random.default_rng(0).random((n, *shape))
    return (256 * pixels if dtype == "uint8" else pixels).astype(dtype)


def pixels_of(rows):
    return np.concatenate([as_pixels(b.parts["pixels"]) for b in rows.batches({})])


def message_of(X):
    with pytest.raises(ValueError, match="Images must") as caught:
        Rows.read(X)
    return str(caught.value)


@each_shape
@each_dtype
@each_container
def test_images_come_back_as_they_were(shape, dtype, container):
    images = CONTAINERS[container](noise(shape, dtype))
    rows = Rows.read(images)
    back = rows.layout.restore(pixels_of(rows))
    assert type(back) is type(images)
    assert back.dtype == images.dtype
    assert back.shape == images.shape
    np.testing.assert_allclose(back, images, rtol=1e-7)
    if dtype != "float64":
        np.testing.assert_array_equal(back, images)


@each_shape
def test_pixels_are_flat_channel_by_channel_and_row_by_row(shape):
    images = noise(shape)
    pixels = pixels_of(Rows.read(images))
    assert pixels.dtype == np.float32
    np.testing.assert_array_equal(pixels, images.reshape(len(images), -1))


@pytest.mark.parametrize(
    ("shape", "size"),
    [((8, 9), (1, 8, 9)), ((1, 8, 9), (1, 8, 9)), ((3, 8, 9), (3, 8, 9))],
)
def test_the_size_is_channels_height_and_width(shape, size):
    layout = Rows.read(noise(shape)).layout
    assert layout.size == size
    assert layout.n_pixels == np.prod(size)


def test_a_layout_of_images_has_no_columns():
    layout = Rows.read(noise()).layout
    assert layout.names == layout.kinds == layout.limits == layout.can_be_missing == ()


def test_every_byte_survives():
    images = np.arange(256, dtype=np.uint8).reshape(4, 8, 8)
    pixels = as_pixels(images)
    assert (pixels.min(), pixels.max()) == (0.0, 1.0)
    assert (np.diff(pixels.ravel()) > 0).all()
    np.testing.assert_array_equal(read_images(images)[1].restore(pixels), images)


@each_dtype
def test_a_memory_map_is_read_a_few_images_at_a_time(dtype, tmp_path, monkeypatch):
    monkeypatch.setattr("skdpgen.tables._rows.IMAGES_AT_ONCE", 2)
    images = noise(dtype=dtype)
    np.save(tmp_path / "images.npy", images)
    rows = Rows.read(np.load(tmp_path / "images.npy", mmap_mode="r"))
    parts = [batch.parts["pixels"] for batch in rows.batches({})]
    assert [len(part) for part in parts] == [2, 2, 1]
    assert all(isinstance(part, np.memmap) for part in parts)
    back = rows.layout.restore(pixels_of(rows))
    assert type(back) is np.ndarray
    np.testing.assert_allclose(back, images, rtol=1e-7)


@pytest.mark.parametrize(
    "view",
    [
        lambda images: images[::2],
        lambda images: images[:, ::-1],
        lambda images: np.moveaxis(images, 1, 3).copy().transpose(0, 3, 1, 2),
        np.asfortranarray,
    ],
)
def test_views_read_as_their_copies(view):
    images = view(noise((3, 8, 9)))
    again = np.ascontiguousarray(images)
    np.testing.assert_array_equal(as_pixels(images), as_pixels(again))


def test_tensors_that_require_gradients_are_read():
    images = torch.from_numpy(noise())
    tracked = images.clone().requires_grad_()
    np.testing.assert_array_equal(pixels_of(Rows.read(tracked)), as_pixels(images))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@each_container
def test_any_number_becomes_a_pixel_from_0_to_1(dtype, container):
    least, most = np.finfo(dtype).min, np.finfo(dtype).max
    values = [np.nan, np.inf, -np.inf, -1.0, 2.0, least, most, 0.5]
    images = np.array(values, dtype)[:, None, None] * np.ones((8, 8), dtype)
    pixels = pixels_of(Rows.read(CONTAINERS[container](images)))
    expected = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.5]
    np.testing.assert_array_equal(pixels, np.repeat(expected, 64).reshape(8, 64))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@given(values=st.lists(st.sampled_from(NASTY), min_size=1, max_size=6))
def test_an_image_reads_as_it_does_alone(dtype, values):
    images = np.array(values, dtype)[:, None, None] * np.ones((8, 8), dtype)
    alone = [as_pixels(image[None])[0] for image in images]
    np.testing.assert_array_equal(pixels_of(Rows.read(images)), alone)


@each_dtype
def test_restored_pixels_are_clipped(dtype):
    layout = read_images(noise(dtype=dtype))[1]
    pixels = np.repeat([-0.2, 1.2], 72).reshape(2, 72)
    full = 255 if dtype == "uint8" else 1
    assert np.unique(layout.restore(pixels)).tolist() == [0, full]


def test_restored_bytes_are_the_nearest():
    layout = read_images(noise(dtype="uint8"))[1]
    pixels = np.full((1, 72), 100.6 / 255, dtype=np.float32)
    assert np.unique(layout.restore(pixels)).tolist() == [101]


@each_dtype
@each_container
def test_chunks_read_as_the_whole(dtype, container):
    images, y = CONTAINERS[container](noise(dtype=dtype)), list("abcab")
    parts = [(images[:2], y[:2]), (images[2:], y[2:])]
    chunked, whole = Rows.read(Chunks(lambda: parts)), Rows.read(images, y)
    assert chunked.n_rows == whole.n_rows == 5
    assert chunked.layout == whole.layout
    assert chunked.target_layout.kinds == whole.target_layout.kinds
    np.testing.assert_array_equal(pixels_of(chunked), pixels_of(whole))


@pytest.mark.parametrize(
    "other",
    [
        noise((9, 8)),
        noise((1, 8, 9)),
        noise(dtype="uint8"),
        noise(dtype="float64"),
        torch.from_numpy(noise()),
        np.zeros((5, 72), dtype=np.float32),
        pd.DataFrame({"a": [1.0]}),
    ],
    ids=["size", "channels", "uint8", "float64", "torch", "table", "frame"],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_chunks_of_different_images_are_refused(other, is_first):
    chunks = [other, noise()] if is_first else [noise(), other]
    with pytest.raises(ValueError, match="shape and dtype of the first"):
        _ = Rows.read(Chunks(lambda: chunks)).n_rows


def test_labels_need_one_an_image():
    with pytest.raises(ValueError, match="one label a row"):
        Rows.read(noise(), [0, 1])


def test_closed_images_are_gone():
    rows = Rows.read(noise())
    rows.close()
    with pytest.raises(RuntimeError, match="closed"):
        pixels_of(rows)


@pytest.mark.parametrize(
    ("shape", "match"),
    [
        ((28, 28, 3), "Got channels last"),
        ((8, 8, 1), "Got channels last"),
        ((7, 8), "at least 8 pixels a side"),
        ((8, 7), "at least 8 pixels a side"),
        ((3, 7, 8), "at least 8 pixels a side"),
        ((3, 8, 7), "at least 8 pixels a side"),
    ],
)
@each_container
def test_shapes_that_are_no_images_are_refused(shape, match, container):
    with pytest.raises(ValueError, match=match):
        Rows.read(CONTAINERS[container](noise(shape)))


def test_the_way_out_of_channels_last_works():
    images = noise((9, 12, 3))
    assert "`np.moveaxis(X, -1, 1)`" in message_of(images)
    assert Rows.read(np.moveaxis(images, -1, 1)).layout.size == (3, 9, 12)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "complex64", "object", "M8[s]"]
)
def test_other_dtypes_are_refused(dtype):
    message = message_of(np.zeros((5, 8, 8), dtype=dtype))
    assert message.startswith("Images must be uint8 from 0 to 255, or floats")
    assert f"Got dtype {np.dtype(dtype)}" in message


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.bfloat16], ids=str)
def test_other_dtypes_of_tensors_are_refused(dtype):
    name = str(dtype).removeprefix("torch.")
    assert f"Got dtype {name}" in message_of(torch.zeros(5, 8, 8, dtype=dtype))


@pytest.mark.parametrize("shape", [(7, 8), (28, 28, 3), (3, 8, 7)], ids=str)
@each_dtype
def test_messages_about_shapes_say_nothing_of_values(shape, dtype):
    found = {
        message_of(noise(shape, dtype)),
        message_of(noise(shape, dtype, n=1)),
        message_of(np.zeros((5, *shape), dtype)),
        message_of(np.full((5, *shape), 77, dtype)),
    }
    assert len(found) == 1
    assert "77" not in found.pop()


@pytest.mark.parametrize("dtype", ["bool", "int64", "complex128", "object"])
def test_messages_about_dtypes_say_nothing_of_values(dtype):
    found = {message_of(np.full((5, 8, 8), value, dtype)) for value in (0, 1, 77)}
    assert len(found) == 1
    assert "77" not in found.pop()


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.zeros((5, 8)), False),
        (np.zeros((5, 8, 8)), True),
        (np.zeros((5, 3, 8, 8)), True),
        (torch.zeros(5, 8, 8), True),
        (np.zeros((5, 1, 3, 8, 8)), False),
        (pd.DataFrame({"a": [1]}), False),
        ([[1, 2], [3, 4]], False),
    ],
    ids=["table", "grey", "colour", "torch", "5d", "frame", "list"],
)
def test_three_or_four_dimensions_make_images(X, expected):
    assert is_image(X) is expected


def test_tables_are_still_tables():
    table = np.arange(6.0).reshape(3, 2)
    assert Rows.read(table).layout == read_table(table)[1]


def test_grey_images_have_one_size_whatever_holds_them():
    grey = noise((8, 9))
    one_channel = torch.from_numpy(noise((1, 8, 9), "uint8"))
    assert image_size(grey, one_channel, grey.astype("float64")) == (1, 8, 9)


def test_images_of_several_sizes_are_refused():
    with pytest.raises(ValueError, match=r"one size. Got \(1, 8, 9\), \(3, 8, 9\)"):
        image_size(noise((3, 8, 9)), noise((8, 9)))
