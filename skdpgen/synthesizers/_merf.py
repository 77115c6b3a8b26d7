"""DP-MERF: one private mean embedding with random features, matched for free."""

from numbers import Integral, Real
from typing import Any, ClassVar

import torch
from sklearn.utils.validation import check_is_fitted
from tqdm.auto import tqdm

from skdpgen.privacy import release
from skdpgen.synthesizers._base import BaseSynthesizer
from skdpgen.synthesizers._binning import discover_bins
from skdpgen.synthesizers._merf_settings import PRESETS
from skdpgen.synthesizers._row_kernel import RowKernel, with_share
from skdpgen.synthesizers._table_model import learn, mixing, train
from skdpgen.tables import TARGET
from skdpgen.utils import (
    Interval,
    StrOptions,
    pick_device,
    split_generator,
    torch_generator,
)


class DPMERFSynthesizer(BaseSynthesizer):
    r"""Tabular synthesizer that matches one private mean embedding [1]_.

    A row becomes a bounded vector: random Fourier features of its columns, which see
    how columns depend on each other, beside its one-hot cells, which see each column
    by itself. The sum of that vector, per class, is released once with Gaussian noise.
    A neural network, with a head for every column, is then trained until its own mean
    embedding comes near; that reads no row and costs nothing.

    Let :math:`\phi(x)` be the features (norm 1), :math:`x_{1h}` the one-hot cells of d
    columns (norm :math:`\sqrt d`) and y the one-hot label. The release is

    .. math:: \sum_i [a\,\phi(x_i) ; b\,x_{i,1h} / \sqrt d] \otimes y_i + noise,
              \qquad a^2 + b^2 = 1,

    and one row moves it by at most :math:`\sqrt{4a^2 + 2b^2}` if replaced and 1 if
    added or removed (proof: :class:`~skdpgen.privacy.Weighted`). The one-hot part is
    divided among columns by the root of their number of cells. Where no column is
    counted, class counts ride along: free if replaced, :math:`\sqrt 2` otherwise.

    Parameters
    ----------
    epsilon, delta : float, default=1.0 and 1e-5
        Privacy budget of one call to :meth:`fit`, everything included.
        ``epsilon=float("inf")`` adds no noise and promises nothing.
    schema : Schema, dict, "infer" or None, default=None
        Public column types, bounds and categories. Columns that are left out, all of
        them if None, are discovered privately from the same budget. "infer" reads
        them off the rows, which leaks.
    classes : array-like or None, default=None
        Public class labels. None takes the schema's target, or discovers them.
    adjacency : {"replace", "add_remove"}, default="replace"
        Which tables are neighbours; "replace" makes the number of rows public.
    class_weight : "balanced" or None, default=None
        "balanced" divides the error of each class by its noisy share, so rare classes
        count as much as common ones. Labels are sampled as often as in the data either
        way; ``sample(y=...)`` asks for others.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" goes by the dtype of y: float is regression, anything else is classes.
    preset : {"default", "paper"}, default="default"
        Where parameters that are None come from; ``settings_`` shows what was used.
    numbers : {"binned", "fourier"} or None, default=None
        "binned" (default) counts cells of every column, numbers too, and Fourier
        features see all columns. "fourier" (paper) leaves numbers to Fourier features
        and counts categories only.
    n_features : int or None, default=None
        Fourier features; even. None is 1000 (paper: 2000; its tables had others).
    length_scale : float, array-like, "public" or None, default=None
        Of the Gaussian kernels, where a number's column runs from 0 to 1 by rank and
        two categories are 1 apart; several take turns. None is (0.2, 0.5, 1.5), or for
        the paper "public": the median distance of rows with uniform columns.
    n_together : int, "all" or None, default=None
        How many columns a frequency looks at; None is 2: how pairs depend on each
        other, given the class. The paper's is "all".
    fourier_share : float or None, default=None
        The number a², in (0, 1): how much of a row's norm its Fourier features get.
        None is 0.1, or 0.02 where few rows, many classes or a small epsilon, all of
        them public, leave relations no chance against the noise (paper: 0.5).
    release : {"full", "minibatch"}, default="full"
        "full" releases one embedding. "minibatch" releases that of each of
        ``n_minibatches`` random parts of the rows, as in the paper's section 5.2: each
        part has the noise of the whole, so it is the noisier way.
    n_minibatches : int, default=10
        Used by ``release="minibatch"``.
    hidden, n_latent : array-like of int, int or None, default=None
        Hidden layers of the generator, and length of its latent vector.
    n_iter, batch_size : int or None, default=None
        Training steps, and latent vectors a step; they cost no privacy.
    learning_rate : float or None, default=None
        Of Adam, at its peak.
    device : str or torch.device, default="auto"
        "auto" takes a GPU if there is one.
    random_state : int, RandomState, Generator or None, default=None
        Seed of features, training and sampling; the privacy noise cannot be seeded.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    privacy_ : PrivacyReport
        The certificate: one (epsilon, delta) and every release that was paid for.
    schema_ : Schema
        Given, or discovered.
    release_ : Release
        The noisy embedding; all that the generator was made of.
    kernel_ : RowKernel
        The feature map.
    cells_ : dict
        The cells of each column.
    settings_ : Settings
        The method's parameters as they were used.
    generator_ : TableGenerator
        The torch module.
    loss_curve_ : list of float
        Loss of every training step; 1 is what independent columns leave.
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
    DPIndependentSynthesizer : The floor: the one-hot part alone.
    search_generator : Compares generator settings on one release.

    References
    ----------
    .. [1] Harder, Adamczewski & Park, "DP-MERF: Differentially private mean embeddings
       with random features for practical privacy-preserving data generation",
       AISTATS 2021.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> synth = DPMERFSynthesizer(epsilon=1.0, classes=["left", "stayed"], n_iter=50)
    >>> X_syn, y_syn = synth.fit(X, y).sample(500)
    >>> list(X_syn.columns) == list(X.columns), len(y_syn)
    (True, 500)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSynthesizer._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), None],
        "preset": [StrOptions(set(PRESETS))],
        "numbers": [StrOptions({"binned", "fourier"}), None],
        "n_features": [Interval(Integral, 2, None, closed="left"), None],
        "length_scale": [
            Interval(Real, 0, None, closed="neither"),
            "array-like",
            StrOptions({"public"}),
            None,
        ],
        "n_together": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"all"}),
            None,
        ],
        "fourier_share": [Interval(Real, 0, 1, closed="neither"), None],
        "release": [StrOptions({"full", "minibatch"})],
        "n_minibatches": [Interval(Integral, 1, None, closed="left")],
        "hidden": ["array-like", None],
        "n_latent": [Interval(Integral, 1, None, closed="left"), None],
        "n_iter": [Interval(Integral, 0, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "device": [str, torch.device],
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
        preset="default",
        numbers=None,
        n_features=None,
        length_scale=None,
        n_together=None,
        fourier_share=None,
        release="full",
        n_minibatches=10,
        hidden=None,
        n_latent=None,
        n_iter=None,
        batch_size=None,
        learning_rate=None,
        device="auto",
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
        self.preset = preset
        self.numbers = numbers
        self.n_features = n_features
        self.length_scale = length_scale
        self.n_together = n_together
        self.fourier_share = fourier_share
        self.release = release
        self.n_minibatches = n_minibatches
        self.hidden = hidden
        self.n_latent = n_latent
        self.n_iter = n_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y=None):
        """Draw the feature map, release its mean per class, train a generator on it.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A pandas or other data frame, an array, or :class:`~skdpgen.tables.Chunks`.
        y : array-like of shape (n_samples,) or None, default=None
            Labels, numbers, or nothing.

        Returns
        -------
        self : DPMERFSynthesizer
        """
        self._validate_params()
        settings = PRESETS[self.preset].filled(self.get_params(deep=False))
        device = pick_device(self.device)
        opening = self._open(X, y)
        _, for_features, for_training = split_generator(self.random_state, 3)
        cells = discover_bins(opening)
        labels = cells.pop(TARGET, opening.labels)
        settings = with_share(settings, opening, labels)
        kernel = RowKernel.of(cells, settings, rng=torch_generator(for_features))
        rows = opening.rows.batches(cells, labels)
        released = release(
            kernel.encode(rows, device),
            kernel.blocks,
            name=f"mean embedding of {len(cells)} columns by class",
            ledger=opening.ledger,
            share=opening.ledger.remaining,
            n_classes=labels.n_cells if labels is not None else 1,
            n_groups=self.n_minibatches if self.release == "minibatch" else 1,
            weights=kernel.weights,
        )
        facts, report = opening.facts, opening.close()
        del X, y, opening, rows  # private data ends here; the rest is post-processing

        self._keep(facts, report)
        self.cells_, self._labels = cells, labels
        self.kernel_, self.release_, self.settings_ = kernel, released, settings
        self._seed = int(for_training.integers(2**62))
        return self.refit()

    def refit(self, **settings):
        """Train the generator anew on the stored release; free, needs no data.

        ``fit`` ends with it. If it was interrupted after the release, the budget is
        spent, ``privacy_`` says so, and this finishes the work. The same settings give
        the same generator.

        Parameters
        ----------
        **settings
            Any of ``n_iter``, ``batch_size``, ``learning_rate``, ``hidden``,
            ``n_latent``; they replace those of ``settings_``.

        Returns
        -------
        self : DPMERFSynthesizer
        """
        check_is_fitted(self, "release_")
        settings = self.settings_.for_generator(settings)
        known = self._learn(self.kernel_, self.release_)
        model, losses = self._train(known, self.kernel_, settings)
        self._model, self.settings_, self.loss_curve_ = model, settings, losses
        return self._stating_classes(known.totals.sum(), known.total_std)

    @property
    def generator_(self):
        """The trained torch module."""
        check_is_fitted(self)
        return self._model.generator

    def sample(self, n_samples=None, y=None, random_state=None):
        """Draw synthetic rows; free, and as often as wanted.

        Parameters
        ----------
        n_samples : int or None, default=None
            Number of rows; None takes as many as were fitted.
        y : array-like or None, default=None
            Labels (or numbers) to draw rows for, one each.
        random_state : int, RandomState, Generator or None, default=None
            An int gives the same rows each time; None gives new ones.

        Returns
        -------
        X : table
            As it came in: container, columns, dtypes.
        y : Series or ndarray
            Only if fitted with labels.
        """
        n_samples = self._sample_size(n_samples, y)
        rng = self._sampling_generator(random_state)
        shares = self._model.totals / self._model.totals.sum()
        labels = self._draw_labels(n_samples, y, shares, rng)
        codes = self._model.draw(labels, self.cells_, rng=rng)
        X = self._decode(self.cells_, codes, self._model.marginals, n_samples, rng)
        return self._with_target(X, labels, y, shares, rng)

    def _learn(self, kernel, released):
        """Return what a release says; only the number of rows is taken as public."""
        is_public = released.adjacency == "replace" and self._labels is None
        return learn(
            released,
            kernel,
            self.cells_,
            n_classes=1 if self._labels is None else self._labels.n_cells,
            n_rows=self._facts.n_rows if is_public else None,
            discovered=self._facts.discovered,
        )

    def _train(self, known, kernel, settings):
        """Return a generator and its losses; reads no fitted state but the seed."""
        mix = mixing(
            known.shares,
            is_balanced=self.class_weight == "balanced",
            is_number=self.task_ == "regression",
        )
        return train(
            known,
            kernel,
            settings,
            mix=mix,
            device=pick_device(self.device),
            seed=self._seed,
            progress=lambda steps: tqdm(steps, "training", disable=not self.verbose),
        )
