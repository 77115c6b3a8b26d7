"""DP-GAN: what is read is paid for, the game balances, and what it learns."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from torch.nn.functional import one_hot

from skdpgen import Discriminator, DPGANSynthesizer, Generator, load
from skdpgen.datasets import load_example
from skdpgen.lenses import lens_of
from skdpgen.networks import CellsHead
from skdpgen.networks import Discriminator as DiscriminatorNetwork
from skdpgen.synthesizers.adversarial import _game
from skdpgen.synthesizers.adversarial._game import (
    COUNTS_WEIGHT,
    CodesKernel,
    _drawn,
    discriminator_inputs,
)
from skdpgen.synthesizers.embedding import ImageKernel
from skdpgen.tables import Categorical, EncodedBatch, ImageLayout, Schema
from skdpgen.training import ClassWeights, Rules, play
from skdpgen.training._adversarial import Generated, score_fake
from skdpgen.utils import Key
from tests._made import made
from tests._seeded import same_noise
from tests.synthesizers._tables import CASES, build

INF = float("inf")
DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = DIGITS.reshape(-1, 8, 8) / 16
SMALL = {
    "max_iter": 6,
    "batch_size": 32,
    "hidden_layer_sizes": (8,),
    "discriminator_layer_sizes": (8,),
}


def discriminator(n_inputs=3, n_classes=2, seed=0):
    rng = torch.Generator().manual_seed(seed)
    ones = torch.ones(n_inputs)
    return DiscriminatorNetwork(0 * ones, ones, n_classes, (8, 8), rng=rng)


# --------------------------------------------------------------- what is paid


@pytest.mark.parametrize("start", ["columns", "nothing"])
def test_a_start_and_the_steps_are_all_that_is_paid(start):
    case = CASES["floats"]
    synth = build(DPGANSynthesizer, case, start=start, max_iter=12)
    report = synth.fit(case.X, case.y).privacy_
    *_, first, steps = report.releases
    assert steps.name == "discriminator of 4 columns, by DP-SGD"
    assert (steps.sampling_rate, steps.n_steps) == (0.08, 12)
    named = {"columns": "histograms of 4 columns", "nothing": "rows of each class"}
    assert first.name.startswith(named[start])
    assert sum(one.share for one in report.releases) == pytest.approx(1.0)
    assert steps.share >= (0.4 if start == "columns" else 0.8)


def test_rows_are_read_through_the_oracle_alone(monkeypatch):
    """Every row that a step sees was asked for by the private oracle."""
    from skdpgen.synthesizers.adversarial import _game

    asked, frames = [], []
    take = _game.Labelled.take

    def watched(self, indices):
        import inspect

        asked.append(len(indices))
        frames.append([frame.filename for frame in inspect.stack()])
        return take(self, indices)

    monkeypatch.setattr(_game.Labelled, "take", watched)
    case = CASES["floats"]
    build(DPGANSynthesizer, case, **SMALL).fit(case.X, case.y)
    assert asked[0] == 0  # tells shapes
    assert len(asked) > 1
    for files in frames[1:]:
        assert any(file.endswith("privacy/_oracle.py") for file in files)


def test_neighbours_leave_shapes_and_numbers_of_steps_alone():
    y = np.arange(300) % 2
    X = pd.DataFrame({"a": np.array(["u", "v"])[y], "b": np.array(["u", "v"])[y]})
    schema = Schema({name: Categorical(["u", "v"]) for name in X})
    other, labels = X.copy(), y.copy()
    other.loc[3], labels[3] = [None, "something new"], 7
    shapes = []
    for table, target in ((X, y), (other, labels)):
        synth = made(DPGANSynthesizer, schema=schema, classes=[0, 1], **SMALL)
        synth.fit(table, target)
        state = synth.generator_.state_dict()
        shapes.append(
            [(name, one.shape) for name, one in state.items()]
            + [len(synth.loss_curve_), synth.n_iter_]
            + [(one.name, one.noise_std) for one in synth.privacy_.releases[-1:]]
        )
    assert shapes[0] == shapes[1]


def test_a_row_without_a_known_class_has_no_gradient():
    look = discriminator()
    score = look(torch.rand(1, 3), torch.zeros(1, 2))
    score.sum().backward()
    assert all((w.grad == 0).all() for w in look.parameters())


def test_retrain_says_that_it_needs_rows():
    case = CASES["floats"]
    synth = build(DPGANSynthesizer, case)
    with pytest.raises(NotFittedError):
        synth.retrain()
    with pytest.raises(ValueError, match="discriminator reads rows"):
        synth.fit(case.X, case.y).retrain()


def test_no_step_is_refused_before_anything_is_paid():
    case = CASES["floats"]
    synth = build(DPGANSynthesizer, case, max_iter=0)
    with pytest.raises(ValueError, match="'max_iter' parameter of Discriminator"):
        synth.fit(case.X, case.y)
    assert not hasattr(synth, "privacy_")


@pytest.mark.parametrize("sizes", [[0], [4, -1], [2.5]])
def test_layers_of_the_discriminator_are_checked(sizes):
    case = CASES["floats"]
    synth = build(DPGANSynthesizer, case, discriminator_layer_sizes=sizes)
    with pytest.raises(ValueError, match="of the discriminator must hold"):
        synth.fit(case.X, case.y)


def test_mean_images_are_released_with_the_noise_that_they_need():
    """An image has a norm of 1 at most, so noise is below that of a broken twin."""
    synth = made(DPGANSynthesizer, classes=range(10), **SMALL).fit(DIGITS, LABELS)
    _, first, steps = synth.privacy_.releases
    assert first.name == "means of 64 pixels by class"
    assert first.sensitivity == pytest.approx(np.sqrt(2 + 2 * COUNTS_WEIGHT))
    assert steps.share == pytest.approx(0.9 * 0.99)  # but for pixels


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_image_moves_the_released_means_further(adjacency):
    """Brute force: white, black and mixed images of any class, and none."""
    rng = np.random.default_rng(0)
    layout = ImageLayout("numpy", (8, 8), "uint8")
    kernel = ImageKernel(None, layout)
    images = np.concatenate(
        [np.zeros((1, 8, 8)), np.full((1, 8, 8), 255), rng.integers(0, 256, (9, 8, 8))]
    ).astype(np.uint8)
    (batch,) = discriminator_inputs(
        kernel, [EncodedBatch(np.zeros(11), {Key.PIXELS: images})]
    )
    rows = []
    for x in batch.parts[Key.FEATURES]:
        for label in range(2):
            one = np.eye(2)[label]
            rows.append(np.r_[np.outer(one, x).ravel(), COUNTS_WEIGHT**0.5 * one])
    rows.append(np.zeros_like(rows[0]))  # of a class that is not known
    if adjacency == "replace":
        most = max(np.linalg.norm(a - b) for a in rows for b in rows)
        assert most == pytest.approx(np.sqrt(2 + 2 * COUNTS_WEIGHT))
    else:
        most = max(np.linalg.norm(a) for a in rows)
        assert most == pytest.approx(np.sqrt(1 + COUNTS_WEIGHT))
    synth = made(DPGANSynthesizer, classes=[0, 1], adjacency=adjacency, **SMALL)
    report = synth.fit(DIGITS[LABELS < 2], LABELS[LABELS < 2]).privacy_
    means = next(one for one in report.releases if one.name.startswith("means"))
    assert means.sensitivity >= most * (1 - 1e-9)


# ---------------------------------------------------------------- public rows

X_EXAMPLE, Y_EXAMPLE = load_example(900)
FINETUNE = {"algorithm": "finetune"}
FEW = SMALL | {"public_iter": 4, "algorithm": "finetune", "classes": ["left", "stayed"]}


@pytest.mark.parametrize("has_labels", [True, False])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_public_rows_of_a_table_begin_the_game(has_labels, adjacency):
    X, y = X_EXAMPLE, Y_EXAMPLE
    public = (X[:300], y[:300]) if has_labels else X[:300]
    synth = made(DPGANSynthesizer, epsilon=20.0, adjacency=adjacency, **FEW)
    report = synth.fit(X[300:], y[300:], public_data=public).privacy_
    assert "300 public rows with" in str(report)
    assert sum(one.share for one in report.releases) == pytest.approx(1.0)
    assert len(synth.sample(5)[0]) == 5


@pytest.mark.parametrize("has_labels", [True, False])
def test_public_images_begin_the_game(has_labels):
    public = (DIGITS[:300], LABELS[:300]) if has_labels else DIGITS[:300]
    synth = made(DPGANSynthesizer, **FEW | {"classes": range(10)})
    report = synth.fit(DIGITS[300:], LABELS[300:], public_data=public).privacy_
    assert "300 public images: taken as public" in str(report)
    assert synth.sample(5)[0].shape == (5, 8, 8)


def test_a_generator_learns_of_public_rows_at_a_rate_that_teaches_it(monkeypatch):
    # the paper of DP-GAN-FT fine-tunes at 1e-6, and trains before at another rate
    rates = []

    def noted(*args, **kwargs):
        rates.append(args[5].learning_rate)
        return play(*args, **kwargs)

    monkeypatch.setattr(_game, "play", noted)
    for rate in (1e-6, 5e-3):
        synth = made(DPGANSynthesizer, **FEW | {"learning_rate": rate})
        synth.fit(X_EXAMPLE[300:], Y_EXAMPLE[300:], public_data=X_EXAMPLE[:300])
    assert rates == [1e-3, 1e-6, 5e-3, 5e-3]


@pytest.mark.parametrize(
    ("params", "public_data", "match"),
    [
        (FINETUNE, None, "must be given for algorithm='finetune'"),
        ({}, X_EXAMPLE, "and only there"),
        (FINETUNE, X_EXAMPLE, "must hold images if X does"),
        (FINETUNE, np.zeros((3, 9, 9)), "have one size"),
        ({"public_iter": 3}, None, "must be 1000 but for algorithm='finetune'"),
        ({"generator": Generator(max_iter=3)}, None, "discriminator__max_iter"),
        ({"start": "columns"}, None, r"'means', 'nothing' or None for images"),
    ],
)
def test_what_is_of_no_use_is_refused_before_anything_is_paid(
    params, public_data, match
):
    synth = made(DPGANSynthesizer, **params)
    with pytest.raises(ValueError, match=match):
        synth.fit(DIGITS, LABELS, public_data=public_data)
    assert not hasattr(synth, "privacy_")


def test_a_table_cannot_start_from_means():
    synth = made(DPGANSynthesizer, start="means")
    with pytest.raises(ValueError, match=r"'columns', 'nothing' or None for tables"):
        synth.fit(X_EXAMPLE, Y_EXAMPLE)
    assert not hasattr(synth, "privacy_")


# ------------------------------------------------------------------- the game


def test_slopes_of_generated_rows_are_clipped_one_by_one():
    look, bound = discriminator(), 0.05
    x = torch.rand(4, 3)
    labels = one_hot(torch.tensor([0, 0, 1, 1]), 2).float()
    weights = torch.tensor([0.3, 0.7]) / 2
    total = [torch.zeros_like(w) for w in look.parameters()]
    for row, label in zip(x, labels, strict=True):
        loss = score_fake(look, (row, label))
        slopes = torch.autograd.grad(loss, list(look.parameters()))
        norm = torch.cat([s.flatten() for s in slopes]).norm()
        scale = weights[label.argmax()] / max(float(norm) / bound, 1.0)
        total = [t + scale * s for t, s in zip(total, slopes, strict=True)]
    generated = Generated(look, bound, (x, labels))
    generated(x, labels, weights)(look).backward()
    for weight, wanted in zip(look.parameters(), total, strict=True):
        torch.testing.assert_close(weight.grad, wanted)


def test_layers_are_brought_down_to_a_spectral_norm():
    look = discriminator()
    with torch.no_grad():
        for layer in (look.body[0], look.body[2], look.head):
            layer.weight.mul_(100.0)
    for _ in range(30):
        look.limit(1.5)
    for layer in (look.body[0], look.body[2], look.head):
        assert torch.linalg.matrix_norm(layer.weight, 2) < 1.51


def test_drawn_cells_follow_their_shares_and_have_slopes():
    rng = torch.Generator().manual_seed(0)
    shares = torch.tensor([0.7, 0.3, 0.0]).repeat(4000, 1).requires_grad_()
    cells = _drawn(shares, rng)
    assert ((cells.detach() - cells.detach().round()).abs() < 1e-5).all()
    np.testing.assert_allclose(cells.detach().mean(0), [0.7, 0.3, 0.0], atol=0.03)
    (cells[:, 0].sum()).backward()
    assert (shares.grad[:, 0] > 0).any()


class Still:
    """A descent that only follows generated rows."""

    def __init__(self):
        self.n_done = 0

    def step(self, public_loss=None):
        self.n_done += 1


def test_turns_are_taken_as_asked_for():
    look, descent = discriminator(n_inputs=4), Still()
    generator = torch.nn.Bilinear(2, 1, 4)

    def call(latents, labels):
        return [generator(latents, labels[:, None].float())]

    class Drawn(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = generator

        def forward(self, latents, labels):
            return call(latents, labels)

    losses = play(
        Drawn(),
        look,
        descent,
        lambda outputs: outputs[0],
        ClassWeights(torch.tensor([0.5, 0.5]), torch.tensor([0.5, 0.5])),
        Rules(2, n_between=3, batch_size=8, learning_rate=1e-3, spectral_bound=2.0),
        n_steps=7,
        rng=torch.Generator().manual_seed(0),
    )
    assert (descent.n_done, len(losses)) == (7, 2)


# ------------------------------------------------------------ what is learnt


def test_without_noise_it_learns_a_relation():
    """Independent columns would agree in half of the rows; which are read is secret."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 2000)
    X = pd.DataFrame({"a": a.astype(str), "b": a.astype(str)})
    synth = DPGANSynthesizer(
        epsilon=INF,
        schema=Schema.infer(X),
        generator=Generator(
            batch_size=128, learning_rate=1e-2, hidden_layer_sizes=(32,)
        ),
        discriminator=Discriminator(
            (16,), max_iter=200, sampling_rate=0.1, learning_rate=1e-2
        ),
        random_state=0,
    )
    with same_noise():
        sample = synth.fit(X).sample(2000, random_state=0)
    assert (sample["a"] == sample["b"]).mean() > 0.65
    assert abs((sample["a"] == "1").mean() - a.mean()) < 0.1


