"""Images through the estimators: the same interface, the same promises."""

import pickle
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from skdpgen import (
    DPHPSynthesizer,
    DPIndependentSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
    DPPairwiseSynthesizer,
    Generator,
)
from skdpgen import load as load_estimator
from skdpgen.exceptions import NotPrivateWarning, SearchCostWarning
from skdpgen.privacy import insecure_noise_seed
from skdpgen.synthesizers import search_generator
from skdpgen.synthesizers.embedding import _private_encoder
from skdpgen.synthesizers.embedding._image_kernel import ImageKernel, PointRows
from skdpgen.synthesizers.embedding._private_encoder import Pairs
from skdpgen.synthesizers.models._image_model import Density
from skdpgen.synthesizers.presets import kernel_settings
from skdpgen.tables import Chunks, ImageLayout, Numeric, Rows, Schema, as_pixels
from tests._covering import parametrize_pairs
from tests._made import made
from tests._seeded import same_noise

INF = float("inf")
DIGITS, LABELS = load_digits(return_X_y=True)
PIXELS = np.rint(DIGITS.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
TEN = range(10)
SMALL = {
    DPMERFSynthesizer: {"n_features": 400},
    DPHPSynthesizer: {"order": (2, 1)},  # all pairs, as is the default
    DPNTKSynthesizer: {"width": 20},
    DPKernelSynthesizer: {"n_features": 400, "length_scale": (1.0, 3.0)},
}
each_method = pytest.mark.parametrize("cls", SMALL)


def build(cls, **params):
    """Return an estimator that hardly trains, unless it is told to."""
    given = {"epsilon": 10.0, "classes": TEN, "max_iter": 3, "random_state": 0}
    if "network" not in params:  # others have one number of channels
        given["hidden_layer_sizes"] = (64, 64)
    small = dict(SMALL[cls])
    if params.get("algorithm") == "per_step":
        del small["n_features"]  # which it has no use for
    return made(cls, **given | small | params)


@lru_cache
def fitted(cls):
    """Return a fit on all digits that is only looked at and sampled from."""
    return build(cls).fit(PIXELS, LABELS)


def learnt(cls, **params):
    """Return a fit on all digits with noise that is the same each time."""
    with same_noise():
        return build(cls, **params).fit(PIXELS, LABELS)


@pytest.fixture
def short_encoder(monkeypatch):
    """A private encoder of few steps: what they cost is for other tests."""
    monkeypatch.setattr(_private_encoder, "STEPS", 3)


def accuracy(synth, n=1000):
    X, y = synth.sample(y=np.arange(n) % 10, random_state=0)
    model = LogisticRegression(max_iter=300).fit(X.reshape(n, -1) / 255.0, y)
    return model.score(PIXELS.reshape(-1, 64) / 255.0, LABELS)


# ----------------------------------------------------------- what comes in and out


@each_method
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_shape_and_dtype_come_back(cls, dtype):
    images = PIXELS if dtype == "uint8" else (PIXELS / 255).astype(dtype)
    synth = fitted(cls)
    if dtype != "uint8":
        synth = build(cls, max_iter=3).fit(images[:300], LABELS[:300])
    X, y = synth.sample(20)
    assert (X.shape, X.dtype, y.dtype) == ((20, 8, 8), dtype, LABELS.dtype)
    top = 255 if dtype == "uint8" else 1
    assert X.min() >= 0
    assert X.max() <= top
    assert set(y) <= set(TEN)


def test_channels_come_back():
    colour = np.repeat(PIXELS[:300, None], 3, axis=1)
    X, _ = build(DPMERFSynthesizer).fit(colour, LABELS[:300]).sample(5)
    assert X.shape == (5, 3, 8, 8)


def test_tensors_come_back():
    images, labels = torch.from_numpy(PIXELS[:300]), torch.from_numpy(LABELS[:300])
    X, _ = build(DPMERFSynthesizer).fit(images, labels).sample(5)
    assert isinstance(X, torch.Tensor)
    assert X.dtype == torch.uint8


def test_without_labels_images_alone_come_back():
    synth = build(DPMERFSynthesizer, classes=None).fit(PIXELS[:300])
    assert synth.sample(5).shape == (5, 8, 8)


def test_numbers_can_be_the_target():
    y = PIXELS.mean(axis=(1, 2)) / 255.0
    synth = build(DPMERFSynthesizer, classes=None).fit(PIXELS, y)
    X, numbers = synth.sample(50)
    assert X.shape == (50, 8, 8)
    assert numbers.dtype == np.float64


def test_classes_can_be_discovered():
    synth = build(DPMERFSynthesizer, classes=None, epsilon=50.0).fit(PIXELS, LABELS)
    assert synth.classes_.tolist() == list(TEN)
    assert "discovered privately" in str(synth.privacy_)


@each_method
def test_labels_can_be_asked_for(cls):
    X, y = fitted(cls).sample(y=[3, 3, 7])
    assert X.shape == (3, 8, 8)
    assert y.tolist() == [3, 3, 7]


def test_chunks_are_the_same_as_the_whole():
    def open_chunks():
        for start in range(0, len(PIXELS), 500):
            rows = slice(start, start + 500)
            yield PIXELS[rows], LABELS[rows]

    fits = []
    for args in ((PIXELS, LABELS), (Chunks(open_chunks),)):
        with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
            fits.append(build(DPMERFSynthesizer).fit(*args).release_.values)
    np.testing.assert_allclose(fits[0]["features"], fits[1]["features"], rtol=1e-9)


@pytest.mark.parametrize("network", ["full", "upsample", "decoder", "residual"])
def test_every_network_draws(network):
    synth = build(DPMERFSynthesizer, network=network, max_iter=3)
    assert synth.fit(PIXELS[:200], LABELS[:200]).sample(4)[0].shape == (4, 8, 8)


@each_method
def test_a_saved_estimator_draws_the_same(cls, tmp_path):
    synth = fitted(cls)
    synth.save(tmp_path / "synth.npz")
    copies = load_estimator(tmp_path / "synth.npz"), pickle.loads(pickle.dumps(synth))
    for copy in copies:
        one, two = synth.sample(10, random_state=1), copy.sample(10, random_state=1)
        np.testing.assert_array_equal(one[0], two[0])
        assert copy.privacy_ == synth.privacy_


@each_method
def test_the_generator_is_trained_anew_for_free(cls):
    synth = deepcopy(fitted(cls))
    before, report = synth.release_, synth.privacy_
    synth.retrain(max_iter=5, hidden_layer_sizes=(16,))
    assert synth.release_ is before
    assert synth.privacy_.releases == report.releases
    assert synth.privacy_.statements[: len(report.statements)] == report.statements
    assert len(synth.loss_curve_) == 5


def test_generator_settings_are_searched_on_one_release():
    synth = deepcopy(learnt(DPMERFSynthesizer))
    found = search_generator(synth, {"max_iter": [1, 60]})
    assert found.best_params == {"max_iter": 60}


@each_method
def test_digits_are_learnt(cls):
    assert accuracy(learnt(cls, max_iter=80, epsilon=20.0)) > 0.8


def test_digits_are_learnt_step_by_step():
    params = {"algorithm": "per_step", "max_iter": 60, "epsilon": 20.0}
    assert accuracy(learnt(DPKernelSynthesizer, **params)) > 0.75


@pytest.mark.parametrize("algorithm", ["one_shot", "per_step"])
def test_each_class_can_have_a_generator_of_its_own(algorithm, tmp_path):
    params = {"models": "parallel", "algorithm": algorithm, "max_iter": 60}
    synth = learnt(DPKernelSynthesizer, epsilon=20.0, **params)
    assert len(synth.generator_.body.networks) == 10
    assert accuracy(synth) > 0.6
    synth.save(tmp_path / "synth.npz")
    copy = load_estimator(tmp_path / "synth.npz")
    one, two = (s.sample(5, random_state=0)[0] for s in (synth, copy))
    np.testing.assert_array_equal(one, two)


@each_method
def test_digits_are_learnt_in_mixed_precision(cls):
    synth = learnt(cls, max_iter=60, epsilon=20.0, precision="mixed")
    assert accuracy(synth) > 0.75
    assert all(w.dtype == torch.float32 for w in synth.generator_.parameters())


@each_method
@pytest.mark.filterwarnings("ignore:lbfgs failed")  # in noise there is little to learn
def test_quality_collapses_without_budget(cls):
    assert accuracy(learnt(cls, max_iter=40, epsilon=0.001)) < 0.35


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize("cls", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
def test_methods_for_tables_say_so(cls):
    with pytest.raises(ValueError, match="takes tables of two dimensions"):
        cls(classes=TEN).fit(PIXELS, LABELS)


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        (DPMERFSynthesizer, {"numeric_encoding": "fourier"}),
        (DPMERFSynthesizer, {"batch_norm": True}),
        (DPMERFSynthesizer, {"feature_norm": 0.5}),
        (DPNTKSynthesizer, {"feature_norm": 0.5}),
    ],
)
def test_parameters_of_tables_are_refused(cls, params):
    with pytest.raises(ValueError, match=r"must be .* for images: it is for tables"):
        build(cls, **params).fit(PIXELS, LABELS)


