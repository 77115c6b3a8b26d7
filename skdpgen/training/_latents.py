"""Latent vectors that fill their space evenly, the same number for every class."""

import torch
from torch import Generator, Tensor

EDGE = 1e-6  # places nearer to 0 or 1 would give extreme numbers


class Latents:
    """Batches of standard normal vectors, stratified and antithetic.

    A scrambled Sobol sequence is shifted by a random vector for each batch and class,
    and mirrored: every vector is normal, means over a batch vary far less than those of
    independent ones, and odd moments not at all.

    Parameters
    ----------
    n_each : int
        Vectors of each class in a batch; even.
    n_latent, n_classes : int
        Length of a vector; number of classes.
    rng : Generator
        Public randomness.

    Examples
    --------
    >>> latents = Latents(4, 2, n_classes=3, rng=Generator().manual_seed(0))
    >>> latents.draw().shape, latents.labels.tolist()
    (torch.Size([12, 2]), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """

    def __init__(
        self, n_each: int, n_latent: int, *, n_classes: int, rng: Generator
    ) -> None:
        self.labels = torch.arange(n_classes).repeat_interleave(n_each)
        self._places = sobol(n_each // 2, n_latent, rng)
        self._n_classes = n_classes
        self._rng = rng

    def draw(self) -> Tensor:
        """Return the latent vectors of a batch, in the order of ``labels``."""
        shape = (self._n_classes, 1, self._places.shape[1])
        shifts = torch.rand(shape, generator=self._rng)
        places = (self._places + shifts) % 1.0
        both = torch.cat([places, 1.0 - places], dim=1)
        return normal(both).flatten(0, 1)


def sobol(n: int, width: int, rng: Generator) -> Tensor:
    """Return n scrambled Sobol points in the unit cube."""
    seed = int(torch.randint(2**31, (1,), generator=rng))
    engine = torch.quasirandom.SobolEngine(width, scramble=True, seed=seed)
    return engine.draw(n)


def strata(n: int, width: int, rng: Generator) -> Tensor:
    """Return n places per column, one in each n-th of [0, 1), in an order of its own.

    Examples
    --------
    >>> places = strata(4, 1, Generator().manual_seed(0))
    >>> (places * 4).long().flatten().sort().values.tolist()
    [0, 1, 2, 3]
    """
    ranks = torch.rand(n, width, generator=rng).argsort(dim=0)
    within = torch.rand(n, width, generator=rng, dtype=torch.float64)
    return (ranks + within) / max(n, 1)


def normal(places: Tensor) -> Tensor:
    """Turn places in [0, 1] into standard normal numbers."""
    return torch.special.ndtri(places.clamp(EDGE, 1.0 - EDGE))
