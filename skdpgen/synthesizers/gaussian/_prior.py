"""How far pictures may be deformed, by a private vote of the rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.networks import SmallCNN
from skdpgen.privacy import Vectors
from skdpgen.synthesizers.gaussian._lens_map import Pictures
from skdpgen.synthesizers.models import Deformations, systematic
from skdpgen.synthesizers.opening import Opening
from skdpgen.tables import Cells
from skdpgen.training import train_classifier
from skdpgen.utils import Key, torch_generator

Floats = NDArray[np.float64]
CHOICES = (None, Deformations().times(0.5), Deformations())  # of prototypes
MILD = (None, Deformations().times(0.25), CHOICES[1])  # where samples differ already
N_DRAWN = 1000, 10_000  # images that a classifier learns from: as many as rows
EACH = 20  # how many of them stand for a step
FOR_PRIOR = 0.02  # of the budget
SHARP = 8.0  # of logits: nearly right or wrong, and still continuous


def given_prior(prior: Any) -> Deformations | None:
    """Return the deformations that were asked for, before any vote."""
    if isinstance(prior, str):
        return Deformations() if prior == "deformations" else None
    found: Deformations | None = prior
    return found


def vote_share(opening: Opening, labels: Cells | None, prior: Any) -> float:
    """Return which part of the budget a vote gets; 0 if there is none to be held."""
    is_asked = isinstance(prior, str) and prior == "auto"
    has_classes = labels is not None and labels.n_cells > 1
    is_voted = is_asked and has_classes and opening.facts.task == "classification"
    return FOR_PRIOR if is_voted else 0.0


def choose_prior(
    rows: Pictures,
    model: Any,
    choices: Sequence[Deformations | None],
    rng: Generator,
) -> None:
    r"""Keep the choice whose pictures teach a classifier most about private ones.

    For each choice a small network learns from pictures that are drawn, which is free.
    Then every private row says how likely each network finds its label: k numbers from
    0 to 1. The sum is released with all that is left.

    *Why it is private.* The networks are made of releases. A row of k such numbers is
    not negative, and has norm :math:`\sqrt k` at most, so the sum moves by
    :math:`\sqrt{2k}` at most if a row is replaced. The numbers are continuous in the
    pixels, and no row sees another: batches have one shape, in double precision.
    """
    n = int(np.clip(rows.opening.facts.n_rows, *N_DRAWN))
    networks = [_taught(model, choice, n, rng) for choice in choices]

    def row(labels: Any, pixels: Floats) -> tuple[Any, Floats]:
        images = torch.from_numpy(pixels).unflatten(1, rows.shape)
        with torch.no_grad():
            found = [
                (SHARP * network(images)).softmax(dim=1).numpy() for network in networks
            ]
        each = [p[np.arange(len(p)), np.maximum(labels, 0)] for p in found]
        return np.where(labels >= 0, 0, -1), np.stack(each, axis=1)

    k = len(choices)
    votes = rows.opening.release(
        "votes_",
        rows.pixels(row),
        {Key.FEATURES: Vectors(k, k**0.5, is_nonnegative=True)},
        name="which deformations teach most",
    )
    best = int(votes.values[Key.FEATURES][0].argmax())
    rows.opening.keep(deformations_=choices[best])


def _taught(
    model: Any, choice: Deformations | None, n_drawn: int, rng: Generator
) -> torch.nn.Module:
    """Return a network that has learnt from drawn pictures alone."""
    n_classes = len(model.totals)
    labels = systematic(np.ones(n_classes), n_drawn, rng=rng)
    images = torch.from_numpy(model.draw(labels, choice, rng=rng))
    public = torch_generator(rng)
    network = SmallCNN(model.shape, n_classes, rng=public)
    images = images.unflatten(1, model.shape)
    targets = torch.from_numpy(labels)
    n_steps = n_drawn // EACH
    train_classifier(network, images, targets, max_iter=n_steps, rng=public)
    return network.double()