def test_a_network_of_images_is_refused_for_tables():
    with pytest.raises(ValueError, match="network must be 'full' for tables"):
        build(DPMERFSynthesizer, network="upsample").fit(DIGITS, LABELS)
    with pytest.raises(ValueError, match="models must be None for tables"):
        build(DPKernelSynthesizer, models="parallel").fit(DIGITS, LABELS)


def test_a_schema_of_columns_is_refused():
    schema = Schema({0: Numeric(0, 1)})
    with pytest.raises(ValueError, match="must be in X"):
        build(DPMERFSynthesizer, schema=schema).fit(PIXELS, LABELS)


def test_a_schema_cannot_be_inferred_from_pixels():
    with pytest.raises(ValueError, match="X must be a table of rows and columns"):
        Schema.infer(PIXELS)


def test_steps_cannot_be_trained_anew():
    synth = build(DPKernelSynthesizer, algorithm="per_step", max_iter=2)
    with pytest.raises(ValueError, match="retrain needs a release"):
        synth.fit(PIXELS, LABELS).retrain()


def test_channels_of_a_map_are_one_number():
    with pytest.raises(ValueError, match="one number, of channels"):
        build(DPMERFSynthesizer, network="decoder", hidden_layer_sizes=(8, 8)).fit(
            PIXELS, LABELS
        )


