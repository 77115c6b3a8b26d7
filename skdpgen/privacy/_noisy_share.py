"""What a party that adds noise sends: its sums, its share of noise, behind masks."""

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.exceptions import (
    BudgetExceededError,
    RowsElsewhereError,
)
from skdpgen.privacy._blocks import Block, Counts, Histograms, Parities, Vectors
from skdpgen.privacy._exact_sum import ExactSum
from skdpgen.privacy._ledger import Ledger
from skdpgen.privacy._noise import check_steps, on_grid, whole_noise
from skdpgen.privacy._query import NoiseShares, Question
from skdpgen.privacy._release import joint_sensitivity, joint_weights, noise_of_blocks
from skdpgen.privacy._vector_sums import OuterProducts, SideBySide
from skdpgen.utils import (
    from_bytes,
    saved,
    to_bytes,
)

# ----------------------------------------------------------------------------
# Masks that cancel: of messages that parties send, only their sum can be read.
#
# Each two parties i < j have a key that no one else knows. From it, their names and
# the question, both compute the same words :math:`r_{ij}`, by SHAKE-256; i adds them
# to its whole numbers and j subtracts them, modulo :math:`2^{128}`. In the sum of all
# parties they cancel. *What is hidden.* Take words as uniform and independent. Of the
# parties whose keys an attacker lacks, call one the first. The message of each other
# such party contains words that it shares with the first, and that occur in these two
# messages only. So for any numbers of the parties, the messages of the others are
# uniform and independent, and that of the first is the difference to the sum. Hence
# messages reveal nothing but their sum. ∎ This needs words that are used once. The
# text from which they are computed (:func:`about_words`) has the question, which
# names its fit, the number of questions that the party has answered, and the block:
# two blocks with the same words would show their difference.

N_BYTES = 16
MODULUS = 2 ** (8 * N_BYTES)
KEY_BYTES = 32
BEYOND_SUMS = MODULUS >> 16  # 2^52 rows, 40 bits of a row, 20 below the noise


def pair_keys(names: Sequence[str]) -> dict[str, dict[str, bytes]]:
    """Draw a key for each pair of parties, for trials where one process is all of them.

    In production parties agree on keys among themselves, by any key exchange. Anyone
    who hands keys out, as this function does, can read what is masked.

    Examples
    --------
    >>> keys = pair_keys(["a", "b", "c"])
    >>> keys["a"]["b"] == keys["b"]["a"] != keys["c"]["b"]
    True
    """
    keys: dict[str, dict[str, bytes]] = {name: {} for name in names}
    for i, party in enumerate(names):
        for partner in names[i + 1 :]:
            keys[party][partner] = keys[partner][party] = os.urandom(KEY_BYTES)
    return keys


def fit_name() -> str:
    """Return a unique name for a fit.

    Examples
    --------
    >>> fit_name() == fit_name()
    False
    """
    return os.urandom(N_BYTES).hex()


def about_words(
    digest: str, number: int, block: str, n_parties: int, n_colluding: int
) -> str:
    """Return the text from which the words of one block in one answer are computed.

    Different arguments give different texts. Parties that disagree in an argument have
    masks that do not cancel, so their answers cannot be read. This includes parties
    that add less noise than another party expects.

    Examples
    --------
    >>> about_words("ab", 1, "2 columns", 4, 1)
    '["ab", 1, "2 columns", 4, 1]'
    """
    if type(block) is not str:  # 1 and "1" are two blocks
        raise TypeError(f"Blocks must be named by text. Got {block!r}.")
    return json.dumps([digest, number, block, n_parties, n_colluding])


