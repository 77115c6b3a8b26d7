"""Types that several packages name: what users pass in, and what estimators are."""

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

# ----------------------------------------------------------------------------
# What users pass in. Functions convert it in their first lines.


class Frame(Protocol):
    """A table with named columns: of pandas, polars, Arrow or Dask."""

    @property
    def columns(self) -> Any:
        """Names of the columns; of Arrow the columns themselves."""


Table: TypeAlias = Frame | ArrayLike
Labels: TypeAlias = Frame | ArrayLike
Rows: TypeAlias = Table | tuple[Table, Labels]  # with or without a target
Images: TypeAlias = NDArray[Any]  # (n, height, width) or (n, channels, height, width)

# As in scikit-learn, and numpy's newer generators.
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None


# ----------------------------------------------------------------------------
# What estimators are, for packages that must not import them.


class Synthesizer(Protocol):
    """An estimator of this package; attributes that end in ``_`` are there once fitted.

    Attributes that only some estimators have, as ``loss_curve_``, are read by
    ``getattr``.
    """

    @property
    def n_samples_(self) -> int:
        """How many rows were fitted: public, or released."""

    @property
    def privacy_(self) -> Any:
        """The `PrivacyReport` of the fit."""

    @property
    def columns_(self) -> Any:
        """A frame with a row for each column of the table."""

    @property
    def task_(self) -> Any:
        """``"classification"``, ``"regression"``, or None without a target."""

    @property
    def classes_(self) -> Any:
        """Labels of the target, if it is one of classes."""

    @property
    def schema_(self) -> Any:
        """The `Schema` that was given."""

    def set_params(self, **params: Any) -> Any:
        """Change parameters, before a fit."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the rows privately."""

    def sample(self, n_samples: Any = None, **how: Any) -> Any:
        """Return a table, or a tuple of a table and labels."""

    def iter_sample(self, n_samples: Any = None, **how: Any) -> Any:
        """Yield what :meth:`sample` returns, some rows at a time."""

    def save(self, path: Any) -> None:
        """Write parameters and fitted state to a file."""