# --------------------------------------------------------------------- privacy


@parametrize_pairs("cls, adjacency, pooling", SMALL, ["replace", "add_remove"], [1, 2])
def test_one_image_moves_the_release_by_the_sensitivity_at_most(
    cls, adjacency, pooling
):
    synth = build(cls, epsilon=INF, max_iter=0, adjacency=adjacency, pooling=pooling)
    synth.set_params(generator__hidden_layer_sizes=(8,))  # there are a hundred fits
    synth.fit(PIXELS[:64], LABELS[:64])
    claimed = synth.privacy_.releases[-1].sensitivity
    kernel = synth.kernel_

    def joint(images, labels):
        fit = clone(synth).set_params(random_state=0)
        values = fit.fit(images, labels).release_.values
        beta = kernel.blocks["classes"].beta
        return np.hstack([values["features"], beta**0.5 * values["classes"]])

    with pytest.warns(SearchCostWarning, match="clone"):  # once, of all clones
        base = joint(PIXELS[:64], LABELS[:64])
    rng = np.random.default_rng(0)
    moved = []
    for label in (int(LABELS[0]), int(LABELS[0] + 1) % 10):
        for image in (255 - PIXELS[0], np.zeros((8, 8)), rng.integers(0, 256, (8, 8))):
            images, labels = PIXELS[:64].copy(), LABELS[:64].copy()
            images[0], labels[0] = image, label
            if adjacency == "add_remove":
                images, labels = images[1:], labels[1:]
            moved.append(np.linalg.norm(joint(images, labels) - base))
    assert max(moved) <= claimed * (1 + 1e-9)
    assert max(moved) > 0.6 * claimed


