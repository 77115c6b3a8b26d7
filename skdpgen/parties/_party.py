"""A party: it keeps its rows, and answers questions with sums."""

from dataclasses import dataclass
from typing import Any

from skdpgen.privacy import PartialSum, Question
from skdpgen.tables import like_of, read_part


@dataclass(frozen=True, eq=False)
class Party:
    """Rows that stay where they are; who may not see them gets their sums.

    The sums have no noise yet: **whoever gets them is trusted with them**, to add the
    noise and to show nothing else. They hold every word that a column of text has, if
    no schema lists its categories. Batches of one party, as of months, have names
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
    X: Any
    y: Any = None

    @property
    def like(self) -> Any:
        """Columns and dtypes, which are public: a table without rows, to be sent."""
        return like_of(self.X), None if self.y is None else like_of(self.y)

    def answer(self, question: Question) -> PartialSum:
        """Return the sums of its rows; one who asks for a share of noise gets an error.

        Errors tell columns and dtypes, and no value.
        """
        if question.noise is not None:
            raise ValueError(
                f"{self.name} has no budget of its own to add noise. Make it a "
                "`GuardedParty`, or let the combiner add the noise."
            )
        chunks = read_part(self.X, self.y, question.layouts, question.task)
        query = question.query
        return PartialSum(question.digest, (self.name,), query, query.sums(chunks))
