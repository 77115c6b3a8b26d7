"""What a party that adds noise sends: its sums, its share of noise, behind masks."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy._ledger import Ledger
from skdpgen.privacy._masks import about_words, masked, unmasked
from skdpgen.privacy._noise import check_steps, on_grid, whole_noise
from skdpgen.privacy._noise_shares import NoiseShares
from skdpgen.privacy._partial_sum import Question
from skdpgen.privacy._release import (
    joint_sensitivity,
    joint_weights,
    noise_of_blocks,
)
from skdpgen.privacy._whole_sums import steps_of, whole_sums
from skdpgen.utils import BudgetExceededError, from_bytes, saved, to_bytes

Floats = NDArray[np.float64]
LEAST_SHARE = 1e-3  # of the budget of a party, for one question; fits ask for .01
MOST_QUESTIONS = 100  # of one fit; fits ask about ten


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
    sums: Callable[[], Mapping[str, Any]],
    ledger: Ledger,
    shares: NoiseShares,
    *,
    name: str,
    keys: Mapping[str, bytes],
) -> NoisyShare:
    """Charge a party's own account, sum its rows, add its share of the noise, mask.

    The sensitivity is worked out here, from the blocks that are summed: who asks is
    not trusted with it. All that a question may be refused for is looked at before
    ``sums`` reads a row, and the charge stands whatever comes of it. A question costs
    ``LEAST_SHARE`` at least, and there are ``MOST_QUESTIONS`` at most: what is learnt
    from whether a question succeeds is never cheap.
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
    if not LEAST_SHARE <= wanted.share <= 1:
        raise ValueError(
            f"A question must cost a share from {LEAST_SHARE:g} to 1 of the budget. "
            f"Got {wanted.share!r}; ask for fewer quantities."
        )
    if len(ledger.entries) >= MOST_QUESTIONS:
        raise BudgetExceededError(
            f"{name} answers {MOST_QUESTIONS} questions, and has answered them. Begin "
            "with new parties and new keys."
        )
    weights = joint_weights(blocks, wanted.weights)
    delta = joint_sensitivity(blocks, weights, ledger.budget.adjacency)
    std = ledger.noise_std(share=wanted.share, sensitivity=delta)
    if not math.isclose(std, wanted.std, rel_tol=1e-6):
        raise ValueError(
            f"The fit and {name} must have one budget. Got noise of {wanted.std:g} "
            f"where {name} adds up to {std:g}; compare epsilon, delta and adjacency."
        )
    for key, own in noise_of_blocks(std * shares.each, weights).items():
        check_steps(own, steps_of(blocks[key], own))
    std = ledger.charge(wanted.name, share=wanted.share, sensitivity=delta)
    number, words, totals = len(ledger.entries), {}, sums()
    for key, own in noise_of_blocks(std * shares.each, weights).items():
        numbers, steps = whole_sums(blocks[key], totals[key], own)
        numbers = numbers + whole_noise(numbers.shape, own, steps)
        about = about_words(
            question.digest, number, key, shares.n_parties, shares.n_colluding
        )
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
    query = question.query
    values: dict[str, Floats] = {}
    for key, block in query.blocks.items():
        empty = block.start(query.n_classes)
        zeros, steps = whole_sums(block, empty, noise_std[key] * shares.each)
        found = unmasked([answer.words[key] for answer in answers])
        whole = np.array(found, dtype=object).reshape(zeros.shape)
        exact = whole.astype(np.float64) * steps
        std = noise_std[key] * shares.excess
        values[key] = on_grid(exact, std) if std else exact
    return values