@each_method
def test_black_is_black(cls):
    synth = build(cls, max_iter=60, epsilon=INF).fit(PIXELS / 255.0, LABELS)
    pixels = synth.sample(100, random_state=0)[0]
    assert (pixels == 0).mean() > 0.2
    assert not ((pixels > 0) & (pixels < 0.05)).any()


# --------------------------------------------------------------- what features see


def test_features_see_means_of_pixels():
    layout = ImageLayout("numpy", (2, 9, 13), "float64")
    images = torch.rand(3, 2, 9, 13, generator=torch.Generator().manual_seed(0))
    kernel = ImageKernel(None, layout, pooling=2)
    seen = kernel.view(images.flatten(1)).reshape(3, 2, 5, 7)
    assert kernel.width == 2 * 5 * 7
    torch.testing.assert_close(seen[:, 1, 0, 0], images[:, 1, :2, :2].mean((1, 2)))
    torch.testing.assert_close(seen[:, 0, 4, 6], images[:, 0, 8, 12])  # a corner alone
    np.testing.assert_array_equal(kernel.inputs(images.numpy()), seen.flatten(1))


@each_method
def test_pixels_are_pooled_where_there_are_many(cls):
    large = np.kron(PIXELS[:50], np.ones((2, 2), np.uint8))
    synth = build(cls, max_iter=2).fit(large, LABELS[:50])
    assert synth.kernel_.pooling == 2
    assert synth.sample(3)[0].shape == (3, 16, 16)
    assert "64 means of 2 x 2 pixels" in str(synth.privacy_)
    assert build(cls, max_iter=2).fit(PIXELS[:50], LABELS[:50]).kernel_.pooling == 1


def test_steps_go_by_what_is_seen():
    synth = build(DPKernelSynthesizer, algorithm="per_step", pooling=2, max_iter=3)
    assert synth.fit(PIXELS[:200], LABELS[:200]).kernel_.width == 16


@pytest.mark.parametrize("pooling", [0, 1.5, "all", 9])
def test_wrong_pooling_is_refused(pooling):
    with pytest.raises(ValueError, match="pooling"):
        build(DPMERFSynthesizer, pooling=pooling).fit(PIXELS[:50], LABELS[:50])


def test_counts_are_free_if_replaced_and_cheap_otherwise():
    found = {}
    for adjacency in ("replace", "add_remove"):
        synth = build(DPMERFSynthesizer, adjacency=adjacency, max_iter=0)
        entry = synth.fit(PIXELS, LABELS).privacy_.releases[-1]
        found[adjacency] = entry.sensitivity
    assert found["replace"] == pytest.approx(2.0)
    assert found["add_remove"] == pytest.approx(1.1**0.5)


@pytest.mark.parametrize(
    ("cls", "params", "wanted"),
    [
        (DPNTKSynthesizer, {}, 2.2**0.5),  # nothing is negative; counts beside
        (DPNTKSynthesizer, {"architecture": "layer_norm"}, 2.0),
        (DPNTKSynthesizer, {"depth": 2}, 2.0),
        (DPHPSynthesizer, {"product_weight": 4.0}, (4 / 5 + 2 * 4 / 5) ** 0.5),
        (DPHPSynthesizer, {"n_subsets": 20}, 2.0),
    ],
)
def test_an_image_is_charged_for_what_it_can_move(cls, params, wanted):
    synth = build(cls, max_iter=0, **params)
    entry = synth.fit(PIXELS[:100], LABELS[:100]).privacy_.releases[-1]
    assert entry.sensitivity == pytest.approx(wanted)


