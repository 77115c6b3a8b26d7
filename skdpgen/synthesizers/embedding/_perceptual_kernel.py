"""The kernel of images through a lens: perceptual features, and when to stop."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor, nn

from skdpgen.features import FourierFeatures, JointFeatures
from skdpgen.lenses import PerceptualMap, clipped
from skdpgen.privacy import Vectors
from skdpgen.synthesizers.embedding._image_kernel import (
    ImageKernel,
    n_seen,
    pooling_of,
    size_seen,
)
from skdpgen.synthesizers.embedding._private_encoder import Encoding, encoder_of
from skdpgen.synthesizers.models import Denoised, ImageModel, train_images
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.synthesizers.presets import pixel_scales
from skdpgen.tables import Cells
from skdpgen.training import Latents
from skdpgen.utils import Key, saved

# ----------------------------------------------------------------------------
# A lens that is learnt from private images, by DP-SGD: where no public one serves.


@saved
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
        first, bias, second, other = (one.to(images) for one in self.weights)
        units = torch.tanh(images.flatten(1) @ first.T + bias)
        codes = torch.tanh(units @ second.T + other)
        return (1.0 + torch.cat([units, codes], dim=1)) / 2.0

    def encode(self, images: Tensor) -> Tensor:
        """Return the same, of norm 1 at most."""
        found = self.features(images)
        return clipped(found / found.shape[1] ** 0.5)

    def to(self, device: torch.device) -> "PrivateLens":
        """Return the same lens on another device."""
        return replace(self, weights=tuple(one.to(device) for one in self.weights))

    def double(self) -> "PrivateLens":
        """Return the same lens in double precision."""
        return replace(self, weights=tuple(one.double() for one in self.weights))


def private_lens(
    opening: Opening,
    labels: Cells | None,
    settings: Any,
    *,
    share: float,
    rng: Generator,
) -> PrivateLens:
    """Pay ``share`` for a lens of what ``pooling`` shows of images."""
    layout: Any = opening.facts.layout
    bare = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    network = encoder_of(opening, labels, bare, share=share, rng=rng)
    first, _, second, _ = network.encoder
    weights = first.weight, first.bias, second.weight, second.bias
    return PrivateLens(tuple(weight.detach() for weight in weights))


# ----------------------------------------------------------------------------
# The kernel of images through a lens: perceptual features, and when to stop.

N_SCORED = 100  # images of each class that a checkpoint is scored by
MOVING_RATE = 1e-3
N_WAVES = 4000  # Fourier features of pixels
EARLY = 4  # how many times fewer steps are enough to compare samples by


@saved
@dataclass(frozen=True, eq=False)
class PerceptualKernel(ImageKernel):
    """An :class:`ImageKernel` whose training may stop at a second release.

    Parameters
    ----------
    stopping : ndarray of shape (n_classes, n_latent) or None
        Released sums of the lens's codes.
    codes : CodeMap or None
        What gives codes of images.
    """

    stopping: Any = None
    codes: Any = None

    def train(
        self, known: Denoised, settings: Any, **how: Any
    ) -> tuple[ImageModel, list[float]]:
        """Return a generator trained on what is known, and its losses."""
        return train_images(
            known,
            self,
            settings,
            moving_rate=MOVING_RATE if settings.loss == "moving_average" else None,
            score=None if self.stopping is None else self._score(known, settings, how),
            **how,
        )

    def _score(self, known: Denoised, settings: Any, how: Any) -> Any:
        """Return how far the codes of a generator's images are from the released."""
        n_classes, device = len(known.totals), how["device"]
        rng = torch.Generator().manual_seed(how["seed"])
        fixed = Latents(N_SCORED, settings.n_latent, n_classes=n_classes, rng=rng)
        latents, labels = fixed.draw().to(device), fixed.labels.to(device)
        codes = self.codes.to(device)
        per_row = self.stopping / known.totals.sum()
        wanted = torch.as_tensor(per_row).float().to(device)
        shares = torch.as_tensor(known.shares).float().to(device)[:, None]

        def score(generator: nn.Module) -> float:
            seen = self.view(generator(latents, labels)[0])
            found = codes(seen).unflatten(0, (n_classes, -1)).mean(dim=1)
            return float((wanted - shares * found).square().sum())

        return score