def test_columns_by_class_are_kept():
    case = CASES["floats"]
    synth = build(DPGANSynthesizer, case, epsilon=INF).fit(case.X, case.y)
    X, y = synth.sample(1000)
    gap = np.nanmean(X[y == 1], axis=0) - np.nanmean(X[y == 0], axis=0)
    np.testing.assert_allclose(gap, 1.0, atol=0.35)


def test_heads_are_cells_if_columns_are_known_and_positions_if_not():
    case = CASES["floats"]
    for start, is_cells in (("columns", True), ("nothing", False)):
        synth = build(DPGANSynthesizer, case, start=start).fit(case.X, case.y)
        heads = synth.generator_.shape.heads
        assert all(isinstance(head, CellsHead) == is_cells for head in heads)


def test_images_of_a_class_without_noise():
    mine = LABELS < 2
    synth = DPGANSynthesizer(
        epsilon=INF,
        classes=[0, 1],
        generator=Generator(
            batch_size=64, hidden_layer_sizes=(64,), learning_rate=5e-3
        ),
        discriminator=Discriminator((32,), max_iter=300, sampling_rate=0.3),
        random_state=0,
    )
    with same_noise():
        X, y = synth.fit(DIGITS[mine], LABELS[mine]).sample(200, random_state=0)
    for label in (0, 1):
        found, wanted = X[y == label].mean(0), DIGITS[label == LABELS].mean(0)
        other = DIGITS[1 - label == LABELS].mean(0)
        assert np.abs(found - wanted).mean() < np.abs(found - other).mean()