# --------------------------------------------------------------- one network a class


@pytest.mark.parametrize(("epsilon", "is_parallel"), [(0.1, False), (INF, True)])
def test_each_class_has_a_generator_unless_the_release_is_mostly_noise(
    epsilon, is_parallel
):
    synth = build(DPMERFSynthesizer, epsilon=epsilon, max_iter=2)
    synth.fit(PIXELS, LABELS)
    assert synth.generator_.shape.is_parallel is is_parallel
    assert synth.retrain().generator_.shape.is_parallel is is_parallel


@each_method
@pytest.mark.parametrize("models", ["conditional", "parallel"])
def test_generators_are_as_many_as_were_asked_for(cls, models):
    synth = build(cls, models=models, max_iter=2).fit(PIXELS[:200], LABELS[:200])
    assert synth.generator_.shape.is_parallel is (models == "parallel")
    assert synth.sample(y=[3, 3, 7])[0].shape == (3, 8, 8)


def test_the_papers_have_one_generator():
    synth = build(
        DPMERFSynthesizer, preset="paper", data="images", max_iter=2, epsilon=INF
    )
    assert not synth.fit(PIXELS[:100], LABELS[:100]).generator_.shape.is_parallel


def test_a_private_encoder_has_one_decoder_for_all(short_encoder):
    params = {
        "network": "private",
        "models": "parallel",
        "epsilon": 20.0,
        "max_iter": 2,
    }
    synth = build(DPMERFSynthesizer, **params).fit(PIXELS[:200], LABELS[:200])
    assert len(synth.generator_.body.networks) == 10  # up to the codes
    frozen = [
        not weight.requires_grad for weight in synth.generator_.decoder.parameters()
    ]
    assert len(frozen) == 4
    assert all(frozen)


def test_models_are_of_images():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="models must be None for tables"):
        DPMERFSynthesizer(generator=Generator(models="parallel")).fit(X)


def test_the_number_of_images_is_private_under_add_remove():
    synth = build(DPMERFSynthesizer, adjacency="add_remove", max_iter=0)
    counts = {synth.fit(PIXELS, LABELS).n_samples_ for _ in range(6)}
    assert len(counts) > 1
    assert "number of rows: private" in str(synth.privacy_)


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        *((cls, {}) for cls in SMALL),
        *((cls, {"pooling": 2}) for cls in SMALL),
        (DPHPSynthesizer, {"n_subsets": 20}),
        (DPMERFSynthesizer, {"network": "private"}),
    ],
)
def test_an_image_is_mapped_alike_beside_any_others(short_encoder, cls, params):
    synth = build(cls, epsilon=INF, max_iter=0, **params)
    kernel = synth.fit(PIXELS[:100], LABELS[:100]).kernel_
    first = []
    for start in (0, 1, 37):
        rows = Rows.read(PIXELS[start:100], LABELS[start:100])
        batch = next(kernel.encode(rows.batches({}), torch.device("cpu")))
        part = batch.parts["features"]
        place = 60 - start
        first.append([u[place] for u in _factors(part)])
    for other in first[1:]:
        for a, b in zip(first[0], other, strict=True):
            exact = 0.0 if a.dtype == torch.float32 else 1e-14  # double: noise is more
            torch.testing.assert_close(a, b, rtol=0.0, atol=exact)


def _factors(part):
    return [part] if isinstance(part, torch.Tensor) else [u for uv in part for u in uv]


@each_method
def test_a_fitted_estimator_holds_no_image(cls):
    images = np.random.default_rng(0).integers(0, 256, (50, 8, 8)).astype(np.uint8)
    synth = build(cls, max_iter=2).fit(images, np.arange(50) % 10)
    content = pickle.dumps(synth)
    assert not any(image.tobytes() in content for image in images)
    as_floats = (images / np.float32(255)).astype(np.float32)
    assert not any(image.tobytes() in content for image in as_floats)