def masked(
    numbers: Sequence[int], name: str, keys: Mapping[str, bytes], about: str
) -> bytes:
    """Return whole numbers plus the masks that a party shares with each other party.

    Parameters
    ----------
    numbers : sequence of int
    name : str
        Of the party.
    keys : mapping of str to bytes
        By the name of the other party.
    about : str
        A text that is unique to this message (:func:`about_words`).
    """
    own = b"".join((n % MODULUS).to_bytes(N_BYTES, "little") for n in numbers)
    hidden = _digits(own)
    for partner, key in keys.items():
        pair = json.dumps([*sorted((name, partner)), about])
        words = _digits(_words(key, pair, len(hidden)))
        hidden += words if name < partner else -words
    return _modulo(hidden)


def unmasked(messages: Sequence[bytes]) -> list[int]:
    """Return the sums of what all parties sent; their masks cancel.

    Examples
    --------
    >>> keys = pair_keys(["a", "b"])
    >>> numbers = {"a": [3, -15], "b": [4, -20]}
    >>> unmasked([masked(own, who, keys[who], "1") for who, own in numbers.items()])
    [7, -35]
    """
    first, *others = map(_digits, messages)
    for other in others:
        if other.shape != first.shape:
            raise ValueError("Messages must hold as many numbers. Got other lengths.")
        first += other
    total = _modulo(first)
    starts = range(0, len(total), N_BYTES)
    return [
        int.from_bytes(total[i : i + N_BYTES], "little", signed=True) for i in starts
    ]


