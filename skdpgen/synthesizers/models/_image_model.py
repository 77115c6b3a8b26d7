"""From a released embedding of images to a trained generator, and its images."""

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import grid_sample, interpolate

from skdpgen.networks import ImageGenerator, ImageShape
from skdpgen.privacy import Release
from skdpgen.synthesizers.models._denoised import (
    LEAST_CLASS_SHARE,
    Denoised,
    summed_groups,
)
from skdpgen.synthesizers.presets._settings import ImageSettings
from skdpgen.training import (
    Checkpoints,
    Goal,
    LossWeight,
    Steps,
    match_embedding,
    normal,
    project_to_total,
    sobol,
)
from skdpgen.utils import (
    Key,
    saved,
    torch_generator,
)

# ----------------------------------------------------------------------------
# Deformations that leave the content of any image the same: a public prior.

DEFORMED_AT_ONCE = 4096
SIZES = ("shift", "turn", "shear", "zoom", "warp")


@saved("deformations")
@dataclass(frozen=True)
class Deformations:
    """Small random shifts, turns, shears, zooms and elastic warps of images.

    Each number is a standard deviation; lengths are parts of an image's side.

    Parameters
    ----------
    shift : float, default=0.036
        Along each axis.
    turn : float, default=8.0
        In degrees.
    shear : float, default=0.12
        How far the top is moved against the bottom, relative to their distance.
    zoom : float, default=0.08
        Logarithm of the enlargement, of each axis by itself.
    warp : float, default=0.03
        How far points move that are ``n_waves`` to a side, smooth in between.
    n_waves : int, default=5

    Examples
    --------
    >>> images = torch.zeros(2, 1, 8, 8)
    >>> Deformations()(images, torch.Generator().manual_seed(0)).shape
    torch.Size([2, 1, 8, 8])
    """

    shift: float = 0.036
    turn: float = 8.0
    shear: float = 0.12
    zoom: float = 0.08
    warp: float = 0.03
    n_waves: int = 5

    def times(self, factor: float) -> "Deformations":
        """Return weaker or stronger ones of the same kind.

        Examples
        --------
        >>> Deformations().times(0.5).turn
        4.0
        """
        sizes = {name: factor * getattr(self, name) for name in SIZES}
        return replace(self, **sizes)

    def __call__(self, images: Tensor, rng: torch.Generator) -> Tensor:
        """Deform each image independently; pixels from outside repeat the border."""
        deformed = [
            self._deformed(batch, rng) for batch in images.split(DEFORMED_AT_ONCE)
        ]
        return torch.cat(deformed) if deformed else images

    def _deformed(self, images: Tensor, rng: torch.Generator) -> Tensor:
        n, _, height, width = images.shape
        grid = _grid(height, width).to(images.dtype)
        places = (grid @ self._maps(n, rng).to(images.dtype)).unflatten(
            1, (height, width)
        )
        places = places + 2 * self.shift * _normal(rng, n, 1, 1, 2)
        waves = 2 * self.warp * _normal(rng, n, 2, self.n_waves, self.n_waves)
        smooth = interpolate(waves, (height, width), mode="bicubic", align_corners=True)
        places = places + smooth.movedim(1, -1)
        deformed: Tensor = grid_sample(
            images, places.to(images), padding_mode="border", align_corners=False
        )
        return deformed

    def _maps(self, n: int, rng: torch.Generator) -> Tensor:
        """Return a linear map of the plane for each image, (n, 2, 2)."""
        turn = math.radians(self.turn) * _normal(rng, n)
        turned = torch.stack(
            [turn.cos(), turn.sin(), -turn.sin(), turn.cos()], dim=1
        ).unflatten(1, (2, 2))
        sheared = torch.eye(2).repeat(n, 1, 1)
        sheared[:, 1, 0] = self.shear * _normal(rng, n)
        zoomed = torch.diag_embed((self.zoom * _normal(rng, n, 2)).exp())
        return turned @ sheared @ zoomed


def _grid(height: int, width: int) -> Tensor:
    """Return the centres of pixels in [-1, 1], (height * width, 2), x before y."""
    sides = [(2 * torch.arange(k) + 1.0) / k - 1 for k in (height, width)]
    y, x = torch.meshgrid(*sides, indexing="ij")
    return torch.stack([x, y], dim=-1).flatten(0, 1)


def _normal(rng: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=rng)


# ----------------------------------------------------------------------------
# From a released embedding of images to a trained generator, and its images.

Floats = NDArray[np.float64]
IMAGES_AT_ONCE = 1024
IMAGES_FOR_SIZE = 512  # from which the typical size of the function is estimated
LEAST_SIZE_PART = 0.25  # of that; hardly any real image is below
ROUNDS = 8
NEAR_END = 0.05  # of black or white: a sigmoid never gets there, real pixels mostly do
CLEAR_CLASS = 100.0  # times the noise of its embedding: enough for a generator each
MOST_FEATURES = 100_000  # that are formed for an image


