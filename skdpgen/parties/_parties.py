"""Several parties as one table, for `fit`: they get questions and send sums."""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import combinations
from operator import add
from typing import Any, Protocol, TypeVar

from skdpgen.exceptions import (
    RowsElsewhereError,
)
from skdpgen.privacy import (
    Adjacency,
    Counts,
    NoiseShares,
    NoiseWanted,
    NoisyShare,
    PartialSum,
    PrivacyBudget,
    Query,
    Question,
    fit_name,
    noise_of_blocks,
    noisy_values,
)
from skdpgen.tables import Encoder, Layout, RemoteRows, layouts_of, like_of, read_part
from skdpgen.utils import (
    Key,
    Labels,
    Rows,
    Table,
)

# ----------------------------------------------------------------------------
# A party: it keeps its rows, and answers questions with sums.

NO_BUDGET = (
    "{} has no budget of its own to add noise. Make it a `GuardedParty`, or let the "
    "combiner add the noise."
)


@dataclass(frozen=True, eq=False)
class Party:
    """Rows that stay with a party; only their sums are sent.

    The sums have no noise yet: **their recipient is trusted** to add the noise and to
    show nothing else. They include every word of a text column, unless a schema lists
    its categories, and the values of whole-number columns that no schema describes,
    as hashes that can be inverted. Batches of one party, for example months, have names
    ``party/batch``; their sums can be kept and added up (:func:`first_question`).

    Parameters
    ----------
    name : str
        Its own, among all parties.
    X : table
    y : labels or None, default=None

    Examples
    --------
    >>> from skdpgen import DPIndependentSynthesizer
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> from skdpgen.parties import Parties
    >>> north, south = Party("n", X[:800], y[:800]), Party("s", X[800:], y[800:])
    >>> synth = DPIndependentSynthesizer(epsilon=1.0, classes=["left", "stayed"])
    >>> synth.fit(Parties([north, south])).n_samples_
    2000
    """

    name: str
    X: Table
    y: Labels | None = None

    @property
    def like(self) -> tuple[Table, Labels | None]:
        """Columns and dtypes, which are public: a table without rows, to be sent."""
        return like_of(self.X), None if self.y is None else like_of(self.y)

    def answer(self, question: Question) -> PartialSum:
        """Return the sums of its rows; raise if the question asks for noise.

        Errors name columns and dtypes, and no value.
        """
        if question.noise is not None:
            raise ValueError(NO_BUDGET.format(self.name))
        chunks = read_part(self.X, self.y, question.layouts, question.task)
        query = question.query
        return PartialSum(question.digest, (self.name,), query, query.sums(chunks))


# ----------------------------------------------------------------------------
# Several parties as one table, for `fit`: they get questions and send sums.

Answer = Callable[[Question], PartialSum | NoisyShare]
Sent = TypeVar("Sent", PartialSum, NoisyShare)


class Answering(Protocol):
    """The interface of a party: :class:`Party`, or one that adds noise itself."""

    @property
    def name(self) -> str:
        """Its own name, among all parties."""

    @property
    def like(self) -> tuple[Table, Labels | None]:
        """A table without rows, and labels."""

    def answer(self, question: Question) -> PartialSum | NoisyShare:
        """Return sums of its rows."""


