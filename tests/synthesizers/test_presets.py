"""Settings of the papers as ordinary parameters, and parts of estimators."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
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
    load,
)
from skdpgen.datasets import load_example
from skdpgen.exceptions import NothingLearnedWarning
from skdpgen.privacy import insecure_noise_seed, sensitivity
from skdpgen.privacy._sensitivity import Weighted
from skdpgen.synthesizers.models import class_factors, mixing
from skdpgen.synthesizers.presets import papers
from skdpgen.tables import Categorical, Numeric, Schema
from skdpgen.training import Goal, LossWeight, Steps, match_embedding

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
TABLES = {"table", *papers.MERF_TABLE_4}
each_paper = pytest.mark.parametrize(
    ("cls", "data"), PAPERS, ids=[f"{cls.__name__}-{data}" for cls, data in PAPERS]
)
quiet = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")


def test_methods_of_papers_have_presets():
    assert {cls.__name__ for cls, _ in PAPERS} == {
        "DPDRESynthesizer",
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
    for name, value in cls._values_of(data, {}).items():
        assert shown[name] == value
    assert repr(clone(synth)) == repr(synth)
    synth._validate_params()
    rows = TABLE if data in TABLES else PIXELS
    if hasattr(synth, "_fill_settings"):
        settings = vars(synth._fill_settings(rows))
        for name, value in synth.generator.get_params().items():
            if name in settings and value is not None and name != "max_iter":
                assert settings[name] == value


@each_paper
def test_given_parameters_win(cls, data):
    synth = cls.from_preset("paper", data=data, epsilon=3.0, random_state=5)
    assert (synth.epsilon, synth.random_state) == (3.0, 5)
    name = next(iter(cls._values_of(data, {})))
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
        (
            "paper",
            "table",
            r"data must be 'images' or .* for presets of DPMEPF.*'table'",
        ),
        ("paper", "tables", r"data must be 'images' or .*Got 'tables'"),
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
    assert (once.n_features, once.generator.max_iter) == (10_000, 200_000)
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


# --------------------------------------------------------------------- of DP-MERF

MERF_PRIVATE = """
adult 8000 .1 1000
census 2000 .5 10000
cervical 200 .5 2000
credit 4000 .5 5000
epileptic 6000 .5 80000
isolet 4000 .5 500
covtype 6000 .05 1000
intrusion 10000 .03 2000
"""
MERF_EXACT = """
adult 8000 .1 50000
census 200 .5 10000
cervical 2000 .6 2000
credit 4000 .6 50000
epileptic 6000 .5 100000
isolet 4000 .6 100000
covtype 6000 .05 1000
intrusion 10000 .03 2000
"""


def rows_of(text):
    return [line.split() for line in text.split("\n") if line]


@pytest.mark.parametrize(
    ("epsilon", "table"), [(1.0, MERF_PRIVATE), (float("inf"), MERF_EXACT)]
)
def test_dp_merf_has_the_rows_of_table_4(epsilon, table):
    for data, steps, batch, n_features in rows_of(table):
        synth = DPMERFSynthesizer.from_preset("paper", data=data, epsilon=epsilon)
        assert synth.generator.max_iter == int(steps)
        assert synth.generator.batch_size == float(batch)
        assert synth.n_features == int(n_features)
        assert (synth.class_weight, synth.feature_norm) == ("balanced", "length")


def test_dp_merf_of_images_has_the_steps_of_the_published_code():
    generator = DPMERFSynthesizer.from_preset("paper", data="images").generator
    assert (generator.max_iter, generator.batch_size) == (3000, 100)


def mixed_kernel():
    schema = Schema(
        {
            "number": Numeric(0, 1),
            "pair": Categorical(["a", "b"]),
            "triple": Categorical(["a", "b", "c"]),
        }
    )
    synth = DPMERFSynthesizer.from_preset(
        "paper",
        data="table",
        schema=schema,
        classes=[0, 1],
        n_features=6,
        generator__max_iter=1,
        random_state=0,
    )
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "number": rng.random(50),
            "pair": rng.choice(["a", "b"], 50),
            "triple": rng.choice(["a", "b", "c"], 50),
        }
    )
    with insecure_noise_seed(0):
        return synth.fit(X, rng.integers(0, 2, 50)).kernel_


@quiet
def test_cells_have_the_scale_of_equation_13():
    kernel = mixed_kernel()
    sizes = [kernel.sizes[j] for j in kernel.counted]  # with one for other values
    length, n_columns = sum(sizes), len(sizes)
    norm = np.sqrt(1 + n_columns / length)  # of a row of the paper
    np.testing.assert_allclose(kernel.weights["features"] * norm, 1.0)
    np.testing.assert_allclose(
        kernel.weights["columns"] * np.array(kernel.scales) * norm,
        [length**-0.5] * n_columns,
        rtol=1e-6,
    )


@quiet
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_row_with_these_scales_moves_a_sum_further(adjacency):
    """All pairs of cells, with the features that are furthest apart."""
    kernel = mixed_kernel()
    blocks = kernel.blocks
    first, second = (kernel.sizes[j] for j in kernel.counted)
    structure = Weighted(
        tuple(blocks[name].structure for name in blocks),
        tuple(kernel.weights[name] for name in blocks),
    )
    bound = sensitivity(structure, adjacency)
    places = torch.linspace(0, 1, 41)[:, None].repeat(1, kernel.width)
    rows = [
        np.concatenate(
            [
                kernel.weights["features"] * features,
                kernel.weights["columns"] * kernel.scales[0] * np.eye(first)[pair],
                kernel.weights["columns"] * kernel.scales[1] * np.eye(second)[triple],
            ]
        )
        for features in [
            *kernel.phi(places).double().numpy(),
            *(sign * np.eye(6)[0] for sign in (-1.0, 1.0)),  # any of norm 1
        ]
        for pair in range(first)
        for triple in range(second)
    ]
    rows = np.array(rows)
    if adjacency == "add_remove":
        moves = np.linalg.norm(rows, axis=1)
    else:
        same = np.linalg.norm(rows[:, None] - rows[None], axis=2)
        squares = (rows**2).sum(axis=1)
        other = np.sqrt(squares[:, None] + squares[None])  # another label
        moves = np.maximum(same, other)
    assert moves.max() <= bound * (1 + 1e-6)
    assert moves.max() >= bound * (1 - 1e-4)  # and it is not larger than needed


def test_class_weights_make_the_loss_of_equation_12():
    """Each mean is divided by the share of its class, released and generated alike."""
    rng = np.random.default_rng(0)
    shares = np.array([0.7, 0.25, 0.05])
    released, generated = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    factors = class_factors("balanced", ["a", "b", "c"], shares)
    goal = Goal(
        [{"features": torch.as_tensor(released).float()}],
        torch.as_tensor(shares).float(),
        {"features": LossWeight(1.0, 1.0)},
        {},
        torch.as_tensor(mixing(shares, factors=factors, is_number=False)).float(),
    )
    generator = torch.nn.Linear(2, 1)
    (loss,) = match_embedding(
        lambda_module(generator),
        [lambda outputs, _: {"features": constant(outputs, generated)}],
        goal,
        Steps(n_latent=2, max_iter=1, batch_size=6, learning_rate=0.1),
        rng=torch.Generator().manual_seed(0),
    )
    paper = sum(((released[c] / shares[c] - generated[c]) ** 2).sum() for c in range(3))
    constant_factor = np.mean(1 / shares) ** 2
    np.testing.assert_allclose(loss * constant_factor, paper, rtol=1e-5)


def lambda_module(layer):
    class OfLatents(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, latents, labels):
            del labels
            return [self.layer(latents)]

    return OfLatents()


def constant(outputs, values):
    return torch.as_tensor(values).float() + 0.0 * outputs[0].sum()


@quiet
@pytest.mark.parametrize("cls", [DPMERFSynthesizer, DPNTKSynthesizer, DPHPSynthesizer])
def test_a_preset_trains_where_the_defaults_do_not(cls):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(["a", "b"], 60) for name in ("one", "two")})
    known = {
        "schema": Schema({name: Categorical(["a", "b"]) for name in X}),
        "classes": [0, 1],
        "epsilon": 0.05,
        "random_state": 0,
    }
    with insecure_noise_seed(0):
        with pytest.warns(NothingLearnedWarning):
            default = cls(**known, generator=Generator(max_iter=3)).fit(X, LABELS % 2)
        paper = cls.from_preset("paper", data="table", **known, generator__max_iter=3)
        paper.fit(X, LABELS % 2)
    assert default.n_iter_ == 0
    assert default.relations_learned_ == "columns by class only"
    assert paper.n_iter_ == 3


# ----------------------------------------------------------------------- of DP-HP

HP_TABLES = """
adult 100 200 .1 .1
census 100 100 .4 .1
cervical 20 200 .1 1
credit 20 400 .5 1e-5
epileptic 10 200 .1 .1
isolet 10 40 .5 1
covtype 10 20000 .01 1
intrusion 7 20000 .01 1
"""


def test_dp_hp_has_the_steps_of_its_code():
    for data, order, steps, batch, weight in rows_of(HP_TABLES):
        synth = DPHPSynthesizer.from_preset("paper", data=data)
        assert synth.order == (int(order), 9)
        assert synth.generator.max_iter == int(steps)
        assert synth.generator.batch_size == float(batch)
        assert synth.product_weight == float(weight)
        assert synth.class_weight == "balanced"


@pytest.mark.parametrize(
    ("data", "epsilon", "sum_weight", "squared"),
    [
        ("mnist", 1.0, 20, 0.005),
        ("mnist", float("inf"), 5, 0.005),
        ("fashion_mnist", 1.0, 10, 0.15),
        ("fashion_mnist", float("inf"), 20, 0.15),
    ],
)
def test_dp_hp_weighs_the_sum_kernel_of_images(data, epsilon, sum_weight, squared):
    synth = DPHPSynthesizer.from_preset("paper", data=data, epsilon=epsilon)
    assert synth.product_weight * sum_weight == pytest.approx(1.0)
    assert synth.length_scale**2 == pytest.approx(squared)
    assert (synth.generator.max_iter, synth.generator.batch_size) == (3000, 200)


# ---------------------------------------------------------------------- of DP-NTK

NTK_TABLE_5 = """
mnist 2000 5 800 5000 fc_1l
fashion_mnist 2000 5 800 5000 fc_1l
celeba 20000 141 3000_200 1000 fc_2l
cifar10 40000 201 3000_200 1000 fc_2l
adult 50 11 30_200 200 cnn_2l
census 2000 21 30_20 200 cnn_2l
cervical 500 11 800_1000 200 cnn_2l
credit 500 11 1500 200 fc_1l
epileptic 2000 101 50_20 200 cnn_2l
isolet 1000 21 10_20 200 cnn_2l
covtype 1000 101 100_20 200 cnn_2l
intrusion 1000 21 30_1000 200 fc_2l
"""


def widths_of(synth):
    return "_".join(map(str, np.atleast_1d(synth.width)))


def test_dp_ntk_has_the_rows_of_table_5():
    for data, steps, d_code, widths, batch, architecture in rows_of(NTK_TABLE_5):
        synth = DPNTKSynthesizer.from_preset("paper", data=data)
        generator = synth.generator
        assert generator.max_iter == int(steps)
        assert generator.n_latent == int(d_code) - (data in TABLES)
        assert widths_of(synth) == widths
        assert generator.batch_size == int(batch)
        assert generator.learning_rate == 0.01
        assert synth.architecture == architecture
        assert synth.class_weight is None  # as in the code
    exact = DPNTKSynthesizer.from_preset("paper", data="cifar10", epsilon=float("inf"))
    assert (exact.generator.max_iter, widths_of(exact)) == (20_000, "800_1000")


@quiet
@pytest.mark.parametrize(
    ("architecture", "width"), [("fc_1l", 5), ("fc_2l", (5, 4)), ("cnn_2l", [3, 4])]
)
def test_networks_of_the_paper_are_fitted_and_saved(architecture, width, tmp_path):
    synth = DPNTKSynthesizer.from_preset(
        "paper",
        data="adult",
        classes=CLASSES,
        architecture=architecture,
        width=width,
        generator__max_iter=2,
        random_state=0,
    )
    with insecure_noise_seed(0):
        synth.fit(X, Y)
    synth.save(tmp_path / "ntk.skdpgen")
    again = load(tmp_path / "ntk.skdpgen").sample(20, random_state=1)
    pd.testing.assert_frame_equal(synth.sample(20, random_state=1)[0], again[0])


# --------------------------------------------------------------------- of DP-MEPF

INF = float("inf")
MEPF_TABLE_7 = [  # data, epsilons, rates for both moments, rates for the first
    ("mnist", [INF], (1e-5, 1e-3), (1e-5, 1e-3)),
    ("mnist", [10, 1, 0.2], (1e-5, 1e-4), (1e-5, 1e-4)),
    ("fashion_mnist", [INF], (1e-5, 1e-3), (1e-5, 1e-3)),
    ("fashion_mnist", [10, 1, 0.2], (1e-4, 1e-3), (1e-4, 1e-3)),
    ("celeba32", [INF, 10, 5], (3e-4, 1e-4), (3e-4, 1e-4)),
    ("celeba32", [2, 1], (3e-4, 3e-4), (3e-4, 3e-4)),
    ("celeba32", [0.5, 0.2], (1e-3, 3e-4), (1e-3, 3e-4)),
    ("celeba64", [INF, 10, 5], (3e-4, 1e-4), (3e-4, 3e-4)),
    ("celeba64", [2, 1], (3e-4, 1e-3), (3e-4, 3e-4)),
    ("celeba64", [0.5, 0.2], (1e-3, 1e-3), (1e-3, 1e-3)),
    ("cifar10", [INF, 10, 5], (1e-3, 3e-4), (1e-3, 1e-4)),
    ("cifar10", [2, 1, 0.5, 0.2], (1e-3, 1e-2), (1e-3, 1e-2)),
    ("cifar10_unlabelled", [INF, 10, 5, 2, 1, 0.5, 0.2], (1e-3, 1e-3), (1e-3, 1e-3)),
]


@pytest.mark.parametrize(("data", "epsilons", "both", "first"), MEPF_TABLE_7)
def test_dp_mepf_has_the_rates_of_table_7(data, epsilons, both, first):
    for epsilon in epsilons:
        for norm, rates in ((0.5, both), (0.0, first)):
            generator = DPMEPFSynthesizer.from_preset(
                "paper", data=data, epsilon=epsilon, second_norm=norm
            ).generator
            assert (generator.learning_rate, generator.moving_rate) == rates


def test_dp_mepf_has_the_maps_of_its_code():
    maps = dict.fromkeys(("celeba32", "cifar10", "cifar10_unlabelled"), (512,))
    maps |= dict.fromkeys(("images", "mnist", "fashion_mnist"), (500,))
    maps |= {"celeba64": (1024,)}  # its generator has one block more
    for data, first in maps.items():
        generator = DPMEPFSynthesizer.from_preset("paper", data=data).generator
        assert generator.hidden_layer_sizes == first


def test_dp_mepf_has_the_steps_of_table_8():
    for data, _, _, _ in MEPF_TABLE_7:
        synth = DPMEPFSynthesizer.from_preset("paper", data=data)
        is_digits = data in ("mnist", "fashion_mnist")
        steps = synth.generator.max_iter, synth.generator.batch_size
        assert steps == ((100_000, 100) if is_digits else (200_000, 128))
        # mu² of both moments with ten times the noise, beside those of the main ones
        for norm, n_main in ((0.5, 2), (0.0, 1)):
            synth = DPMEPFSynthesizer.from_preset("paper", data=data, second_norm=norm)
            share = 0.0 if is_digits else 0.02 / (n_main + 0.02)
            assert synth.stopping_budget == pytest.approx(share)


@pytest.mark.parametrize(
    "data", ["images", *dict.fromkeys(d for d, *_ in MEPF_TABLE_7)]
)
def test_dp_mepf_has_the_generators_of_section_6(data):
    generator = DPMEPFSynthesizer.from_preset("paper", data=data).generator
    is_grey = data in ("images", "mnist", "fashion_mnist")
    assert generator.network == ("upsample" if is_grey else "residual")
    assert generator.n_latent == (90 if is_grey or data == "cifar10" else 100)


# -------------------------------------------------------------------- of DP-CGAN


def test_dp_cgan_of_images_moves_along_noisy_gradients():
    game = DPGANSynthesizer.from_preset("paper", data="images").discriminator
    assert (game.optimizer, game.schedule, game.spectral_norm) == (
        "sgd",
        "constant",
        math.inf,
    )
    table = DPGANSynthesizer.from_preset("paper", data="table").discriminator
    assert table.optimizer == "adam"


# ------------------------------------------------------------------ of DP-Kernel


@pytest.mark.parametrize(
    ("models", "rate", "steps"),
    [("conditional", 0.001, 200_000), ("parallel", 0.01, 20_000)],
)
def test_dp_kernel_has_the_rows_of_table_2(models, rate, steps):
    synth = DPKernelSynthesizer.from_preset(
        "paper", data="mnist", algorithm="per_step", generator__models=models
    )
    assert (synth.sampling_rate, synth.generator.max_iter) == (rate, steps)
    generator = synth.generator
    assert generator.models == models
    assert (generator.optimizer, generator.schedule) == ("rmsprop", "constant")
    assert generator.learning_rate == 5e-5


@pytest.mark.parametrize("models", ["conditional", "parallel"])
def test_dp_kernel_has_one_row_of_table_2_for_celeba(models):
    synth = DPKernelSynthesizer.from_preset(
        "paper", data="celeba", algorithm="per_step", generator__models=models
    )
    assert (synth.sampling_rate, synth.generator.max_iter) == (0.001, 200_000)
    assert synth.generator.models == models


# ------------------------------------------------- of DP-DRE, DP-GAN-FT, DP-GAN-MI

# data, epsilon; DP-DRE: width, steps, batch, rate; DP-GAN-FT: rate, steps, batch;
# DP-GAN-MI: width, steps, batch, rate
TABLE_4 = """
cifar10 inf 16 3000 64 1e-4 1e-7 30000 4 128 100000 64 1e-3
cifar10 10 1 3000 64 1e-3 1e-6 3000 16 128 100000 64 1e-4
cifar10 3 1 3000 64 1e-3 1e-6 30000 4 32 10000 64 1e-3
cifar10 1 1 3000 64 1e-3 1e-6 3000 4 32 3000 64 1e-3
cifar10 .1 16 3000 64 1e-3 1e-6 30000 4 128 10000 64 1e-3
pet inf 4 10000 256 1e-4 1e-6 30000 16 128 100000 64 1e-4
pet 10 16 3000 64 1e-3 1e-7 30000 4 32 3000 64 1e-3
pet 3 16 3000 64 1e-3 1e-6 30000 4 128 3000 4 1e-3
pet 1 4 10000 64 1e-3 1e-6 30000 4 128 10000 16 1e-3
pet .1 16 10000 64 1e-3 1e-7 30000 4 128 10000 16 1e-3
car inf 1 10000 64 1e-3 1e-6 30000 16 128 100000 4 1e-4
car 10 1 30000 256 1e-3 1e-7 3000 16 32 10000 64 1e-3
car 3 4 10000 64 1e-3 1e-7 30000 4 32 3000 64 1e-3
car 1 4 30000 64 1e-3 1e-6 30000 16 128 10000 64 1e-3
car .1 16 10000 64 1e-3 1e-6 30000 4 128 3000 16 1e-3
bird inf 1 10000 64 1e-3 1e-6 30000 4 32 100000 64 1e-4
bird 10 1 30000 64 1e-3 1e-5 3000 16 32 10000 64 1e-3
bird 3 1 30000 64 1e-3 1e-7 30000 4 32 3000 64 1e-3
bird 1 1 30000 64 1e-3 1e-7 30000 4 32 3000 16 1e-3
bird .1 16 10000 64 1e-3 1e-7 30000 4 128 3000 16 1e-3
objects_grass inf 1 3000 64 1e-3 1e-6 30000 16 128 100000 64 1e-4
objects_grass 10 1 3000 256 1e-3 1e-6 30000 16 32 3000 16 1e-3
objects_grass 3 1 3000 256 1e-3 1e-7 3000 4 32 3000 64 1e-3
objects_grass 1 1 3000 64 1e-3 1e-7 3000 4 32 3000 64 1e-3
objects_grass .1 4 10000 64 1e-3 1e-7 30000 16 128 3000 16 1e-3
objects_autumn inf 1 30000 64 1e-4 1e-7 30000 16 128 100000 64 1e-4
objects_autumn 10 1 3000 64 1e-3 1e-6 30000 16 32 3000 64 1e-3
objects_autumn 3 1 3000 256 1e-3 1e-7 3000 4 128 100000 4 1e-4
objects_autumn 1 1 3000 256 1e-3 1e-7 30000 16 32 3000 64 1e-3
objects_autumn .1 16 10000 64 1e-3 1e-7 3000 4 32 100000 64 1e-4
"""
SIZES = {
    "cifar10": 50_000,
    "pet": 3680,
    "car": 5992,
    "bird": 8144,
    "objects_grass": 16_256,
    "objects_autumn": 7272,
}


def steps_of(synth, size):
    """Return width, steps, batch and rate of a discriminator."""
    found = synth.discriminator
    assert found.schedule == "constant"
    assert found.max_grad_norm == 1.0
    batch = round(found.sampling_rate * size)
    return found.hidden_layer_sizes[0], found.max_iter, batch, found.learning_rate


@pytest.mark.parametrize("row", rows_of(TABLE_4), ids=lambda row: " ".join(row[:2]))
def test_presets_have_the_rows_of_table_4(row):
    data, epsilon, *numbers = row
    width, steps, batch, rate, f_rate, f_steps, f_batch, *latent = map(float, numbers)
    given, size = {"data": data, "epsilon": float(epsilon)}, SIZES[data]
    ratio = DPDRESynthesizer.from_preset("paper", **given)
    assert (ratio.algorithm, ratio.power) == ("sgd", 1.0)
    assert steps_of(ratio, size) == (width, steps, batch, rate)
    assert len(ratio.discriminator.hidden_layer_sizes) == 1
    tuned = DPGANSynthesizer.from_preset("paper", **given, algorithm="finetune")
    assert steps_of(tuned, size) == (1024, 5 * f_steps, f_batch, f_rate)
    inverted = DPGANSynthesizer.from_preset("paper", **given, algorithm="latent")
    width, steps, batch, rate = latent
    assert inverted.lens == ("cosine" if given["data"] == "cifar10" else None)
    assert steps_of(inverted, size) == (width, 5 * steps, batch, rate)
    for synth, n_latent, n_rows in ((tuned, 128, f_batch), (inverted, 25, batch)):
        critic, generator = synth.discriminator, synth.generator
        assert (critic.loss, critic.steps_per_generator_step) == ("critic", 5)
        assert len(critic.hidden_layer_sizes) == 3  # and the last layer: four
        assert generator.n_latent == n_latent
        assert generator.batch_size == n_rows
        assert generator.learning_rate == critic.learning_rate
    assert tuned.generator.pooling == 1  # the critic sees images as they are


def test_other_epsilons_have_the_row_of_the_next_larger_one():
    widths = [
        DPDRESynthesizer.from_preset(
            "paper", data="car", epsilon=epsilon
        ).discriminator.hidden_layer_sizes[0]
        for epsilon in (0.05, 0.5, 2.0, 4.0, 50.0)
    ]
    assert widths == [16, 4, 4, 1, 1]


@quiet
def test_the_ratio_itself_weighs_public_rows():
    synth = DPDRESynthesizer.from_preset(
        "paper",
        data="table",
        classes=CLASSES,
        epsilon=50.0,
        discriminator__max_iter=20,
        random_state=0,
    )
    with insecure_noise_seed(0):
        synth.fit(X[:200], Y[:200], public_data=(X[200:], Y[200:]))
    ratio = synth._ratio
    # the score s of D = 1 / (1 + exp(-s)) is the log of D / (1 - D)
    weights = ratio.base * np.exp(ratio.logs)
    expected = (weights / weights.sum()).sum(axis=1)
    np.testing.assert_allclose(synth.weights_, expected, rtol=1e-6)


@quiet
@pytest.mark.parametrize("algorithm", ["finetune", "latent"])
def test_gans_of_the_paper_are_fitted_to_images(algorithm):
    synth = DPGANSynthesizer.from_preset(
        "paper",
        data="cifar10",
        algorithm=algorithm,
        classes=[0, 1, 2],
        generator__hidden_layer_sizes=(8,),
        discriminator__hidden_layer_sizes=(8, 8),
        discriminator__max_iter=5,
        discriminator__sampling_rate=0.1,
        discriminator__public_iter=5,
        random_state=0,
        **({"lens": "cosine"} if algorithm == "latent" else {}),
    )
    if algorithm == "latent":
        synth.set_params(discriminator__public_iter=1000)
    public = {"public_data": (PIXELS, LABELS)} if algorithm == "finetune" else {}
    with insecure_noise_seed(0):
        synth.fit(PIXELS, LABELS, **public)
    assert synth.n_iter_ == 1
    assert synth.sample(9, random_state=0)[0].shape == (9, 8, 8)


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
