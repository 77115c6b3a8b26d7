r"""The only randomness of `privacy`: operating-system entropy, never a seed.

Normal variates come from the Box-Muller transform of 64-bit words. Each is the sum of
two independent ones over :math:`\sqrt 2`: from a single one the words behind it can be
recovered, and with them which sums are impossible [1]_.

References
----------
.. [1] Holohan & Braghin, "Secure Random Sampling in Differential Privacy",
       ESORICS 2021, Section 4.
.. [2] Mironov, "On Significance of the Least Significant Bits for Differential
       Privacy", CCS 2012.
"""

import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.exceptions import (
    NotPrivateWarning,
)

CHUNK = 1 << 18  # variates at a time: 8 MB of random words
LATTICE = 20  # bits kept below the noise's standard deviation
UNIT, WORD = 40, 64  # bits of it in a float, and of what fills it up

_insecure: ContextVar[Generator | None] = ContextVar("insecure", default=None)


def gaussian_noise(shape: tuple[int, ...], std: float) -> NDArray[np.float64]:
    """Draw independent normal variates from operating-system entropy.

    Examples
    --------
    >>> gaussian_noise((2, 3), 1.0).shape
    (2, 3)
    >>> gaussian_noise((2,), 0.0)
    array([0., 0.])
    """
    _check_std(std)
    noise = np.zeros(math.prod(shape))
    if std > 0:
        for start in range(0, noise.size, CHUNK):
            part = noise[start : start + CHUNK]
            part[:] = _standard_normal(part.size)
            part *= std
    return noise.reshape(shape)


def add_noise(exact: NDArray[np.float64], std: float) -> NDArray[np.float64]:
    r"""Return ``exact`` plus noise, on a grid of about a millionth of the noise.

    The sum is rounded to multiples of a power of two, :math:`2^{-20}` times ``std`` up
    to a factor of :math:`\sqrt 2`. That is post-processing, adds a variance of
    :math:`10^{-13}` relative to the noise, and removes the low-order bits in which a
    float64 sum betrays its terms [2]_.

    What is claimed: the guarantee of the Gaussian mechanism over the real numbers,
    with the best-known floating-point attack closed. What is not: a proof for
    float64 (that needs a discrete Gaussian on exact integers), and constant time.
    Sums beyond :math:`2^{33}` standard deviations keep their own, coarser grid.

    Examples
    --------
    >>> noisy = add_noise(np.array([1 / 3]), 1.0)
    >>> bool(noisy[0] * 2**20 % 1 == 0)
    True
    """
    exact = np.asarray(exact, dtype=np.float64)
    if not np.isfinite(exact).all():
        raise ValueError("exact must be finite; clip rows before they are summed.")
    noise = gaussian_noise(exact.shape, std)
    if std == 0:
        return exact.copy()
    noise += exact
    return on_grid(noise, std)


def whole_noise(
    shape: tuple[int, int], std: float, steps: NDArray[np.float64]
) -> NDArray[np.object_]:
    r"""Draw noise as whole numbers of steps, random in every digit.

    A float has 53 bits. Where steps are finer than its last one, it is a multiple of
    many, and added to a sum in steps it would leave the last digits of the sum as they
    are. So noise is rounded to units of about :math:`2^{-40}` times ``std``, a power of
    two in steps, and as many steps as a unit has are added, uniformly. *What that
    costs.* Given these steps, a sum is rounded up or down to units before it gets its
    noise, with a probability that is linear in the sum. So where one row moves the sum
    by :math:`v`, it moves what gets the noise by a squared length of
    :math:`\|v\|^2 + u \|v\|_1` on average, u being a unit: of a million entries at a mu
    of .001 that is 1e-6 of itself more.

    Parameters
    ----------
    shape : (int, int)
    std : float
    steps : ndarray of shape (width,)
        Powers of two, of each column.

    Returns
    -------
    ndarray of int, of any size

    Examples
    --------
    >>> whole_noise((1, 2), 0.0, np.ones(2)).tolist()
    [[0, 0]]
    """
    extra_bits = check_steps(std, steps)
    noise = gaussian_noise(shape, std)
    as_integers = np.vectorize(int, otypes=[object])
    units = as_integers(np.rint(np.ldexp(noise / steps, -extra_bits)))
    if not extra_bits.any():
        return units
    words = _random_words(noise.size).reshape(shape).astype(object)
    sizes = np.array([1 << int(bits) for bits in extra_bits], dtype=object)
    return units * sizes + words % sizes