@saved
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
        """How many numbers one row takes, about."""
        return self.phi.row_size

    @property
    def is_opaque(self) -> bool:
        """Whether rows must go through one by one."""
        return self.phi.is_opaque

    @property
    def block(self) -> Vectors:
        """How privacy sums them."""
        return Vectors(self.n_features, 1.0, bool(self.phi.lens.is_nonnegative))

    def __call__(self, x: Tensor) -> Tensor:
        """Map flat images."""
        found: Tensor = self.phi.lens.encode(x.unflatten(1, self.phi.shape))
        return found

    def to(self, device: torch.device) -> "CodeMap":
        """Return the same map on another device."""
        return CodeMap(self.phi.to(device))

    def double(self) -> "CodeMap":
        """Return the same map in double precision."""
        return CodeMap(self.phi.double())


def perceptual_kernel(
    opening: Opening,
    cells: Any,
    labels: Cells | None,
    settings: Any,
    *,
    lens: Any,
    device: torch.device,
    rng: torch.Generator,
) -> PerceptualKernel:
    r"""Return the kernel of a lens; pay for codes to stop by, if there are to be any.

    Fourier features of pixels stand beside those of the lens, in the same norm: each
    part is charged by its own signs (:class:`~skdpgen.privacy.SideBySide`).

    *Why it is private.* What training stops at is a release of its own: the mean of
    codes by class, clipped to norm 1, with ``settings.stopping_budget`` of the budget.
    A generator is scored against it as often as wanted. (The paper's proxy was
    computed from private images without noise.)
    """
    layout: Any = opening.facts.layout
    pooling = pooling_of(layout.size, settings.pooling)
    seen = PerceptualMap(lens, size_seen(layout.size, pooling), settings.second_norm)
    phi, share = seen, settings.pixel_norm
    if share:
        waves = FourierFeatures.draw(
            (n_seen(layout.size, pooling),),
            N_WAVES,
            length_scale=pixel_scales("public", n_seen(layout.size, pooling)),
            rng=rng,
        )
        phi = JointFeatures((seen, waves), (1.0 - share, share))
    adjacency = opening.ledger.budget.adjacency
    kernel: Any = PerceptualKernel.of(phi, layout, adjacency, pooling=pooling)
    if not settings.stopping_budget:
        return kernel
    coded = replace(kernel, phi=CodeMap(seen))
    found = opening.release(
        "stopping_release_",
        opening.rows.batches(cells, labels).through(Encoding(coded, device)),
        {Key.FEATURES: coded.phi.block},
        name="means of codes by class, to stop by",
        share=settings.stopping_budget,
        n_classes=n_classes_of(labels),
    )
    return replace(kernel, stopping=found.values[Key.FEATURES], codes=coded.phi)


def early_model(opening: Opening, *, device: torch.device) -> ImageModel:
    """Return a model that is trained for a fraction of its steps on what was released.

    It is made of a release alone, while rows are still open to be asked about it.
    """
    kept = opening.kept
    labels, kernel, settings = kept["_labels"], kept["kernel_"], kept["settings_"]
    released = kept["release_"]
    known = kernel.learn(
        released,
        {},
        opening.facts,
        n_classes=n_classes_of(labels),
        n_rows=opening.facts.public_total(released.adjacency, labels),
        seed=kept["_seed"],
    )
    few = replace(settings, max_iter=settings.max_iter // EARLY)
    model, _ = kernel.train(known, few, mix=None, device=device, seed=kept["_seed"])
    return model  # type: ignore[no-any-return]
