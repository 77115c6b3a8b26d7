"""A generator of codes, and the way back to images."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.networks import ImageGenerator
from skdpgen.training import normal, sobol
from skdpgen.utils import saved, torch_generator

AT_ONCE = 1024


@saved
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
        What 0 and 1 stand for, as a code: minus and plus this.
    shape : tuple of int
        Channels, height and width of an image.
    """

    generator: ImageGenerator
    totals: Any
    lens: Any
    reach: float
    shape: tuple[int, int, int]

    def draw(self, labels: Any, *, rng: Generator, **unused: Any) -> NDArray[Any]:
        """Draw the pixels of images with the given labels, in [0, 1]."""
        del unused  # there is no density of images
        pixels = np.empty((len(labels), int(np.prod(self.shape))), dtype=np.float32)
        public, lens = torch_generator(rng), copy.deepcopy(self.lens)
        for label in np.unique(labels):
            mine = rng.permutation(np.flatnonzero(labels == label))
            n_latent = self.generator.shape.n_latent
            latents = normal(sobol(len(mine), n_latent, public)).float()
            for first in range(0, len(mine), AT_ONCE):
                some = slice(first, first + AT_ONCE)
                given = torch.full((len(latents[some]),), int(label))
                with torch.no_grad():
                    (drawn,) = self.generator(latents[some], given)
                    codes = self.reach * (2.0 * drawn - 1.0)
                    images = lens.decode(codes, self.shape)
                pixels[mine[some]] = images.float().flatten(1).clamp(0, 1).numpy()
        return pixels
