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

from skdpgen.privacy._blocks import Block, Counts, Histograms, Parities, Vectors
from skdpgen.privacy._exact_sum import ExactSum
from skdpgen.privacy._ledger import Ledger
from skdpgen.privacy._noise import check_steps, on_grid, whole_noise
from skdpgen.privacy._query import NoiseShares, Question
from skdpgen.privacy._release import joint_sensitivity, joint_weights, noise_of_blocks
from skdpgen.privacy._vector_sums import OuterProducts, SideBySide
from skdpgen.utils import (
    BudgetExceededError,
    RowsElsewhereError,
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
# one holds words that it shares with the first, and that stand in these two messages
# alone: so whatever the parties' numbers are, these messages are uniform and
# independent, and the first one is what is lacking to the sum. Messages say nothing
# but their sum. ∎ This needs words that are used once. What they are computed from
# (:func:`about_words`) names the question, which names its fit, how many questions
# the party has answered, and the block: two blocks with the same words would show
# their difference.

N_BYTES = 16
MODULUS = 2 ** (8 * N_BYTES)
KEY_BYTES = 32


def pair_keys(names: Sequence[str]) -> dict[str, dict[str, bytes]]:
    """Draw a key for each two parties: for trials, where one process plays them all.

    Parties agree on keys among themselves, by any exchange of keys; whoever deals them
    out, as this function does, can read what is masked.

    Examples
    --------
    >>> keys = pair_keys(["a", "b", "c"])
    >>> keys["a"]["b"] == keys["b"]["a"] != keys["c"]["b"]
    True
    """
    keys: dict[str, dict[str, bytes]] = {name: {} for name in names}
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            keys[one][other] = keys[other][one] = os.urandom(KEY_BYTES)
    return keys


def fit_name() -> str:
    """Return a name for a fit, that no other one has.

    Examples
    --------
    >>> fit_name() == fit_name()
    False
    """
    return os.urandom(N_BYTES).hex()


def about_words(
    digest: str, number: int, block: str, n_parties: int, n_colluding: int
) -> str:
    """Return what the words of one block in one answer are computed from.

    No two lists of arguments give the same text. Parties that disagree in one of them
    have masks that do not cancel, so what they send cannot be read: those who add less
    noise than another party counts on are among them.

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
    """Return whole numbers behind the masks that a party shares with each other one.

    Parameters
    ----------
    numbers : sequence of int
    name : str
        Of the party.
    keys : mapping of str to bytes
        By the name of the other party.
    about : str
        What no other message is about (:func:`about_words`).
    """
    hidden = list(numbers)
    for other, key in keys.items():
        pair = json.dumps([*sorted((name, other)), about])
        words = _words(key, pair, len(hidden))
        sign = 1 if name < other else -1
        hidden = [n + sign * word for n, word in zip(hidden, words, strict=True)]
    return b"".join((n % MODULUS).to_bytes(N_BYTES, "little") for n in hidden)


def unmasked(messages: Sequence[bytes]) -> list[int]:
    """Return the sums of what all parties sent; their masks cancel.

    Examples
    --------
    >>> keys = pair_keys(["a", "b"])
    >>> numbers = {"a": [3, -15], "b": [4, -20]}
    >>> unmasked([masked(own, who, keys[who], "1") for who, own in numbers.items()])
    [7, -35]
    """
    columns = zip(*map(_read, messages), strict=True)
    totals = [sum(column) % MODULUS for column in columns]
    return [n - MODULUS if n >= MODULUS // 2 else n for n in totals]


def _read(message: bytes) -> list[int]:
    starts = range(0, len(message), N_BYTES)
    return [int.from_bytes(message[i : i + N_BYTES], "little") for i in starts]


def check_keys(keys: Mapping[str, bytes]) -> None:
    """Raise unless there is a long key for each other party, and no key twice.

    Of two parties with one key, one may subtract what the other adds: then nothing is
    hidden. Words are computed from both names as well, so that they differ.

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


def _words(key: bytes, about: str, n: int) -> list[int]:
    stream: Any = hashlib.shake_256(key + about.encode())
    return _read(stream.digest(N_BYTES * n))


# ----------------------------------------------------------------------------
# Sums as whole numbers of public steps: they can be masked, and add without loss.

FINER = 20  # bits of the step below the noise


def whole_sums(
    block: Block, total: Any, std: float
) -> tuple[NDArray[np.object_], NDArray[np.float64]]:
    r"""Return whole numbers, and the step of each entry: their product is the sum.

    Sums of all blocks here are multiples of powers of two: of the grid of an
    :class:`ExactSum`, of 1 for counts, of the last of 23 bits of a histogram's scale.
    Steps are public. Where they are coarse beside noise of ``std`` they are divided by
    another power of two, so that what is rounded to them is off by less than a
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
        whole = [int(math.ldexp(math.frexp(scale)[0], 23)) for scale in scales]
        times = np.repeat(np.array(whole, dtype=object), block.widths)
        numbers = total.astype(object) * times
    elif isinstance(block, Counts | Parities):
        numbers = total.astype(np.int64).astype(object)
    elif isinstance(block, Vectors):
        numbers = _exact(total)
    else:
        steps_of(block, std)  # raises for blocks without any
        numbers = np.concatenate([_exact(own) for own in total], axis=1)
    steps, times = _fine(_steps(block), std)
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
    return _fine(_steps(block), std)[0]


def _steps(block: Block) -> NDArray[np.float64]:
    """Return what sums are multiples of, whatever the noise."""
    if isinstance(block, Histograms):
        scales = block.scales or (1.0,) * len(block.widths)
        own = [math.ldexp(1.0, math.frexp(scale)[1] - 23) for scale in scales]
        return np.repeat(own, block.widths)
    if isinstance(block, Counts | Parities):
        return np.ones(block.width)
    if isinstance(block, Vectors):
        return np.full(block.width, block.start(0).step)
    if isinstance(block, OuterProducts) or _are_vectors(block):
        return np.concatenate(
            [np.full(own.low.shape[1], own.step) for own in block.start(0)]
        )
    raise RowsElsewhereError(
        f"{type(block).__name__} cannot be summed by parties that add noise "
        "themselves. Give a schema of all columns and `classes`, or trust a "
        "combiner."
    )


def _fine(
    steps: NDArray[np.float64], std: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return steps that are fine beside the noise, and how many are in a given one."""
    times = np.ones(len(steps))
    if std > 0:
        finest = math.ldexp(1.0, math.frexp(std)[1] - 1 - FINER)
        times = np.maximum(steps / finest, 1.0)
    return steps / times, times


def _are_vectors(block: Any) -> bool:
    is_many = isinstance(block, SideBySide)
    return is_many and all(isinstance(part, Vectors) for part in block.parts)


def _exact(total: ExactSum) -> NDArray[np.object_]:
    """Return a sum in steps; ``high`` may hold more of them than 53 bits say."""
    tops = np.vectorize(int, otypes=[object])(total.high / total.top)
    rest = np.vectorize(int, otypes=[object])(total.low / total.step)
    return tops * 2**total.n_bits + rest


# ----------------------------------------------------------------------------
# What a party that adds noise sends: its sums, its share of noise, behind masks.

Floats = NDArray[np.float64]
LEAST_SHARE = 1e-3  # of the budget of a party, for one question; fits ask for .01
MOST_QUESTIONS = 100  # of one fit; fits ask about ten


@saved("message.noisy_share")
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