class Parties:
    """Rows of several parties, for ``fit`` in place of a table.

    Each release sends one public question to all parties. Each party answers with exact
    sums of its rows. This process adds them up and adds the noise once. The result is
    equal, to the bit, to that of a fit to all rows together. **This process is
    trusted**: it sees sums without noise.

    Parameters
    ----------
    parties : iterable of Party, or mapping of name to callable
        A callable sends a :class:`~skdpgen.privacy.Question` to its party, by whatever
        way there is, and returns the :class:`~skdpgen.privacy.PartialSum` that
        :meth:`Party.answer` made.
    like : (X, y) pair or None, default=None
        Public columns and dtypes, as of tables without rows; None takes them from the
        first of the parties, if they are :class:`Party`.
    n_rows : int or None, default=None
        Rows of all parties, if their number is public; None asks for it. What
        :class:`Party` objects hold is compared with it. Callables and parties that add
        noise are not asked, and the certificate states that it is as given. Ignored
        under ``adjacency="add_remove"``, where the number is private.
    noise : NoiseShares or None, default=None
        Each party adds a share of the noise, and this process need not be trusted: it
        sees sums of all parties with the noise of all. Each party is a
        :class:`GuardedParty`, and the fit needs a schema and classes, because the
        discovery of words needs counts without noise. None: this process adds the
        noise.

    Examples
    --------
    >>> from skdpgen import DPIndependentSynthesizer
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> from skdpgen.parties import Party
    >>> parties = [Party(name, X[i::2], y[i::2]) for i, name in enumerate("ab")]
    >>> synth = DPIndependentSynthesizer(epsilon=1.0, classes=["left", "stayed"])
    >>> synth.fit(Parties(parties)).privacy_.epsilon
    1.0
    """

    ndim = 2  # a table

    def __init__(
        self,
        parties: Iterable[Answering] | Mapping[str, Answer],
        like: Table | tuple[Table, Labels | None] | None = None,
        n_rows: int | None = None,
        noise: NoiseShares | None = None,
    ) -> None:
        members: list[Answering] = []
        if not isinstance(parties, Mapping):
            members = list(parties)
            like = members[0].like if like is None and members else like
            names = [party.name for party in members]
            if not all(isinstance(name, str) for name in names):
                raise ValueError(f"Names of parties must be text. Got {names!r}.")
            if len(set(names)) < len(names):
                raise ValueError(
                    f"Parties must have distinct names. Got {names!r} instead; give "
                    "each its own `name`, and rows of one party as one table."
                )
            parties = {party.name: party.answer for party in members}
        if any("/" in str(name) for name in parties):
            raise ValueError(
                "Names of parties must have no '/', which separates a party from its "
                f"batches. Got {list(parties)!r}."
            )
        if not parties or like is None:
            raise ValueError(
                "There must be parties, and `like` with public columns and dtypes. Got "
                f"{len(parties)} parties and {'no' if like is None else 'a'} `like`."
            )
        self.parties = dict(parties)
        self.like = like if isinstance(like, tuple) else (like, None)
        for member in members:
            _check_alike(member, layouts_of(*self.like))
        if noise is not None:
            _check_shares(members)
        self.n_rows = n_rows
        self.can_count = bool(members) and noise is None
        self.noise = noise
        if noise is not None and noise.n_parties != len(self.parties):
            raise ValueError(
                f"noise must be in as many shares as there are parties. Got "
                f"{noise.n_parties} shares of {len(self.parties)} parties."
            )

    def __repr__(self) -> str:
        return f"Parties({', '.join(self.parties)})"

    def standing(self, task: str) -> "PartiesRows":
        """Return the rows of the parties in the form that a fit reads."""
        layouts = layouts_of(*self.like)
        return PartiesRows(
            self.parties, layouts, task, self.n_rows, self.noise, self.can_count
        )


def _check_alike(party: Answering, expected: tuple[Any, Any]) -> None:
    """Raise unless a party has the public columns, dtypes and labels of all.

    Containers may differ: what counts is which values a dtype holds.
    """
    layouts = layouts_of(*party.like)
    if (layouts[1] is None) != (expected[1] is None):
        has, lacks = ("no", "some") if layouts[1] is None else ("some", "no")
        raise ValueError(
            f"y must be given by all parties, or by none. Got {has} labels from "
            f"{party.name} and {lacks} labels from others, or in `like`; give the "
            "labels of all rows, or leave them out."
        )
    for layout, shared in zip(layouts, expected, strict=True):
        if not isinstance(layout, Layout) or not isinstance(shared, Layout):
            continue
        if layout.names != shared.names:
            raise ValueError(
                "All parties must have the same columns, in one order. Got "
                f"{list(layout.names)!r} from {party.name} and {list(shared.names)!r} "
                "from others, or in `like`; select and reorder the columns."
            )
        for j, name in enumerate(layout.names):
            if _held(layout, j) != _held(shared, j):
                raise ValueError(
                    "All parties must have the same dtypes. Got "
                    f"{layout.dtypes[j]} of {name!r} from {party.name} and "
                    f"{shared.dtypes[j]} from others, or in `like`; convert the column."
                )


