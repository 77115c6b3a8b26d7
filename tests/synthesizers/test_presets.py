"""Settings of the papers as ordinary parameters, and parts of estimators."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdpgen import (
    Discriminator,
    DPDRESynthesizer,
    DPGANSynthesizer,
    DPHPSynthesizer,
    DPKernelSynthesizer,
    DPMEPFSynthesizer,
    DPMERFSynthesizer,
    DPMGESynthesizer,
    DPNTKSynthesizer,
    Generator,
    all_synthesizers,
)
from skdpgen.datasets import load_example
from skdpgen.privacy import insecure_noise_seed

X, Y = load_example(400)
X = X[["age", "job", "income"]]
TABLE = pd.DataFrame({"a": range(9)})
PIXELS = np.random.default_rng(0).integers(0, 256, (60, 8, 8)).astype(np.uint8)
LABELS = np.arange(60) % 3
CLASSES = ["left", "stayed"]
PAPERS = [
    (cls, data)
    for cls in all_synthesizers().values()
    for data in getattr(cls, "_papers", {})
]
each_paper = pytest.mark.parametrize(
    ("cls", "data"), PAPERS, ids=[f"{cls.__name__}-{data}" for cls, data in PAPERS]
)
quiet = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")


def test_methods_of_papers_have_presets():
    assert {cls.__name__ for cls, _ in PAPERS} == {
        "DPGANSynthesizer",
        "DPHPSynthesizer",
        "DPKernelSynthesizer",
        "DPMEPFSynthesizer",
        "DPMERFSynthesizer",
        "DPMGESynthesizer",
        "DPNTKSynthesizer",
    }


def test_no_constructor_has_more_than_16_parameters():
    assert max(len(c().get_params(False)) for c in all_synthesizers().values()) == 16


# ------------------------------------------------------------ values in plain sight


@each_paper
def test_values_are_parameters_that_a_clone_keeps(cls, data):
    synth = cls.from_preset("paper", data=data)
    shown = synth.get_params()
    for name, value in cls._papers[data].items():
        assert shown[name] == value
    assert repr(clone(synth)) == repr(synth)
    synth._validate_params()
    rows = TABLE if data == "table" else PIXELS
    if hasattr(synth, "_fill_settings"):
        settings = vars(synth._fill_settings(rows))
        for name, value in synth.generator.get_params().items():
            if name in settings and value is not None and name != "max_iter":
                assert settings[name] == value


@each_paper
def test_given_parameters_win(cls, data):
    synth = cls.from_preset("paper", data=data, epsilon=3.0, random_state=5)
    assert (synth.epsilon, synth.random_state) == (3.0, 5)
    name = next(iter(cls._papers[data]))
    default = cls().get_params().get(name)
    assert cls.from_preset("paper", data=data, **{name: default}).get_params()[
        name
    ] == (default)


def test_one_setting_of_the_generator_can_be_changed_or_all():
    one = DPMERFSynthesizer.from_preset("paper", data="table", generator__max_iter=5)
    assert one.generator.max_iter == 5
    assert one.generator.batch_norm
    mine = Generator(max_iter=5)
    whole = DPMERFSynthesizer.from_preset("paper", data="table", generator=mine)
    assert whole.generator is mine
    assert mine.get_params() == Generator(max_iter=5).get_params()


def test_two_estimators_share_no_generator():
    one, two = (DPNTKSynthesizer.from_preset("paper", data="table") for _ in range(2))
    one.set_params(generator__max_iter=1)
    assert two.generator.max_iter == 2000


@pytest.mark.parametrize(
    ("preset", "data", "message"),
    [
        ("papers", "images", r"preset must be one of 'paper'\. Got 'papers'"),
        ("paper", "table", r"data must be 'images' for presets of DPMEPF.*'table'"),
        ("paper", "tables", r"data must be 'images' .*Got 'tables'"),
    ],
)
def test_other_presets_are_refused(preset, data, message):
    with pytest.raises(ValueError, match=message):
        DPMEPFSynthesizer.from_preset(preset, data=data)


def test_an_algorithm_of_dp_kernel_has_settings_of_its_own():
    once = DPKernelSynthesizer.from_preset("paper", data="images")
    steps = DPKernelSynthesizer.from_preset(
        "paper", data="images", algorithm="per_step"
    )
    assert (once.n_features, once.generator.max_iter) == (10_000, 6000)
    assert (steps.sampling_rate, steps.generator.max_iter) == (1e-3, 200_000)


@quiet
def test_layers_follow_the_number_of_columns():
    synth = DPMERFSynthesizer.from_preset(
        "paper", data="table", classes=CLASSES, generator__max_iter=1, n_features=10
    )
    with insecure_noise_seed(0):
        synth.fit(X, Y)
    assert synth.settings_.hidden_layer_sizes == "per_column"
    assert synth.generator_.shape.hidden == (12, 6)
    assert synth.generator_.shape.has_batch_norm


def test_images_have_no_layers_by_column():
    synth = DPMERFSynthesizer.from_preset("paper", data="images")
    synth.set_params(generator__hidden_layer_sizes="per_column")
    with pytest.raises(ValueError, match="hidden_layer_sizes must be numbers of"):
        synth.fit(PIXELS)


def test_a_preset_of_tables_is_refused_for_images():
    with pytest.raises(ValueError, match=r"must be .* for images: it is for tables"):
        DPMERFSynthesizer.from_preset("paper", data="table").fit(PIXELS)


# ------------------------------------------------------------- parts of estimators


@pytest.mark.parametrize("cls", [DPGANSynthesizer, DPDRESynthesizer])
def test_settings_of_a_discriminator_are_set_through_none(cls):
    synth = cls().set_params(discriminator__max_iter=3)
    assert repr(synth.discriminator) == "Discriminator(max_iter=3)"
    assert synth.get_params()["discriminator__max_iter"] == 3
    given = Discriminator(max_grad_norm=2.0)
    both = cls().set_params(discriminator=given, discriminator__sampling_rate=0.5)
    assert both.discriminator is given
    assert given.sampling_rate == 0.5
    assert clone(both).discriminator is not given


@pytest.mark.parametrize(
    "params", [{"max_iter": 0}, {"sampling_rate": 1.5}, {"max_grad_norm": 0.0}]
)
def test_wrong_settings_of_a_discriminator_are_named(params):
    synth = DPGANSynthesizer(discriminator=Discriminator(**params))
    (name,) = params
    with pytest.raises(ValueError, match=f"'{name}' parameter of Discriminator"):
        synth.fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"algorithm": "one_shot"}, "discriminator must be None but for algorithm='sg"),
        ({"algorithm": "sgd", "public_iter": 3}, "public_iter of a discriminator must"),
    ],
)
def test_a_discriminator_without_effect_is_refused(params, message):
    settings = {k: v for k, v in params.items() if k != "algorithm"}
    synth = DPDRESynthesizer(
        algorithm=params["algorithm"], discriminator=Discriminator(**settings)
    )
    with pytest.raises(ValueError, match=message):
        synth.fit(X, Y, public_data=(X, Y))


def test_orders_are_a_pair():
    with pytest.raises(ValueError, match="order must be a pair of integers for images"):
        DPHPSynthesizer(order=("cells", 2)).fit(PIXELS)


# ------------------------------------------------------------------- of DP-MGE


def moved(**params):
    synth = DPMGESynthesizer(
        epsilon=50.0, classes=[0, 1, 2], augmentation=None, random_state=0, **params
    )
    y = np.minimum(LABELS, np.arange(60) % 12)  # classes of different sizes
    with insecure_noise_seed(0):
        return synth.fit(PIXELS, y).sample(40, random_state=1)[0]


@quiet
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_weights_of_classes_change_what_they_share(covariance):
    plain = moved(covariance=covariance, n_prototypes=1)
    equal = dict.fromkeys(range(3), 2.0)
    same = moved(covariance=covariance, n_prototypes=1, class_weight=equal)
    np.testing.assert_array_equal(same, plain)
    other = moved(covariance=covariance, n_prototypes=1, class_weight={0: 20.0})
    assert not np.array_equal(other, plain)


@quiet
def test_the_device_of_dp_mge_is_that_of_its_lens():
    plain = moved(n_prototypes=1, device="cpu")
    np.testing.assert_array_equal(moved(n_prototypes=1, device="cpu"), plain)
    with pytest.raises(ValueError, match="device must be 'auto'"):
        moved(device="nonsense")


@quiet
def test_pooled_products_have_no_weights():
    with pytest.raises(ValueError, match="class_weight must be None with"):
        moved(covariance="pooled", class_weight="balanced")