def _digits(message: bytes) -> NDArray[np.int64]:
    """Return whole numbers by their digits to base 2^32, the lowest first.

    The digits of some numbers are added without a carry; 64 bits hold sums of 2^31.
    """
    return np.frombuffer(message, "<u4").astype(np.int64).reshape(-1, N_BYTES // 4)


def _modulo(digits: NDArray[np.int64]) -> bytes:
    """Return numbers modulo 2^128; digits may be negative, or too large.

    Examples
    --------
    >>> minus_one = _modulo(_digits(bytes(16)) - np.array([1, 0, 0, 0]))
    >>> minus_one == bytes([255] * 16)
    True
    """
    carry = np.zeros(len(digits), dtype=np.int64)
    kept = np.empty(digits.shape, dtype="<u4")
    for place in range(digits.shape[1]):
        total = digits[:, place] + carry
        kept[:, place] = total & 0xFFFFFFFF
        carry = total >> 32  # rounded down, of negative ones, too
    return kept.tobytes()


def check_keys(keys: Mapping[str, bytes]) -> None:
    """Raise unless each other party has a long key, and no key occurs twice.

    If two pairs had the same key, a party might subtract what it adds elsewhere, and
    nothing would be hidden. Words also depend on both names, so that they differ.

    Examples
    --------
    >>> check_keys(pair_keys(["a", "b", "c"])["a"])
    """
    for key in keys.values():
        if not isinstance(key, bytes) or len(key) < KEY_BYTES:
            raise ValueError(
                f"A key must be {KEY_BYTES} bytes, or more. Got a shorter one, or "
                "something else."
            )
    if len(set(keys.values())) < len(keys):
        raise ValueError("Each two parties must have their own key. Got one twice.")


def key_tags(name: str, keys: Mapping[str, bytes]) -> dict[str, str]:
    """Return a tag of each key, by the other party: two parties with one key share it.

    A tag is 16 bytes of the stream that masks are from, about a text that no mask is
    about. So whoever has no key learns neither the key nor a mask from it.

    Examples
    --------
    >>> keys = pair_keys(["a", "b", "c"])
    >>> key_tags("a", keys["a"])["b"] == key_tags("b", keys["b"])["a"]
    True
    """
    return {
        partner: _words(key, json.dumps(sorted((name, partner))), 1).hex()
        for partner, key in keys.items()
    }


def _words(key: bytes, about: str, n: int) -> bytes:
    stream: Any = hashlib.shake_256(key + about.encode())
    words: bytes = stream.digest(N_BYTES * n)
    return words


# ----------------------------------------------------------------------------
# Sums as whole numbers of public steps: they can be masked, and add without loss.

BITS_BELOW_NOISE = 20  # of the step


def whole_sums(
    block: Block, total: Any, std: float
) -> tuple[NDArray[np.object_], NDArray[np.float64]]:
    r"""Return whole numbers, and the step of each entry: their product is the sum.

    Sums of all blocks here are multiples of powers of two: of the grid of an
    :class:`ExactSum`, of 1 for counts, of the last of 23 bits of a histogram's scale.
    Steps are public. If they are coarse relative to noise of ``std``, they are divided
    by another power of two, so that rounding to them is an error of less than a
    millionth of the noise.

    Returns
    -------
    numbers : ndarray of int, of any size
    steps : ndarray of shape (width,)

    Examples
    --------
    >>> counts = Histograms((2,), (0.75,))
    >>> whole_sums(counts, np.array([[4, 8]]), 0.0)[1] * 2**23
    array([1., 1.])
    """
    if isinstance(block, Histograms):
        scales = block.scales or (1.0,) * len(block.widths)
        mantissas = [int(math.ldexp(math.frexp(scale)[0], 23)) for scale in scales]
        times = np.repeat(np.array(mantissas, dtype=object), block.widths)
        numbers = total.astype(object) * times
    elif isinstance(block, Counts | Parities):
        numbers = total.astype(np.int64).astype(object)
    elif isinstance(block, Vectors):
        numbers = _exact(total)
    else:
        steps_of(block, std)  # raises for blocks without any
        numbers = np.concatenate([_exact(part) for part in total], axis=1)
    steps, times = _refined(_steps(block), std)
    if times.max(initial=1.0) > 1:
        numbers = numbers * np.array(list(map(int, times.tolist())), dtype=object)
    return numbers, steps


def steps_of(block: Block, std: float) -> NDArray[np.float64]:
    """Return the steps of a block's sums under noise of ``std``; they are public.

    Examples
    --------
    >>> steps_of(Counts(), 1.0) * 2**20
    array([1.])
    """
    return _refined(_steps(block), std)[0]


def _steps(block: Block) -> NDArray[np.float64]:
    """Return the steps that sums are multiples of, independently of the noise."""
    if isinstance(block, Histograms):
        scales = block.scales or (1.0,) * len(block.widths)
        scale_steps = [math.ldexp(1.0, math.frexp(scale)[1] - 23) for scale in scales]
        return np.repeat(scale_steps, block.widths)
    if isinstance(block, Counts | Parities):
        return np.ones(block.width)
    if isinstance(block, Vectors):
        return np.full(block.width, block.start(0).step)
    if isinstance(block, OuterProducts) or _are_vectors(block):
        return np.concatenate(
            [np.full(part.low.shape[1], part.step) for part in block.start(0)]
        )
    raise RowsElsewhereError(
        f"{type(block).__name__} cannot be summed by parties that add noise "
        "themselves. Give a schema of all columns and `classes`, or trust a "
        "combiner."
    )


def _refined(
    steps: NDArray[np.float64], std: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return steps that are small relative to the noise, and the factors to them."""
    times = np.ones(len(steps))
    if std > 0:
        finest = math.ldexp(1.0, math.frexp(std)[1] - 1 - BITS_BELOW_NOISE)
        times = np.maximum(steps / finest, 1.0)
    return steps / times, times


def _are_vectors(block: Any) -> bool:
    is_many = isinstance(block, SideBySide)
    return is_many and all(isinstance(part, Vectors) for part in block.parts)


def _exact(total: ExactSum) -> NDArray[np.object_]:
    """Return a sum in steps, as Python integers: ``high`` may exceed 53 bits."""
    tops = np.vectorize(int, otypes=[object])(total.high / total.top)
    steps = np.vectorize(int, otypes=[object])(total.low / total.step)
    return tops * 2**total.n_bits + steps


# ----------------------------------------------------------------------------
# The answer of a party that adds noise: its sums with a share of the noise, masked.

Floats = NDArray[np.float64]
LEAST_SHARE = 1e-3  # of the budget of a party, for one question; fits use .01
MOST_QUESTIONS = 100  # of one fit; fits use about ten


@saved("message.noisy_share")
@dataclass(frozen=True, eq=False)
class NoisyShare:
    """A masked answer; without the others it is uniform and shows only its length.

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
        """Names of the parties whose rows were summed."""
        return (self.source,)

    def to_bytes(self) -> bytes:
        """Return a file of it, without pickle."""
        return to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "NoisyShare":
        """Read what :meth:`to_bytes` wrote; runs no code of the sender."""
        share = from_bytes(data)
        if not isinstance(share, cls):
            raise ValueError(f"data must hold a share. Got a {type(share).__name__}.")
        return share


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

    The sensitivity is computed here from the blocks, because the sender of the question
    is not trusted with it. Every reason to refuse a question is checked before ``sums``
    reads a row, and the charge stands even if the question fails. A question uses at
    least ``LEAST_SHARE`` of the budget, and there are at most ``MOST_QUESTIONS``: so
    learning from whether a question fails is never cheap.
    """
    noise, blocks = question.noise, question.query.blocks
    if noise is None:
        raise ValueError(
            f"{name} adds noise to what it sends. Got a question for sums without; ask "
            "as a fit to `Parties(..., noise=...)` does."
        )
    if noise.shares not in (None, shares):
        raise ValueError(
            f"The fit and {name} must have noise in the same shares. Got "
            f"{noise.shares!r} where {name} has {shares!r}."
        )
    if not LEAST_SHARE <= noise.share <= 1:
        raise ValueError(
            f"A question must cost a share from {LEAST_SHARE:g} to 1 of the budget. "
            f"Got {noise.share!r}; ask for fewer quantities."
        )
    if len(ledger.entries) >= MOST_QUESTIONS:
        raise BudgetExceededError(
            f"{name} answers {MOST_QUESTIONS} questions, and has answered them. Begin "
            "with new parties and new keys."
        )
    weights = joint_weights(blocks, noise.weights)
    delta = joint_sensitivity(blocks, weights, ledger.budget.adjacency)
    std = ledger.noise_std(share=noise.share, sensitivity=delta)
    if not math.isclose(std, noise.std, rel_tol=1e-6):
        raise ValueError(
            f"The fit and {name} must have one budget. Got noise of {noise.std:g} "
            f"where {name} adds up to {std:g}; compare epsilon, delta and adjacency."
        )
    for key, std_of_block in noise_of_blocks(std * shares.each, weights).items():
        check_steps(std_of_block, steps_of(blocks[key], std_of_block))
    std = ledger.charge(noise.name, share=noise.share, sensitivity=delta)
    number, words, totals = len(ledger.entries), {}, sums()
    for key, std_of_block in noise_of_blocks(std * shares.each, weights).items():
        numbers, steps = whole_sums(blocks[key], totals[key], std_of_block)
        numbers = numbers + whole_noise(numbers.shape, std_of_block, steps)
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
    """Return the sums of all parties, with the noise of all of them.

    ``noise_std`` is that of the release, block by block. The sum of all parties has
    ``shares.excess`` times as much. If keys do not match, masks stay in the sum, which
    is then uniform: each number is within ``BEYOND_SUMS`` with a probability of 2^-15.
    """
    query = question.query
    values: dict[str, Floats] = {}
    for key, block in query.blocks.items():
        empty = block.start(query.n_classes)
        zeros, steps = whole_sums(block, empty, noise_std[key] * shares.each)
        sums = unmasked([answer.words[key] for answer in answers])
        if any(abs(number) >= BEYOND_SUMS for number in sums):
            raise RowsElsewhereError(
                "keys must be the same on both sides of each two parties. Got answers "
                "whose masks do not cancel, so they cannot be read; agree on new keys, "
                "and begin with new parties."
            )
        integers = np.array(sums, dtype=object).reshape(zeros.shape)
        exact = integers.astype(np.float64) * steps
        std = noise_std[key] * shares.excess
        values[key] = on_grid(exact, std) if std else exact
    return values
