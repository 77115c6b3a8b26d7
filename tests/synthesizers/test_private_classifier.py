"""A classifier that is to be a lens: a row moves one vector of a step, and no more."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from skdpgen.lenses import PrivateClassifier
from skdpgen.networks import _convolutional
from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget, insecure_noise_seed
from skdpgen.synthesizers.embedding import classifier_lens
from skdpgen.tables import EncodedBatch
from skdpgen.utils import Key
from tests.guards._doors import Spy, Tape, everyone, through
from tests.planted.bug import Bug

N, N_STEPS, NORM = 6, 3, 0.01
TRAINING = PrivateClassifier(n_steps=N_STEPS, sampling_rate=0.5, max_grad_norm=NORM)
RNG = np.random.default_rng(0)
IMAGES, LABELS = RNG.random((N, 64)).astype(np.float32), np.arange(N) % 2
ODD = {
    "black": (np.zeros(64), 0),
    "white, of another class": (np.ones(64), 1),
    "not a number": (np.full(64, np.nan), 0),
    "one infinite pixel": (np.r_[np.inf, np.zeros(63)], 1),
    "beyond the range": (np.full(64, 1e30), 1),
    "of no class": (RNG.random(64), -1),
}


@pytest.fixture(autouse=True)
def thin(monkeypatch):
    monkeypatch.setattr(_convolutional, "RESNET20_WIDTHS", (8, 8, 8))
    monkeypatch.setattr(_convolutional.ResNet20, "width", 8)


def trained(images, labels, adjacency, tape, monkeypatch):
    """Return the weights of a lens, and what its steps summed; everyone is drawn."""
    ledger, spy = Ledger(PrivacyBudget(1.0, 1e-5, Adjacency(adjacency))), Spy()
    batch = EncodedBatch(labels, {Key.PIXELS: images.astype(np.float32)})
    layout = SimpleNamespace(size=(1, 8, 8), n_pixels=64)
    opening = SimpleNamespace(
        facts=SimpleNamespace(layout=layout, n_rows=float(N)),  # public, or released
        rows=SimpleNamespace(batches=lambda cells, labels: [batch]),
        ledger=ledger,
        training_of_encoder=iter,
    )
    with (
        through(monkeypatch, tape),
        spy.watching(monkeypatch),
        monkeypatch.context() as patch,
        insecure_noise_seed(0),
    ):
        everyone(patch)
        lens = classifier_lens(
            opening,
            SimpleNamespace(n_cells=2),
            SimpleNamespace(pooling=1),
            training=TRAINING,
            share=0.5,
            device=torch.device("cpu"),
            rng=torch.Generator().manual_seed(0),
        )
    assert [(entry.n_steps, entry.share) for entry in ledger.entries] == [
        (N_STEPS, 0.5)
    ]
    return lens.weights, [step.exact["vectors"] for step in spy.steps]


def neighbours(adjacency):
    """Yield tables of a few images that differ from the first one in one row."""
    for x, label in ODD.values():
        if adjacency == "replace":
            yield np.vstack([x, IMAGES[1:]]), np.r_[label, LABELS[1:]]
        else:
            yield np.vstack([x, IMAGES]), np.r_[label, LABELS]
    if adjacency == "add_remove":
        yield IMAGES[1:], LABELS[1:]


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
@pytest.mark.parametrize(("adjacency", "n"), [("replace", 2), ("add_remove", 1)])
def test_an_image_moves_a_step_by_its_own_vector(adjacency, n, monkeypatch):
    tape = Tape()
    weights, sums = trained(IMAGES, LABELS, adjacency, tape, monkeypatch)
    assert len(sums) == N_STEPS
    farthest = 0.0
    for images, labels in neighbours(adjacency):
        others = trained(images, labels, adjacency, tape.rewind(), monkeypatch)
        for name, weight in weights.items():  # as the same noisy sums came out
            assert torch.equal(weight, others[0][name])
        moved = [np.linalg.norm(a - b) for a, b in zip(sums, others[1], strict=True)]
        farthest = max(farthest, *moved)
    assert 0.3 * n * NORM < farthest <= n * NORM * (1 + 1e-9)


HERE = "tests/synthesizers/test_private_classifier.py::"
TRAINS = "skdpgen.synthesizers.embedding:classifier_lens"
PLANTED = (
    Bug(
        "a-classifier-divides-by-its-rows",
        "steps of a classifier are divided by the exact number of rows",
        TRAINS,
        "opening.facts.n_rows",
        "float(len(points))",
        (HERE + "test_an_image_moves_a_step_by_its_own_vector",),
    ),
    Bug(
        "a-classifier-starts-from-its-rows",
        "first weights of a classifier depend on how bright private images are",
        TRAINS,
        "points = PointRows(bare, opening.rows.batches({}, labels))",
        """
            points = PointRows(bare, opening.rows.batches({}, labels))
            everyone = points.take(list(range(len(points))))
            with torch.no_grad():
                body.first.weight.mul_(1.0 + float(everyone.x.mean()))
        """,
        (HERE + "test_an_image_moves_a_step_by_its_own_vector",),
    ),
)
