"""Queries to private rows, here or in other processes, and the form of answers."""

import math
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from skdpgen.exceptions import (
    RowsElsewhereError,
)
from skdpgen.privacy._accounting import gaussian_epsilon
from skdpgen.privacy._blocks import WIDEST_BLOCK, Batch, Block
from skdpgen.privacy._budget import PrivacyBudget
from skdpgen.privacy._exact_sum import ExactSum
from skdpgen.privacy._noise import random_groups
from skdpgen.privacy._sensitivity import HEAVIEST, LIGHTEST
from skdpgen.privacy._value_counts import LEVELS, MOST_COMPARED, SLOTS_OF_LEVEL, Seen
from skdpgen.utils import (
    asked,
    digest_of,
    from_bytes,
    has_role,
    is_amount,
    is_whole,
    refuse_unless,
    saved,
    to_bytes,
)

# ----------------------------------------------------------------------------
# Whether sums of another process have the form that the query asks for.

MOST_ROWS = 2.0**40  # of a party; with more, noise would be rounded away


def are_alike(sums: Any, empty: Any) -> bool:
    """Return whether sums have the form of those over no rows, and are of finite size.

    A sum of another form may break the sensitivity once it is added to other sums. If
    it has more classes than the query, numpy adds the other sums to each class, and
    each class gets separate noise. If a number is too large, the others are rounded,
    and one row may decide in which direction.

    Examples
    --------
    >>> are_alike(np.array([[3, 4]]), np.zeros((1, 2), dtype=np.int64))
    True
    >>> are_alike(np.zeros((9, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64))
    False
    """
    if type(sums) is not type(empty):
        return False
    if isinstance(empty, np.ndarray):
        return _is_array_like(sums, empty, MOST_ROWS)
    if isinstance(empty, ExactSum):
        limit = MOST_ROWS * empty.top
        return (
            (sums.top, sums.n_bits) == (empty.top, empty.n_bits)
            and _is_array_like(sums.low, empty.low, limit)
            and _is_array_like(sums.high, empty.high, limit)
            and _is_array_like(sums.used, empty.used, MOST_ROWS)
        )
    if isinstance(empty, Seen):
        return _is_distinct(sums)
    if isinstance(empty, list):
        pairs = zip(sums, empty, strict=False)
        return len(sums) == len(empty) and all(are_alike(*pair) for pair in pairs)
    if isinstance(empty, dict):
        if not empty:  # counts of text, whose values are unknown before
            return _is_counted(sums)
        is_same = set(sums) == set(empty)
        return is_same and all(are_alike(sums[key], empty[key]) for key in empty)
    return False


def _is_array_like(array: Any, empty: Any, limit: float) -> bool:
    if not isinstance(array, np.ndarray) or array.dtype != empty.dtype:
        return False
    return array.shape == empty.shape and bool((np.abs(array) <= limit).all())


def _is_counted(counts: dict[Any, Any]) -> bool:
    """Return whether these are counts of text, in whole numbers."""
    return all(
        type(value) is str and type(n) is int and 0 <= n <= MOST_ROWS
        for value, n in counts.items()
    )


def _is_distinct(distinct: Seen) -> bool:
    """Return whether values, or slots of values, have their dtype and shape."""
    values, slots = distinct.first, distinct.slots
    if not isinstance(values, np.ndarray) or values.dtype != np.uint64:
        return False
    if slots is None:
        return values.ndim == 1 and len(values) < MOST_COMPARED
    shape = LEVELS, SLOTS_OF_LEVEL // 8
    is_bits = isinstance(slots, np.ndarray) and slots.dtype == np.uint8
    return len(values) == 0 and is_bits and slots.shape == shape


# ----------------------------------------------------------------------------
# Queries to private rows, here or in other processes: how to read rows, what to sum.


class Encoder(Protocol):
    """How rows become batches."""

    @property
    def names(self) -> Collection[Any]:
        """Columns that are read."""

    def batches(self, chunks: Iterable[Any]) -> Iterable[Batch]:
        """Encode rows, chunk by chunk."""