# ------------------------------------------------------------ in codes of a lens


def in_codes(epsilon=5.0, public_data=None, n=None, **params):
    how = SMALL | {"algorithm": "latent", "classes": range(10)} | params
    with same_noise():
        synth = made(DPGANSynthesizer, epsilon, **how)
        return synth.fit(DIGITS[:n], LABELS[:n], public_data=public_data)


def test_a_game_in_codes_says_through_which_lens():
    report = in_codes(lens="cosine").privacy_
    _, first, steps = report.releases
    assert first.name == "means of 64 codes of images by class"
    assert first.sensitivity == pytest.approx(2.0)  # codes have either sign
    assert steps.name == "discriminator of 64 codes of images, by DP-SGD"
    assert any(line.startswith("lens: low frequencies") for line in report.statements)


def test_codes_of_a_row_do_not_depend_on_those_beside_it():
    layout = ImageLayout("numpy", (8, 8), "float64")
    kernel = CodesKernel.through_lens(lens_of("shipped"), layout)
    rows = {Key.PIXELS: DIGITS[:40].reshape(-1, 64)}
    whole = kernel.rows_of(EncodedBatch(LABELS[:40], rows))
    one = kernel.rows_of(EncodedBatch(LABELS[:1], {Key.PIXELS: rows[Key.PIXELS][:1]}))
    np.testing.assert_array_equal(whole[:1], one)
    assert np.linalg.norm(whole, axis=1).max() <= 1.0 + 1e-6


