"""Training on rows: slopes of the kernel mean, and an auto-encoder by DP-SGD."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from skdpgen.features import EncodedFeatures, FourierFeatures
from skdpgen.networks import AutoEncoder
from skdpgen.privacy import Ledger, Release, functional_oracle
from skdpgen.synthesizers.embedding._image_kernel import (
    ImageKernel,
    PointRows,
    Points,
    pooling_of,
)
from skdpgen.synthesizers.embedding._measured import MeasuredEmbedding
from skdpgen.synthesizers.embedding._row_kernel import RowKernel
from skdpgen.synthesizers.models import class_factors
from skdpgen.synthesizers.opening import Fitting, Opening, discover_bins, n_classes_of
from skdpgen.synthesizers.presets import (
    FourierImageSettings,
    KernelImageSettings,
    KernelSettings,
    pixel_scales,
)
from skdpgen.tables import Cells, EncodedBatch, ImageLayout
from skdpgen.training import descend, descend_privately, project_to_total
from skdpgen.utils import (
    Key,
    asked,
    has_role,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# A kernel as a step of an encoder: from cells or pixels to the summands of a release.

DEVICE = re.compile(r"(cpu|cuda)(:\d{1,3})?")


@asked("step")
@saved("step.encoding")
@dataclass(frozen=True, eq=False)
class Encoding:
    """Rows through the map of a kernel, a few at a time, on a device."""

    kernel: Any  # RowKernel or ImageKernel; of another party anything, until checked
    device: torch.device | str

    def check_asked(self) -> None:
        """Check the fields of a step that another party sent."""
        is_device = type(self.device) is str and DEVICE.fullmatch(self.device)
        is_fine = has_role(self.kernel, "kernel") and is_device
        refuse_unless(is_fine, "a kernel on rows, and a device")

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield the summands of the kernel's blocks, row by row."""
        parts: Iterator[EncodedBatch] = self.kernel.encode(
            batches, torch.device(self.device)
        )
        return parts


# ----------------------------------------------------------------------------
# DP-Kernel step by step: a generator that follows noisy slopes at its own points.

SLOPES_SHARE = 0.98  # of mu², at most; the rest pays for the counts of classes


def keep_points(
    opening: Fitting[MeasuredEmbedding],
    settings: KernelSettings | KernelImageSettings,
    *,
    seed: int,
) -> None:
    """Choose cells, and a kernel that makes points of rows and sums class counts."""
    cells, labels = discover_bins(opening)
    layout = opening.facts.layout
    kernel: ImageKernel | RowKernel
    if isinstance(layout, ImageLayout):
        assert isinstance(settings, KernelImageSettings)
        kernel = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    else:
        kernel = RowKernel.of(cells, lambda *_: None, layout="whole", share=1.0)
    opening.measured = MeasuredEmbedding(
        cells=cells, labels=labels, seed=seed, kernel=kernel, settings=settings
    )


def release_counts(opening: Fitting[MeasuredEmbedding], *, steps: float) -> Release:
    """Release how many rows each class has, with all but the steps' share."""
    measured = opening.measured
    return opening.release_main(
        opening.rows.batches(measured.cells, measured.labels),
        measured.kernel.blocks,
        name="rows of each class",
        share=1.0 - steps / opening.ledger.remaining,
        n_classes=n_classes_of(measured.labels),
    )


