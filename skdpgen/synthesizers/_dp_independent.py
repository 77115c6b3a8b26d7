"""The independent baseline: histograms of columns by class, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skdpgen.synthesizers.base import (
    AdjacencyName,
    BaseSynthesizer,
    ClassShares,
    PrivateRows,
    Sample,
    SchemaLike,
    TaskName,
    check_retrained,
)
from skdpgen.synthesizers.models import draw_given, single_columns
from skdpgen.synthesizers.opening import (
    Measured,
    count_public,
    discover_bins,
    n_classes_of,
    release_columns,
)
from skdpgen.utils import Labels, RandomState, saved


@saved("estimator.independent")
class DPIndependentSynthesizer(BaseSynthesizer):
    r"""Tabular synthesizer with columns that are independent given the class.

    One joint release of a noisy histogram of every column in every class. A row is
    sampled by drawing a class, then each column independently. It is the baseline for
    all other methods, and a strong one in the mean score of many classifiers.

    This method comes from no paper.

    Let :math:`x_j \in \{0, 1\}^{k_j}` be column j as a one-hot cell and y the one-hot
    label. The release is :math:`\sum_i (x_{i1}, \dots, x_{id}) \otimes y_i` plus
    Gaussian noise. A row is non-negative with norm :math:`\sqrt d`, so one row moves
    it by at most :math:`\sqrt{2d}` if replaced and :math:`\sqrt d` if added or removed
    (proof: :class:`~skdpgen.privacy.OneHot`). All the rest is post-processing: counts
    are projected to the simplex and shrunk by their known noise.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of one call to :meth:`fit`, everything included.
        ``epsilon=float("inf")`` adds no noise and promises nothing.
    delta : float or None, default=None
        How much any probability may exceed the factor that epsilon allows. None is a
        power of ten: at most 1e-5 and a tenth of one over the number of rows. Under
        "add_remove", which hides that number, it is 1e-7, right for up to a million
        rows. ``privacy_.delta`` is what was used.
    adjacency : {"replace", "add_remove"}, default="replace"
        Which tables are neighbours; "replace" makes the number of rows public.
    schema : Schema, dict or None, default=None
        Public column types, bounds and categories; a dict has them by column name, as
        ``{"age": Integer(0, 120)}``. Columns that are left out, all of them if None,
        are discovered privately from the same budget.
    classes : array-like or None, default=None
        Public class labels. None takes the schema's target, or discovers them.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" goes by the dtype of y: floats and times are regression. Whole numbers
        and text are classes, unless released labels show that they are numbers.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything but the privacy noise, which cannot be seeded.
    verbose : int, default=0
        1 shows a progress bar over the stages.

    Attributes
    ----------
    privacy_ : PrivacyReport
        The certificate: one (epsilon, delta) and every release that was paid for.
    schema_ : Schema
        Given, or discovered.
    release_ : Release
        The noisy histograms; the model is computed from them only.
    cells_ : dict
        The cells of each column that histograms were released on.
    classes_ : ndarray
        Class labels, of a classification.
    task_ : {"classification", "regression"} or None
        What y was.
    n_samples_ : int
        Rows that were fitted (a noisy number under "add_remove").
    n_features_in_, feature_names_in_ : int and ndarray
        Columns that were fitted.

    See Also
    --------
    SyntheticUtility : Scores the samples with 12 classifiers.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> synth = DPIndependentSynthesizer(epsilon=1.0, classes=["left", "stayed"])
    >>> X_syn, y_syn = synth.fit(X, y).sample(500)
    >>> list(X_syn.columns) == list(X.columns), len(y_syn)
    (True, 500)
    """

    _reads_public_rows = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSynthesizer._parameter_constraints,
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        adjacency: AdjacencyName = "replace",
        schema: SchemaLike = None,
        classes: ArrayLike | None = None,
        task: TaskName = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.schema = schema
        self.classes = classes
        self.task = task
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: PrivateRows,
        y: Labels | None = None,
        *,
        public_data: Any = None,
        groups: Any = None,
    ) -> Self:
        """Choose cells, release all histograms at once, and denoise them.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A pandas or other data frame, an array, or :class:`~skdpgen.tables.Chunks`.
        y : array-like of shape (n_samples,) or None, default=None
            Labels, numbers, or nothing.
        public_data : table, images, pair (X, y) or None, default=None
            Public rows with the columns of X, or public images of the same size, with
            or without labels: of another year, state or hospital. They use no budget.
            That they are public is your word: nothing protects them.
        groups : None
            Must be None: persons with several rows are not supported.

        Returns
        -------
        self : DPIndependentSynthesizer
        """
        with self._opened(X, y, public_data, groups) as opening:
            cells, labels = discover_bins(opening, gap_share=1.0)
            public = count_public(opening.public, cells, labels)
            opening.measured = Measured(cells=cells, labels=labels, public=public)
            released = release_columns(
                opening,
                cells,
                labels,
                name=f"histograms of {len(cells)} columns by class",
                n_classes=n_classes_of(labels),
            )
            opening.measured = replace(opening.measured, release=released)
        del X, y, opening  # private data ends here; what follows is post-processing
        return self.retrain()

    def retrain(self, **parameters: Any) -> Self:
        """Compute the model again from the stored release; free, needs no data.

        ``fit`` calls it at the end. If ``fit`` was interrupted after the release, the
        budget is used, as ``privacy_`` states, and this completes the fit.

        Parameters
        ----------
        **parameters
            None: the model has no settings.

        Returns
        -------
        self : DPIndependentSynthesizer
        """
        check_is_fitted(self, "release_")
        check_retrained(parameters, ())
        model = single_columns(
            self.release_,
            self.cells_,
            self._labels,
            self._facts,
            public=self._measured.public,
        )
        return self._keep_model(model, model.totals.sum(), model.total_std)

    def sample(
        self,
        n_samples: int | None = None,
        y: Labels | None = None,
        class_distribution: ClassShares = None,
        random_state: RandomState = None,
    ) -> Sample:
        """Draw synthetic rows; free, any number of times.

        Parameters
        ----------
        n_samples : int or None, default=None
            Number of rows; None takes as many as were fitted.
        y : array-like or None, default=None
            Labels (or numbers) to draw rows for, one each.
        class_distribution : "balanced", dict or None, default=None
            How often each class is drawn: as in the data, all alike, or by their
            shares, ``{"yes": 0.2, "no": 0.8}``. Shares are from 0 to 1 and sum to 1; a
            class that is not listed is not drawn. What was learnt is the same.
        random_state : int, RandomState, Generator or None, default=None
            An int gives the same rows each time; None gives new ones.

        Returns
        -------
        X : table
            In the container of the fitted X, with its columns and dtypes.
        y : Series or ndarray
            Only if fitted with labels.
        """
        n_samples = self._sample_size(n_samples, y)
        rng = self._sampling_generator(random_state)
        shares = self._model.shares
        labels = self._draw_labels(n_samples, y, class_distribution, shares, rng)
        codes = {
            name: draw_given(table, labels, rng=rng)
            for name, table in self._model.conditionals.items()
        }
        X = self._decoded(codes, self._model.marginals, rng)
        return self._with_target(X, labels, y, shares, rng)
