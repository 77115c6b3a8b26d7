"""What a fit says of its columns, from releases: a table, lost rows, warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skdpgen.exceptions import (
    NoisyColumnsWarning,
    NothingLearnedWarning,
    RareValuesWarning,
    SchemaWarning,
    UncountedColumnsWarning,
)
from skdpgen.synthesizers.base._attributes import FittedAttributes
from skdpgen.synthesizers.base._notebook import ColumnsFrame
from skdpgen.synthesizers.models import (
    Loss,
    counted_columns,
    describe_columns,
    describe_target,
    dropped_rows,
    losses,
    with_ranges,
)
from skdpgen.synthesizers.opening import ROWS_COUNTED, Measured, columns_lost
from skdpgen.tables import Cells
from skdpgen.utils import html, warn_caller

RARE = (
    "Many rows hold values that are too rare to be found privately, or text in "
    "another form: {}. List the values in a schema if they are public, as "
    "Categorical([...]); say there how dates and amounts are written, if they are, as "
    "Datetime(format='%d.%m.%Y') or Numeric(parse=True); or spend a larger epsilon. "
    "`columns_` has all shares."
)

STANDARD_ERRORS = 2.0
DROWNED = 0.25  # noise of a share: two standard errors are then half of the rows
ONLY_NOISE = "noise may move shares by 50 percentage points or more of column(s) {}"
TOO_NOISY = (
    "Noise hides the values of column(s) {}: it may move a share of the rows by 50 "
    "percentage points or more. Do not use what samples show of them. More rows, a "
    "larger epsilon or fewer columns help."
)

UNCOUNTED = (
    "no release counts the values of column(s) {}: missing, special and rare values "
    "may have any share of the samples"
)
NOT_COUNTED = (
    "These settings release no counts of the values of column(s) {}. Samples may have "
    "missing values, special codes and rare categories far too often, or never. Most "
    "methods count the values of every column: take one of those for tables, such as "
    "DPPairwiseSynthesizer()."
)

RELATIONS, IMAGES = "columns and relations", "images"
UNTESTED = "relations that were not tested against the noise"
ONLY = {
    "classification": "columns by class only",
    "regression": "columns by bins of the target only",
    None: "single columns only",
}
NOT_LEARNT = "{}: no relation between columns was learnt beyond that"
NOTHING_LEARNT = (
    "Nothing was learnt of relations between columns: they did not exceed the "
    "noise, or could not be afforded. Released were {}; samples have no other "
    "relations. Fewer columns, a schema, a larger epsilon or more rows would help."
)


class ReportsColumns(FittedAttributes):
    """A fitted synthesizer that reports on each column, from its releases."""

    @property
    def columns_(self) -> pd.DataFrame:
        """A report on each column, and on lost rows; computed from the releases.

        A data frame with a line for each column: type, whether its values may be
        identifiers (``is_identifier``: written anew, or whole numbers that differ in
        nearly every row), number of values, bounds and cells, and noisy shares of the
        rows: those that are missing or "other" (``noise`` is the noise of a cell),
        those without a value that fits (``no_cell``), those below or above the range,
        and those whose text could not be read or whose category is not listed
        (``unread``), each with a standard error of its own. A share that no release
        shows is NaN. Shares that the main release counts are of the rows with a usable
        label: the others are in no cell, and ``target_`` has their share. A notebook
        shows shares in percent, each with its standard error.
        """
        check_is_fitted(self)
        counts = self._column_counts()
        found = describe_columns(
            self._facts,
            self.cells_,
            counts,
            self._facts.outside,
            self._facts.unread,
            self._dropped(counts),
            self._noise_of_rows(),
        )
        return ColumnsFrame(found)

    @property
    def target_(self) -> pd.Series[Any] | None:
        """A report on the target, and on lost rows; None without labels.

        A series: type, number of values or bounds, and noisy shares of the rows, each
        with a standard error: ``dropped`` are those without a usable label, which were
        left out; a target of numbers has those below and above its range as well.
        """
        check_is_fitted(self)
        dropped = self._dropped(self._column_counts())
        outside = self._facts.outside
        return describe_target(self._facts, self._labels, outside, dropped)

    @property
    def lost_(self) -> list[str]:
        """Statements about rows that were moved or left out.

        Each line gives a share of more than 3 % as a range of two standard errors. The
        same lines are in the warnings of ``fit`` and in the certificate.
        """
        check_is_fitted(self)
        return [loss.line for loss in self._losses()]

    def _losses(self, table: pd.DataFrame | None = None) -> list[Loss]:
        if table is None:
            table = self._column_table()
        return losses(table, self.target_, self._facts, self._facts.pixels or {})

    def _column_table(self) -> pd.DataFrame:
        """Return `columns_`, without a line if there are no columns."""
        return self.columns_ if self.cells_ else pd.DataFrame({"noise": []})

    def _column_counts(self) -> dict[Any, tuple[Any, Any]]:
        """Return the released counts of cells, where columns are counted."""
        cells, scales = self._counted() if self.cells_ else ({}, None)
        return counted_columns(self.release_, cells, scales) if cells else {}

    def _noise_of_rows(self) -> float:
        """Return the noise of the number of rows; 0 if it is public."""
        releases = self.privacy_.releases
        return math.hypot(*(r.noise_std for r in releases if r.name == ROWS_COUNTED))

    def _dropped(self, counts: Mapping[Any, Any]) -> tuple[float, float]:
        """Return the share of rows without a usable label, and its standard error."""
        noise = self._noise_of_rows()
        labelled = self._state.labelled
        return dropped_rows(self._facts, self.cells_, counts, labelled, noise)

    def _counted(self) -> tuple[Mapping[Any, Cells], Sequence[float] | None]:
        """Return the columns whose cells were counted, and in which units."""
        return self.cells_, self._measured.scales

    def _keep_model(
        self,
        model: Any,
        n_labelled: float,
        noise: float,
        *,
        measured: Measured | None = None,
        losses: list[float] | None = None,
    ) -> Self:
        """Keep a model; state lost rows in the certificate, and warn of them.

        Parameters
        ----------
        model : object with ``draw``
        n_labelled, noise : float
            Rows with a usable label, from a release, and the noise of that number.
        measured : Measured or None, default=None
            Instead of what was kept, if making the model changed it.
        losses : list of float or None, default=None
            Of each training step.
        """
        # mixtures and copulas keep denoised columns in an attribute `known`
        columns = getattr(model, "known", model)
        marginals = getattr(columns, "marginals", {})
        self._fitted = replace(
            self._state,
            facts=with_ranges(self._facts, marginals, self.cells_),
            measured=measured or self._measured,
            model=model,
            labelled=(float(n_labelled), float(noise)),
            loss_curve=losses,
        )
        table = self._column_table()
        lost = self._losses(table)
        lines = [*columns_lost(self._facts), *(loss.line for loss in lost)]
        self._fitted = self._state.stating(*lines)
        for loss in lost:
            if loss.is_public:
                warn_caller(loss.warning, SchemaWarning)
        rare = "; ".join(loss.line for loss in lost if not loss.is_public)
        if rare:
            warn_caller(RARE.format(rare), RareValuesWarning)
        return self._stating_drowned(table)._stating_uncounted()

    def _stating_drowned(self, table: pd.DataFrame) -> Self:
        """Warn, and state, that the counts of columns are hardly more than noise."""
        n_rows, n_noise = self._facts.n_rows, STANDARD_ERRORS * self._noise_of_rows()
        least_rows = max(n_rows - n_noise, 1.0)  # the released number may be noise, too
        noise = table["noise"].astype(float) * max(n_rows / least_rows, 1.0)
        drowned = noise.index[(noise >= DROWNED).to_numpy()].tolist()
        if drowned:
            names = html.listed(drowned)
            self._fitted = self._state.stating(ONLY_NOISE.format(names))
            warn_caller(TOO_NOISY.format(names), NoisyColumnsWarning)
        return self

    def _uncounted(self) -> list[Any]:
        """Return the columns whose values no release counts."""
        counts = self._column_counts()
        return [name for name in self.cells_ if name not in counts]

    def _stating_uncounted(self) -> Self:
        """Warn, and state, that columns were not counted; by settings, not by rows."""
        uncounted = self._uncounted()
        if uncounted:
            names = html.listed(uncounted)
            self._fitted = self._state.stating(UNCOUNTED.format(names))
            warn_caller(NOT_COUNTED.format(names), UncountedColumnsWarning)
        return self

    @property
    def relations_learned_(self) -> str:
        """What samples have: single columns, or relationships between them as well."""
        check_is_fitted(self)
        if not self.cells_:
            return IMAGES
        is_related = getattr(self._model, "has_relations", None)
        if is_related is None:
            is_related = bool(self._state.loss_curve)
            if is_related and not self._tests_relations():
                return UNTESTED
        return RELATIONS if is_related else ONLY[self.task_]

    def _tests_relations(self) -> bool:
        """Return whether training is made only where relations exceed the noise.

        A release of columns and of features shows whether features hold more than the
        columns explain. Steps on rows do not, nor features where columns are missing.
        """
        return not self._uncounted()

    def _stating_relations(self, is_trained: bool | int) -> Self:
        """Warn, and state in the certificate, if no relationship was learnt.

        Releases alone decided whether there was training, so this reads no row.
        """
        line, learnt = NOT_LEARNT.format(ONLY[self.task_]), self.relations_learned_
        self._fitted = self._state.without(line)
        if learnt in (RELATIONS, IMAGES, UNTESTED) or len(self.cells_) < 2:
            return self
        self._fitted = self._state.stating(line)
        if is_trained:  # without training the user chose independent columns
            warn_caller(NOTHING_LEARNT.format(learnt), NothingLearnedWarning)
        return self