def _check_shares(parties: Iterable[Any]) -> None:
    """Raise unless each party can add noise, and each two have the same key.

    Else masks do not cancel, which shows only after the first answers are paid for.
    Callables, and parties without ``key_tags``, are not asked.
    """
    for party in parties:
        if isinstance(party, Party):
            raise ValueError(NO_BUDGET.format(party.name))
    tagged = [party for party in parties if hasattr(party, "key_tags")]
    for one, other in combinations(tagged, 2):
        tag = one.key_tags.get(other.name)
        if tag is None or tag != other.key_tags.get(one.name):
            raise ValueError(
                "keys must be the same on both sides of each two parties. Got keys of "
                f"{one.name} and {other.name} that differ, or are for other names; "
                "agree on new keys, and begin with new parties."
            )


def _held(layout: Layout, column: int) -> tuple[Any, ...]:
    """Return which values the dtype of a column holds."""
    return tuple(
        facts[column] for facts in (layout.kinds, layout.limits, layout.can_be_missing)
    )


@dataclass(frozen=True, eq=False)
class PartiesRows(RemoteRows):
    """Rows in other processes, of parties that send their sums."""

    parties: Mapping[str, Answer]
    layouts: tuple[Any, Any]
    task: str
    public_n_rows: int | None = None
    noise_shares: NoiseShares | None = None
    can_count: bool = False  # a given number of rows is compared with theirs
    fit: str = field(default_factory=fit_name)

    @property
    def layout(self) -> Any:
        """Names and dtypes of columns."""
        return self.layouts[0]

    @property
    def target_layout(self) -> Any:
        """The same of the target."""
        return self.layouts[1]

    def trusted(self, budget: PrivacyBudget) -> list[str]:
        """Return who sees which sums without noise, and a number of rows as given."""
        given = self.public_n_rows
        lines = []
        is_public = budget.adjacency is Adjacency.REPLACE
        if given is not None and is_public and not self.can_count:
            lines = [f"rows of all parties: {given}, as given by `n_rows`"]
        if self.noise_shares is not None:
            return [*lines, self.noise_shares.stated(budget)]
        return [
            *lines,
            f"rows of {len(self.parties)} parties ({', '.join(self.parties)}), which "
            "see their own: the process of this fit sees sums of each without noise, "
            "and is trusted",
        ]

    @cached_property
    def n_rows(self) -> int:
        """Number of rows; parties are asked for it once, if they can be."""
        given = self.public_n_rows
        if given is not None and not self.can_count:
            return given
        if self.noise_shares is not None:
            raise ValueError(
                "n_rows must be given under adjacency='replace', where it is public: "
                "parties that add noise do not tell theirs."
            )
        query = Query(Encoder({}), {str(Key.ROWS): Counts()}, 1)
        counted = int(self.total(query)[str(Key.ROWS)][0, 0])
        if given not in (None, counted):
            raise ValueError(
                "n_rows must be the number of rows of all parties. Got "
                f"{given} instead, and they hold {counted}; leave it out, or correct "
                "it."
            )
        return counted

    def total(self, query: Query, noise: NoiseWanted | None = None) -> dict[str, Any]:
        """Send a question to all parties, check their answers, and add them up.

        Parties with ``noise_shares`` add their shares of the noise. Parties without
        send exact sums, and do not learn the cost of the release.
        """
        if self.noise_shares is not None:
            return self._noisy_total(query, self.noise_shares, noise)
        question = Question(query, self.layouts, self.task)
        answers = self._answers(question, PartialSum)
        return dict(
            reduce(add, (answer.checked(question) for answer in answers)).totals
        )

    def _noisy_total(
        self, query: Query, shares: NoiseShares, noise: NoiseWanted | None
    ) -> dict[str, Any]:
        """Ask all parties for sums with their shares of the noise, masked."""
        if noise is None:
            raise RowsElsewhereError(
                "Parties that add noise send no sums without. Got a query that does "
                "not say how much noise it wants."
            )
        joint_noise = replace(noise, shares=shares, fit=self.fit)
        question = Question(query, self.layouts, self.task, joint_noise)
        answers = self._answers(question, NoisyShare)
        if len({answer.number for answer in answers}) > 1:
            raise ValueError(
                "All parties must have answered the same questions, or masks do not "
                "cancel. Got parties that are ahead of others; begin with new ones."
            )
        noise_std = noise_of_blocks(joint_noise.std, joint_noise.weights)
        return noisy_values(question, answers, noise_std, shares)

    def _answers(self, question: Question, kind: type[Sent]) -> list[Sent]:
        answers: list[Sent] = []
        for name, send in self.parties.items():
            answer = send(question)
            if not isinstance(answer, kind) or not _is_of(answer, name):
                raise ValueError(
                    f"{name} must answer with a {kind.__name__} of its own. Got "
                    f"{getattr(answer, 'sources', type(answer).__name__)!r}."
                )
            if answer.digest != question.digest:
                raise ValueError(
                    f"{name} must answer the question that was asked. Got an answer to "
                    "another one."
                )
            answers.append(answer)
        return answers


