"""DP-MGE: Gaussians in a latent space."""

from sklearn.utils.validation import check_is_fitted

from skdpgen.privacy import Histograms
from skdpgen.synthesizers.base import BaseSynthesizer, documented
from skdpgen.synthesizers.gaussian._copula import learn_copula, measure_copula
from skdpgen.synthesizers.models import single_columns
from skdpgen.synthesizers.opening import discover_bins, n_classes_of
from skdpgen.utils import Key


class DPMGESynthesizer(BaseSynthesizer):
    def __init__(self, epsilon=1.0, delta=None, schema=None, classes=None, adjacency="replace", task="auto",
                 column_budget=0.5, by_class=True, random_state=None, verbose=0):
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.classes = classes
        self.adjacency = adjacency
        self.task = task
        self.column_budget = column_budget
        self.by_class = by_class
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y=None):
        with self._opened(X, y) as opening:
            cells, labels = discover_bins(opening)
            opening.keep(cells_=cells, _labels=labels)
            released = opening.release(
                "release_",
                opening.rows.batches(cells, labels),
                {Key.COLUMNS: Histograms(tuple(c.n_cells for c in cells.values()))},
                name=f"histograms of {len(cells)} columns by class",
                n_classes=n_classes_of(labels),
                share=self.column_budget,
            )
            known = single_columns(released, cells, labels, opening.facts)
            measure_copula(opening, cells, labels, known, by_class=self.by_class)
        del X, y, opening
        return self.refit()

    def refit(self):
        check_is_fitted(self, "release_")
        known = single_columns(self.release_, self.cells_, self._labels, self._facts)
        self._model = learn_copula(known, self.cells_, self.moments_)
        return self._telling_losses(known.totals.sum(), known.total_std)

    def sample(self, n_samples=None, y=None, class_shares=None, random_state=None):
        n_samples = self._sample_size(n_samples, y)
        rng = self._sampling_generator(random_state)
        shares = self._model.shares
        labels = self._draw_labels(n_samples, y, class_shares, shares, rng)
        codes = self._model.draw(labels, rng=rng)
        X = self._decoded(codes, self._model.known.marginals, rng)
        return self._with_target(X, labels, y, shares, rng)
