"""The kernel of images through a lens: perceptual features, and early stopping."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from skdpgen.features import FourierFeatures, JointFeatures
from skdpgen.lenses import PerceptualMap, clipped
from skdpgen.privacy import Moments
from skdpgen.synthesizers.embedding._image_kernel import (
    ImageKernel,
    n_seen,
    pooling_of,
    size_seen,
)
from skdpgen.synthesizers.embedding._measured import MeasuredEmbedding
from skdpgen.synthesizers.embedding._private_encoder import (
    Encoding,
    encoder_of,
    layers_of,
)
from skdpgen.synthesizers.models import Denoised, ImageModel, train_images
from skdpgen.synthesizers.opening import Fitting, Opening, n_classes_of
from skdpgen.synthesizers.presets import ImageSettings, PerceptualSettings, pixel_scales
from skdpgen.tables import Cells
from skdpgen.training import Latents
from skdpgen.utils import (
    Key,
    saved,
)

# ----------------------------------------------------------------------------
# A lens that is trained on private images by DP-SGD, where no public one fits.


@saved("lens.private")
@dataclass(frozen=True, eq=False)
class PrivateLens:
    """The layers of an auto-encoder that was trained by DP-SGD: a release.

    Features are its hidden units and its codes, moved from [-1, 1] to [0, 1].

    Parameters
    ----------
    weights : tuple of Tensor
        Weight and bias of the first layer, and of the second.
    """

    weights: tuple[Tensor, ...]

    name = "layers of an auto-encoder, trained by DP-SGD"
    is_opaque = False
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def n_features(self, shape: tuple[int, int, int]) -> int:
        """Return how many features an image has."""
        del shape
        return len(self.weights[1]) + len(self.weights[3])

    def n_latent(self, shape: tuple[int, int, int]) -> int:
        """Return how many codes an image has."""
        return self.n_features(shape)

    def features(self, images: Tensor) -> Tensor:
        """Return features, between 0 and 1; differentiable."""
        first, bias, second, second_bias = (
            weight.to(images) for weight in self.weights
        )
        units = torch.tanh(images.flatten(1) @ first.T + bias)
        codes = torch.tanh(units @ second.T + second_bias)
        return (1.0 + torch.cat([units, codes], dim=1)) / 2.0

    def encode(self, images: Tensor) -> Tensor:
        """Return the same, of norm 1 at most."""
        features = self.features(images)
        return clipped(features / features.shape[1] ** 0.5)

    def to(self, device: torch.device) -> "PrivateLens":
        """Return the same lens on another device."""
        return replace(
            self, weights=tuple(weight.to(device) for weight in self.weights)
        )

    def double(self) -> "PrivateLens":
        """Return the same lens in double precision."""
        return replace(self, weights=tuple(weight.double() for weight in self.weights))


def private_lens(
    opening: Opening,
    labels: Cells | None,
    settings: ImageSettings,
    *,
    share: float,
    rng: Generator,
) -> PrivateLens:
    """Pay ``share`` for a lens of images after pooling."""
    layout: Any = opening.facts.layout
    bare = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    network = encoder_of(opening, labels, bare, share=share, rng=rng)
    return PrivateLens(layers_of(network))


# ----------------------------------------------------------------------------
# The kernel of images through a lens: perceptual features, and early stopping.

N_SCORED = 100  # images of each class that a checkpoint is scored by
N_WAVES = 4000  # Fourier features of pixels
STEPS_DIVISOR = 4  # how many times fewer are enough to compare samples by


@saved("kernel.perceptual")
@dataclass(frozen=True, eq=False)
class PerceptualKernel(ImageKernel):
    """An :class:`ImageKernel` whose training may stop at a second release.

    Parameters
    ----------
    stopping : ndarray of shape (n_classes, 2 x n_latent) or None
        Released sums of the lens's codes, and of their squares.
    codes : CodeMap or None
        What gives codes of images.
    """

    stopping: NDArray[np.float64] | None = None
    codes: "CodeMap | None" = None

    def train(
        self, denoised: Denoised, settings: Any, **how: Any
    ) -> tuple[ImageModel, list[float]]:
        """Return a generator trained on the denoised release, and its losses."""
        return train_images(
            denoised,
            self,
            settings,
            moving_rate=settings.moving_rate
            if settings.loss == "moving_average"
            else None,
            score=None
            if self.stopping is None
            else self._score(denoised, settings, how),
            **how,
        )

    def _score(
        self, denoised: Denoised, settings: Any, how: Mapping[str, Any]
    ) -> Callable[[nn.Module], float]:
        """Return how far the codes of a generator's images are from the released."""
        assert self.codes is not None
        assert self.stopping is not None
        n_classes, device = len(denoised.totals), how["device"]
        rng = torch.Generator().manual_seed(how["seed"])
        fixed = Latents(N_SCORED, settings.n_latent, n_classes=n_classes, rng=rng)
        latents, labels = fixed.draw().to(device), fixed.labels.to(device)
        codes = self.codes.to(device)
        per_row = self.stopping / denoised.totals.sum()
        target = torch.as_tensor(per_row).float().to(device)
        shares = torch.as_tensor(denoised.shares).float().to(device)[:, None]

        def score(generator: nn.Module) -> float:
            views = self.view(generator(latents, labels)[0])
            moments = codes.moments(views)
            means = moments.unflatten(0, (n_classes, -1)).mean(dim=1)
            return float((target - shares * means).square().sum())

        return score


