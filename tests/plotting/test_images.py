import numpy as np
import pytest
import torch

from skdpgen.plotting import plot_images


def noise(shape=(8, 9), n=6):
    return np.random.default_rng(0).random((n, *shape)).astype("float32")


def rows_of(figure, n_columns):
    """Return the pictures of each row, without the empty places."""
    pictures = [axes.images for axes in figure.axes]
    return [
        [
            np.asarray(found[0].get_array())
            for found in pictures[i : i + n_columns]
            if found
        ]
        for i in range(0, len(pictures), n_columns)
    ]


def names(figure, n_columns):
    return [axes.get_title(loc="left") for axes in figure.axes[::n_columns]]


@pytest.mark.parametrize("shape", [(8, 9), (1, 8, 9)])
def test_grey_images_are_drawn_as_they_are(shape):
    images = noise(shape)
    figure = plot_images(images, n_columns=3)
    np.testing.assert_array_equal(
        np.concatenate(rows_of(figure, 3)), images.reshape(-1, 8, 9)
    )
    for axes in figure.axes:
        assert axes.images[0].get_cmap().name == "gray"
        assert axes.images[0].get_clim() == (0.0, 1.0)


def test_three_channels_are_red_green_and_blue():
    images = noise((3, 8, 9))
    drawn = np.concatenate(rows_of(plot_images(images, n_columns=3), 3))
    np.testing.assert_array_equal(drawn, np.moveaxis(images, 1, -1))


@pytest.mark.parametrize("shape", [(8, 9), (3, 8, 9)])
def test_bytes_and_tensors_are_drawn_like_floats(shape):
    images = (255 * noise(shape)).astype(np.uint8)
    expected = rows_of(plot_images(images / np.float32(255), n_columns=3), 3)
    for same in (images, torch.from_numpy(images)):
        np.testing.assert_array_equal(
            rows_of(plot_images(same, n_columns=3), 3), expected
        )


def test_pixels_that_are_no_numbers_are_drawn():
    images = np.array([np.nan, np.inf, -np.inf, 7.0])[:, None, None] * np.ones((8, 8))
    drawn = np.concatenate(rows_of(plot_images(images, n_columns=2), 2))
    assert drawn[:, 0, 0].tolist() == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("shape", [(8, 9), (3, 8, 9)])
def test_a_figure_can_be_saved(shape, tmp_path):
    plot_images(noise(shape), list("ababab"), n_columns=3).savefig(tmp_path / "i.png")
    assert (tmp_path / "i.png").stat().st_size > 1_000


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "b", "a", "b"],
        np.array(["b", "a", "b", "b", "a", "b"], dtype=object),
        np.array([["b"], ["a"], ["b"], ["b"], ["a"], ["b"]]),
    ],
    ids=["list", "objects", "column"],
)
def test_a_row_holds_the_first_images_of_its_class(labels):
    images = noise()
    figure = plot_images(images, labels, n_columns=3)
    assert names(figure, 3) == ["a", "b"]
    first, second = rows_of(figure, 3)
    np.testing.assert_array_equal(first, images[[1, 4]])
    np.testing.assert_array_equal(second, images[[0, 2, 3]])


@pytest.mark.parametrize(
    "labels",
    [[10, 2, 0] * 2, ["10", "2", "0"] * 2, torch.tensor([10, 2, 0] * 2)],
)
def test_numbers_are_sorted_as_numbers(labels):
    assert names(plot_images(noise(), labels, n_columns=2), 2) == ["0", "2", "10"]


@pytest.mark.parametrize(
    ("n_columns", "lengths"), [(1, [1] * 6), (4, [4, 2]), (6, [6]), (9, [6])]
)
def test_without_labels_images_fill_rows_in_order(n_columns, lengths):
    images = noise()
    figure = plot_images(images, n_columns=n_columns)
    rows = rows_of(figure, n_columns)
    assert [len(row) for row in rows] == lengths
    np.testing.assert_array_equal(np.concatenate(rows), images)
    assert set(names(figure, n_columns)) == {""}


def test_empty_places_are_blank():
    figure = plot_images(noise(), [0, 0, 0, 0, 0, 1], n_columns=5)
    assert [bool(axes.images) for axes in figure.axes] == [True] * 6 + [False] * 4
    assert not any(axes.axison for axes in figure.axes)


@pytest.mark.parametrize("labels", [[], [0], [0] * 7])
def test_there_is_one_label_an_image(labels):
    match = f"Got {len(labels)} labels and 6 images"
    with pytest.raises(ValueError, match=match):
        plot_images(noise(), labels)


@pytest.mark.parametrize("n_columns", [0, -1])
def test_n_columns_must_be_positive(n_columns):
    with pytest.raises(ValueError, match=f"at least 1. Got {n_columns} instead"):
        plot_images(noise(), n_columns=n_columns)


@pytest.mark.parametrize(
    ("images", "match"),
    [
        (noise((28, 28, 3)), "Got channels last"),
        (noise((7, 7)), "at least 8 pixels a side"),
        (np.zeros((5, 8, 8), dtype=bool), "Got dtype bool"),
    ],
    ids=["channels last", "small", "bool"],
)
def test_what_is_no_image_is_refused(images, match):
    with pytest.raises(ValueError, match=match):
        plot_images(images)


def test_without_matplotlib_the_message_names_the_extra(monkeypatch):
    def hide(name):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", hide)
    with pytest.raises(ImportError, match=r"pip install 'skdpgen\[plot\]'"):
        plot_images(noise())
