"""What was found in columns and what was lost, from releases: a table and warnings."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skdpgen.privacy import PrivacyReport
from skdpgen.synthesizers.models import (
    Loss,
    counted_columns,
    describe_columns,
    describe_target,
    dropped_rows,
    losses,
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

RARE = (
    "Many rows hold values that are too rare to be found privately: {}. List the "
    "values in a schema if they are public, as Categorical([...]); say there how dates "
    "and amounts are written, if they are, as Datetime(format='%d.%m.%Y') or "
    "Numeric(parse=True); or spend a larger epsilon. `columns_` has all shares."
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

        A data frame with a line for each column: type, whether its values may be
        identifiers (``is_identifier``: written anew, or whole numbers that differ in
        nearly every row), number of values, bounds and cells, and noisy shares of the
        rows: those that are missing or "other" (``noise`` is the noise of a cell),
        those without a value that fits (``no_cell``), those below or above the range,
        and those whose text could not be read or whose category is not listed
        (``unread``), each with a standard error of its own. A share that no release
        shows is NaN. Shares that the main release counts are of the rows with a usable
        label: the others are in no cell, and ``target_`` has their share.
        """
        check_is_fitted(self)
        counts = self._column_counts()
        return describe_columns(
            self._facts,
            self.cells_,
            counts,
            self._clipped(),
            getattr(self, "_unread", {}),
            self._dropped(counts),
        )

    @property
    def target_(self) -> Any:
        """What was found in the target, and what was lost; None without labels.

        A series: type, number of values or bounds, and noisy shares of the rows, each
        with a standard error: ``dropped`` are those without a usable label, which were
        left out; a target of numbers has those below and above its range as well.
        """
        check_is_fitted(self)
        dropped = self._dropped(self._column_counts())
        labels = getattr(self, "_labels", None)
        return describe_target(self._facts, labels, self._clipped(), dropped)

    @property
    def lost_(self) -> list[str]:
        """What is stated of rows that were moved or left out, in words.

        Each line gives a share of more than 3 % as a range of two standard errors. The
        same lines are warned of in ``fit``, and stand in the certificate.
        """
        check_is_fitted(self)
        return [one.line for one in self._losses()]

    def _losses(self) -> list[Loss]:
        table = self.columns_ if self._cells else pd.DataFrame()
        pixels = getattr(self, "pixels_", {})
        return losses(table, self.target_, self._facts, pixels)

    def _column_counts(self) -> dict[Any, tuple[Any, float]]:
        """Return the released counts of cells, where columns are counted."""
        cells, scales = self._counted() if self._cells else ({}, None)
        return counted_columns(self.release_, cells, scales) if cells else {}

    def _dropped(self, counts: Mapping[Any, Any]) -> tuple[float, float]:
        """Return the share of rows without a usable label, and its standard error."""
        paid = self.privacy_.releases
        doubt = [one.noise_std for one in paid if one.name == ROWS_COUNTED]
        kept = getattr(self, "_kept", (math.nan, math.nan))
        noise = math.hypot(*doubt)
        return dropped_rows(self._facts, self._cells, counts, kept, noise)

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
        self._kept = float(kept), float(noise)
        found = self._losses()
        for one in found:
            self.privacy_ = self.privacy_.without(one.line).stating(one.line)
            if one.is_public:
                warn_caller(one.warning, SchemaWarning)
        rare = "; ".join(one.line for one in found if not one.is_public)
        if rare:
            warn_caller(RARE.format(rare), RareValuesWarning)
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
