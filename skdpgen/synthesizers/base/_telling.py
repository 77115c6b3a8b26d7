"""What was found in columns and what was lost, from releases: a table and warnings."""

import math
from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skdpgen.privacy import PrivacyReport
from skdpgen.synthesizers.models import (
    contradictions,
    counted_columns,
    describe_columns,
    rare_values,
    with_ranges,
)
from skdpgen.synthesizers.opening import ROWS_COUNTED, Facts
from skdpgen.tables import Cells
from skdpgen.utils import (
    NothingLearntWarning,
    RareValuesWarning,
    SchemaWarning,
    warn_caller,
)

SURE = 4  # stds of noise
RARE = (
    "Many rows hold values that are too rare to be found privately; they are sampled "
    "as one value, other: {}. List the values in a schema if they are public, as "
    "Categorical([...]); say there how dates and amounts are written, if they are, as "
    "Datetime(format='%d.%m.%Y') or Numeric(parse=True); or spend a larger epsilon. "
    "`columns_` has all shares."
)

RELATIONS, IMAGES = "columns and relations", "images"
ONLY = {
    "classification": "columns by class only",
    "regression": "columns by bins of the target only",
    None: "single columns only",
}
NOT_LEARNT = "{}: no relation between columns was learnt beyond that"
NOTHING_LEARNT = (
    "Nothing was learnt of relations between columns: they did not stand out of the "
    "noise, or could not be afforded. Released were {}; samples have no other "
    "relations. Fewer columns, a schema, a larger epsilon or more rows would help."
)


class TellsColumns:
    """A fitted synthesizer that says what its release knows of each column."""

    privacy_: PrivacyReport
    release_: Any
    cells_: Mapping[Any, Cells]
    task_: str | None
    n_samples_: int
    _facts: Facts
    _model: Any

    @property
    def columns_(self) -> Any:
        """What was found in each column, and what was lost; made of the release.

        A data frame with a line for each column: type, number of values, bounds and
        cells; noisy shares of the rows that are missing, that are "other", that have no
        cell at all, and that lie below or above the range; and the standard errors of
        such shares.
        """
        check_is_fitted(self)
        cells, scales = self._counted()
        counts = counted_columns(self.release_, cells, scales) if cells else {}
        return describe_columns(self._facts, self.cells_, counts, self._clipped())

    def _counted(self) -> tuple[Mapping[Any, Cells], Any]:
        """Return the columns whose cells were counted, and in which units."""
        return self.cells_, getattr(self, "_scales", None)

    def _clipped(self) -> Mapping[Any, Any]:
        """Return shares of rows outside public bounds, and their noise."""
        return getattr(self, "_outside", {})

    @property
    def _cells(self) -> Mapping[Any, Cells]:
        return getattr(self, "cells_", {})

    def _drawn_marginals(self) -> Mapping[Any, Any]:
        """Return the denoised rows of each cell, of columns that the model has."""
        known = getattr(self._model, "known", self._model)
        return getattr(known, "marginals", {})

    def _telling_losses(self, kept: float, noise: float) -> Any:
        """Warn, and say in the certificate, of what released counts show to be lost."""
        self._facts = with_ranges(self._facts, self._drawn_marginals(), self._cells)
        if hasattr(self, "schema_"):
            self.schema_ = self._facts.schema
        lines, half = [], 0.5 * self.n_samples_
        paid = self.privacy_.releases
        doubt = [0.5 * one.noise_std for one in paid if one.name == ROWS_COUNTED]
        is_few = kept + SURE * math.hypot(noise, *doubt) < half
        if self.task_ == "classification" and is_few:
            lines.append(
                f"only about {kept:.0f} rows have one of the classes: check `classes`, "
                "and whether y holds classes at all"
            )
        if hasattr(self, "cells_"):
            table = self.columns_
            lines += contradictions(table, self._facts, self._clipped())
            rare = rare_values(table)
            if rare:
                told = ", ".join(
                    f"{name} ({share:.0%})" for name, share in rare.items()
                )
                self.privacy_ = self.privacy_.stating(f"rows that are other: {told}")
                warn_caller(RARE.format(told), RareValuesWarning)
        for line in lines:
            self.privacy_ = self.privacy_.stating(line)
            warn_caller(
                f"What is public does not fit the table: {line}.",
                SchemaWarning,
            )
        return self

    @property
    def learnt_(self) -> str:
        """What samples have: columns alone, or relations between them as well."""
        check_is_fitted(self)
        if not self.cells_:
            return IMAGES
        has_trained = getattr(self, "n_iter_", 0) > 0
        is_related = getattr(self._model, "has_relations", has_trained)
        return RELATIONS if is_related else ONLY[self.task_]

    def _stating_relations(self, is_trained: bool | int) -> Any:
        """Say so, here and in the certificate, if no relation was learnt.

        Whether there was training was decided by releases alone.
        """
        line, learnt = NOT_LEARNT.format(ONLY[self.task_]), self.learnt_
        self.privacy_ = self.privacy_.without(line)
        if learnt in (RELATIONS, IMAGES) or len(self.cells_) < 2:
            return self
        self.privacy_ = self.privacy_.stating(line)
        if is_trained:  # else it was asked for
            warn_caller(NOTHING_LEARNT.format(learnt), NothingLearntWarning)
        return self
