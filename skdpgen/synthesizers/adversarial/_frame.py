"""What a private GAN pays for before it plays: class counts, and columns by class."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

from skdpgen.privacy import Counts, Release, Vectors
from skdpgen.synthesizers.adversarial._codes_kernel import CodesKernel
from skdpgen.synthesizers.embedding import ImageKernel, RowKernel, pooling_of
from skdpgen.synthesizers.models import Denoised
from skdpgen.synthesizers.opening import Opening, discover_bins, n_classes_of
from skdpgen.tables import EncodedBatch, ImageLayout
from skdpgen.training import project_to_total
from skdpgen.utils import Key

SHARES = {"columns": 0.5, "means": 0.9, "nothing": 0.98}  # of mu², for steps beside
PAID = 0.1  # squared weight of class counts beside means


def game_share(start: str) -> float:
    """Return the part of the budget that steps get beside the first release."""
    return SHARES[start]


def release_start(
    opening: Opening, settings: Any, *, steps: float, lens: Any = None
) -> Denoised:
    """Release what the generator starts with, with all but the share of the steps.

    That is how many rows each class has and, unless it starts from nothing, histograms
    of columns by class or the mean image of each (proofs:
    :class:`~skdpgen.privacy.Histograms`, :class:`~skdpgen.privacy.Vectors`, and
    :class:`~skdpgen.privacy.Counts` beside them). An image of p pixels in [0, 1] is
    divided by the root of p: it has a norm of 1 at most, and no negative entry, so
    replacing one moves the sum by at most the root of 2, and of 2.2 with the counts.
    Codes of a lens have a norm of 1 as well, but either sign: by at most 2.
    """
    cells, labels = discover_bins(opening)
    layout = opening.facts.layout
    kernel: Any
    if lens is not None:
        kernel = CodesKernel.seen_through(lens, layout)
    elif isinstance(layout, ImageLayout):
        kernel = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    elif settings.start == "columns":
        kernel = RowKernel.of(cells, lambda *_: None, layout="binned", share=0.0)
    else:
        kernel = RowKernel.of(cells, lambda *_: None, layout="whole", share=1.0)
    opening.keep(cells_=cells, _labels=labels, kernel_=kernel)
    batches: Any = opening.rows.batches(cells, labels)
    name, how, blocks = "rows of each class", {}, kernel.blocks
    if settings.start == "means":
        batches = shown(kernel, batches)
        blocks = {
            Key.FEATURES: Vectors(kernel.width, is_nonnegative=lens is None),
            Key.CLASSES: Counts(PAID),
        }
        name = f"means of {kernel.certificate_name} by class"
    elif getattr(kernel, "counted", ()):
        batches = kernel.encode(batches, torch.device("cpu"))
        name, how = f"histograms of {len(cells)} columns by class", kernel.weights
    released = opening.release(
        "release_",
        batches,
        blocks,
        name=name,
        share=1.0 - steps / opening.ledger.remaining,
        n_classes=n_classes_of(labels),
        weights=how,
    )
    return learn_start(opening, kernel, released)


def shown(kernel: ImageKernel, batches: Iterable[Any]) -> Iterator[EncodedBatch]:
    """Yield what a discriminator sees of images, at a norm of 1 at most."""
    scale = largest(kernel)
    for batch in batches:
        x = kernel.inputs(kernel.rows_of(batch)) / scale
        yield EncodedBatch(batch.labels, {Key.FEATURES: x})


def largest(kernel: ImageKernel) -> float:
    """Return the largest norm that pixels or codes can have; public."""
    return 1.0 if isinstance(kernel, CodesKernel) else math.sqrt(kernel.width)


def learn_start(opening: Opening, kernel: Any, released: Release) -> Denoised:
    """Return what the first release says; free."""
    kept, facts = opening.kept, opening.facts
    n_classes = n_classes_of(kept["_labels"])
    if isinstance(kernel, ImageKernel):
        counts = released.values[Key.CLASSES][:, 0]
        totals = project_to_total(counts, max(float(counts.sum()), 1.0))
        noise = released.noise_std[Key.CLASSES] * math.sqrt(n_classes)
        means = None
        if Key.FEATURES in released.values:
            each = np.maximum(totals, 1.0)[:, None] / largest(kernel)
            ends = (-1.0, 1.0) if isinstance(kernel, CodesKernel) else (0.0, 1.0)
            means = np.clip(released.values[Key.FEATURES] / each, *ends)
        return Denoised(totals, noise, {}, None, ({},), {}, noisy=means)
    known: Denoised = kernel.learn(
        released,
        kept["cells_"],
        facts,
        n_classes=n_classes,
        n_rows=facts.public_total(released.adjacency, kept["_labels"]),
        seed=kept["_seed"],
    )
    return known
