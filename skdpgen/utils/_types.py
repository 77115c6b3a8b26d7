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
    """A fitted estimator that draws rows; attributes are what its fit released."""

    n_samples_: int
    privacy_: Any  # PrivacyReport, of which this package knows nothing

    @property
    def columns_(self) -> Any:
        """A frame with a row for each column of the table."""

    def sample(self, n_samples: Any = None, **how: Any) -> Any:
        """Return a table, or a tuple of a table and labels."""
