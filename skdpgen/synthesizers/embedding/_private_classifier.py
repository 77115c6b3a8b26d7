"""A classifier that DP-SGD trains on private images, whose layers are then a lens."""

import math
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import log_softmax

from skdpgen.lenses import ClassifierLens, PrivateClassifier, as_inputs
from skdpgen.networks import ImageClassifier, ResNet20
from skdpgen.synthesizers.embedding._image_kernel import (
    ImageKernel,
    Labelled,
    PointRows,
    pooling_of,
    size_seen,
)
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.synthesizers.presets import ImageSettings
from skdpgen.tables import Cells
from skdpgen.training import descend_privately

ENLARGED_SIDE = 32  # pixels, of smaller images


def without_labels(training: PrivateClassifier) -> ValueError:
    """Return the error for images that a classifier cannot be trained on."""
    return ValueError(
        "lens must be another one for images without labels: "
        f"{training!r} trains a classifier of labels."
    )


def classifier_lens(
    opening: Opening,
    labels: Cells | None,
    settings: ImageSettings,
    *,
    training: PrivateClassifier,
    share: float,
    device: torch.device,
    rng: Generator,
) -> ClassifierLens:
    r"""Pay ``share`` for a ResNet-20 that classifies images after pooling.

    The loss of an image is its cross-entropy, :math:`-y^\top \log p(x)`; a label
    without a class is y = 0, and has no gradient.

    *Why it is private.* Only :func:`~skdpgen.training.private_descent` reads rows, and
    it charges the ledger. No layer mixes images, and first weights are public. All that
    is computed with the weights afterwards is post-processing, features of private
    images excepted, which are summed in a release of their own.
    """
    if labels is None:
        raise without_labels(training)
    layout: Any = opening.facts.layout
    pooling = pooling_of(layout.size, settings.pooling)
    size = size_seen(layout.size, pooling)
    bare = ImageKernel(None, layout, pooling)
    n_classes = n_classes_of(labels)
    body = ResNet20(rng)
    network = ImageClassifier(body, body.width, n_classes, rng=rng).to(device)

    def loss(call: Any, row: tuple[Tensor, Tensor]) -> Tensor:
        pixels, label = row
        logits = call(as_inputs(pixels.unflatten(0, size)[None], ENLARGED_SIDE))
        return -(log_softmax(logits, dim=1) * label).sum()

    points = PointRows(bare, opening.rows.batches({}, labels))
    descend_privately(
        network,
        loss,
        Labelled(points, n_classes),
        opening.ledger,
        name="classifier of images, by DP-SGD",
        share=share,
        sampling_rate=training.sampling_rate,
        n_steps=training.n_steps,
        norm_bound=training.max_grad_norm,
        expected_rows=opening.facts.n_rows,  # public, or released
        learning_rate=training.learning_rate,
        is_adam=True,
        quiet=math.inf,  # Adam's steps do not grow with noise
        is_smooth=True,
        progress=opening.training_of_encoder,
    )
    points.close()
    weights = {name: value.cpu() for name, value in body.state_dict().items()}
    return ClassifierLens(weights, ENLARGED_SIDE)