def train_by_slopes(
    opening: Fitting[MeasuredEmbedding],
    counts: Release,
    *,
    share: float,
    class_weight: str | Mapping[Any, float] | None,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> tuple[Any, list[float], float]:
    """Train a generator with a fixed share of the budget.

    Returns it with its losses, and the noise of the number of rows with a class.
    """
    measured = opening.measured
    kernel, settings, seed = measured.kernel, measured.settings, measured.seed
    rng = torch.Generator().manual_seed(seed)
    batches = opening.rows.batches(measured.cells, measured.labels)
    points = PointRows(kernel, batches)
    noisy = counts.values[Key.CLASSES][:, 0]
    totals = project_to_total(noisy, max(float(noisy.sum()), 1.0))
    model = kernel.untrained(totals, settings, measured.cells, rng)
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
        shares = totals / totals.sum()
        labels = opening.facts.classes or ()
        losses = descend(
            model.generator.to(device),
            slopes,
            kernel.points,
            shares=shares,
            factors=class_factors(class_weight, labels, shares),
            length_scales=scales,
            n_points=2 * (settings.batch_size // 2),
            n_latent=settings.n_latent,
            max_iter=settings.max_iter,
            learning_rate=settings.learning_rate,
            schedule=settings.schedule,
            optimizer=settings.optimizer,
            rng=torch.Generator().manual_seed(seed),
            device=device,
            progress=progress,
        )
    points.close()
    model.generator.cpu()
    noise = counts.noise_std[Key.CLASSES] * math.sqrt(len(model.totals))
    return model, losses, noise


# ----------------------------------------------------------------------------
# An auto-encoder trained by DP-SGD, so that features of its codes may be released.

N_UNITS, N_CODES = 200, 50
STEPS, RATE = 300, 0.01  # public
ENCODER_SHARE = 0.5  # of mu²
GRADIENT_NORM = 0.03  # where it is clipped; the loss is a mean over pixels
LEARNING_RATE, MOMENTUM = 4.0, 0.9
QUIET_ENTRY_NOISE = 3e-4  # of a gradient; above, the learning rate is reduced
SIAMESE_MARGIN, SIAMESE_WEIGHT = 1.0, 0.1  # of the part that separates classes


class Pairs:
    """Rows in pairs, in their order: no row is in two pairs."""

    def __init__(self, rows: PointRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._rows) // 2

    def take(self, indices: NDArray[np.intp]) -> tuple[Points, Points]:
        """Return both rows of the pairs at ``indices``."""
        return self._rows.take(2 * indices), self._rows.take(2 * indices + 1)


class Alone:
    """Every row paired with itself: used where an added row must not move others."""

    def __init__(self, rows: PointRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def take(self, indices: NDArray[np.intp]) -> tuple[Points, Points]:
        """Return the rows at ``indices``, twice."""
        rows = self._rows.take(indices)
        return rows, rows


class Compared:
    """Pairs as tensors: pixels of both rows, and whether their labels are the same."""

    def __init__(self, pairs: Pairs | Alone) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._pairs)

    def take(
        self, indices: NDArray[np.intp]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Return pixels of both rows, and whether their labels are the same."""
        first, second = self._pairs.take(indices)
        return first.x, second.x, first.labels == second.labels


def train_autoencoder(
    rows: PointRows,
    ledger: Ledger,
    *,
    share: float,
    n_pixels: int,
    n_rows: float,
    adjacency: str,
    rng: torch.Generator,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> AutoEncoder:
    r"""Train an auto-encoder on a secret sample of pairs at each of ``STEPS`` steps.

    The loss of a pair is the reconstruction error of both rows and, as the Siamese
    part, the distance of their codes if they have the same class, or their closeness
    if they do not.

    *Why it is private.* Pairs are disjoint and depend on the place in the table only,
    so a row that is replaced changes one pair: one vector of a sum, clipped to
    ``GRADIENT_NORM``. If a row were added, all later pairs would shift; so under
    ``"add_remove"`` each row is paired with itself, and the Siamese part is 0. The rest
    is DP-SGD (:func:`~skdpgen.training.private_descent`).
    """
    is_paired = adjacency == "replace"
    pairs = Pairs(rows) if is_paired else Alone(rows)
    expected = max(n_rows / 2 if is_paired else n_rows, 1.0)
    network = AutoEncoder(n_pixels, N_UNITS, N_CODES, rng=rng)
    width = sum(weight.numel() for weight in network.parameters())

    def loss(
        call: Callable[..., tuple[Tensor, Tensor]], pair: tuple[Tensor, Tensor, Tensor]
    ) -> Tensor:
        first, second, is_same = pair
        images = torch.stack([first, second])
        codes, pixels = call(images)
        error = (pixels - images).square().mean()
        gap = (codes[0] - codes[1]).square().sum().add(1e-12).sqrt()
        apart = (SIAMESE_MARGIN - gap).clamp_min(0.0).square()
        return error + SIAMESE_WEIGHT * torch.where(is_same, gap.square(), apart)

    return descend_privately(
        network,
        loss,
        Compared(pairs),
        ledger,
        name="auto-encoder, by DP-SGD" + (" on pairs" if is_paired else ""),
        share=share,
        sampling_rate=RATE,
        n_steps=STEPS,
        norm_bound=GRADIENT_NORM,
        expected_rows=expected,  # public, or released
        learning_rate=LEARNING_RATE,
        momentum=MOMENTUM,  # not Adam: it would scale noise up as much as gradients
        quiet=QUIET_ENTRY_NOISE * math.sqrt(width) / GRADIENT_NORM,
        is_smooth=True,
        progress=progress,
    )


def code_scale(length_scale: float, n_pixels: int) -> float:
    """Return a length scale of codes from one of pixels, by the cubes' diagonals.

    Examples
    --------
    >>> code_scale(5.0, 200)
    5.0
    """
    return 2.0 * length_scale * math.sqrt(N_CODES / n_pixels)


# ----------------------------------------------------------------------------
# Features of the codes of a privately trained auto-encoder.


def encoded_kernel(
    opening: Opening,
    labels: Cells | None,
    settings: FourierImageSettings,
    *,
    share: float,
    rng: Generator,
) -> ImageKernel:
    """Pay ``share`` for an encoder; return the kernel of Fourier features of codes."""
    layout: Any = opening.facts.layout
    bare = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    network = encoder_of(opening, labels, bare, share=share, rng=rng)
    scales = pixel_scales(settings.length_scale, bare.width)
    phi = FourierFeatures.draw(
        (N_CODES,),
        settings.n_features,
        length_scale=[code_scale(scale, bare.width) for scale in scales],
        rng=rng,
    )
    encoded = EncodedFeatures(phi, layers_of(network))
    decoder = {k: v.detach() for k, v in network.decoder.state_dict().items()}
    return ImageKernel.of(
        encoded,
        layout,
        opening.ledger.budget.adjacency,
        pooling=bare.pooling,
        decoder=decoder,
    )


def layers_of(network: AutoEncoder) -> tuple[Tensor, ...]:
    """Return weight and bias of both layers of the encoder, without their graph."""
    first, _, second, _ = network.encoder
    assert isinstance(first, nn.Linear)
    assert isinstance(second, nn.Linear)
    weights = first.weight, first.bias, second.weight, second.bias
    return tuple(weight.detach() for weight in weights)


def encoder_of(
    opening: Opening,
    labels: Cells | None,
    bare: ImageKernel,
    *,
    share: float,
    rng: Generator,
) -> AutoEncoder:
    """Pay ``share`` for an auto-encoder of the points of a kernel without features."""
    points = PointRows(bare, opening.rows.batches({}, labels))
    network = train_autoencoder(
        points,
        opening.ledger,
        share=share,
        n_pixels=bare.width,
        n_rows=opening.facts.n_rows,
        adjacency=opening.ledger.budget.adjacency,
        rng=rng,
        progress=opening.training_of_encoder,
    )
    points.close()
    return network