def check_steps(std: float, steps: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return by how many bits steps are finer than units of noise; raise for too many.

    Examples
    --------
    >>> check_steps(1.0, np.array([1.0, 2.0**-42]))
    array([0, 2])
    """
    _check_std(std)
    if not (np.isfinite(steps) & (steps >= np.finfo(float).tiny)).all():
        raise ValueError("Steps of a sum must be normal numbers. Got others.")
    if std == 0:
        return np.zeros(len(steps), dtype=np.int64)
    distance = np.log2(std) - np.log2(steps)
    extra_bits = np.maximum(np.floor(distance).astype(np.int64) - UNIT, 0)
    if (extra_bits > WORD).any():
        raise ValueError(
            f"Steps of a sum must be at least 2**-{UNIT + WORD} of its noise. Got "
            "finer ones; choose larger weights and scales."
        )
    return np.asarray(extra_bits)


def on_grid(noisy: NDArray[np.float64], std: float) -> NDArray[np.float64]:
    """Round noisy values in place, to a grid of about a millionth of ``std``.

    Examples
    --------
    >>> on_grid(np.array([1 / 3]), 1.0) * 2**20
    array([349525.])
    """
    step = math.ldexp(1.0, max(round(math.log2(std)) - LATTICE, -1022))
    noisy /= step
    np.rint(noisy, out=noisy)
    noisy *= step
    return noisy


def poisson_sample(n: int, rate: float) -> NDArray[np.intp]:
    """Draw secretly which of ``n`` rows take part, each with probability ``rate``.

    The indices are ascending and must not leave `privacy`: amplification by
    sub-sampling holds only if the sample stays secret.

    Examples
    --------
    >>> poisson_sample(4, 1.0)
    array([0, 1, 2, 3])
    """
    if n < 0:
        raise ValueError(f"n must not be negative. Got {n!r} instead.")
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be in [0, 1]. Got {rate!r} instead.")
    if rate == 1:
        return np.arange(n, dtype=np.intp)
    threshold = np.uint64(int(rate * 2.0**64))
    chunks = [np.empty(0, dtype=np.intp)]
    for start in range(0, n, CHUNK):
        words = _random_words(min(CHUNK, n - start))
        chunks.append(start + np.flatnonzero(words < threshold))
    return np.concatenate(chunks)


def random_groups(n: int, n_groups: int) -> NDArray[np.int64]:
    """Draw a group for each of ``n`` rows, without looking at the rows.

    Examples
    --------
    >>> random_groups(3, 1)
    array([0, 0, 0])
    """
    return (_random_words(n) % np.uint64(n_groups)).astype(np.int64)


@contextmanager
def insecure_noise_seed(seed: int) -> Iterator[None]:
    """Make noise and secret samples reproducible: for tests, never for private data.

    Anyone who knows the seed can subtract the noise. Only the calling thread or task is
    affected; the report of every fit inside says that it is not private.

    Examples
    --------
    >>> with warnings.catch_warnings(action="ignore"), insecure_noise_seed(0):
    ...     first = gaussian_noise((2,), 1.0)
    >>> with warnings.catch_warnings(action="ignore"), insecure_noise_seed(0):
    ...     bool((first == gaussian_noise((2,), 1.0)).all())
    True
    """
    warnings.warn(
        "insecure_noise_seed: the noise can be reproduced, so nothing released here "
        "is private. Use it in tests only.",
        NotPrivateWarning,
        stacklevel=3,  # past contextlib, to the caller's `with`
    )
    token = _insecure.set(np.random.default_rng(seed))
    try:
        yield
    finally:
        _insecure.reset(token)


def is_noise_insecure() -> bool:
    """Whether noise is being drawn from a seed.

    Examples
    --------
    >>> is_noise_insecure()
    False
    """
    return _insecure.get() is not None


def _standard_normal(n: int) -> NDArray[np.float64]:
    half = (n + 1) // 2
    words = _random_words(4 * half).reshape(4, half)
    x, y = _box_muller(words[0], words[1])
    u, v = _box_muller(words[2], words[3])
    x += u
    y += v
    normal = np.concatenate([x, y])[:n]
    normal *= math.sqrt(0.5)
    return normal


def _box_muller(
    first: NDArray[np.uint64], second: NDArray[np.uint64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    radius = np.sqrt(-2 * np.log(_open_unit(first)))
    angle = 2 * math.pi * _open_unit(second)
    return radius * np.cos(angle), radius * np.sin(angle)


def _open_unit(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    # All 64 bits: with 53 the tail would end at 8.6 deviations. The largest words
    # round to 1, which is outside.
    unit = (words.astype(np.float64) + 0.5) * 2.0**-64
    return np.minimum(unit, 1 - 2.0**-53)


def _random_words(n: int) -> NDArray[np.uint64]:
    seeded = _insecure.get()
    data = os.urandom(8 * n) if seeded is None else seeded.bytes(8 * n)
    return np.frombuffer(data, dtype=np.uint64)


def _check_std(std: float) -> None:
    if not 0 <= std < math.inf:
        raise ValueError(f"std must be in [0, inf). Got {std!r} instead.")
