"""Mixtures of Gaussians in the codes of a lens, and pictures drawn from them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.synthesizers.models._deformations import Deformations
from skdpgen.synthesizers.models._even_draws import draw_given
from skdpgen.training import project_to_total
from skdpgen.utils import saved, torch_generator

Floats = NDArray[np.float64]
AT_ONCE = 4096
LEVELS = 257  # quantiles between which tones are mapped
SEEN = 2000  # pictures that tell which tones decoded codes have


@saved
@dataclass(frozen=True, eq=False)
class PictureMixture:
    """What is known of codes: per class a mixture of Gaussians that differ in place.

    Parameters
    ----------
    lens : Lens
        With a way back.
    shape : tuple of int
        Channels, height and width.
    totals : ndarray of shape (n_classes,)
    centres : ndarray of shape (n_classes, n_components, n_latent)
    weights : ndarray of shape (n_classes, n_components)
    roots : ndarray of shape (n_classes, n_latent, n_latent)
        A root of the covariance around centres.
    diagonals : ndarray of shape (n_classes, n_latent)
        Variance besides.
    tones : tuple of two ndarrays or None
        Quantiles of decoded pixels, and the tones that they become.
    """

    lens: Any
    shape: tuple[int, int, int]
    totals: Floats
    centres: Floats
    weights: Floats
    roots: Floats
    diagonals: Floats
    tones: Any = None

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return np.asarray(self.totals / self.totals.sum())

    def draw(
        self, labels: Any, deform: Deformations | None, *, rng: Generator
    ) -> NDArray[np.float32]:
        """Draw the pixels of pictures with the given labels, in [0, 1]."""
        public = torch_generator(rng)
        members = draw_given(self.weights, labels, rng=rng)
        pixels = np.empty((len(labels), int(np.prod(self.shape))), dtype=np.float32)
        for first in range(0, len(labels), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            codes = self._codes(labels[some], members[some], rng)
            images = self._decoded(codes)
            if deform is not None:
                images = deform(images, public)
            pixels[some] = images.flatten(1).numpy()
        return pixels

    def with_tones(self, histogram: Floats, rng: Generator) -> "PictureMixture":
        """Return it with decoded tones made as frequent as those of a histogram.

        Gaussians blur what is black or white. A map of tones that never decreases gives
        pixels the released histogram, and leaves the order of tones in a picture.
        """
        labels = draw_given(self.shares[None], np.zeros(SEEN, dtype=np.int64), rng=rng)
        members = draw_given(self.weights, labels, rng=rng)
        found = np.sort(self._decoded(self._codes(labels, members, rng)).numpy().ravel())
        places = np.linspace(0.0, 1.0, LEVELS)
        ends = np.concatenate([[0.0], np.cumsum(histogram) / histogram.sum()])
        n = len(histogram)
        wanted = np.interp(places, ends, np.linspace(0.0, 1.0, n + 1))
        wanted = np.clip((wanted - 1 / n) / (1 - 2 / n), 0.0, 1.0)  # ends are pure
        seen = np.quantile(found, places) + 1e-9 * np.arange(LEVELS)
        return replace(self, tones=(seen, wanted))

    def _codes(self, labels: Any, members: Any, rng: Generator) -> Floats:
        codes = self.centres[labels, members].copy()
        for label in np.unique(labels):
            mine = labels == label
            noise = rng.normal(size=(2, int(mine.sum()), codes.shape[1]))
            codes[mine] += noise[0] @ self.roots[label].T
            codes[mine] += noise[1] * np.sqrt(self.diagonals[label])
        return codes

    def _decoded(self, codes: Floats) -> torch.Tensor:
        images = self.lens.decode(torch.from_numpy(codes), self.shape).float()
        if self.tones is not None:
            seen, wanted = self.tones
            mapped = np.interp(images.numpy(), seen, wanted)
            images = torch.from_numpy(mapped.astype(np.float32))
        return images


def shares_of_counts(counts: Floats) -> Floats:
    """Return noisy counts of components as shares of their class, class by class."""
    found = [project_to_total(row, max(float(row.sum()), 1.0)) for row in counts]
    return np.stack([row / row.sum() for row in found])
