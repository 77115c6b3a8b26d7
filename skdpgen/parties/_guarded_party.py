"""A party that trusts no combiner: it pays for each answer, and adds noise itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from threading import Lock
from typing import Any, NoReturn, cast

import numpy as np

from skdpgen.exceptions import (
    RowsElsewhereError,
)
from skdpgen.parties._parties import Party
from skdpgen.privacy import (
    Adjacency,
    Ledger,
    NoiseShares,
    NoisyShare,
    PartialSum,
    PrivacyBudget,
    PrivacyReport,
    Question,
    check_keys,
    key_tags,
    noisy_share,
)
from skdpgen.tables import Encoder, like_of, public_rows, read_part
from skdpgen.utils import (
    Labels,
    Table,
    check_asked,
    require,
)


class GuardedParty:
    """Rows whose sums leave only with a share of noise, behind masks.

    It keeps its own ledger, with the budget of one fit. It computes the cost of each
    question itself, and refuses a question that exceeds the remaining budget.
    :class:`~skdpgen.privacy.NoiseShares` states what this guarantees for its rows.

    *Which questions are allowed.* Questions consist of marked types whose fields are
    checked. Steps from rows to sums must accept any cell and any label. Before a row is
    read, each question is tried on made-up rows, which cover every cell, label and
    missing value, and charged at least a thousandth of the budget. At most a hundred
    are answered.

    Parameters
    ----------
    name : str
    X, y : table and labels
    keys : mapping of str to bytes
        A key for each other party, by its name, that only the two know; new ones for
        each fit, since masks of two fits must not be the same.
    noise : NoiseShares
        As all parties and the fit have it.
    epsilon, delta, adjacency : budget
        As the fit has them.

    Examples
    --------
    >>> from skdpgen import DPIndependentSynthesizer, Schema
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.parties import Parties
    >>> from skdpgen.privacy import pair_keys
    >>> from skdpgen.tables import Integer
    >>> X, _ = load_example(900)
    >>> X, names = X[["owns_home", "age"]], ["n", "e", "s"]
    >>> keys, noise = pair_keys(names), NoiseShares.honest_majority(3)
    >>> budget = {"epsilon": 1.0, "delta": 1e-5}
    >>> parties = [
    ...     GuardedParty(name, X[i::3], keys=keys[name], noise=noise, **budget)
    ...     for i, name in enumerate(names)
    ... ]
    >>> ages = Schema({"age": Integer(0, 99)})
    >>> synth = DPIndependentSynthesizer(schema=ages, **budget)
    >>> synth.fit(Parties(parties, n_rows=900, noise=noise)).n_samples_
    900
    """

    def __init__(
        self,
        name: str,
        X: Table,
        y: Labels | None = None,
        *,
        keys: Mapping[str, bytes],
        noise: NoiseShares,
        epsilon: float,
        delta: float,
        adjacency: str = "replace",
    ) -> None:
        if len(keys) != noise.n_parties - 1 or name in keys:
            raise ValueError(
                f"keys must be {noise.n_parties - 1}, one for each other party. Got "
                f"{len(keys)}."
            )
        check_keys(keys)
        self.name, self.noise = name, noise
        self._rows, self._keys = (X, y), dict(keys)
        self._like = like_of(X), None if y is None else like_of(y)
        budget = PrivacyBudget(epsilon, delta, Adjacency.parse(adjacency))
        self._ledger, self._lock = Ledger(budget), Lock()
        self._is_closed = False  # true from a read until its answer is made

    def __reduce__(self) -> NoReturn:
        """Raise: each copy would have the whole budget to spend."""
        raise TypeError(
            "A GuardedParty keeps the account of its rows, and is not copied. Ask it "
            "where it is, and send its answers: `answer(question).to_bytes()`."
        )

    def __repr__(self) -> str:
        return f"GuardedParty({self.name!r})"

    @property
    def like(self) -> tuple[Table, Labels | None]:
        """Columns and dtypes, which are public: a table without rows, to be sent."""
        return self._like

    @property
    def key_tags(self) -> dict[str, str]:
        """A tag of each key by the other party, to be sent; it reveals no key.

        The other party has the same tag of this one if their keys are the same.
        """
        return key_tags(self.name, self._keys)

    @property
    def privacy_(self) -> PrivacyReport:
        """Its own certificate, with every question that it answered."""
        return self._ledger.report([self.noise.stated(self._ledger.budget)])

    def answer(self, question: Question) -> NoisyShare:
        """Return the sums of its rows with its share of noise, masked.

        A question that fails on made-up public rows raises an error and uses no budget.
        If it fails on the rows themselves, the failure reveals something about them: so
        its cost is charged, and the party answers no further question.
        """
        question = self._checked(question)
        with self._lock:  # one account, one question at a time
            if self._is_closed:
                raise RowsElsewhereError(
                    f"{self.name} was asked what its rows could not answer, and "
                    "answers no more. Begin with new parties and new keys."
                )
            share = noisy_share(
                question,
                lambda: self._sums(question),
                self._ledger,
                self.noise,
                name=self.name,
                keys=self._keys,
            )
            self._is_closed = False  # not reached after an error: rows were read
            return share

    def _checked(self, question: Question) -> Question:
        """Return the question rebuilt from its bytes, after a trial on public rows."""
        # an object of the sender's may change after it is checked; its bytes do not
        question = Question.from_bytes(question.to_bytes())
        check_asked(question)
        layouts, task = question.layouts, question.task
        for _ in read_part(*self.like, layouts, task):
            pass  # raises if the question is about another table
        encoder = cast("Encoder", question.query.encoder)  # check_asked: of tables
        chunk, n_rows = public_rows(encoder, layouts, task)
        try:
            with np.errstate(all="ignore"):
                question.query.try_out(chunk, n_rows)
        except Exception as error:
            raise RowsElsewhereError(
                "A question must have an answer for any row. Got one that fails at "
                "made-up rows; ask as a fit to `Parties(..., noise=...)` does."
            ) from error
        return question

    def _sums(self, question: Question) -> dict[str, Any]:
        """Return sums of the rows; closed from here on, until the answer is made."""
        self._is_closed = True
        return _sums(question, read_part(*self._rows, question.layouts, question.task))


def _sums(question: Question, chunks: Iterable[Any]) -> dict[str, Any]:
    """Return sums; an error reveals nothing but that there was one."""
    try:
        with np.errstate(all="ignore"):
            return question.query.sums(chunks)
    except Exception:
        pass  # outside of `except`, so that no traceback shows values
    raise RowsElsewhereError(
        "The rows could not be summed as the question asks. Compare the versions of "
        "skdpgen, and the data, of who asks and who answers."
    )


# ----------------------------------------------------------------------------
# Sums of batches of Arrow, as Spark's `mapInArrow` and others hand them out.


def arrow_sums(
    question: Question,
    name: str,
    *,
    target: str | None = None,
    part: Callable[[], object] | None = None,
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function from batches of Arrow to one batch, that holds their sums.

    It can be pickled, and reads its rows once. The batch has one row and one column,
    ``sum``: the bytes of a :class:`~skdpgen.privacy.PartialSum`, **without noise**.

    Parameters
    ----------
    question : Question
    name : str
        Of the party.
    target : str or None, default=None
        The column of the batches that holds labels.
    part : callable or None, default=None
        Returns the number of the part of the rows that a call gets; sums are those of
        ``name/number``, so that no part counts twice. None: there is one part.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from skdpgen import DPIndependentSynthesizer
    >>> from skdpgen.parties import first_question
    >>> from skdpgen.privacy import PartialSum
    >>> rows = pa.record_batch({"age": [20, 30, 40]})
    >>> like = pa.Table.from_batches([rows[:0]])
    >>> question = first_question(DPIndependentSynthesizer(), like, n_rows=100_000)
    >>> (batch,) = arrow_sums(question, "spark", part=lambda: 7)([rows, rows])
    >>> PartialSum.from_bytes(batch["sum"][0].as_py()).sources
    ('spark/7',)
    """

    def of_part(batches: Iterable[Any]) -> Iterator[Any]:
        arrow = require("pyarrow", extra="dask")
        source = name if part is None else f"{name}/{part()}"
        tables = (arrow.Table.from_batches([batch]) for batch in batches)
        totals = (_party(table, target).answer(question).totals for table in tables)
        # of no batch the sums are zeros
        total = reduce(question.query.merge, totals, question.query.sums(()))
        partial = PartialSum(question.digest, (source,), question.query, total)
        yield arrow.record_batch({"sum": [partial.to_bytes()]})

    return of_part


def _party(table: Any, target: str | None) -> Party:
    """Return some rows as a party, with their labels separated."""
    if target is None:
        return Party("some rows", table)
    # as Arrow: pandas would guess a dtype from the labels that are missing
    labels = table.select([target])
    return Party("some rows", table.drop_columns([target]), labels)
