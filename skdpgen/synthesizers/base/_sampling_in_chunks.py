"""Synthetic rows in chunks: as many as wanted, in memory for one chunk."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import ArrowFile, as_arrow
from skdpgen.utils import check_count, require, split_generator

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