def test_steps_are_paid_for_even_if_they_are_interrupted(monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    synth = build(DPKernelSynthesizer, algorithm="per_step")
    monkeypatch.setattr("skdpgen.synthesizers.embedding._private_encoder.descend", stop)
    with pytest.raises(KeyboardInterrupt):
        synth.fit(PIXELS, LABELS)
    assert sum(entry.share for entry in synth.privacy_.releases) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="not fitted"):
        synth.sample(1)


def test_nan_and_strange_pixels_never_raise():
    images = (PIXELS[:100] / 255).astype(np.float64)
    images[0], images[1, 0, 0], images[2] = np.nan, np.inf, -1e300
    assert np.isfinite(
        build(DPMERFSynthesizer).fit(images, LABELS[:100]).sample(5)[0]
    ).all()


def test_the_kernel_of_steps_needs_no_features():
    layout = build(DPMERFSynthesizer).fit(PIXELS[:50], LABELS[:50]).kernel_.layout
    assert set(ImageKernel(None, layout).blocks) == {"classes"}


# --------------------------------------------------------------- the auto-encoder


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_an_encoder_is_paid_for_beside_the_release(short_encoder, adjacency):
    synth = build(DPMERFSynthesizer, network="private", adjacency=adjacency)
    synth.fit(PIXELS, LABELS)
    encoder, embedding = synth.privacy_.releases[-2:]
    assert "sub-sampled" in encoder.mechanism
    both = encoder.share + embedding.share  # what is left may be more than reserved
    assert encoder.share / both == pytest.approx(0.5, abs=0.01)
    assert synth.sample(20)[0].shape == (20, 8, 8)


def test_an_encoded_estimator_is_saved(short_encoder, tmp_path):
    synth = build(DPMERFSynthesizer, network="private").fit(PIXELS[:200], LABELS[:200])
    synth.save(tmp_path / "synth.npz")
    copy = load_estimator(tmp_path / "synth.npz")
    one, two = (s.sample(5, random_state=0)[0] for s in (synth, copy))
    np.testing.assert_array_equal(one, two)


def test_without_noise_the_encoder_helps_to_draw():
    synth = build(DPMERFSynthesizer, network="private", epsilon=INF, max_iter=100)
    assert accuracy(synth.fit(PIXELS, LABELS)) > 0.7


def test_what_is_matched_is_the_codes_that_the_decoder_draws(short_encoder):
    synth = build(DPMERFSynthesizer, network="private", max_iter=2).fit(PIXELS, LABELS)
    latents = torch.zeros(3, synth.settings_.n_latent)
    outputs = synth.generator_(latents, torch.arange(3))
    pixels, codes = outputs
    assert pixels.shape == (3, 64)
    torch.testing.assert_close(
        synth.generator_.decoder(codes).sigmoid().flatten(1), pixels, rtol=0, atol=1e-6
    )
    embed = synth.kernel_.embedding(torch.device("cpu"), torch.Generator())
    torch.testing.assert_close(
        embed(outputs, 3)["features"], synth.kernel_.phi.phi(codes)
    )


def test_an_encoder_sees_what_features_would_see(short_encoder):
    synth = build(DPMERFSynthesizer, network="private", pooling=2, max_iter=2)
    synth.fit(PIXELS[:200], LABELS[:200])
    assert synth.kernel_.phi.weights[0].shape[1] == 16  # means of 2 x 2 pixels
    assert synth.generator_.decoder[0][-1].out_features == 16
    assert synth.sample(5)[0].shape == (5, 8, 8)


def test_noise_does_not_carry_an_encoder_away():
    params = {"network": "private", "epsilon": 0.01, "max_iter": 0}
    synth = learnt(DPMERFSynthesizer, **params)
    weights = [*synth.kernel_.phi.weights, *synth.kernel_.decoder.values()]
    assert max(weight.abs().max() for weight in weights) < 3.0


