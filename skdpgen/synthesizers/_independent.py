"""The floor: class-conditional histograms, columns independent given the class."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from skdpgen.privacy import Histograms, OneHot, release, sensitivity
from skdpgen.synthesizers._base import BaseSynthesizer
from skdpgen.synthesizers._discovery import MAX_BINS, TARGET, discover_bins
from skdpgen.tables import NumberCells, draw_numbers
from skdpgen.training import class_totals, conditional_histogram
from skdpgen.utils import Interval, StrOptions, split_generator

BIN_NOISE = 4.0  # a bin should hold this many noise stds of rows


class DPIndependentSynthesizer(BaseSynthesizer):
    """Tabular synthesizer that draws columns independently given the class.

    Whatever does not beat it has no reason to exist.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSynthesizer._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-5,
        schema=None,
        classes=None,
        adjacency="replace",
        class_weight=None,
        task="auto",
        random_state=None,
        verbose=0,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.classes = classes
        self.adjacency = adjacency
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y=None):
        """Release a histogram of every column, per class, in one joint release."""
        opening = self._open(X, y)
        rows, ledger = opening.rows, opening.ledger
        delta = sensitivity(OneHot(len(opening.columns)), ledger.budget.adjacency)
        noise = ledger.noise_std(share=0.9 * ledger.remaining, sensitivity=delta)
        cells = discover_bins(
            rows,
            opening.columns,
            ledger,
            opening.n_rows,
            mass=max(opening.n_rows / MAX_BINS, BIN_NOISE * noise),
        )
        labels = cells.pop(TARGET, opening.labels)
        released = release(
            rows.batches(cells, labels),
            {"columns": Histograms(tuple(c.n_cells for c in cells.values()))},
            name=f"histograms of {len(cells)} columns by class",
            ledger=ledger,
            share=ledger.remaining,
            n_classes=labels.n_cells if labels is not None else 1,
        )
        del X, y, rows  # private data ends here; what follows is post-processing
        self._finish(opening)
        self.release_, self.cells_, self.label_cells_ = released, cells, labels
        self._model(opening.n_rows)
        return self

    def _model(self, n_rows: float) -> None:
        sizes = [c.n_cells for c in self.cells_.values()]
        blocks = np.split(
            self.release_.values["columns"], np.cumsum(sizes)[:-1], axis=1
        )
        is_public = self.adjacency == "replace"
        self.totals_ = class_totals(blocks, n_rows if is_public else None)
        std = self.release_.noise_std["columns"]
        self.marginals_, self.conditionals_ = {}, {}
        for (name, cells), block in zip(self.cells_.items(), blocks, strict=True):
            self.marginals_[name], self.conditionals_[name] = conditional_histogram(
                block, std, self.totals_, n_ordered=cells.n_known * cells.is_ordered
            )

    def sample(self, n_samples=None, y=None, random_state=None):
        """Draw rows."""
        n_samples = self._check_sample(n_samples, y)
        (rng,) = split_generator(random_state, 1)
        shares = self._weights()
        if y is None:
            labels = rng.permutation(systematic(shares, n_samples, rng))
        elif self.task_ == "regression":
            labels = self.label_cells_.encode_numbers(y)
        else:
            labels = self._label_codes(y)
        codes = {}
        for name, table in self.conditionals_.items():
            code = np.empty(n_samples, dtype=np.int64)
            for label in range(len(table)):
                mine = labels == label
                drawn = systematic(table[label], int(mine.sum()), rng)
                code[mine] = rng.permutation(drawn)
            codes[name] = code
        X = self._decode(self.cells_, codes, self.marginals_, n_samples, rng)
        if self.task_ is None:
            return X
        if y is not None:
            return X, y
        if isinstance(self.label_cells_, NumberCells):
            values = draw_numbers(self.label_cells_, labels, shares, rng=rng)
            return X, self._restore_target(values)
        return X, self._restore_target(self.classes_[labels])

    def _weights(self):
        shares = self.totals_ / self.totals_.sum()
        if self.class_weight == "balanced":
            return np.full(len(shares), 1 / len(shares))
        if isinstance(self.class_weight, dict):
            factor = [self.class_weight.get(c, 1.0) for c in self.classes_.tolist()]
            shares = shares * factor
            return shares / shares.sum()
        return shares


def systematic(probabilities, n_samples, rng):
    """Draw sorted codes with as little sampling noise as there can be."""
    places = (np.arange(n_samples) + rng.random()) / max(n_samples, 1)
    cumulative = np.cumsum(probabilities)
    cumulative /= cumulative[-1]
    return np.searchsorted(cumulative, places, side="right").clip(
        max=len(probabilities) - 1
    )
_ = Integral, Interval
