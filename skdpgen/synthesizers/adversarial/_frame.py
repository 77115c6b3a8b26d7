"""What a private GAN pays for before it plays: class counts, and columns by class."""

import math
from typing import Any

import torch

from skdpgen.privacy import Release
from skdpgen.synthesizers.embedding import ImageKernel, RowKernel, pooling_of
from skdpgen.synthesizers.models import Denoised
from skdpgen.synthesizers.opening import Opening, discover_bins, n_classes_of
from skdpgen.tables import ImageLayout
from skdpgen.training import project_to_total
from skdpgen.utils import Key

COLUMNS, COUNTS = 0.5, 0.98  # of mu², at most, for steps beside either first release


def game_share(start: str | None) -> float:
    """Return the part of the budget that steps get beside the first release."""
    return COLUMNS if start == "columns" else COUNTS


def release_start(opening: Opening, settings: Any, *, steps: float) -> Denoised:
    """Release what the generator starts with, with all but the share of the steps.

    That is how many rows each class has and, of tables that start from columns, their
    histograms by class (proofs: :class:`~skdpgen.privacy.Counts`,
    :class:`~skdpgen.privacy.Histograms`).
    """
    cells, labels = discover_bins(opening)
    layout = opening.facts.layout
    kernel: Any
    if isinstance(layout, ImageLayout):
        kernel = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    elif settings.start == "columns":
        kernel = RowKernel.of(cells, lambda *_: None, layout="binned", share=0.0)
    else:
        kernel = RowKernel.of(cells, lambda *_: None, layout="whole", share=1.0)
    opening.keep(cells_=cells, _labels=labels, kernel_=kernel)
    batches: Any = opening.rows.batches(cells, labels)
    name, how = "rows of each class", {}
    if getattr(kernel, "counted", ()):
        batches = kernel.encode(batches, torch.device("cpu"))
        name, how = f"histograms of {len(cells)} columns by class", kernel.weights
    released = opening.release(
        "release_",
        batches,
        kernel.blocks,
        name=name,
        share=1.0 - steps / opening.ledger.remaining,
        n_classes=n_classes_of(labels),
        weights=how,
    )
    return learn_start(opening, kernel, released)


def learn_start(opening: Opening, kernel: Any, released: Release) -> Denoised:
    """Return what the first release says; free."""
    kept, facts = opening.kept, opening.facts
    n_classes = n_classes_of(kept["_labels"])
    if isinstance(kernel, ImageKernel):
        counts = released.values[Key.CLASSES][:, 0]
        totals = project_to_total(counts, max(float(counts.sum()), 1.0))
        noise = released.noise_std[Key.CLASSES] * math.sqrt(n_classes)
        return Denoised(totals, noise, {}, None, ({},), {})
    known: Denoised = kernel.learn(
        released,
        kept["cells_"],
        facts,
        n_classes=n_classes,
        n_rows=facts.public_total(released.adjacency, kept["_labels"]),
        seed=kept["_seed"],
    )
    return known