@dataclass(frozen=True, eq=False)
class Density:
    """The released function: large where there are many images of a class.

    A generator can fit the noise with images that are unlike any real one. The function
    is near 0 at such images. It is computed from a release, so evaluating it uses no
    budget.

    Parameters
    ----------
    kernel : ImageKernel
    means : Tensor of shape (n_classes, n_features)
        Released mean features of each class.
    """

    kernel: Any
    means: torch.Tensor

    @classmethod
    def of(cls, kernel: Any, denoised: Denoised) -> "Density | None":
        """Return the density, or None if it has too many features for single images."""
        if kernel.phi is None or kernel.phi.n_features > MOST_FEATURES:
            return None
        means = denoised.noisy / np.maximum(denoised.shares, LEAST_CLASS_SHARE)[:, None]
        return cls(kernel, torch.as_tensor(means).float())

    def __call__(self, pixels: torch.Tensor, label: int) -> torch.Tensor:
        """Return the function at some images."""
        features = self.kernel.phi(self.kernel.view(pixels))
        values: torch.Tensor = features @ self.means[label]
        return values


@saved("model.image")
@dataclass(frozen=True, eq=False)
class ImageModel:
    """A generator of images, and the parameters of drawing from it.

    Parameters
    ----------
    generator : ImageGenerator
    totals : ndarray of shape (n_classes,)
    least : ndarray of shape (n_classes,) or None
        An image at which the released function is smaller is replaced by a new one.
    deform : Deformations or None
        What is done to images at the end.
    """

    generator: ImageGenerator
    totals: Floats
    least: Floats | None = None
    deform: Deformations | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        shape = self.generator.shape
        return shape.channels, shape.height, shape.width

    def draw(
        self,
        labels: NDArray[np.integer[Any]],
        deform: Deformations | None = None,
        *,
        rng: Generator,
        density: Density | None = None,
    ) -> NDArray[np.float32]:
        """Draw the pixels of images with the given labels, in [0, 1]."""
        deform = deform or self.deform
        shape = self.generator.shape
        pixels = np.empty((len(labels), shape.n_pixels), dtype=np.float32)
        public = torch_generator(rng)
        for label in np.unique(labels):
            places = rng.permutation(np.flatnonzero(labels == label))
            latents = normal(sobol(len(places), shape.n_latent, public)).float()
            for first in range(0, len(places), IMAGES_AT_ONCE):
                batch = slice(first, first + IMAGES_AT_ONCE)
                drawn = self._draw(latents[batch], int(label))
                if density is not None and self.least is not None:
                    self._redraw_unlikely(drawn, int(label), density, public)
                pixels[places[batch]] = drawn.numpy()
        pixels[pixels < NEAR_END] = 0.0
        pixels[pixels > 1.0 - NEAR_END] = 1.0
        if deform is not None:
            images = torch.from_numpy(pixels).unflatten(1, self.shape)
            pixels = deform(images, public).flatten(1).numpy()
        return pixels

    def _draw(self, latents: torch.Tensor, label: int) -> torch.Tensor:
        labels = torch.full((len(latents),), label)
        with torch.no_grad():
            pixels: torch.Tensor = self.generator(latents, labels)[0]
        return pixels

    def _redraw_unlikely(
        self, pixels: torch.Tensor, label: int, density: Density, rng: torch.Generator
    ) -> None:
        """Replace images that are unlike their class, in a few rounds at most."""
        rejected = torch.arange(len(pixels))
        assert self.least is not None
        for _ in range(ROUNDS):
            rejected = rejected[
                density(pixels[rejected], label) < float(self.least[label])
            ]
            if not len(rejected):
                return
            latents = torch.randn(
                len(rejected), self.generator.shape.n_latent, generator=rng
            )
            pixels[rejected] = self._draw(latents, label)


def learn_images(
    released: Release, *, n_classes: int, n_rows: float | None
) -> Denoised:
    """Read a release of images: class counts, and the embedding to match."""
    joined = summed_groups(released, n_classes)
    counts = joined.values[Key.CLASSES][:, 0]
    total_std = joined.noise_std[Key.CLASSES] * np.sqrt(n_classes)
    totals = project_to_total(counts, n_rows or max(float(counts.sum()), 1.0))
    n = totals.sum()
    noisy, std = joined.values[Key.FEATURES] / n, joined.noise_std[Key.FEATURES] / n
    groups = released.values[Key.FEATURES].reshape(-1, *noisy.shape)
    groups = [len(groups) * group / n for group in groups]
    return Denoised(
        totals,
        total_std,
        {},
        None,
        tuple({Key.FEATURES: group} for group in groups),
        {},
        energy=max(float((noisy**2).sum()) - noisy.size * std**2, 0.0),
        noisy=noisy,
        noise_std=std,
    )


