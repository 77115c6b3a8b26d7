"""What is known of the ratio after a fit: all that weights are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skdpgen.synthesizers.models import PublicItems, RatioModel
from skdpgen.training import Told, log_ratios, weighed
from skdpgen.utils import saved

Floats = NDArray[np.float64]


@saved
@dataclass(frozen=True, eq=False)
class LearntRatio:
    """Public items, and the log of the ratio of each with every label.

    Parameters
    ----------
    items : PublicItems
    base : ndarray of shape (n_items, n_classes)
        Share of each before any weight; they sum to 1.
    logs : ndarray of shape (n_items, n_classes) or None
        None where they still have to be made of what was told.
    totals : ndarray of shape (n_classes,)
        Private rows of each class, from a release.
    total_std : float
        Noise of their sum.
    codes : ndarray or None
        Of public items: cells, or numbers of a lens.
    told : Told or None
        Means of codes of private rows.
    sizes : tuple of int
        Numbers of cells of columns, if codes are cells.
    """

    items: PublicItems
    base: Floats
    logs: Floats | None
    totals: Floats
    total_std: float
    codes: Any = None
    told: Told | None = None
    sizes: tuple[int, ...] = ()

    @property
    def matrix(self) -> Any:
        """Codes as numbers: those of a lens, or cells as zeros and ones."""
        return one_hot(self.codes, self.sizes) if self.sizes else self.codes

    def learnt(self) -> "LearntRatio":
        """Return it with logs, which are made of means that were told."""
        if self.logs is not None or self.told is None:
            return self
        return replace(self, logs=log_ratios(self.matrix, self.base, self.told))

    def model(self, power: float) -> RatioModel:
        """Return public items weighed by a power of the ratio; classes by all of it.

        Where few rows have a class its count is lost in noise. So shares of classes are
        those of weighed rows, which are public ones as far as the release agrees.
        """
        assert self.logs is not None
        weights = weighed(self.base, self.logs, power)
        shares = weighed(self.base, self.logs).sum(axis=0)
        return RatioModel(self.items, weights, shares)


def one_hot(codes: Any, sizes: Sequence[int]) -> Any:
    """Return cells of columns as a sparse matrix of zeros and ones.

    Examples
    --------
    >>> one_hot(np.array([[1, 0], [-1, 1]]), (2, 2)).toarray().tolist()
    [[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    starts = np.cumsum([0, *sizes[:-1]])
    there = codes >= 0
    shape = (len(codes), int(sum(sizes)))
    places = np.nonzero(there)[0], (codes + starts)[there]
    return sparse.csr_matrix((np.ones(len(places[0])), places), shape=shape)