def of_either_sign(images):
    return (images.flatten(1).mean(dim=1, keepdim=True) - 0.5) * 1e6


def as_grey(codes):
    return torch.full((len(codes), 16), 0.5)


def test_neighbours_move_means_of_codes_by_no_more_than_is_paid_for():
    """Brute force, with a lens that has codes as far apart as any: -1 and 1."""
    lens = lens_of((of_either_sign, as_grey))
    layout = ImageLayout("numpy", (4, 4), "float64")
    kernel = CodesKernel.through_lens(lens, layout)
    images = np.array([np.zeros(16), np.ones(16), np.full(16, np.nan)])
    batch = EncodedBatch(np.zeros(3, dtype=np.int64), {Key.PIXELS: images})
    (only,) = discriminator_inputs(kernel, [batch])
    rows = [  # what one row adds to the sums of two classes, and to their counts
        np.outer(one, np.append(code, np.sqrt(COUNTS_WEIGHT))).ravel()
        for code in only.parts[Key.FEATURES]
        for one in np.eye(2)
    ]
    moved = {
        "replace": max(np.linalg.norm(a - b) for a in rows for b in rows),
        "add_remove": max(np.linalg.norm(a) for a in rows),
    }
    for adjacency, most in moved.items():
        paid = in_codes(lens="cosine", adjacency=adjacency).privacy_.releases
        (first,) = (one for one in paid if one.name.startswith("means of"))
        assert most == pytest.approx(first.sensitivity, rel=1e-6)


