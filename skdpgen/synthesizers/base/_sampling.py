"""Drawing rows in chunks, with progress that people can read."""

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
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
from skdpgen.tables import ArrowFile, Cells, as_arrow
from skdpgen.utils import (
    NothingLearntWarning,
    RareValuesWarning,
    SchemaWarning,
    check_count,
    require,
    split_generator,
    warn_caller,
)

# ----------------------------------------------------------------------------
# Synthetic rows in chunks: as many as wanted, in memory for one chunk.

CHUNK = 50_000
FOR_TYPES = 100  # rows of which a table of Dask has its types
SPLITTING = Lock()  # two threads that split one generator must not get the same part


class SamplesInChunks:
    """Draws rows chunk by chunk, for an estimator that has ``sample``."""

    _facts: Facts
    _sampler: Any
    n_samples_: int

    def sample(self, n_samples: Any = None, **how: Any) -> Any:
        """Draw rows; every synthesizer has its own."""
        raise NotImplementedError

    def iter_sample(
        self,
        n_samples: int | None = None,
        *,
        chunk_size: int = CHUNK,
        y: Any = None,
        given: Any = None,
        random_state: Any = None,
        **how: Any,
    ) -> Iterator[Any]:
        """Draw synthetic rows in chunks; never all of them are in memory.

        Each chunk is what :meth:`sample` would return for so many rows, and chunks are
        drawn independently of each other. Shares of classes are met in each of them, as
        nearly as whole rows allow. Written identifiers go on from chunk to chunk.

        Several iterators of one estimator may be used in turn or in several threads,
        and :meth:`sample` between their chunks. Each iterator has its own randomness
        and counts its own rows, so none changes what another one draws. It draws from
        the model of the moment at which it was made, even if the estimator is fitted
        again.

        Parameters
        ----------
        n_samples : int or None, default=None
            How many rows in all; None is as many as were fitted, or as ``y`` or
            ``given`` has.
        chunk_size : int, default=50_000
            Rows of a chunk; the last has what is left.
        y, given : array-like, DataFrame or None, default=None
            As in :meth:`sample`, for all rows; ``given`` where that has it.
        random_state : int, Generator or None, default=None
            An int fixes all chunks.
        **how
            Other parameters of :meth:`sample`, as ``class_shares``.

        Yields
        ------
        X or (X, y)
            As :meth:`sample` returns them.
        """
        check_is_fitted(self)
        chunk_size = check_count(chunk_size, "chunk_size")
        if n_samples is None:
            longest = y if y is not None else given
            n_samples = self.n_samples_ if longest is None else len(longest)
        n_samples = check_count(n_samples, "n_samples")
        for name, rows in (("y", y), ("given", given)):
            if rows is not None and len(rows) != n_samples:
                raise ValueError(
                    f"n_samples must be None or the length of {name}, {len(rows)}. "
                    f"Got {n_samples!r} instead."
                )
        source = self._sampler if random_state is None else random_state
        with SPLITTING:
            (rng,) = split_generator(source, 1)
        drawer = copy.copy(self)  # `self` may be sampled, or fitted, in between
        return _chunks_drawn(drawer, n_samples, chunk_size, y, given, rng, how)

    def sample_parquet(
        self,
        path: str | Path,
        n_samples: int | None = None,
        *,
        target: str | None = None,
        **how: Any,
    ) -> int:
        """Draw synthetic rows straight into a file of Parquet, chunk by chunk.

        Parameters
        ----------
        path : str or Path
            Of the file; replaced if it is there.
        n_samples : int or None, default=None
            How many rows; None is as many as were fitted.
        target : str or None, default=None
            What the column of labels is called; None takes the name of y, or "target".
        **how
            Other parameters of :meth:`iter_sample`.

        Returns
        -------
        n_rows : int
            Number of rows that were written.
        """
        with ArrowFile(path) as file:
            for drawn in self.iter_sample(n_samples, **how):
                file.add(drawn, target)
        return file.n_rows

    def sample_dask(
        self,
        n_samples: int | None = None,
        *,
        chunk_size: int = CHUNK,
        target: str | None = None,
        random_state: Any = None,
        **how: Any,
    ) -> Any:
        """Return synthetic rows as a DataFrame of Dask, with labels as a column.

        A partition is drawn when it is computed, by whoever computes it, and each time
        it is the same: its seed is drawn here. Types are those of Arrow, as in a file
        of :meth:`sample_parquet`.

        Parameters
        ----------
        n_samples : int or None, default=None
            How many rows; None is as many as were fitted.
        chunk_size : int, default=50_000
            Rows of a partition; the last has what is left.
        target : str or None, default=None
            What the column of labels is called; None takes the name of y, or "target".
        random_state : int, Generator or None, default=None
            An int fixes all rows.
        **how
            Other parameters of :meth:`sample`, but for rows: ``class_shares``.

        Returns
        -------
        dask.dataframe.DataFrame
        """
        check_is_fitted(self)
        of_rows = sorted({"y", "given"} & set(how))
        if of_rows:
            raise ValueError(
                f"{of_rows[0]} must not be given: rows are drawn elsewhere. Use "
                "`iter_sample`, which takes it."
            )
        frames = require("dask.dataframe", extra="dask")
        chunk_size = check_count(chunk_size, "chunk_size")
        n = check_count(
            self.n_samples_ if n_samples is None else n_samples, "n_samples"
        )
        if random_state is None:
            rng = self._sampler
        else:
            (rng,) = split_generator(random_state, 1)
        starts = list(range(0, n, chunk_size)) or [0]
        asked = {"synthesizer": self, "target": target, "how": how}
        return frames.from_map(
            draw_part,
            starts,
            [min(chunk_size, n - start) for start in starts],
            rng.integers(2**32, size=len(starts)).tolist(),
            meta=draw_part(0, FOR_TYPES, 0, **asked)[:0],
            **asked,
        )


def _chunks_drawn(
    drawer: Any, n: int, size: int, y: Any, given: Any, rng: Any, how: Any
) -> Iterator[Any]:
    """Yield chunks; ``drawer`` is a shallow copy of an estimator, used by no one else.

    Written identifiers begin with the row that ``_facts.first_row`` says. That number
    changes from chunk to chunk, so it must not be set on the estimator itself, which
    other iterators and threads draw from at the same time.
    """
    for start in range(0, n, size):
        some = slice(start, min(start + size, n))
        asked = dict(how)
        if y is not None:
            asked["y"] = y[some]
        if given is not None:
            asked["given"] = given[some]
        drawer._facts = replace(drawer._facts, first_row=start)
        yield drawer.sample(some.stop - start, random_state=rng, **asked)


def draw_part(
    start: int, n_rows: int, seed: int, *, synthesizer: Any, target: Any, how: Any
) -> Any:
    """Draw the rows of one partition, the first of which is row ``start``."""
    mine = copy.copy(synthesizer)  # others may draw from it now, in other threads
    mine._facts = replace(mine._facts, first_row=start)
    table = as_arrow(mine.sample(n_rows, random_state=seed, **how), target)
    return table.to_pandas(types_mapper=pd.ArrowDtype)  # missing values change none


# ----------------------------------------------------------------------------
# What was found in columns and what was lost, from releases: a table and warnings.

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
