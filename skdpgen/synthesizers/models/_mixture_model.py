"""A mixture of products of columns, and rows drawn from it, given any columns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.synthesizers.models._even_draws import draw_given
from skdpgen.tables import CellGroups
from skdpgen.training import ClassConditional
from skdpgen.utils import saved

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
ROWS_AT_ONCE = 4096
LEAST = 1e-9  # least likelihood of a value, even if the release says it does not occur


@saved
@dataclass(frozen=True, eq=False)
class MixtureModel:
    """Per class, equally likely products of columns over groups of cells.

    Parameters
    ----------
    known : ClassConditional
        Class totals, and each column given the class, on all its cells.
    groups : mapping of name to CellGroups
    tables : mapping of name to ndarray of shape (n_classes, n_components, n_groups)
        Each column in each component.
    """

    known: ClassConditional
    groups: Mapping[Any, CellGroups]
    tables: Mapping[Any, Floats]

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return self.known.shares

    @property
    def n_components(self) -> int:
        """Components of each class."""
        tables = next(iter(self.tables.values()), np.ones((1, 1, 1)))
        return int(tables.shape[1])

    def draw(
        self, labels: Codes, given: Mapping[Any, Codes], *, rng: Generator
    ) -> dict[Any, Codes]:
        """Draw the cells of rows with the given labels and the given columns."""
        if given:
            members = np.empty(len(labels), dtype=np.int64)
            for some in _parts(len(labels)):
                part = {name: codes[some] for name, codes in given.items()}
                members[some] = _pick(self._likelihood(part, labels[some]), rng=rng)
        else:
            even = np.ones((len(self.shares), self.n_components))
            members = draw_given(even, labels, rng=rng)
        components = labels * self.n_components + members
        codes = dict(given)
        for name, table in self.tables.items():
            if name in codes:
                continue
            groups = self.groups[name]
            rows = table.reshape(-1, groups.n_groups)
            found = draw_given(rows, components, rng=rng)
            if groups.n_groups < len(groups.of_cell):
                places = labels * groups.n_groups + found
                member = np.eye(groups.n_groups)[groups.of_cell].T
                within = self._within(name)[:, None, :] * member
                found = draw_given(within.reshape(-1, member.shape[1]), places, rng=rng)
            codes[name] = found
        return {name: codes[name] for name in self.tables}

    def draw_labels(self, given: Mapping[Any, Codes], *, rng: Generator) -> Codes:
        """Draw labels for rows of which some columns are given."""
        n = len(next(iter(given.values())))
        found = np.empty(n, dtype=np.int64)
        for some in _parts(n):
            part = {name: codes[some] for name, codes in given.items()}
            labels = np.zeros(len(found[some]), dtype=np.int64)
            each = [
                np.log(max(share, LEAST))
                + np.logaddexp.reduce(self._likelihood(part, labels + label), axis=1)
                for label, share in enumerate(self.shares)
            ]
            found[some] = _pick(np.stack(each, axis=1), rng=rng)
        return found

    def _likelihood(self, given: Mapping[Any, Codes], labels: Codes) -> Floats:
        """Log-likelihood of the given cells in each component of the label's class."""
        total = np.zeros((len(labels), self.n_components))
        for name, codes in given.items():
            groups, table = self.groups[name], self.tables[name]
            inside = self._within(name)[labels, codes]
            found = table[labels, :, groups.of_cell[codes]]
            total += np.log(np.maximum(found * inside[:, None], LEAST))
        return total

    def _within(self, name: Any) -> Floats:
        """Share of each cell in its group, (n_classes, n_cells)."""
        groups = self.groups[name]
        cells = np.maximum(np.asarray(self.known.conditionals[name]), 0.0)
        even = np.asarray(self.known.marginals[name]) + LEAST
        mass = groups.add_up(cells)[:, groups.of_cell]
        cells = np.where(mass > LEAST, cells, even)
        return np.asarray(cells / groups.add_up(cells)[:, groups.of_cell])


def _parts(n: int) -> Iterator[slice]:
    """Cut rows into parts."""
    for start in range(0, n, ROWS_AT_ONCE):
        yield slice(start, start + ROWS_AT_ONCE)


def _pick(logs: Floats, *, rng: Generator) -> Codes:
    """Draw one column for each row of log-probabilities."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    below = np.cumsum(weights, axis=1)
    places = rng.random(len(logs)) * below[:, -1]
    found = (places[:, None] >= below).sum(axis=1)
    return np.minimum(found, logs.shape[1] - 1)