def test_pairs_are_disjoint_and_go_by_place_alone():
    kernel = build(DPMERFSynthesizer, max_iter=0).fit(PIXELS, LABELS).kernel_
    rows = PointRows(kernel, Rows.read(PIXELS[:7], LABELS[:7]).batches({}))
    pairs = Pairs(rows)
    one, two = pairs.take(np.arange(len(pairs)))
    assert len(pairs) == 3
    np.testing.assert_array_equal(one.x, as_pixels(PIXELS[[0, 2, 4]]))
    np.testing.assert_array_equal(two.x, as_pixels(PIXELS[[1, 3, 5]]))


# ------------------------------------------------------------------- step by step


def test_a_class_without_rows_is_no_error():
    labels = np.zeros(50, dtype=int)
    synth = build(DPKernelSynthesizer, algorithm="per_step", max_iter=3)
    assert synth.fit(PIXELS[:50], labels).sample(5)[0].shape == (5, 8, 8)


def test_a_table_without_rows_is_no_error_where_their_number_is_private():
    synth = build(
        DPKernelSynthesizer, algorithm="per_step", max_iter=3, adjacency="add_remove"
    )
    assert synth.fit(PIXELS[:0], LABELS[:0]).sample(5)[0].shape == (5, 8, 8)


@pytest.mark.parametrize("params", [{"max_iter": 0}, {"length_scale": 1e-8}])
def test_steps_that_cannot_be_are_refused_before_anything_is_paid(params):
    synth = build(DPKernelSynthesizer, algorithm="per_step", **params)
    with pytest.raises(ValueError, match=r"per_step|length_scale"):
        synth.fit(PIXELS, LABELS)
    assert not hasattr(synth, "privacy_")


def test_steps_have_24_points_of_a_class_and_those_of_tables_8():
    of_tables, of_images = kernel_settings("per_step")
    assert (of_tables.batch_size, of_images.batch_size) == (8, 24)
    assert kernel_settings("one_shot")[1].batch_size == 500


def test_rare_classes_can_count_as_much_in_every_step():
    curves = []
    for weight in (None, "balanced"):
        synth = build(
            DPKernelSynthesizer,
            algorithm="per_step",
            max_iter=2,
            class_weight=weight,
            epsilon=INF,
        )
        curves.append(synth.fit(PIXELS[:300], LABELS[:300]).loss_curve_)
    assert curves[0] != curves[1]


def test_steps_leave_nothing_to_search_on():
    synth = build(DPKernelSynthesizer, algorithm="per_step", max_iter=2)
    with pytest.raises(ValueError, match="needs a release to train on"):
        search_generator(synth.fit(PIXELS[:100], LABELS[:100]), {"max_iter": [1]})


# ------------------------------------------------------- images that are like none


def test_images_like_none_of_their_class_are_drawn_again():
    synth = build(DPMERFSynthesizer, epsilon=INF, max_iter=80).fit(PIXELS, LABELS)
    model, labels = synth._model, np.full(200, 3)
    known = synth._learn(synth.kernel_, synth.release_)
    density = Density.of(synth.kernel_, known)
    most = replace(model, least=np.full(10, density(real_of(3), 3).median().item()))
    means = []
    for one in (model, most):
        pixels = one.draw(labels, rng=np.random.default_rng(0), density=density)
        means.append(float(density(torch.from_numpy(pixels), 3).mean()))
    assert means[1] > means[0]


def test_hardly_a_real_image_would_be_drawn_again():
    synth = learnt(DPMERFSynthesizer, epsilon=50.0, max_iter=80)
    density = Density.of(synth.kernel_, synth._learn(synth.kernel_, synth.release_))
    for label in TEN:
        below = density(real_of(label), label) < synth._model.least[label]
        assert below.float().mean() < 0.05


def real_of(label):
    return torch.from_numpy(as_pixels(PIXELS[label == LABELS]))