def _is_of(answer: PartialSum | NoisyShare, name: str) -> bool:
    """Return whether all sources are a party or batches of it, ``name/batch``."""
    sources = [source.partition("/")[0] for source in answer.sources]
    return bool(sources) and set(sources) == {name}


def first_question(estimator: Any, like: Rows, n_rows: int | None = None) -> Question:
    """Return the first question of a fit, without any row; for sums that are kept.

    If schema and classes are given and no column needs bins, a fit of
    :class:`~skdpgen.DPIndependentSynthesizer` asks only this question. Batches may then
    be summed as they arrive, for example every month, and deleted: keep
    ``sum.to_bytes()``, add that of the next batch, and fit to the sum.

    Parameters
    ----------
    estimator : synthesizer
        As it will be fitted.
    like : (X, y) pair
        Public columns and dtypes, as of tables without rows.
    n_rows : int or None, default=None
        Rows that there will be, if that is public: ``delta=None`` goes by it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpgen import DPIndependentSynthesizer, Schema
    >>> from skdpgen.parties import Party
    >>> from skdpgen.tables import Boolean
    >>> synth = DPIndependentSynthesizer(schema=Schema({"x0": Boolean()}))
    >>> months = {"may": np.eye(1, dtype=bool), "june": np.zeros((3, 1), dtype=bool)}
    >>> question = first_question(synth, months["may"], n_rows=4)
    >>> may, june = (
    ...     Party(f"clinic/{name}", X).answer(question) for name, X in months.items()
    ... )
    >>> kept = PartialSum.from_bytes(may.to_bytes()) + june
    >>> kept.sources
    ('clinic/june', 'clinic/may')
    >>> source = Parties({"clinic": lambda _: kept}, like=months["may"], n_rows=4)
    >>> synth.fit(source).n_samples_
    4
    """

    def stop(question: Question) -> PartialSum:
        raise _Asked(question)  # no party answers: the question is all that is wanted

    source = Parties({"nobody": stop}, like, 2 if n_rows is None else n_rows)
    try:
        deepcopy(estimator).fit(source)  # the estimator itself stays unfitted
    except _Asked as asked:
        return asked.question
    raise RowsElsewhereError("The fit asked nothing. Got an estimator without a sum.")


class _Asked(Exception):
    """Carries the first question out of a fit."""

    def __init__(self, question: Question) -> None:
        super().__init__("asked")
        self.question = question