def train_images(
    denoised: Denoised,
    kernel: Any,
    settings: ImageSettings,
    *,
    mix: Floats | None,
    device: torch.device,
    seed: int,
    moving_rate: float | None = None,
    score: Callable[[torch.nn.Module], float] | None = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> tuple[ImageModel, list[float]]:
    """Train a generator on a denoised release; the same seed gives the same one.

    With a ``score`` of generators, the checkpoint with the lowest score is kept.
    """
    rng = torch.Generator().manual_seed(seed)
    if settings.models == "auto":
        # the typical norm of the embedding of a class
        size = math.sqrt(denoised.energy / len(denoised.totals))
        is_clear = size >= CLEAR_CLASS * denoised.noise_std
        models = "parallel" if is_clear else "conditional"
        settings = replace(settings, models=models)
    generator = new_generator(kernel, settings, len(denoised.totals), rng).to(device)
    per_energy = 1.0 / (denoised.energy or 1.0)

    def tensor(values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=device)

    goal = Goal(
        [{name: tensor(block) for name, block in t.items()} for t in denoised.targets],
        tensor(denoised.shares),
        {Key.FEATURES: LossWeight(per_energy, per_energy)},
        denoised.noise_energy,
        None if mix is None else tensor(mix),
        [part[:2] for part in kernel.phi.parts] if moving_rate else (),
    )
    mixed = torch.autocast(
        device.type,
        dtype=torch.bfloat16,
        enabled=settings.precision == "mixed",
        cache_enabled=False,  # it would keep the first weights throughout
    )
    with mixed, generator.even_classes():
        losses = match_embedding(
            generator,
            [kernel.embedding(device, rng)],
            goal,
            Steps.of(settings, float(denoised.totals.sum()), moving_rate),
            rng=rng,
            is_fixed=not getattr(kernel.phi, "is_opaque", False),
            checkpoints=None if score is None else Checkpoints(score),
            progress=progress,
        )
    model = ImageModel(generator.cpu().eval(), denoised.totals)
    density = Density.of(kernel, denoised)
    if density is None:
        return model, losses
    typical = []
    for label in range(len(denoised.totals)):
        latents = torch.randn(IMAGES_FOR_SIZE, settings.n_latent, generator=rng)
        values = density(model._draw(latents, label), label)
        typical.append(max(float(values.mean()), 0.0))
    return replace(model, least=LEAST_SIZE_PART * np.array(typical)), losses


def new_generator(
    kernel: Any, settings: ImageSettings, n_classes: int, rng: torch.Generator
) -> ImageGenerator:
    """Return an untrained generator."""
    channels, height, width = kernel.layout.size
    shape = ImageShape(
        channels,
        height,
        width,
        n_classes=n_classes,
        n_latent=settings.n_latent,
        architecture="coded" if kernel.decoder else settings.network,
        hidden=settings.hidden_layer_sizes,
        code=(*kernel.phi.code, kernel.pooling) if kernel.decoder else None,
        is_parallel=settings.models != "conditional",
    )
    generator = ImageGenerator(shape, rng=rng)
    if generator.decoder is not None:
        generator.decoder.take(kernel.decoder)
    return generator


# ----------------------------------------------------------------------------
# A generator of codes, and the way back to images.

CODES_AT_ONCE = 1024


@saved("model.codes")
@dataclass(frozen=True, eq=False)
class CodesModel:
    """Images decoded from generated codes.

    Parameters
    ----------
    generator : ImageGenerator
        Of one line of numbers in [0, 1].
    totals : ndarray of shape (n_classes,)
    lens : Lens
        With a decoder.
    reach : float
        Outputs from 0 to 1 mean codes from minus to plus this number.
    shape : tuple of int
        Channels, height and width of an image.
    """

    generator: ImageGenerator
    totals: Floats
    lens: Any
    reach: float
    shape: tuple[int, int, int]

    def draw(
        self, labels: NDArray[np.integer[Any]], *, rng: Generator, **unused: Any
    ) -> NDArray[Any]:
        """Draw the pixels of images with the given labels, in [0, 1]."""
        del unused  # there is no density of images
        pixels = np.empty((len(labels), int(np.prod(self.shape))), dtype=np.float32)
        public, lens = torch_generator(rng), copy.deepcopy(self.lens)
        for label in np.unique(labels):
            places = rng.permutation(np.flatnonzero(labels == label))
            n_latent = self.generator.shape.n_latent
            latents = normal(sobol(len(places), n_latent, public)).float()
            for first in range(0, len(places), CODES_AT_ONCE):
                batch = slice(first, first + CODES_AT_ONCE)
                label_codes = torch.full((len(latents[batch]),), int(label))
                with torch.no_grad():
                    (outputs,) = self.generator(latents[batch], label_codes)
                    codes = self.reach * (2.0 * outputs - 1.0)
                    images = lens.decode(codes, self.shape)
                pixels[places[batch]] = images.float().flatten(1).clamp(0, 1).numpy()
        return pixels
