"""What a party that adds noise sends: its sums, its share of noise, behind masks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy._ledger import Ledger
from skdpgen.privacy._masks import masked, unmasked
from skdpgen.privacy._noise import on_grid, whole_noise
from skdpgen.privacy._noise_shares import NoiseShares
from skdpgen.privacy._partial_sum import Question
from skdpgen.privacy._release import joint_sensitivity, joint_weights
from skdpgen.privacy._whole_sums import whole_sums
from skdpgen.utils import from_bytes, saved, to_bytes

Floats = NDArray[np.float64]


@saved
@dataclass(frozen=True, eq=False)
class NoisyShare:
    """A masked answer; by itself it is uniform, and tells its length alone.

    Parameters
    ----------
    digest : str
        Of the question.
    source : str
        The party.
    number : int
        How many questions it has answered, this one included.
    words : mapping of str to bytes
        Of each block.
    """

    digest: str
    source: str
    number: int
    words: Mapping[str, bytes]

    @property
    def sources(self) -> tuple[str, ...]:
        """Whose rows were summed."""
        return (self.source,)

    def to_bytes(self) -> bytes:
        """Return a file of it, without pickle."""
        return to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "NoisyShare":
        """Read what :meth:`to_bytes` wrote; runs no code of the sender."""
        found = from_bytes(data)
        if not isinstance(found, cls):
            raise ValueError(f"data must hold a share. Got a {type(found).__name__}.")
        return found


def noisy_share(
    question: Question,
    totals: Mapping[str, Any],
    ledger: Ledger,
    shares: NoiseShares,
    *,
    name: str,
    keys: Mapping[str, bytes],
) -> NoisyShare:
    """Charge a party's own account, add its share of the noise, mask.

    The sensitivity is worked out here, from the blocks that were summed: who asks is
    not trusted with it. The share of noise is in the ledger before it is drawn.
    """
    wanted, blocks = question.noise, question.query.blocks
    if wanted is None:
        raise ValueError(
            f"{name} adds noise to what it sends. Got a question for sums without; ask "
            "as a fit to `Parties(..., noise=...)` does."
        )
    if wanted.shares not in (None, shares):
        raise ValueError(
            f"The fit and {name} must have noise in the same shares. Got "
            f"{wanted.shares!r} where {name} has {shares!r}."
        )
    weights = joint_weights(blocks, wanted.weights)
    delta = joint_sensitivity(blocks, weights, ledger.budget.adjacency)
    std = ledger.noise_std(share=wanted.share, sensitivity=delta)
    if not math.isclose(std, wanted.std, rel_tol=1e-6):
        raise ValueError(
            f"The fit and {name} must have one budget. Got noise of {wanted.std:g} "
            f"where {name} adds up to {std:g}; compare epsilon, delta and adjacency."
        )
    std = ledger.charge(wanted.name, share=wanted.share, sensitivity=delta)
    number, words = len(ledger.entries), {}
    for key, block in blocks.items():
        own = std / weights[key] * shares.each
        numbers, steps = whole_sums(block, totals[key], own)
        numbers = numbers + whole_noise(numbers.shape, own, steps)
        about = f"{question.digest} {number} {key}"
        words[key] = masked(numbers.ravel().tolist(), name, keys, about)
    return NoisyShare(question.digest, name, number, words)


def noisy_values(
    question: Question,
    answers: Sequence[NoisyShare],
    noise_std: Mapping[str, float],
    shares: NoiseShares,
) -> dict[str, Floats]:
    """Return the sums of all parties, with the noise of all.

    ``noise_std`` is that of the release, block by block; there is ``shares.excess`` as
    much in the sum.
    """
    query, values = question.query, {}
    for key, block in query.blocks.items():
        empty = block.start(query.n_classes)
        zeros, steps = whole_sums(block, empty, noise_std[key] * shares.each)
        found = unmasked([answer.words[key] for answer in answers])
        whole = np.array(found, dtype=object).reshape(zeros.shape)
        exact = whole.astype(np.float64) * steps
        std = noise_std[key] * shares.excess
        values[key] = on_grid(exact, std) if std else exact
    return values
