"""DP-Kernel step by step: a generator that follows noisy slopes at its own points."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch

from skdpgen.privacy import Release, functional_oracle
from skdpgen.synthesizers.embedding._image_kernel import ImageKernel, pooling_of
from skdpgen.synthesizers.embedding._point_rows import PointRows
from skdpgen.synthesizers.embedding._row_kernel import RowKernel
from skdpgen.synthesizers.opening import Opening, discover_bins, n_classes_of
from skdpgen.synthesizers.presets import pixel_scales
from skdpgen.tables import ImageLayout
from skdpgen.training import descend, project_to_total
from skdpgen.utils import Key

SLOPES_SHARE = 0.98  # of mu², at most; the rest says how many rows each class has


def keep_points(opening: Opening, settings: Any) -> None:
    """Choose cells, and a kernel that makes points of rows and sums class counts."""
    cells, labels = discover_bins(opening)
    layout = opening.facts.layout
    kernel: Any
    if isinstance(layout, ImageLayout):
        kernel = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    else:
        kernel = RowKernel.of(cells, lambda *_: None, layout="whole", share=1.0)
    opening.keep(cells_=cells, _labels=labels, kernel_=kernel)


def release_counts(opening: Opening, *, steps: float) -> Release:
    """Release how many rows each class has, with all but the steps' share."""
    kept = opening.kept
    return opening.release(
        "release_",
        opening.rows.batches(kept["cells_"], kept["_labels"]),
        kept["kernel_"].blocks,
        name="rows of each class",
        share=1.0 - steps / opening.ledger.remaining,
        n_classes=n_classes_of(kept["_labels"]),
    )


def train_by_slopes(
    opening: Opening,
    counts: Release,
    *,
    share: float,
    is_balanced: bool,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> tuple[float, float]:
    """Train a generator with a fixed share of the budget; keeps it and its losses.

    ``opening`` keeps the kernel, cells and labels, the settings and the seed already.
    Returns how many rows have a class, and the noise of that number.
    """
    kept = opening.kept
    kernel, settings, seed = kept["kernel_"], kept["settings_"], kept["_seed"]
    rng = torch.Generator().manual_seed(seed)
    batches = opening.rows.batches(kept["cells_"], kept["_labels"])
    points = PointRows(kernel, batches)
    noisy = counts.values[Key.CLASSES][:, 0]
    totals = project_to_total(noisy, max(float(noisy.sum()), 1.0))
    model = kernel.untrained(totals, settings, kept["cells_"], rng)
    scales = pixel_scales(settings.length_scale, kernel.width)
    with functional_oracle(
        points,
        opening.ledger,
        name=f"slopes of the kernel mean of {kernel.certificate_name}",
        share=share,
        sampling_rate=settings.sampling_rate,
        n_steps=settings.max_iter,
        length_scales=scales,
        width=kernel.width,
        expected_rows=opening.facts.n_rows,
    ) as slopes:
        losses = descend(
            model.generator.to(device),
            slopes,
            kernel.points,
            shares=totals / totals.sum(),
            is_balanced=is_balanced,
            length_scales=scales,
            n_points=2 * (settings.n_points // 2),
            n_latent=settings.n_latent,
            max_iter=settings.max_iter,
            learning_rate=settings.learning_rate,
            rng=torch.Generator().manual_seed(seed),
            device=device,
            progress=progress,
        )
    points.close()
    model.generator.cpu()
    opening.keep(_model=model, loss_curve_=losses, n_iter_=len(losses))
    noise = counts.noise_std[Key.CLASSES] * math.sqrt(len(model.totals))
    return model.totals.sum(), noise
