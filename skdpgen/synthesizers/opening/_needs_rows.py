"""Fits that need rows themselves: refused where rows stand elsewhere, before a cost."""

from typing import Any

from skdpgen.tables import holds_images, stands_elsewhere
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