def test_without_noise_images_of_codes_are_near_the_means_of_their_classes():
    synth = in_codes(
        INF,
        lens="cosine",
        max_iter=300,
        hidden_layer_sizes=(32,),
        batch_size=100,
        random_state=0,
    )
    drawn, labels = synth.sample(500, random_state=0)
    assert drawn.shape == (500, 8, 8)
    means = np.array([DIGITS[k == LABELS].mean(axis=0).ravel() for k in range(10)])
    away = ((drawn.reshape(-1, 1, 64) - means) ** 2).sum(axis=2)
    assert (away.argmin(axis=1) == labels).mean() > 0.7


def test_a_game_in_codes_comes_back_from_a_file(tmp_path):
    synth = in_codes(n=100)
    synth.save(tmp_path / "gan.npz")
    again = load(tmp_path / "gan.npz")
    for one, other in zip(
        synth.sample(20, random_state=3), again.sample(20, random_state=3), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"lens": "scattering"}, "way back"),
        ({"lens": "glasses"}, "must be one of"),
        ({"algorithm": "scratch", "lens": "cosine"}, "algorithm='latent'"),
        ({"public_data": DIGITS[:50]}, "algorithm='finetune'"),
        ({"public_iter": 3}, "algorithm='finetune'"),
        ({"pooling": 2}, "algorithm='scratch'"),
    ],
)
def test_what_does_not_go_together_is_said_before_it_costs(params, says):
    with pytest.raises(ValueError, match=says):
        in_codes(**params)


def test_tables_have_no_codes():
    X, y = load_example(300)
    with pytest.raises(ValueError, match="codes of images"):
        DPGANSynthesizer(algorithm="latent", classes=["left", "stayed"]).fit(X, y)
