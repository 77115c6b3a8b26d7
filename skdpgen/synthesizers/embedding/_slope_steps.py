"""DP-Kernel step by step: a generator that follows noisy slopes at its own points."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from skdpgen.privacy import Release, functional_oracle
from skdpgen.synthesizers.embedding._image_kernel import ImageKernel, pooling_of
from skdpgen.synthesizers.embedding._point_rows import PointRows
from skdpgen.synthesizers.embedding._row_kernel import RowKernel
from skdpgen.synthesizers.opening import Opening
from skdpgen.synthesizers.presets import pixel_scales
from skdpgen.tables import Cells, ImageLayout
from skdpgen.training import descend, project_to_total


def kernel_without_features(
    opening: Opening, cells: Mapping[Any, Cells], settings: Any
) -> Any:
    """Return a kernel that sums class counts alone, and turns rows into points."""
    layout = opening.facts.layout
    if isinstance(layout, ImageLayout):
        return ImageKernel(None, layout, pooling_of(layout, settings.pooling))
    return RowKernel.of(cells, lambda *columns: None, layout="whole", share=1.0)


def train_by_slopes(
    opening: Opening,
    points: PointRows,
    counts: Release,
    *,
    share: float,
    is_balanced: bool,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    """Train a generator with a fixed share of the budget; keep it and its losses.

    ``opening`` already holds the kernel, the cells, the settings and the seed.
    """
    kept = opening.kept
    kernel, settings, seed = kept["kernel_"], kept["settings_"], kept["_seed"]
    rng = torch.Generator().manual_seed(seed)
    noisy = counts.values["classes"][:, 0]
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
    model.generator.cpu()
    opening.keep(_model=model, loss_curve_=losses, n_iter_=len(losses))
