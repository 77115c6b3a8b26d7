r"""Masks that cancel: of messages that parties send, only their sum can be read.

Each two parties i < j have a key that no one else knows. From it, their names and the
question, both compute the same words :math:`r_{ij}`, by SHAKE-256; i adds them to its
whole numbers and j subtracts them, modulo :math:`2^{128}`. In the sum of all parties
they cancel. *What is hidden.* Take words as uniform and independent. Of the parties
whose keys an attacker lacks, call one the first. The message of each other one holds
words that it shares with the first, and that stand in these two messages alone: so
whatever the parties' numbers are, these messages are uniform and independent, and the
first one is what is lacking to the sum. Messages say nothing but their sum. ∎ This
needs words that are used once. What they are computed from (:func:`about_words`) names
the question, which names its fit, how many questions the party has answered, and the
block: two blocks with the same words would show their difference.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

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