@saved("features.codes")
@dataclass(frozen=True, eq=False)
class CodeMap:
    """The codes of a lens as a map of flat images, of norm 1 at most."""

    phi: PerceptualMap

    norm_bound = 1.0

    @property
    def n_features(self) -> int:
        """Number of codes."""
        return int(self.phi.lens.n_latent(self.phi.shape))

    @property
    def row_size(self) -> int:
        """Approximate number of values that one row takes."""
        return self.phi.row_size

    @property
    def is_opaque(self) -> bool:
        """Whether rows must be mapped one at a time."""
        return self.phi.is_opaque

    @property
    def block(self) -> Moments:
        """How codes are summed in a release: beside their squares."""
        return Moments(self.n_features)

    def moments(self, x: Tensor) -> Tensor:
        """Return codes beside their squares, scaled as the release has them."""
        codes = self(x)
        return torch.cat([codes, self.block.b * codes.square()], dim=1)

    def __call__(self, x: Tensor) -> Tensor:
        """Map flat images."""
        codes: Tensor = self.phi.lens.encode(x.unflatten(1, self.phi.shape))
        return codes

    def to(self, device: torch.device) -> "CodeMap":
        """Return the same map on another device."""
        return CodeMap(self.phi.to(device))

    def double(self) -> "CodeMap":
        """Return the same map in double precision."""
        return CodeMap(self.phi.double())


def perceptual_kernel(
    opening: Fitting[MeasuredEmbedding],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    settings: PerceptualSettings,
    *,
    lens: Any,
    device: torch.device,
    rng: torch.Generator,
) -> PerceptualKernel:
    r"""Return the kernel of a lens; pay for the codes of early stopping, if any.

    Fourier features of pixels stand beside those of the lens, in the same norm: each
    part is charged by its own signs (:class:`~skdpgen.privacy.SideBySide`).

    *Why it is private.* The criterion of early stopping is a separate release: the
    means of codes v and of :math:`v \circ v / \sqrt 2` by class, with
    ``settings.stopping_budget`` of the budget. Codes are clipped to norm 1, so a row
    that is replaced moves them by 2 at most (:class:`~skdpgen.privacy.Moments`: squares
    are free), and one that is added by :math:`\sqrt{1.5}`. Scoring a generator against
    it is post-processing. (The published code of the paper computes its proxy from
    private images without noise.)
    """
    layout: Any = opening.facts.layout
    pooling = pooling_of(layout.size, settings.pooling)
    perceptual = PerceptualMap(
        lens, size_seen(layout.size, pooling), settings.second_norm
    )
    phi: PerceptualMap | JointFeatures = perceptual
    share = settings.pixel_norm
    if share:
        waves = FourierFeatures.draw(
            (n_seen(layout.size, pooling),),
            N_WAVES,
            length_scale=pixel_scales("public", n_seen(layout.size, pooling)),
            rng=rng,
        )
        phi = JointFeatures((perceptual, waves), (1.0 - share, share))
    adjacency = opening.ledger.budget.adjacency
    kernel = PerceptualKernel.of(phi, layout, adjacency, pooling=pooling)
    if not settings.stopping_budget:
        return kernel
    code_map = CodeMap(perceptual)
    coded = replace(kernel, phi=code_map)
    stopping = opening.release(
        opening.rows.batches(cells, labels).through(Encoding(coded, device)),
        {Key.FEATURES: coded.phi.block},
        name="means and squares of codes by class, to stop by",
        share=settings.stopping_budget,
        n_classes=n_classes_of(labels),
    )
    opening.measured = replace(opening.measured, stopping_release=stopping)
    return replace(kernel, stopping=stopping.values[Key.FEATURES], codes=coded.phi)


def early_model(
    opening: Fitting[MeasuredEmbedding], *, device: torch.device
) -> ImageModel:
    """Return a model that is trained on the release for a fraction of its steps.

    It is computed from the release only, while rows are open for a later release that
    judges its samples.
    """
    measured = opening.measured
    released, labels, kernel = measured.release, measured.labels, measured.kernel
    assert released is not None
    denoised = kernel.learn(
        released,
        {},
        opening.facts,
        n_classes=n_classes_of(labels),
        n_rows=opening.facts.public_total(released.adjacency, labels),
        seed=measured.seed,
    )
    shorter = replace(
        measured.settings, max_iter=measured.settings.max_iter // STEPS_DIVISOR
    )
    model, _ = kernel.train(
        denoised, shorter, mix=None, device=device, seed=measured.seed
    )
    return model
