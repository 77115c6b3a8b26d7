"""Synthetic rows in chunks: any number, with one chunk in memory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import pandas as pd
from numpy.random import Generator
from sklearn.utils.validation import check_is_fitted

from skdpgen.synthesizers.base._attributes import FittedAttributes
from skdpgen.tables import ArrowFile, as_arrow
from skdpgen.utils import RandomState, check_count, require, split_generator

CHUNK = 50_000
FOR_TYPES = 100  # rows of which a table of Dask has its types
SPLITTING = Lock()  # two threads that split one generator must not get the same part


class SamplesInChunks(FittedAttributes):
    """Draws rows chunk by chunk, for an estimator that has ``sample``."""

    _sampler: Generator
    sample: Callable[..., Any]  # every synthesizer has its own
    _requested_shares: Callable[..., Any]

    def iter_sample(
        self,
        n_samples: int | None = None,
        *,
        chunk_size: int = CHUNK,
        y: Any = None,
        conditions: Any = None,
        random_state: RandomState = None,
        **how: Any,
    ) -> Iterator[Any]:
        """Draw synthetic rows in chunks; never all of them are in memory.

        Each chunk is what :meth:`sample` would return for its number of rows. Chunks
        are drawn independently of each other. Each of them has the shares of classes,
        up to rounding. Written identifiers continue from chunk to chunk.

        Several iterators of one estimator may be used in turn or in several threads,
        and :meth:`sample` between their chunks. Each iterator has its own randomness
        and counts its own rows, so none changes what another one draws. It keeps
        drawing from the model at its creation, even if the estimator is fitted again.

        Parameters
        ----------
        n_samples : int or None, default=None
            How many rows in all; None is as many as were fitted, or as ``y`` or
            ``conditions`` has.
        chunk_size : int, default=50_000
            Rows of a chunk; the last has what is left.
        y, conditions : array-like, DataFrame or None, default=None
            As in :meth:`sample`, for all rows; ``conditions`` where that has it.
        random_state : int, Generator or None, default=None
            An int fixes all chunks.
        **how
            Other parameters of :meth:`sample`, as ``class_distribution``.

        Yields
        ------
        X or (X, y)
            As :meth:`sample` returns them.
        """
        check_is_fitted(self)
        chunk_size = check_count(chunk_size, "chunk_size")
        if n_samples is None:
            of_rows = y if y is not None else conditions
            n_samples = self.n_samples_ if of_rows is None else len(of_rows)
        n_samples = check_count(n_samples, "n_samples")
        for name, rows in (("y", y), ("conditions", conditions)):
            if rows is not None and len(rows) != n_samples:
                raise ValueError(
                    f"n_samples must be None or the length of {name}, {len(rows)}. "
                    f"Got {n_samples!r} instead."
                )
        self._requested_shares(y, how.get("class_distribution"))  # raises now
        source = self._sampler if random_state is None else random_state
        with SPLITTING:
            (rng,) = split_generator(source, 1)
        drawer = copy.copy(self)  # `self` may be sampled, or fitted, in between
        return _chunks_drawn(drawer, n_samples, chunk_size, y, conditions, rng, how)

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
            for chunk in self.iter_sample(n_samples, **how):
                file.add(chunk, target)
        return file.n_rows

    def sample_dask(
        self,
        n_samples: int | None = None,
        *,
        chunk_size: int = CHUNK,
        target: str | None = None,
        random_state: RandomState = None,
        **how: Any,
    ) -> Any:
        """Return synthetic rows as a DataFrame of Dask, with labels as a column.

        A partition is drawn when it is computed, by the worker that computes it. It is
        the same each time, because its seed is drawn here. Types are those of Arrow, as
        in a file of :meth:`sample_parquet`.

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
            Other parameters of :meth:`sample`, but for rows: ``class_distribution``.

        Returns
        -------
        dask.dataframe.DataFrame
        """
        check_is_fitted(self)
        of_rows = sorted({"y", "conditions"} & set(how))
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
        params: dict[str, Any] = {"synthesizer": self, "target": target, "how": how}
        return frames.from_map(
            draw_part,
            starts,
            [min(chunk_size, n - start) for start in starts],
            rng.integers(2**32, size=len(starts)).tolist(),
            meta=draw_part(0, FOR_TYPES, 0, **params)[:0],
            **params,
        )


def _chunks_drawn(
    drawer: Any,
    n: int,
    size: int,
    y: Any,
    conditions: Any,
    rng: Generator,
    how: Mapping[str, Any],
) -> Iterator[Any]:
    """Yield chunks; ``drawer`` is a shallow copy of an estimator, used by no one else.

    Written identifiers begin with the row that ``_facts.first_row`` says. That number
    changes from chunk to chunk, so it must not be set on the estimator itself, which
    other iterators and threads draw from at the same time.
    """
    fitted = drawer._fitted
    for start in range(0, n, size):
        chunk = slice(start, min(start + size, n))
        params = dict(how)
        if y is not None:
            params["y"] = y[chunk]
        if conditions is not None:
            params["conditions"] = conditions[chunk]
        drawer._fitted = fitted.starting_at(start)
        yield drawer.sample(chunk.stop - start, random_state=rng, **params)


def draw_part(
    start: int,
    n_rows: int,
    seed: int,
    *,
    synthesizer: Any,
    target: str | None,
    how: Mapping[str, Any],
) -> Any:
    """Draw the rows of one partition, the first of which is row ``start``."""
    drawer = copy.copy(synthesizer)  # other threads may draw from it at the same time
    drawer._fitted = drawer._fitted.starting_at(start)
    table = as_arrow(drawer.sample(n_rows, random_state=seed, **how), target)
    return table.to_pandas(types_mapper=pd.ArrowDtype)  # missing values change none
