"""A lens of filters that are learnt from patches of public images."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn.functional import adaptive_avg_pool2d, avg_pool2d, conv2d, normalize

from skdpgen.lenses._lens import Shape, finite, normalised, within_range
from skdpgen.utils import saved

FLAT_STD = 0.04  # of a patch's pixels; below, contrast is not stretched
NUMBERS_IN_CACHE = 2**20  # in the maps of the images that are taken at a time
ADDED_VARIANCE = 0.1  # before whitening; patches have variance 1
N_PATCHES, N_ROUNDS = 100_000, 20  # of k-means
FIRING_PART = 0.2  # of the public patches: a filter responds to it


@saved("lens.patches")
@dataclass(frozen=True, eq=False)
class PatchLens:
    r"""Filters that are learnt from patches of public images, and where they respond.

    A patch p of an image has its mean taken off and its contrast levelled. Features are

    .. math:: f_k = \Big(\frac{w_k^\top p}{\sqrt{\mathrm{var}(p) + .04^2}} - t_k\Big)_+,

    averaged over the fields of a grid. Filters :math:`w_k` are means of k-means in
    whitened patches [1]_, and a fifth of the public patches are above the threshold
    :math:`t_k`. Edges and colours are alike in all photographs, so a dozen of them
    are enough, whatever they show.

    *Bound.* Codes are the features, divided by their norm.

    Parameters
    ----------
    filters : Tensor of shape (n_filters, channels, side, side)
    thresholds : Tensor of shape (n_filters,)
    grid : int, default=4
        Fields a side.
    stride : int, default=2
        Pixels from a patch to the next.
    source : str, default="public images"
        What the filters were learnt from, for the certificate.

    References
    ----------
    .. [1] Coates, Ng & Lee, "An analysis of single-layer networks in unsupervised
       feature learning", AISTATS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> public = np.random.default_rng(0).random((20, 3, 12, 12))
    >>> lens = PatchLens.learn(public, n_filters=8, side=4, source="noise")
    >>> lens.n_features((3, 16, 16)), lens.features(torch.rand(2, 3, 16, 16)).shape
    (128, torch.Size([2, 128]))
    """

    filters: Tensor
    thresholds: Tensor
    grid: int = 4
    stride: int = 2
    source: str = "public images"

    is_opaque = False
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def __post_init__(self) -> None:
        shape = tuple(self.filters.shape)
        if (
            len(shape) != 4
            or shape[2] != shape[3]
            or self.thresholds.shape != shape[:1]
        ):
            raise ValueError(
                "filters must be of shape (n, channels, side, side), and thresholds of "
                f"shape (n,). Got {shape} and {tuple(self.thresholds.shape)}."
            )
        if self.grid < 1 or self.stride < 1:
            raise ValueError(
                f"grid and stride must be positive. Got {self.grid!r} and "
                f"{self.stride!r}."
            )

    @classmethod
    def learn(
        cls,
        images: NDArray[Any],
        n_filters: int = 128,
        *,
        side: int = 6,
        grid: int = 4,
        stride: int = 2,
        source: str = "public images",
        random_state: int = 0,
    ) -> Self:
        """Learn filters from public images; never from private ones.

        Parameters
        ----------
        images : array of shape (n, channels, height, width) or (n, height, width)
            uint8, or floats in [0, 1]; of the size of the private ones, since patches
            of larger photographs are smoother.
        n_filters, side : int
            Number of filters, and their pixels a side.
        grid, stride, source
            As of the class.
        random_state : int, default=0
            Public.
        """
        rng = torch.Generator().manual_seed(random_state)
        patches = _levelled(_drawn_patches(images, side, rng))
        mean = patches.mean(dim=0)
        values, vectors = torch.linalg.eigh((patches - mean).T.cov())
        whiten = (vectors * (values.clamp_min(0) + ADDED_VARIANCE).rsqrt()) @ vectors.T
        white = (patches - mean) @ whiten
        rows = _spherical_means(white, n_filters, rng) @ whiten
        answers = (patches - mean) @ rows.T
        thresholds = answers.quantile(1.0 - FIRING_PART, dim=0) + rows @ mean
        rows = rows - rows.mean(dim=1, keepdim=True)  # patches have mean 0
        channels = patches.shape[1] // side**2
        filters = rows.reshape(n_filters, channels, side, side).float()
        return cls(filters, thresholds.float(), grid, stride, source)

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""
        n, _, side, _ = self.filters.shape
        return f"{n} filters of {side} x {side} pixels, learnt from {self.source}"

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        channels, side = self.filters.shape[1:3]
        if shape[0] != channels or min(shape[1:]) < side:
            raise ValueError(
                f"Images must have {channels} channels and {side} pixels a side or "
                f"more. Got {shape} (channels, height, width)."
            )
        return len(self.filters) * self.grid**2

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return self.n_features(shape)

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        return normalised(self.features(images))

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return the responses in each field of the grid, flat; differentiable."""
        images = within_range(images)
        if images.is_cuda:
            return self._responses(images)
        return torch.cat(
            [self._responses(part) for part in images.split(self._few(images))]
        )

    def _few(self, images: Tensor) -> int:
        """Return how many images to take at a time, for maps that stay in a cache."""
        side, height, width = self.filters.shape[2], *images.shape[2:]
        rows, columns = ((n - side) // self.stride + 1 for n in (height, width))
        return max(1, NUMBERS_IN_CACHE // (len(self.filters) * rows * columns))

    def _responses(self, images: Tensor) -> Tensor:
        """Return the features of images that are looked at together."""
        filters, thresholds = self.filters.to(images), self.thresholds.to(images)
        side = filters.shape[2]
        means = _patch_means(images, side, self.stride)
        variance = _patch_means(images.square(), side, self.stride) - means.square()
        contrast = (variance.clamp_min(0.0) + FLAT_STD**2).sqrt()
        answers = conv2d(images, filters, stride=self.stride) * contrast.reciprocal()
        maps = (answers - thresholds[:, None, None]).relu()
        return finite(adaptive_avg_pool2d(maps, self.grid).flatten(1))

    def to(self, device: torch.device) -> "PatchLens":
        """Return the same lens on another device."""
        filters, thresholds = self.filters.to(device), self.thresholds.to(device)
        return replace(self, filters=filters, thresholds=thresholds)

    def double(self) -> "PatchLens":
        """Return the same lens in double precision."""
        filters, thresholds = self.filters.double(), self.thresholds.double()
        return replace(self, filters=filters, thresholds=thresholds)


def _patch_means(images: Tensor, side: int, stride: int) -> Tensor:
    """Return means over all channels of patches, (n, 1, rows, columns)."""
    return avg_pool2d(images.mean(dim=1, keepdim=True), side, stride)


def _drawn_patches(images: NDArray[Any], side: int, rng: Generator) -> Tensor:
    """Return random patches of public images, (n, channels x side x side)."""
    pixels = torch.as_tensor(images)
    scale = 1.0 if pixels.is_floating_point() else 255.0
    if pixels.ndim == 3:
        pixels = pixels[:, None]
    n, _, height, width = pixels.shape
    if not n or min(height, width) < side:
        raise ValueError(
            f"images must be one or more of at least {side} pixels a side. Got "
            f"{tuple(pixels.shape)}."
        )
    which = torch.randint(n, (N_PATCHES,), generator=rng)
    rows, columns = (
        torch.randint(size - side + 1, (N_PATCHES, 1), generator=rng)
        + torch.arange(side)
        for size in (height, width)
    )
    patches = pixels.movedim(1, 3)[
        which[:, None, None], rows[:, :, None], columns[:, None, :]
    ]
    return patches.movedim(3, 1).flatten(1).double() / scale


def _levelled(patches: Tensor) -> Tensor:
    """Take the mean off each patch, and level its contrast."""
    centred = patches - patches.mean(dim=1, keepdim=True)
    variance = centred.square().mean(dim=1, keepdim=True)
    return centred / (variance + FLAT_STD**2).sqrt()


def _spherical_means(rows: Tensor, n: int, rng: Generator) -> Tensor:
    """Return n directions of norm 1, by k-means with inner products."""
    means = normalize(torch.randn(n, rows.shape[1], generator=rng).to(rows), dim=1)
    for _ in range(N_ROUNDS):
        sums = torch.zeros_like(means)
        for part in rows.split(math.ceil(len(rows) / 10)):
            answers = part @ means.T
            best = answers.abs().argmax(dim=1, keepdim=True)
            weights = torch.zeros_like(answers).scatter_(
                1, best, answers.gather(1, best)
            )
            sums += weights.T @ part
        # a mean without patches is drawn again
        empty = sums.norm(dim=1) == 0
        sums[empty] = torch.randn(sums.shape, generator=rng).to(sums)[empty]
        means = normalize(sums, dim=1)
    return means
