"""Fits that need rows themselves: refused where rows stand elsewhere, before a cost."""

from typing import Any

from skdpgen.tables import Kind, holds_images, stands_elsewhere
from skdpgen.utils import RowsElsewhereError

WAY_OUT = (
    " Bring the rows here first (`X.compute()`), if that is allowed, or use one that "
    "needs sums alone: DPPairwiseSynthesizer, DPIndependentSynthesizer, or "
    "DPMERFSynthesizer on tables."
)


def check_needs(estimator: Any, X: Any) -> None:
    """Raise if rows stand elsewhere and sums of them are not enough; free.

    Parameters
    ----------
    estimator : BaseSynthesizer
    X : table, or rows that stand elsewhere
    """
    if not stands_elsewhere(X):
        return
    needs = [
        (estimator._subsampling() is not None, "draws samples of rows at each step"),
        (getattr(estimator, "_n_minibatches", 1) > 1, "cuts rows into mini-batches"),
        (holds_images(X), "reads images"),
        (isinstance(estimator.schema, str), "infers the schema from rows"),
    ]
    for is_needed, what in needs:
        if is_needed:
            raise RowsElsewhereError(
                f"Rows that stand elsewhere send sums, and {type(estimator).__name__} "
                f"{what} here.{WAY_OUT}"
            )


def check_known(elsewhere: Any, known: Any) -> None:
    """Raise if words would have to be found where no one sees counts without noise."""
    if getattr(elsewhere, "noise", None) is None:
        return
    left = [str(name) for name in known.kinds if name not in known.columns]
    booleans = [str(n) for n, kind in known.kinds.items() if kind is Kind.BOOLEAN]
    left = [name for name in left if name not in booleans]
    if known.has_unknown_classes:
        left.append("the classes of y")
    if left:
        raise RowsElsewhereError(
            "Parties that add noise themselves need a schema of all columns, and "
            f"`classes`. Got none of {', '.join(left)}; give what is public, or trust "
            "a combiner (`noise=None`)."
        )
