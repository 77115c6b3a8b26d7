"""DP-MGE of images: means, prototypes covariances, tones and augmentation."""

import pickle
import warnings
from functools import lru_cache

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skdpgen import DPMGESynthesizer, load
from skdpgen.lenses import CosineLens
from skdpgen.privacy import Ledger
from skdpgen.synthesizers.gaussian import _lens_map, _pictures
from skdpgen.synthesizers.gaussian._lens_map import PublicBasis, nearest
from skdpgen.synthesizers.gaussian._pictures import tones_of, wiener
from skdpgen.synthesizers.models import Deformations
from skdpgen.synthesizers.models._mixture_model import cluster_means, shares_of_counts
from tests._seeded import same_noise

INF = float("inf")
DIGITS, LABELS = load_digits(return_X_y=True)
PIXELS = np.rint(DIGITS.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
TEN = range(10)
FEW = slice(0, 300)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small batches, and votes of networks that hardly learnt."""
    monkeypatch.setattr(_lens_map, "IMAGES_AT_ONCE", 128)
    monkeypatch.setattr(_pictures, "N_DRAWN", (300, 300))
    monkeypatch.setattr(_pictures, "ROWS_PER_STEP", 60)


def build(**params):
    known = {"epsilon": 10.0, "classes": TEN, "augmentation": None, "random_state": 0}
    return DPMGESynthesizer(**known | params)


def fit_alike(synth, *rows, **given):
    """Fit with noise that is the same each time."""
    with same_noise():
        return synth.fit(*rows, **given)


@lru_cache
def fitted():
    """Return a fit on all digits that is only looked at and sampled from."""
    with same_noise():
        return build().fit(PIXELS, LABELS)


SEEN = CosineLens(16, centre=0.5, radius=0.3)


def blobs(n=3000, seed=0, n_blobs=1, apart=0.04):
    """Images of two classes whose codes have known groups, and are never clipped."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    centres = apart * rng.normal(size=(2, n_blobs, 16))
    roots = 0.03 * rng.normal(size=(2, 16, 3))
    codes = centres[y, rng.integers(0, n_blobs, n)]
    codes += np.einsum("nij,nj->ni", roots[y], rng.normal(size=(n, 3)))
    images = SEEN.decode(torch.from_numpy(codes), (1, 8, 8))[:, 0].numpy()
    return images, y, codes, centres


def flat(images):
    """An encoder of the user's own."""
    return images.flatten(1) / 10.0


def upright(codes):
    """Its way back, to images of 8 x 8."""
    return 10.0 * codes.reshape(-1, 1, 8, 8)


# ------------------------------------------------------------------- what is learnt


def test_means_and_covariances_of_classes_are_recovered():
    images, y, codes, _ = blobs()
    synth = build(epsilon=INF, classes=(0, 1), lens=SEEN, n_prototypes=1)
    mixture = synth.fit(images, y).mixture_
    np.testing.assert_allclose(mixture.totals, np.bincount(y))
    for label in (0, 1):
        mine = codes[y == label]
        error = np.linalg.norm(mixture.centres[label, 0] - mine.mean(axis=0))
        assert error < 0.15 * np.linalg.norm(mine.mean(axis=0))
        found = mixture.roots[label] @ mixture.roots[label].T
        found += np.diag(mixture.diagonals[label])
        own, other = np.cov(mine.T), np.cov(codes[y != label].T)
        # rows are cut at their mean norm: the form is kept, and most of the size
        assert 0.5 < np.trace(found) / np.trace(own) < 1.1
        assert cosine(found, own) > 0.95
        assert cosine(found, other) < 0.9


def cosine(one, two):
    return (one * two).sum() / np.linalg.norm(one) / np.linalg.norm(two)


@pytest.mark.parametrize("epsilon", [INF, 50.0])
def test_prototypes_find_the_groups_of_a_class(epsilon):
    images, y, _, centres = blobs(n_blobs=2, seed=1, apart=0.1)
    synth = build(epsilon=epsilon, classes=(0, 1), lens=SEEN, n_prototypes=2)
    mixture = fit_alike(synth, images, y).mixture_
    assert mixture.centres.shape == (2, 2, 16)
    for found, there in zip(mixture.centres, centres, strict=True):
        away = np.linalg.norm(found[:, None] - there, axis=2)
        apart = np.linalg.norm(there[0] - there[1])
        assert away.min(axis=1).max() < 0.2 * apart
        assert set(away.argmin(axis=1)) == {0, 1}
    np.testing.assert_allclose(mixture.weights, 0.5, atol=0.08)


def test_pixels_have_the_tones_of_real_ones():
    drawn, _ = fitted().sample(2000, random_state=0)
    found, given = (np.bincount(x.ravel() // 16, minlength=16) for x in (drawn, PIXELS))
    found, given = found / found.sum(), given / given.sum()
    assert np.abs(found - given).sum() / 2 < 0.15
    assert (drawn == 0).mean() == pytest.approx((PIXELS == 0).mean(), abs=0.1)


def test_classifiers_learn_from_samples():
    X, y = fitted().sample(y=np.arange(1000) % 10, random_state=0)
    model = LogisticRegression(max_iter=300).fit(X.reshape(1000, -1) / 255.0, y)
    assert model.score(PIXELS.reshape(-1, 64) / 255.0, LABELS) > 0.8


def test_learnt_is_images():
    assert fitted().relations_learned_ == "images"
    assert fitted().cells_ == {}


@pytest.mark.parametrize("n", [1, 2, 7])
def test_prototypes_are_as_many_as_given(n):
    synth = build(n_prototypes=n).fit(PIXELS[FEW], LABELS[FEW])
    assert synth.mixture_.centres.shape == (10, n, 64)
    names = [one.name for one in synth.privacy_.releases]
    assert any("prototypes" in name for name in names) == (n > 1)


def test_noise_decides_how_many_prototypes_there_are():
    numbers = [
        build(epsilon=epsilon).fit(PIXELS, LABELS).mixture_.centres.shape[1]
        for epsilon in (0.1, 5.0, 20.0, INF)
    ]
    assert numbers[0] == 1
    assert numbers == sorted(numbers)
    assert numbers[-1] > numbers[1]


# --------------------------------------------------------------- the augmentation


@pytest.mark.parametrize(
    ("augmentation", "expected"),
    [
        (None, None),
        ("deformations", Deformations()),
        (Deformations(turn=45.0), Deformations(turn=45.0)),
    ],
    ids=str,
)
def test_a_given_augmentation_costs_nothing(augmentation, expected):
    synth = build(augmentation=augmentation).fit(PIXELS[FEW], LABELS[FEW])
    assert synth.deformations_ == expected
    assert not hasattr(synth, "votes_")
    assert synth.privacy_.releases[-1].name.startswith("products")


def test_rows_vote_for_an_augmentation():
    synth = build(augmentation="auto").fit(PIXELS[FEW], LABELS[FEW])
    assert synth.deformations_ in _pictures.CHOICES
    votes = synth.votes_.values["features"][0]
    assert synth.deformations_ == _pictures.CHOICES[votes.argmax()]
    assert "deformations" in synth.privacy_.releases[-1].name
    alone = build(augmentation=None).fit(PIXELS[FEW], LABELS[FEW])
    cost = sum((e.sensitivity / e.noise_std) ** 2 for e in synth.privacy_.releases)
    whole = sum((e.sensitivity / e.noise_std) ** 2 for e in alone.privacy_.releases)
    assert cost == pytest.approx(whole)


@pytest.mark.parametrize("target", ["none", "numbers", "one class"])
def test_without_classes_nobody_votes(target):
    y = None if target == "none" else PIXELS[FEW].mean(axis=(1, 2)) / 255.0
    classes = None
    if target == "one class":
        y, classes = np.zeros(300, dtype=int), [0]
    synth = build(augmentation="auto", classes=classes).fit(PIXELS[FEW], y)
    assert synth.deformations_ is None
    assert not hasattr(synth, "votes_")


def test_samples_are_deformed_as_the_augmentation_says():
    plain, bent = (
        build(augmentation=augmentation, epsilon=INF).fit(PIXELS[FEW], LABELS[FEW])
        for augmentation in (None, Deformations(shift=0.3))
    )
    one, two = (s.sample(300, random_state=0)[0] / 255.0 for s in (plain, bent))
    spread = [np.var(x.mean(axis=1) @ np.arange(8)) for x in (one, two)]
    assert spread[1] > 1.5 * spread[0]


# ----------------------------------------------------------------- what comes and goes


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_shape_and_dtype_come_back(dtype):
    images = PIXELS if dtype == "uint8" else (PIXELS / 255).astype(dtype)
    X, y = build().fit(images[FEW], LABELS[FEW]).sample(20)
    assert (X.shape, X.dtype, y.dtype) == ((20, 8, 8), dtype, LABELS.dtype)
    assert X.min() >= 0
    assert X.max() <= (255 if dtype == "uint8" else 1)


def test_colour_comes_back():
    colour = np.stack([PIXELS[FEW], PIXELS[FEW] // 2, 255 - PIXELS[FEW]], axis=1)
    synth = build(epsilon=INF, augmentation="deformations").fit(colour, LABELS[FEW])
    assert synth.mixture_.centres.shape[2] == 3 * 64
    drawn, _ = synth.sample(300, random_state=0)
    assert drawn.shape == (300, 3, 8, 8)
    means = [x.mean(axis=(0, 2, 3)) for x in (drawn, colour)]
    assert np.argsort(means[0]).tolist() == np.argsort(means[1]).tolist()


def test_without_labels_images_alone_come_back():
    synth = build(classes=None, augmentation="auto").fit(PIXELS[FEW])
    assert synth.sample(5).shape == (5, 8, 8)
    assert len(synth.mixture_.totals) == 1


def test_numbers_can_be_the_target():
    y = PIXELS.mean(axis=(1, 2)) / 255.0
    synth = build(classes=None, epsilon=50.0).fit(PIXELS, y)
    X, numbers = synth.sample(300, random_state=0)
    assert numbers.dtype == np.float64
    assert np.corrcoef(X.mean(axis=(1, 2)), numbers)[0, 1] > 0.3
    dark, bright = (
        synth.sample(y=[value] * 300, random_state=0)[0].mean()
        for value in np.quantile(y, [0.1, 0.9])
    )
    assert bright > dark + 10


def test_labels_can_be_asked_for():
    X, y = fitted().sample(y=[3, 3, 7])
    assert X.shape == (3, 8, 8)
    assert y.tolist() == [3, 3, 7]
    with pytest.raises(ValueError, match="11"):
        fitted().sample(y=[3, 11])


def test_set_output_is_for_tables():
    synth = pickle.loads(pickle.dumps(fitted())).set_output(transform="pandas")
    with pytest.raises(ValueError, match="set_output is for tables"):
        synth.sample(3)


def test_samples_go_by_the_seed():
    one, two, other = (fitted().sample(30, random_state=seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.parametrize("how", ["save", "pickle"])
@pytest.mark.parametrize("augmentation", ["deformations", None])
def test_a_saved_estimator_draws_the_same(how, augmentation, tmp_path):
    synth = build(augmentation=augmentation).fit(PIXELS[FEW], LABELS[FEW])
    if how == "save":
        synth.save(tmp_path / "synth.npz")
        again = load(tmp_path / "synth.npz")
    else:
        again = pickle.loads(pickle.dumps(synth))
    expected = synth.sample(30, random_state=1)[0]
    np.testing.assert_array_equal(again.sample(30, random_state=1)[0], expected)
    again.retrain()
    np.testing.assert_array_equal(again.sample(30, random_state=1)[0], expected)


def test_a_clone_knows_nothing():
    copy = clone(fitted())
    assert copy.get_params() == fitted().get_params()
    assert not hasattr(copy, "mixture_")


# -------------------------------------------------------------------- lenses of users


def test_a_lens_of_two_functions_is_seen_through():
    synth = build(epsilon=INF, lens=(flat, upright), n_prototypes=1)
    synth.fit(PIXELS[FEW], LABELS[FEW])
    mean = PIXELS[FEW][LABELS[FEW] == 3].mean(axis=0).ravel() / 255.0 / 10.0
    found = synth.mixture_.centres[3, 0]
    assert np.linalg.norm(found - mean) < 0.1 * np.linalg.norm(mean)
    assert synth.sample(20)[0].shape == (20, 8, 8)
    assert "taken as public" in str(synth.privacy_)
    again = pickle.loads(pickle.dumps(synth))
    np.testing.assert_array_equal(
        again.sample(9, random_state=0)[0], synth.sample(9, random_state=0)[0]
    )


@pytest.mark.parametrize(
    ("lens", "message"),
    [
        ("scattering", "a way back"),
        (torch.nn.Flatten(), "a way back"),
        ((flat, lambda codes: codes[:, :5]), "decoder must return images"),
        ((lambda images: images[:, 5], upright), "index|encoder"),
        ("vgg19", "needs weights"),
    ],
    ids=["scattering", "module", "wrong size", "fails", "weights"],
)
def test_a_lens_that_cannot_work_is_refused_before_it_costs(lens, message, monkeypatch):
    def enter(ledger, entry):
        raise AssertionError(f"charged: {entry}")

    monkeypatch.setattr(Ledger, "_enter", enter)
    synth = build(lens=lens)
    with pytest.raises((ValueError, TypeError, IndexError), match=message):
        synth.fit(PIXELS[FEW], LABELS[FEW])
    assert not hasattr(synth, "privacy_")


# ------------------------------------------------------------ covariances and the paper


def covariance(synth, label):
    mixture = synth.mixture_
    root = mixture.roots[label]
    return root @ root.T + np.diag(mixture.diagonals[label])


@pytest.mark.parametrize("epsilon", [INF, 50.0])
def test_variances_alone_are_a_diagonal(epsilon):
    images, y, codes, _ = blobs()
    synth = build(
        epsilon=epsilon,
        classes=(0, 1),
        lens=SEEN,
        n_prototypes=1,
        covariance="diagonal",
    )
    fit_alike(synth, images, y)
    for label in (0, 1):
        found, own = covariance(synth, label), codes[y == label].var(axis=0)
        np.testing.assert_array_equal(found, np.diag(np.diag(found)))
        assert np.abs(np.diag(found) - own).sum() < 0.25 * own.sum()
    assert "squares" in synth.privacy_.releases[-1].name


@pytest.mark.parametrize("epsilon", [INF, 50.0])
def test_a_pooled_covariance_is_that_of_all_classes(epsilon):
    images, y, codes, _ = blobs()
    synth = build(
        epsilon=epsilon,
        classes=(0, 1),
        lens=SEEN,
        n_prototypes=1,
        covariance="pooled",
    )
    fit_alike(synth, images, y)
    one, two = (covariance(synth, label) for label in (0, 1))
    np.testing.assert_array_equal(one, two)
    within = sum(np.cov(codes[y == label].T) * (y == label).mean() for label in (0, 1))
    assert cosine(one, within) > 0.95
    assert "by class" not in synth.privacy_.releases[-1].name


@pytest.mark.parametrize("epsilon", [INF, 50.0])
def test_the_paper_has_means_and_variances_from_one_release(epsilon):
    images, y, codes, _ = blobs()
    synth = build(algorithm="one_shot", epsilon=epsilon, classes=(0, 1), lens=SEEN).fit(
        images, y
    )
    assert [one.name for one in synth.privacy_.releases[1:]] == [
        "means and squares of codes by class"
    ]
    mixture = synth.mixture_
    np.testing.assert_allclose(mixture.totals, np.bincount(y), rtol=0.02)
    assert mixture.tones is None
    assert synth.deformations_ is None
    for label in (0, 1):
        mine = codes[y == label]
        assert np.linalg.norm(mixture.centres[label, 0] - mine.mean(axis=0)) < 0.01
        error = np.abs(mixture.diagonals[label] - mine.var(axis=0)).sum()
        assert error < (0.01 if epsilon == INF else 0.3) * mine.var(axis=0).sum()
        assert not mixture.roots[label].any()
    assert synth._model.centres.shape == (2, 1, 16)


@pytest.mark.parametrize("brightness", [0.1, 0.5, 0.9])
def test_the_paper_keeps_the_brightness_of_images(brightness):
    rng = np.random.default_rng(0)
    images = brightness + rng.uniform(-0.05, 0.05, (400, 3, 8, 8))
    synth = build(algorithm="one_shot", epsilon=INF, classes=None).fit(images)
    assert np.asarray(synth.sample(400)).mean() == pytest.approx(brightness, abs=0.01)


def test_the_paper_needs_no_labels():
    synth = build(algorithm="one_shot", augmentation="auto", classes=None).fit(PIXELS)
    assert synth.sample(5).shape == (5, 8, 8)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_prototypes", 3),
        ("covariance", "full"),
        ("augmentation", "deformations"),
        ("class_weight", "balanced"),
    ],
)
def test_one_release_refuses_what_it_does_not_have(name, value):
    synth = DPMGESynthesizer(algorithm="one_shot", classes=TEN, **{name: value})
    with pytest.raises(ValueError, match=f"{name} must be .* with algorithm='one_shot"):
        synth.fit(PIXELS[FEW], LABELS[FEW])
    assert not hasattr(synth, "privacy_")


# -------------------------------------------------------------------- public images


def test_codes_stand_along_what_public_images_vary_in():
    basis = PublicBasis.of(PIXELS, CosineLens(64, radius=2.0), 10)
    codes = basis.encode(torch.from_numpy(PIXELS[:, None] / 255.0))
    assert codes.shape == (len(PIXELS), 10)
    assert codes.norm(dim=1).max() <= 1
    whole = codes.norm(dim=1) < 0.999
    assert whole.double().mean() == pytest.approx(0.95, abs=0.01)
    back = basis.decode(codes[whole], (1, 8, 8)).flatten(1).numpy()
    given = PIXELS[whole.numpy()].reshape(-1, 64) / 255.0
    left = np.linalg.svd(given - given.mean(axis=0))[1] ** 2
    error = ((back - given) ** 2).sum() / ((given - given.mean(axis=0)) ** 2).sum()
    assert error < 1.1 * left[10:].sum() / left.sum()


@pytest.mark.parametrize("kind", ["uint8", "float64", "colour"])
def test_public_images_make_a_lens_that_is_said(kind, tmp_path):
    images = PIXELS if kind == "uint8" else PIXELS / 255.0
    if kind == "colour":
        images = np.stack([images, images[::-1]], axis=1)
    synth = build().fit(images[FEW], LABELS[FEW], public_data=images[800:])
    text = str(synth.privacy_)
    assert f"{len(images) - 800} public images: taken as public" in text
    assert synth.mixture_.lens.n_images == len(images) - 800
    synth.save(tmp_path / "synth.npz")
    np.testing.assert_array_equal(
        load(tmp_path / "synth.npz").sample(9, random_state=0)[0],
        synth.sample(9, random_state=0)[0],
    )


def test_a_lens_of_a_user_gets_a_basis_too():
    synth = build(lens=(flat, upright), epsilon=50.0)
    fit_alike(synth, PIXELS, LABELS, public_data=PIXELS[800:])
    X, y = synth.sample(y=np.arange(1000) % 10, random_state=0)
    model = LogisticRegression(max_iter=300).fit(X.reshape(1000, -1) / 255.0, y)
    assert model.score(PIXELS.reshape(-1, 64) / 255.0, LABELS) > 0.8


@pytest.mark.parametrize(
    ("public_data", "message"),
    [
        (PIXELS[:1], "two images or more"),
        (PIXELS.reshape(-1, 64), "two images or more"),
        ("notmnist", "two images or more"),
        (np.zeros((5, 9, 9)), "the shape of X"),
        (np.zeros((5, 8, 8)), "images that differ"),
    ],
    ids=["one", "flat", "text", "size", "black"],
)
def test_public_images_that_cannot_work_are_refused(public_data, message):
    synth = build()
    with pytest.raises(ValueError, match=message):
        synth.fit(PIXELS[FEW], LABELS[FEW], public_data=public_data)
    assert not hasattr(synth, "privacy_")


# ----------------------------------------------------------------------- interruptions


def interrupted(synth, k, monkeypatch):
    """Fit, and stop after k charges, before what the last one paid for is there."""
    enter, n = Ledger._enter, []

    def entered(ledger, entry):
        enter(ledger, entry)
        n.append(entry)
        if len(n) == k:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "_enter", entered)
        with pytest.raises(KeyboardInterrupt):
            synth.fit(PIXELS[FEW], LABELS[FEW])
    return synth


def test_what_was_paid_for_can_be_drawn_from_after_each_stage(monkeypatch):
    n = len(
        build(augmentation="auto", n_prototypes=2)
        .fit(PIXELS[FEW], LABELS[FEW])
        .privacy_.releases
    )
    assert n == 12
    for k in range(1, n + 1):
        synth = interrupted(build(augmentation="auto", n_prototypes=2), k, monkeypatch)
        assert len(synth.privacy_.releases) == k
        with pytest.raises(NotFittedError):
            synth.sample(3)
        if k <= 4:  # range of pixels, tones, size, means
            with pytest.raises(NotFittedError):
                synth.retrain()
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            X, _ = synth.retrain().sample(12, random_state=0)
        assert X.shape == (12, 8, 8)
        assert np.isfinite(synth.mixture_.roots).all()
        assert synth.deformations_ is None  # nobody voted
        assert len(synth.privacy_.releases) == k


# ---------------------------------------------------------------------------- the parts


def test_tones_are_parts_of_a_picture():
    pixels = np.random.default_rng(0).random((9, 50))
    pixels[0], pixels[1] = 0.0, 1.0
    found = tones_of(pixels)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found[0, 0] == found[1, -1] == 1.0
    for row, one in zip(pixels, found, strict=True):
        expected = np.histogram(row, bins=32, range=(0, 1))[0] / 50
        np.testing.assert_allclose(one, expected)


def test_wiener_is_between_nothing_and_all():
    rng = np.random.default_rng(0)
    found = wiener(rng.random(100), rng.random(100))
    assert (found >= 0).all()
    assert (found <= 1).all()
    assert wiener(np.array([3.0]), np.array([0.0])).tolist() == [1.0]


def test_middles_of_groups_far_apart_are_their_means():
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [9.0, 0.0]])
    rows = places[np.arange(200) % 2] + 0.1 * rng.normal(size=(200, 2))
    found = cluster_means(rows, 2, rng)
    found = found[found[:, 0].argsort()]
    expected = [rows[::2].mean(axis=0), rows[1::2].mean(axis=0)]
    np.testing.assert_allclose(found, expected)


def test_shares_of_noisy_counts_are_shares():
    noisy = np.array([[3.0, -1.0, 5.0], [-4.0, -1.0, -9.0], [0.0, 0.0, 0.0]])
    found = shares_of_counts(noisy)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found[0].argmax() == 2


def test_no_deformation_leaves_images_as_they_are():
    images = torch.rand(3, 2, 9, 12, generator=torch.Generator().manual_seed(0))
    still = Deformations().times(0.0)(images, torch.Generator().manual_seed(0))
    torch.testing.assert_close(still, images, atol=1e-5, rtol=1e-5)
    assert Deformations()(images[:0], torch.Generator()).shape == (0, 2, 9, 12)


@pytest.mark.parametrize("size", ["shift", "turn", "shear", "zoom", "warp"])
def test_each_deformation_keeps_pictures_in_range_and_differs_from_one_to_the_next(
    size,
):
    bump = torch.zeros(40, 1, 16, 16)
    bump[:, :, 4:9, 5:12] = 1.0
    only = Deformations().times(0.0)
    only = Deformations(**{**vars(only), size: getattr(Deformations(), size)})
    found = only(bump, torch.Generator().manual_seed(0))
    assert found.min() >= 0.0
    assert found.max() <= 1.0 + 1e-6
    assert (found[0] - found[1]).abs().max() > 1e-3
    assert (found.mean(dim=0) - bump[0]).abs().mean() < 0.1  # it stays what it is


def test_the_usual_lens_gives_high_frequencies_more_weight():
    images = torch.rand(4, 1, 8, 8, generator=torch.Generator().manual_seed(0)).double()
    plain, steep = CosineLens(64, radius=9.0), CosineLens(64, radius=9.0, emphasis=0.5)
    i, j = torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")
    order = (8 * (i + j)).flatten().argsort(stable=True)
    gain = ((1 + (i**2 + j**2) ** 0.5) ** 0.5).flatten()[order]
    torch.testing.assert_close(
        steep.encode(images), plain.encode(images) * gain.double(), rtol=1e-6, atol=1e-9
    )
    back = steep.decode(steep.encode(images), (1, 8, 8))
    torch.testing.assert_close(back, images, rtol=0, atol=1e-5)
    assert "emphasis 0.5" in steep.name
    assert "emphasis" not in plain.name
    for wrong in (-0.1, 2.5, float("nan")):
        with pytest.raises(ValueError, match=r"emphasis must be in \[0, 2\]"):
            CosineLens(8, emphasis=wrong)


def test_a_row_of_no_class_is_near_to_any_centre():
    assert nearest(np.ones((2, 3)), np.zeros((1, 1, 3)), np.array([-1, 0])).sum() == 0