@asked("query")
@saved("message.query")
@dataclass(frozen=True, eq=False)
class Query:
    """A query for sums over rows: public, and answered in the process of the rows.

    *Sums of parts.* The blocks' sums are exact, so those of parts can be merged in any
    order and any tree, and have the bits of the sum over all rows at once
    (``ExactSum``). Sums carry no noise: they are as private as the rows.

    Parameters
    ----------
    encoder : Encoder
        From rows to batches; computed from the schema and earlier releases only.
    blocks : mapping of str to Block
        What is summed, by the name of the part of a batch.
    n_classes : int
    """

    encoder: Encoder
    blocks: Mapping[str, Block]
    n_classes: int

    def check_asked(self) -> None:
        """Check that blocks have names and a limited size."""
        refuse_unless(has_role(self.encoder, "encoder"), "an encoder of tables")
        refuse_unless(is_whole(self.n_classes, 1, WIDEST_BLOCK), "a number of classes")
        blocks: Any = self.blocks
        refuse_unless(
            type(blocks) is dict
            and len(blocks) > 0
            and all(type(key) is str for key in blocks)
            and all(has_role(block, "block") for block in blocks.values())
            and sum(block.width for block in blocks.values()) * self.n_classes
            <= WIDEST_BLOCK,
            "blocks that parties can sum, each with a name",
        )

    @property
    def names(self) -> Collection[Any]:
        """Columns that are read."""
        return self.encoder.names

    def sums(self, chunks: Iterable[Any]) -> dict[str, Any]:
        """Return the sums over some rows, without noise."""
        return sum_rows(self.encoder.batches(chunks), self.blocks, self.n_classes)

    def try_out(self, chunk: Any, n_rows: int) -> None:
        """Sum public rows as private ones would be; raise if the encoder is unsafe.

        An encoder must yield each row exactly once, whatever its values. A row that it
        yields twice would count twice, and no block could notice.
        """
        n_sent = 0

        def counted() -> Iterable[Batch]:
            nonlocal n_sent
            for batch in self.encoder.batches([chunk]):
                n_sent += len(batch.labels)
                yield batch

        totals = sum_rows(counted(), self.blocks, self.n_classes)
        if n_sent != n_rows or not are_alike(totals, self.sums(())):
            raise ValueError("A question must send each row on once.")

    def merge(
        self, totals: Mapping[str, Any], other: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the sums over the rows of two parts; changes neither."""
        return {
            key: block.merge(totals[key], other[key])
            for key, block in self.blocks.items()
        }


@dataclass(frozen=True, eq=False)
class MinibatchQuery(Query):
    """Sums over random groups of rows; only for rows in this process, never sent.

    Groups are drawn while rows are read, so two answers differ.

    Parameters
    ----------
    n_minibatches : int
        Number of groups; those of group g start at row ``g * n_classes``.
    """

    n_minibatches: int = 1

    def sums(self, chunks: Iterable[Any]) -> dict[str, Any]:
        """Return the sums over some rows, group by group, without noise."""
        batches = self.encoder.batches(chunks)
        return sum_rows(batches, self.blocks, self.n_classes, self.n_minibatches)


def sum_rows(
    batches: Iterable[Batch],
    blocks: Mapping[str, Block],
    n_classes: int,
    n_minibatches: int = 1,
) -> dict[str, Any]:
    """Return the sums of blocks over rows, read once; adds no noise.

    With ``n_minibatches`` those of group g start at row ``g * n_classes``.
    """
    totals = {
        key: block.start(n_classes * n_minibatches) for key, block in blocks.items()
    }
    with np.errstate(all="ignore"):  # a warning would tell about a value
        for batch in batches:
            if batch.labels.ndim != 1:
                raise ValueError("labels must have one dimension. Got more.")
            labels = batch.labels
            if n_minibatches > 1:
                is_labelled = (labels >= 0) & (labels < n_classes)
                group = random_groups(len(labels), n_minibatches)
                labels = np.where(is_labelled, labels + n_classes * group, -1)
            for key, block in blocks.items():
                part = batch.parts.get(key)
                totals[key] = block.add(totals[key], part, labels)
    return totals


# ----------------------------------------------------------------------------
# Noise in shares: parties add it themselves, so no sum without noise is ever sent.


@asked("shares")
@saved("message.noise_shares")
@dataclass(frozen=True)
class NoiseShares:
    r"""How many parties add noise, and how many of them may work for an attacker.

    A release needs noise of variance :math:`\sigma^2`. Each of m parties adds its own,
    of variance :math:`\sigma^2 / (m - k)`, and hides its sum behind masks that cancel
    when all are added (:mod:`~skdpgen.privacy._noisy_share`).

    *What c colluders see*, the combiner among their friends: the sum of all, and what
    they did themselves, so the sum of the other :math:`m - c` parties with the noise of
    these,

    .. math:: \sum_{i \text{ honest}} (s_i + n_i), \qquad
              \mathrm{Var} = \frac{m - c}{m - k} \sigma^2 ,

    and nothing else that depends on honest rows. *Proof.* Their own sums and noise can
    be subtracted, and given the masks' keys that they lack, messages of honest parties
    are uniform but for their sum. ∎ A row of an honest party moves this sum by the
    sensitivity at most. So for :math:`c \le k` the guarantee is at least that of the
    release, and for more a release of :math:`\mu` has
    :math:`\mu \sqrt{(m - k) / (m - c)}`, as has what they compose to.

    *Assumed*: parties follow the protocol (one who adds no noise is a colluder), and at
    most k tell what they know. Masks rest on a hash function, so against the combiner
    the guarantee is one for attackers who compute, and not for those who try all keys.

    Parameters
    ----------
    n_parties : int
        m, at least 2.
    n_colluding : int
        k, from 0 to m - 2: the larger, the more noise in all. With fewer than half of
        the parties, an honest majority is assumed. A party that sees the release
        counts as one, also if it works with no one, because it can subtract its own
        noise. So with 0 epsilon holds against others than parties.

    Examples
    --------
    >>> shares = NoiseShares.honest_majority(5)
    >>> shares.n_colluding, round(shares.excess**2, 3)
    (2, 1.667)
    """

    n_parties: int
    n_colluding: int

    def __post_init__(self) -> None:
        """Check that noise is left, and that masks hide something."""
        if not 0 <= self.n_colluding <= self.n_parties - 2:
            raise ValueError(
                "n_colluding must be from 0 to the number of parties minus 2. Got "
                f"{self.n_colluding!r} of {self.n_parties!r}."
            )

    def check_asked(self) -> None:
        """Check that both are whole numbers."""
        refuse_unless(
            is_whole(self.n_parties, 2) and is_whole(self.n_colluding, 0),
            "shares of a number of parties",
        )

    @classmethod
    def honest_majority(cls, n_parties: int) -> Self:
        """Return shares that allow for the largest minority of colluders.

        Of two parties it is none: each sees the other's sum with half of the variance.
        """
        return cls(n_parties, max(n_parties - 1, 0) // 2)

    @property
    def each(self) -> float:
        """Noise of a party, where that of the release is 1."""
        return 1.0 / math.sqrt(self.n_parties - self.n_colluding)

    @property
    def excess(self) -> float:
        """Noise of all parties together, where that of the release is 1."""
        return math.sqrt(self.n_parties) * self.each

    def epsilon(self, budget: PrivacyBudget, n_colluding: int) -> float:
        """Return the epsilon of a budget against another number of colluders.

        It holds at the budget's delta, for a row of a party that does not collude.

        Examples
        --------
        >>> shares, budget = NoiseShares(4, 1), PrivacyBudget(1.0, 1e-5)
        >>> [round(shares.epsilon(budget, c), 2) for c in range(5)]
        [0.85, 1.0, 1.25, 1.83, inf]
        """
        honest = self.n_parties - n_colluding
        if honest < 1 or not budget.is_private:
            return math.inf
        ratio = math.sqrt((self.n_parties - self.n_colluding) / honest)
        _, delta = budget.gaussian
        return gaussian_epsilon(budget.mu * ratio, delta)

    def stated(self, budget: PrivacyBudget) -> str:
        """Return the statement of whom a certificate trusts, and what if wrongly."""
        m, k = self.n_parties, self.n_colluding
        epsilons = [
            f"{self.epsilon(budget, c):.3g} for {c}" for c in range(k + 1, m) if c < m
        ]
        known = f" and up to {k} of them together" if k else ", and not against a party"
        return (
            f"noise in shares of {m} parties, which follow the protocol: epsilon is "
            f"against whoever adds up{known} (it is {', '.join(epsilons)}). A party "
            "that sees what is released knows its own noise, and counts as one, also "
            "alone. Attackers have limited computers; a "
            "question that fails at the rows of a party is the last one that it "
            "answers, and that it failed is not covered by noise"
        )


LONGEST_NAME = 1000


@asked("noise")
@saved("message.noise_wanted")
@dataclass(frozen=True, eq=False)
class NoiseWanted:
    """The cost of a release, for parties that add the noise and charge themselves.

    Parameters
    ----------
    name : str
        What the certificate calls the release.
    share : float
        Of the squared mu of the budget.
    weights : mapping of str to float
        By which each block is scaled.
    std : float
        Noise of the release, for weights of 1, as computed by the sender.
    shares : NoiseShares or None, default=None
        The shares of noise that the sender assumes; None states nothing.
    fit : str, default=""
        Different in each fit, so that masks of two fits differ even with equal keys.
    """

    name: str
    share: float
    weights: Mapping[str, float]
    std: float
    shares: NoiseShares | None = None
    fit: str = ""

    def check_asked(self) -> None:
        """Check numbers and names, since names are part of a party's certificate."""
        for text in (self.name, self.fit):
            refuse_unless(
                isinstance(text, str) and len(text) <= LONGEST_NAME, "short names"
            )
        refuse_unless(self.name.isprintable(), "names that are one line")
        refuse_unless(is_amount(self.share, 0, 1), "a share of the budget")
        refuse_unless(is_amount(self.std, 0, sys.float_info.max), "a noise std")
        weights: Any = self.weights
        refuse_unless(
            type(weights) is dict
            and all(isinstance(key, str) for key in weights)
            and all(is_amount(w, LIGHTEST, HEAVIEST) for w in weights.values()),
            f"weights in [{LIGHTEST:.3g}, {HEAVIEST:.3g}]",
        )
        refuse_unless(self.shares is None or has_role(self.shares, "shares"), "shares")


# ----------------------------------------------------------------------------
# What can be summed: private rows behind one method, wherever they are kept.


class Summable(Protocol):
    """Private rows with their encoding, which a release sums.

    All queries go through :meth:`total`. Rows in the memory of this process, or in
    chunks that it opens, are read for the answer. Other processes (a cluster, parties)
    receive the query and send the answer.
    """

    @property
    def encoder(self) -> Encoder:
        """The encoding of the rows as batches."""

    @property
    def are_here(self) -> bool:
        """Whether this process reads the rows itself."""

    @property
    def noise_shares(self) -> NoiseShares | None:
        """Shares of the noise that is added where the rows are kept.

        None: sums have no noise, and the release adds it.
        """

    def total(self, query: Query, noise: NoiseWanted | None = None) -> dict[str, Any]:
        """Return the sums over all rows.

        They are exact, and as private as the rows, if ``noise_shares`` is None. If it
        is not, they hold the noise that ``noise`` asks for, and none are sent without.
        The dict belongs to the caller.
        """


class AsGiven:
    """Chunks that are batches already."""

    names = ()

    def batches(self, chunks: Iterable[Batch]) -> Iterable[Batch]:
        """Return them."""
        return chunks


@dataclass(frozen=True, eq=False)
class GivenBatches:
    """Batches of this process, in the form that a release sums.

    Parameters
    ----------
    batches : iterable of Batch
        The rows; an iterator is read once.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from skdpgen.privacy import Counts
    >>> rows = SimpleNamespace(labels=np.array([0, 1, 1]), parts={})
    >>> given = GivenBatches([rows])
    >>> query = Query(given.encoder, {"rows": Counts()}, 2)
    >>> given.total(query)["rows"].tolist()
    [[1.0], [2.0]]
    """

    batches: Iterable[Batch] = field(repr=False)

    encoder = AsGiven()
    are_here = True
    noise_shares = None

    def total(self, query: Query, noise: NoiseWanted | None = None) -> dict[str, Any]:
        """Return the sums over the batches, without noise."""
        del noise
        return query.sums(self.batches)


def query_of(
    rows: Summable, blocks: Mapping[str, Block], n_classes: int, n_minibatches: int
) -> Query:
    """Return the query for some blocks; raise for mini-batches in other processes."""
    if n_minibatches == 1:
        return Query(rows.encoder, blocks, n_classes)
    if not rows.are_here:
        raise RowsElsewhereError(
            "Rows that stand elsewhere are not cut into mini-batches. Release them as "
            "one."
        )
    return MinibatchQuery(rows.encoder, blocks, n_classes, n_minibatches)


# ----------------------------------------------------------------------------
# What parties and a combiner send each other: a question, and sums that answer it.


@asked("question")
@saved("message.question")
@dataclass(frozen=True)
class Question:
    """A query and how to read tables for it: public, so it may be sent unencrypted.

    Parameters
    ----------
    query : Query
    layouts : tuple of (Layout, Layout or None)
        Columns and dtypes of the table and of the target, alike for all parties.
    task : str
        How numbers in y are read.
    noise : NoiseWanted or None, default=None
        What each party charges its own budget before it adds its share of the noise;
        None asks for sums without noise.
    """

    query: Query
    layouts: tuple[Any, Any]
    task: str
    noise: NoiseWanted | None = None

    def check_asked(self) -> None:
        """Check its parts, and that weights are those of its blocks."""
        layouts: Any = self.layouts
        refuse_unless(
            type(layouts) is tuple
            and len(layouts) == 2
            and has_role(layouts[0], "layout")
            and (layouts[1] is None or has_role(layouts[1], "layout")),
            "the layout of a table, and of its target",
        )
        refuse_unless(has_role(self.query, "query"), "a query")
        refuse_unless(isinstance(self.task, str), "a task")
        if self.noise is not None:
            refuse_unless(has_role(self.noise, "noise"), "how much noise is wanted")
            keys = set(self.query.blocks)
            refuse_unless(set(self.noise.weights) <= keys, "weights of its blocks")

    @cached_property
    def digest(self) -> str:
        """A digest of all parts: other questions have another one."""
        return digest_of(self)

    def to_bytes(self) -> bytes:
        """Return a file of it, without pickle."""
        return to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what :meth:`to_bytes` wrote; runs no code of the sender."""
        return _read(cls, data)


@saved("message.partial_sum")
@dataclass(frozen=True, eq=False)
class PartialSum:
    """Exact sums over some rows, in answer to a question; NOT private, without noise.

    Two of them add up (``+``) to the sum over the rows of both, to the bit, in any
    order; parts that answer different questions do not, nor do parts that share a
    source, whose rows would count twice.

    Parameters
    ----------
    digest : str
        Of the question.
    sources : tuple of str
        Whose rows were summed: parties, or batches of one, ``party/batch``.
    query : Query
        Knows how its sums are merged.
    totals : mapping of str to sums
    """

    digest: str
    sources: tuple[str, ...]
    query: Query
    totals: Mapping[str, Any]

    def __add__(self, other: Self) -> Self:
        """Return the sum over the rows of both."""
        if not (self.sources and other.sources):
            raise ValueError("Sums must name their sources. Got some without any.")
        if self.digest != other.digest:
            raise ValueError(
                "Sums must answer the same question. Got answers to two; let every "
                "party answer what the combiner asked last."
            )
        twice = sorted(set(self.sources) & set(other.sources))
        if twice:
            raise ValueError(
                f"A row must count once. Got {', '.join(twice)} twice; give every "
                "party, and every batch of one, a name of its own."
            )
        sources = tuple(sorted((*self.sources, *other.sources)))
        totals = self.query.merge(self.totals, other.totals)
        return replace(self, sources=sources, totals=totals)

    def checked(self, question: Question) -> Self:
        """Return these sums with the query of a question; raise if they do not fit it.

        The sender is not trusted with the form of its sums: see
        ``are_alike``.
        """
        if not are_alike(dict(self.totals), question.query.sums(())):
            raise ValueError(
                f"Sums of {', '.join(self.sources)} must have the form that was asked "
                "for. Got others; let the party answer again, or leave it out."
            )
        return replace(self, query=question.query)

    def to_bytes(self) -> bytes:
        """Return a file of it, without pickle; it is as private as the rows."""
        return to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what :meth:`to_bytes` wrote; runs no code of the sender."""
        return _read(cls, data)


def _read(kind: Any, data: bytes) -> Any:
    value = from_bytes(data)
    if not isinstance(value, kind):
        raise ValueError(
            f"data must hold a {kind.__name__}. Got a {type(value).__name__}."
        )
    return value
