"""What was found in columns and what was lost, from releases: a table and warnings."""

import warnings
from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skdpgen.privacy import PrivacyReport
from skdpgen.synthesizers.models import (
    contradictions,
    counted_columns,
    describe_columns,
    rare_values,
)
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import Cells
from skdpgen.utils import RareValuesWarning, SchemaWarning

RARE = (
    "Many rows hold values that are too rare to be found privately; they are sampled "
    "as one value, other: {}. List the values in a schema if they are public, as "
    "Categorical([...]), or spend a larger epsilon. `columns_` has all shares."
)


class TellsColumns:
    """A fitted synthesizer that says what its release knows of each column."""

    privacy_: PrivacyReport
    release_: Any
    cells_: Mapping[Any, Cells]
    task_: str | None
    n_samples_: int
    _facts: Facts

    @property
    def columns_(self) -> Any:
        """What was found in each column, and what was lost; made of the release.

        A data frame with a line for each column: type, number of values, bounds and
        cells; noisy shares of the rows that are missing, that are "other", that have no
        cell at all, and that were clipped to public bounds from below or above; and the
        noise of one such share.
        """
        check_is_fitted(self)
        cells, scales = self._counted()
        counts = counted_columns(self.release_, cells, scales) if cells else {}
        outside = getattr(self, "_outside", {})
        return describe_columns(self._facts, self.cells_, counts, outside)

    def _counted(self) -> tuple[Mapping[Any, Cells], Any]:
        """Return the columns whose cells were counted, and in which units."""
        return self.cells_, getattr(self, "_scales", None)

    def _telling_losses(self, kept: float, noise: float) -> Any:
        """Warn, and say in the certificate, of what released counts show to be lost."""
        lines = []
        if self.task_ == "classification" and kept + 4 * noise < 0.5 * self.n_samples_:
            lines.append(
                f"only about {kept:.0f} rows have one of the classes: check `classes`, "
                "and whether y holds classes at all"
            )
        if hasattr(self, "cells_"):
            table = self.columns_
            lines += contradictions(table, self._facts)
            rare = rare_values(table)
            if rare:
                told = ", ".join(
                    f"{name} ({share:.0%})" for name, share in rare.items()
                )
                self.privacy_ = self.privacy_.stating(f"rows that are other: {told}")
                warnings.warn(RARE.format(told), RareValuesWarning, stacklevel=4)
        for line in lines:
            self.privacy_ = self.privacy_.stating(line)
            warnings.warn(
                f"What is public does not fit the table: {line}.",
                SchemaWarning,
                stacklevel=4,
            )
        return self
