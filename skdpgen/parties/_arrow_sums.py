"""Sums of batches of Arrow, as Spark's `mapInArrow` and others hand them out."""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

from skdpgen.parties._party import Party
from skdpgen.privacy import PartialSum, Question
from skdpgen.utils import require


def arrow_sums(
    question: Question,
    name: str,
    *,
    target: str | None = None,
    part: Callable[[], Any] | None = None,
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
    >>> (found,) = arrow_sums(question, "spark", part=lambda: 7)([rows, rows])
    >>> PartialSum.from_bytes(found["sum"][0].as_py()).sources
    ('spark/7',)
    """

    def of_part(batches: Iterable[Any]) -> Iterator[Any]:
        arrow = require("pyarrow", extra="dask")
        whole = name if part is None else f"{name}/{part()}"
        empty = question.query.sums(())
        total = reduce(
            question.query.merge,
            (
                _party(arrow.Table.from_batches([batch]), target)
                .answer(question)
                .totals
                for batch in batches
            ),
            empty,
        )
        found = PartialSum(question.digest, (whole,), question.query, total)
        yield arrow.record_batch({"sum": [found.to_bytes()]})

    return of_part


def _party(table: Any, target: str | None) -> Party:
    """Return some rows as a party, their labels beside them."""
    if target is None:
        return Party("some rows", table)
    labels = table[target].to_pandas()
    return Party("some rows", table.drop_columns([target]), labels)
