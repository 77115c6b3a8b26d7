"""What parties and a combiner send each other: a question, and sums that answer it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from skdpgen.privacy._checked_sums import are_alike
from skdpgen.privacy._noise_shares import NoiseShares
from skdpgen.privacy._query import Query
from skdpgen.privacy._sensitivity import HEAVIEST, LIGHTEST
from skdpgen.utils import (
    asked,
    digest_of,
    from_bytes,
    has_role,
    is_amount,
    refuse_unless,
    saved,
    to_bytes,
)

LONGEST_NAME = 1000


@asked("noise")
@saved
@dataclass(frozen=True, eq=False)
class NoiseWanted:
    """What a release needs to be charged for, by whoever adds noise.

    Parameters
    ----------
    name : str
        What the certificate calls the release.
    share : float
        Of the squared mu of the budget.
    weights : mapping of str to float
        By which each block is scaled.
    std : float
        Noise of the release, where weights are 1, as the one who asks has it.
    shares : NoiseShares or None, default=None
        In which noise is added, as the one who asks states it; None states nothing.
    fit : str, default=""
        Of two fits not the same, so that their masks are not, whatever the keys.
    """

    name: str
    share: float
    weights: Mapping[str, float]
    std: float
    shares: NoiseShares | None = None
    fit: str = ""

    def check_asked(self) -> None:
        """Check numbers and names: the latter stand in a party's certificate."""
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


@asked("question")
@saved
@dataclass(frozen=True)
class Question:
    """A query, and how tables are read for it: public, and may be sent in the clear.

    Parameters
    ----------
    query : Query
    layouts : tuple of (Layout, Layout or None)
        Columns and dtypes of the table and of the target, alike for all parties.
    task : str
        How numbers in y are read.
    noise : NoiseWanted or None, default=None
        What each party charges itself before it adds its share of the noise; None asks
        for sums without noise.
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
            mine = set(self.query.blocks)
            refuse_unless(set(self.noise.weights) <= mine, "weights of its blocks")

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all of it: answers to other questions have another one."""
        return digest_of(self)

    def to_bytes(self) -> bytes:
        """Return a file of it, without pickle."""
        return to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what :meth:`to_bytes` wrote; runs no code of the sender."""
        return _read(cls, data)


@saved
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
        """Return it with the query that was asked; raise if its sums answer another.

        Who sent it is not trusted with the form of its sums: see
        :func:`~skdpgen.privacy._checked_sums.are_alike`.
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
    found = from_bytes(data)
    if not isinstance(found, kind):
        raise ValueError(
            f"data must hold a {kind.__name__}. Got a {type(found).__name__}."
        )
    return found
