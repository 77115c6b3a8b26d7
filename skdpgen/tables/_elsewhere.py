"""Rows that are not in this process: they send sums, and never come themselves."""

from typing import Any, NoReturn, Protocol

from skdpgen.tables._layout import Layout
from skdpgen.utils import RowsElsewhereError


class Elsewhere(Protocol):
    """Where rows stand that this process cannot read: a cluster, or other parties."""

    @property
    def layout(self) -> Layout:
        """Names and dtypes of columns, without a look at rows."""

    @property
    def target_layout(self) -> Layout | None:
        """The same of the target; None without labels."""

    def trusted(self, budget: Any) -> str:
        """Say who sees what without noise, in a line of the certificate."""

    def count(self) -> int:
        """Return the number of rows; asked only where it is public."""

    def totals(self, query: Any) -> dict[str, Any]:
        """Return the sums that a :class:`~skdpgen.privacy.Query` asks for."""


def is_dask(X: Any) -> bool:
    """Say whether something is a collection of Dask.

    Examples
    --------
    >>> is_dask([1, 2])
    False
    """
    return hasattr(X, "__dask_graph__")


def stands_elsewhere(X: Any) -> bool:
    """Say whether rows are not in this process.

    Examples
    --------
    >>> stands_elsewhere([[1.0]])
    False
    """
    return hasattr(X, "standing") or is_dask(X)


def refuse_rows() -> NoReturn:
    """Raise where rows themselves are needed, and stand elsewhere."""
    raise RowsElsewhereError(
        "Rows that stand elsewhere send sums, and this reads rows one by one. Bring "
        "them here first (`X.compute()`), if that is allowed, or use a method that "
        "needs sums alone, such as DPPairwiseSynthesizer."
    )
