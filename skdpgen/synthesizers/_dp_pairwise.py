"""DP-Pairwise: histograms of pairs of columns, and a mixture that matches them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import pandas as pd
import torch
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skdpgen.synthesizers.base import (
    AdjacencyName,
    BaseSynthesizer,
    ClassShares,
    ClassWeight,
    Device,
    PrivateRows,
    Sample,
    SchemaLike,
    TaskName,
    TrainedAttributes,
    check_retrained,
)
from skdpgen.synthesizers.models import (
    class_factors,
    counted_columns,
    single_columns,
)
from skdpgen.synthesizers.opening import MAX_BINS, cell_scales, discover_bins
from skdpgen.synthesizers.pairwise import (
    PairRelease,
    ParityRelease,
    budget_of_pairs,
    check_given,
    focus_weights,
    known_pairs,
    measure_columns,
    measure_pairs,
    number_of_pairs,
    pair_share,
    read_given,
    share_of_cells,
    share_with_stratum,
    stratum_of,
    train_mixture,
    usual_rates,
    with_stratum,
)
from skdpgen.tables import CellGroups
from skdpgen.utils import (
    Interval,
    Labels,
    RandomState,
    StrOptions,
    pick_device,
    saved,
    seed_of,
    split_generator,
)

FINE_BINS = 256


@saved("estimator.pairwise")
class DPPairwiseSynthesizer(TrainedAttributes, BaseSynthesizer):
    r"""Tabular synthesizer from histograms of columns and of pairs of columns.

    Up to five releases: every column by class (two, where cells are many); products of
    the normal scores of numbers; for a thirtieth of the budget, parities, which are
    relationships of three and more columns that no pair shows; all pairs of columns,
    coarsely; then, with most of the rest, the pairs that matter, by class. A mixture of
    products of columns is trained on their exact moments, without sampling. Rows that
    it draws are moved until their numbers are as correlated as the products say. It
    takes seconds on a CPU.

    For columns and pairs, rows are one-hot vectors, scaled to norm 1, without negative
    entries: one row moves the sum by at most :math:`\sqrt 2` if replaced and by 1 if
    added or removed (:class:`~skdpgen.privacy.Weighted`). So do products of scores of
    norm 1 at most, of which no two have a negative inner product. For sets of columns
    rows are signs (:class:`~skdpgen.privacy.SignProducts`). The resolution of
    histograms is public or released. With too few rows for pairs, the method is that of
    :class:`DPIndependentSynthesizer`.

    This method comes from no paper.

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
    class_weight : "balanced", dict or None, default=None
        What the error of each class is multiplied by. "balanced" divides it by the
        noisy share of the class, so rare classes count as much as common ones; a dict
        has a weight by label, 1 where it has none. Labels are sampled as often as in
        the data either way; ``sample(class_distribution=...)`` asks for others.
    focus : list, dict or None, default=None
        Names of the columns that the data are for, or their weights; public. Errors of
        their pairs count 4 times, or by the weight, when pairs are chosen and noise is
        divided. Without a target, rows are counted by the heaviest one that has at
        most 32 cells, as if by class: its relation to each column is then exact up to
        noise, and so are differences between its groups. A target needs no mention.
        An empty list or dict is no focus, as None is.
    pair_budget : float or None, default=None
        Part of the budget (of mu², after discovery) that pairs get; the rest goes to
        single columns. None is half where rows are many. Where they are few, columns
        get what they need for a small noise, and pairs the rest, but at least a fifth.
    n_groups : int or None, default=None
        Groups of cells of a column in pairs. None is as many as the noise allows, 4 to
        12, and up to 24 beside a column of fewer cells, or where a relation is strong.
    n_components : int or None, default=None
        Components of the mixture, for each class. None is 2,000 in all, in wide tables
        down to 400, but at least 60 each; 200 for each bin of a number; and never more
        than 20,000 in all.
    max_iter : int or None, default=None
        Training steps; None is 200, and up to 600 where noise is small.
    learning_rate : float, default=0.1
        Peak learning rate of Adam; three times as large for numbers as targets and for
        a focus.
    device : str or torch.device, default="auto"
        "auto" takes a GPU if there is one.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything but the privacy noise, which cannot be seeded.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    privacy_ : PrivacyReport
        The certificate: one (epsilon, delta) and every release that was paid for.
    schema_ : Schema
        Given, or discovered.
    release_ : Release
        The noisy histograms of single columns; if there are two levels, their estimate.
    pair_releases_ : tuple of PairRelease
        The noisy histograms of pairs, round by round; empty if there were none.
    parity_release_ : ParityRelease or None
        Noisy parities of two columns and more; None if they could not be afforded.
    groups_ : tuple of CellGroups
        How the cells of each column are grouped in pairs.
    cells_ : dict
        The cells of each column.
    loss_curve_ : list of float
        Loss of each training step; independent columns have a loss of 1.
    n_iter_ : int
        Training steps that were made; training may stop at the noise.
    relations_learned_ : str
        "columns and relations"; "columns by class only" if no relation exceeded the
        noise; "single columns only" if there were no labels either; "relations that
        were not tested against the noise" of steps on rows; or "images".
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
    DPIndependentSynthesizer : Single columns only; the baseline.
    DPMERFSynthesizer : Fourier features instead of histograms of pairs.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> synth = DPPairwiseSynthesizer(epsilon=1.0, classes=["left", "stayed"])
    >>> X_syn, y_syn = synth.fit(X, y).sample(500)
    >>> list(X_syn.columns) == list(X.columns), len(y_syn)
    (True, 500)
    """

    _reads_public_rows = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSynthesizer._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "focus": [list, tuple, dict, None],
        "pair_budget": [Interval(Real, 0, 1, closed="neither"), None],
        "n_groups": [Interval(Integral, 2, None, closed="left"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "device": [str, torch.device],
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        adjacency: AdjacencyName = "replace",
        schema: SchemaLike = None,
        classes: ArrayLike | None = None,
        task: TaskName = "auto",
        class_weight: ClassWeight = None,
        focus: Sequence[Any] | Mapping[Any, float] | None = None,
        pair_budget: float | None = None,
        n_groups: int | None = None,
        n_components: int | None = None,
        max_iter: int | None = None,
        learning_rate: float = 0.1,
        device: Device = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.schema = schema
        self.classes = classes
        self.task = task
        self.class_weight = class_weight
        self.focus = focus
        self.pair_budget = pair_budget
        self.n_groups = n_groups
        self.n_components = n_components
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.device = device
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
        """Release columns, products, pairs and the pairs that matter; train a mixture.

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
        self : DPPairwiseSynthesizer
        """
        pick_device(self.device)
        (for_training,) = split_generator(self.random_state, 2)[1:]
        with self._opened(X, y, public_data, groups) as opening:
            pair_budget = budget_of_pairs(opening, self.pair_budget)
            n_pairs = number_of_pairs(opening, pair_budget)
            n_bins = FINE_BINS if n_pairs else MAX_BINS
            for_pairs = pair_share(opening, n_pairs, pair_budget)
            cells, labels = discover_bins(
                opening, n_bins, gap_share=share_of_cells(n_pairs, for_pairs)
            )
            weights = focus_weights(self.focus, self._names_of(opening.rows.layout))
            stratum, n_pairs, for_pairs = share_with_stratum(
                opening,
                stratum_of(opening, cells, weights) if n_pairs else None,
                n_pairs,
                for_pairs,
            )
            opening.rows.label_by(stratum)
            columns = measure_columns(
                opening,
                cells,
                labels,
                for_pairs=for_pairs,
                is_trial=not n_pairs,
                seed=seed_of(for_training),
                stratum=stratum,
            )
            if for_pairs:
                measure_pairs(
                    opening,
                    cells,
                    labels,
                    columns,
                    n_pairs=n_pairs,
                    n_groups=self.n_groups,
                    focus=weights,
                )
        del X, y, opening  # private data ends here; what follows is post-processing
        return self.retrain()

    def _names_of(self, layout: Any) -> tuple[Any, ...]:
        """Return the columns that a focus may name; the target is one."""
        return tuple(getattr(layout, "names", ()))

    def _check_columns(self, layout: Any) -> None:
        focus_weights(self.focus, self._names_of(layout))

    def retrain(self, **parameters: Any) -> Self:
        """Train the mixture again on the stored releases; free, needs no data.

        ``fit`` calls it at the end. If ``fit`` was interrupted after the releases, the
        budget is used, as ``privacy_`` states, and this completes the fit.

        Parameters
        ----------
        **parameters
            Any of ``n_components``, ``max_iter`` and ``learning_rate``, which replace
            the estimator's values in this call.

        Returns
        -------
        self : DPPairwiseSynthesizer
        """
        check_is_fitted(self, "release_")
        names = ("n_components", "max_iter", "learning_rate")
        check_retrained(parameters, names)
        chosen = {name: parameters.get(name, getattr(self, name)) for name in names}
        type(self)(**self.get_params(deep=False) | chosen)._validate_params()
        released, cells, measured = self.release_, self.cells_, self._measured
        scales, public = measured.scales, measured.public
        columns = single_columns(
            released, cells, measured.counted_by, self._facts, scales, public
        )
        columns = with_stratum(columns, measured.stratum)
        pairs = known_pairs(
            columns,
            released,
            self.groups_,
            self.pair_releases_,
            self._facts,
            scales,
            public,
        )
        model, losses = train_mixture(
            columns,
            cells,
            pairs,
            measured.products,
            **chosen,
            **usual_rates(self._facts.task, len(columns.totals)),
            parities=self.parity_release_,
            factors=class_factors(
                self.class_weight,
                self._facts.classes or (),
                columns.totals / columns.totals.sum(),
            ),
            device=pick_device(self.device),
            seed=self._seed,
            progress=self._progress,
        )
        self._keep_model(model, columns.totals.sum(), columns.total_std, losses=losses)
        self._stating_retrain(parameters)
        return self._stating_relations(chosen["max_iter"] != 0)

    def _column_counts(self) -> dict[Any, tuple[Any, Any]]:
        """Return counts of cells; those of all rows have independent, known noise."""
        fine = self._measured.fine
        if fine is None:
            return super()._column_counts()
        sizes = [column.n_cells for column in self.cells_.values()]
        return counted_columns(fine, self.cells_, cell_scales(sizes))

    @property
    def groups_(self) -> tuple[CellGroups, ...]:
        """How the cells of each column are grouped in pairs."""
        return self._measured.groups

    @property
    def pair_releases_(self) -> tuple[PairRelease, ...]:
        """The noisy histograms of pairs, round by round."""
        return self._measured.pair_releases

    @property
    def parity_release_(self) -> ParityRelease | None:
        """Noisy parities of two columns and more."""
        return self._measured.parity_release

    def sample(
        self,
        n_samples: int | None = None,
        y: Labels | None = None,
        conditions: pd.DataFrame | None = None,
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
        conditions : DataFrame or None, default=None
            Some columns of rows to complete. The other columns, and labels without
            ``y``, are drawn from the mixture given these values. They are returned
            unchanged: if they are private, the result is private data, too.
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
        check_is_fitted(self)
        given_columns, codes = read_given(conditions, self.cells_, self._facts)
        if conditions is not None and n_samples is None and y is None:
            n_samples = len(conditions)
        n_samples = self._sample_size(n_samples, y)
        if conditions is not None:
            check_given(conditions, n_samples, y, class_distribution)
        rng = self._sampling_generator(random_state)
        shares = self._model.shares
        if conditions is not None and y is None:
            labels = self._model.draw_labels(codes, rng=rng)
        else:
            labels = self._draw_labels(n_samples, y, class_distribution, shares, rng)
        drawn = self._model.draw(labels, codes, rng=rng)
        X = self._decoded(drawn, self._model.known.marginals, rng, given=given_columns)
        return self._with_target(X, labels, y, shares, rng)
