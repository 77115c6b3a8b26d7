"""DP-DRE: public rows, resampled by a private density ratio."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skdpgen.lenses import lens_of
from skdpgen.lenses._lens_of import LensLike
from skdpgen.privacy import Subsampling
from skdpgen.synthesizers.adversarial import (
    game_share,
    has_images,
    public_image_statements,
)
from skdpgen.synthesizers.base import (
    AdjacencyName,
    BaseSynthesizer,
    ClassShares,
    Device,
    Discriminator,
    HasPresets,
    PrivateRows,
    Sample,
    SchemaLike,
    TaskName,
    check_retrained,
    require_fitted,
    with_parts,
)
from skdpgen.synthesizers.presets import RATIO, RatioSettings, papers
from skdpgen.synthesizers.ratio import (
    NOT_MEASURED,
    PIXELS,
    SUPPORT_LINES,
    LearntRatio,
    calibration,
    cell_names,
    check_public_data,
    learn_ratio,
    warn_about_support,
)
from skdpgen.training import effective_size
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

POWER_ON_TABLES = 0.5  # classifiers learn from many rows; chosen on public tables


@saved("estimator.dre")
class DPDRESynthesizer(HasPresets, BaseSynthesizer):
    r"""Synthesizer that resamples public rows by a private density ratio [1]_.

    Public rows are returned unchanged. Only their *weights* are learnt from private
    rows: the ratio r of the density of private rows to that of public ones.

    ``algorithm="one_shot"`` releases means of features by class once: of a table the
    cells of its columns, of images random Fourier features of codes of a lens.
    :math:`\log r` is linear in the features and shrunk by the known noise.
    ``algorithm="sgd"`` trains a small discriminator s of private against public rows by
    DP-SGD, and takes :math:`\log r = s`, as in the paper.

    Values and labels that no public row has cannot be sampled. A
    :class:`~skdpgen.exceptions.SupportWarning` names the columns, or the target, in
    which the release shows that. "sgd" releases counts of labels only: its certificate
    states that it is not known whether public rows cover the private ones.

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
    algorithm : {"one_shot", "sgd"}, default="one_shot"
        One release, or a discriminator by private steps.
    power : float or None, default=None
        Exponent of the ratio. 1 (paper) matches private rows best. Less keeps more of
        the public rows, which helps classifiers of tables. 0 leaves public rows
        unweighted. None is 1 for images, 0.5 for tables.
    lens : Lens, network, "pixels" or None, default=None
        Turns images into codes; it must not depend on private images. None is a cosine
        transform with its 64 lowest frequencies. "pixels", for "sgd", has none: the
        discriminator is a small convolutional network that sees the images themselves
        (in the paper worse). If public images have labels, a
        :class:`~skdpgen.lenses.LabelLens` was better for shoes and for photographs.
    discriminator : Discriminator or None, default=None
        Layers, private steps and other settings of the discriminator; None has their
        defaults. See :class:`Discriminator`; a search names them
        ``discriminator__max_iter``.
        Of "sgd".
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
    weights_ : ndarray of shape (n_public,)
        Weight of each public row, in their order; they sum to 1.
    effective_size_ : float
        Effective sample size of the weighted public rows.
    release_ : Release
        The release that the ratio was computed from; of "sgd" the class counts.
    cells_ : dict
        The cells of each column.
    classes_ : ndarray
        Class labels, of a classification.
    task_ : {"classification", "regression"} or None
        What y was.
    n_samples_ : int
        Rows that were fitted (a noisy number under "add_remove").
    n_features_in_, feature_names_in_ : int and ndarray
        Columns that were fitted.

    References
    ----------
    .. [1] "Large-scale public data improves differentially private image generation
       quality", 2023, section 3.2, where DP-SGD learns the ratio:
       :doc:`/papers/dp_mge_dre`.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> public = X[:800], y[:800]
    >>> synth = DPDRESynthesizer(classes=["left", "stayed"])
    >>> synth = synth.fit(X[800:], y[800:], public_data=public)
    >>> X_syn, y_syn = synth.sample(500)
    >>> len(X_syn), len(synth.weights_)
    (500, 800)
    """

    _reads_public_rows = True
    _needs_public_rows = True
    _papers = papers.DRE
    _parts = ("discriminator",)
    _takes: ClassVar[tuple[str, ...]] = ("tables", "images")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSynthesizer._parameter_constraints,
        "algorithm": [StrOptions({"one_shot", "sgd"})],
        "power": [Interval(Real, 0, 1, closed="both"), None],
        "lens": "no_validation",
        "discriminator": [Discriminator, None],
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
        algorithm: Literal["one_shot", "sgd"] = "one_shot",
        power: float | None = None,
        lens: LensLike | None = None,
        discriminator: Discriminator | None = None,
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
        self.algorithm = algorithm
        self.power = power
        self.lens = lens
        self.discriminator = discriminator
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
        """Learn the ratio of private rows to public ones.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or images
            A pandas or other data frame, an array, or :class:`~skdpgen.tables.Chunks`.
            Arrays (n, height, width) and (n, channels, height, width) are images.
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
        self : DPDRESynthesizer
        """
        self._check_call(X, y, groups)
        device = pick_device(self.device)
        lens = check_public_data(public_data, X, self.lens, algorithm=self.algorithm)
        (for_training,) = split_generator(self.random_state, 2)[1:]
        with self._opened(X, y, public_data, groups) as opening:
            learn_ratio(
                opening,
                lens,
                algorithm=self.algorithm,
                public_data=public_data,
                settings=self._settings_of_steps(),
                seed=seed_of(for_training),
                device=device,
                progress=self._progress,
            )
        del X, y, opening  # private data ends here; what follows is post-processing
        return self.retrain()

    def retrain(self, **parameters: Any) -> Self:
        """Compute the weights again from the learnt ratio; free, needs no data.

        Parameters
        ----------
        **parameters
            ``power``, which replaces the estimator's value in this call.

        Returns
        -------
        self : DPDRESynthesizer
        """
        check_is_fitted(self, "_ratio")
        check_retrained(parameters, ("power",))
        power = parameters.get("power", self.power)
        ratio = self._ratio.with_logs()
        if power is None:
            power = POWER_ON_TABLES if ratio.items.pixels is None else 1.0
        self._keep_model(
            ratio.model(power),
            ratio.totals.sum(),
            ratio.total_std,
            measured=replace(self._measured, ratio=ratio),
        )
        stated = warn_about_support(self._measured, self.weights_)
        for line in self._state.certificate.statements:
            if line.startswith(SUPPORT_LINES):  # of earlier weights
                self._fitted = self._state.without(line)
        self._fitted = self._state.stating(*stated)
        return self._stating_retrain(parameters)

    def _stating_drowned(self, table: pd.DataFrame) -> Self:
        """State nothing: samples have the values of public rows."""
        del table
        return self

    def _stating_uncounted(self) -> Self:
        """State what DP-SGD leaves unknown; samples have the values of public rows."""
        if self._ratio.released is not None:
            return super()._stating_uncounted()
        self._fitted = self._state.stating(NOT_MEASURED)
        return self

    @property
    def _ratio(self) -> LearntRatio:
        return require_fitted(getattr(self._measured, "ratio", None), "The ratio")

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Weight of each public row; they sum to 1."""
        return self._model.weights.sum(axis=1)

    @property
    def effective_size_(self) -> float:
        """Effective sample size of the weighted public rows."""
        return effective_size(self.weights_)

    @property
    def n_iter_(self) -> int:
        """Steps of the discriminator, if there is one."""
        return require_fitted(getattr(self._measured, "n_iter", None), "n_iter_")

    @property
    def calibration_(self) -> pd.DataFrame | None:
        """Released shares of cells beside those of public rows, plain and weighted.

        A data frame with a row for each cell and class; None for ``algorithm="sgd"``.
        """
        check_is_fitted(self)
        return calibration(self._ratio, self._model.weights, self.cells_)

    def sample(
        self,
        n_samples: int | None = None,
        y: Labels | None = None,
        class_distribution: ClassShares = None,
        replace: bool = True,
        random_state: RandomState = None,
    ) -> Sample:
        """Draw public rows by their weights; free, any number of times.

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
        replace : bool, default=True
            Whether a row may be drawn again. Without replacement, weights matter less
            the more rows are drawn.
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
        model = self._model
        labels = self._draw_labels(n_samples, y, class_distribution, model.shares, rng)
        rows = model.draw(
            labels, is_replacing=replace, rng=rng, names=self._names_of_labels()
        )
        X = model.items.take(rows, self._facts, getattr(self, "_container", None))
        if self.task_ == "regression" and y is None and model.items.target is not None:
            return X, model.items.take_target(rows, self._facts)
        return self._with_target(X, labels, y, model.shares, rng)

    def _names_of_labels(self) -> list[str]:
        """Return how errors name each label: a class, or a bin of the target."""
        if self.task_ == "classification":
            return [f"label {label!r}" for label in self.classes_.tolist()]
        if self._labels is None:
            return ["no label"]
        return [f"a target {name}" for name in cell_names(self._labels)]

    def _public_table(self, public_data: Any) -> Any:
        """Return public rows of a table; images are read when the ratio is learnt."""
        return None if has_images(public_data) else public_data

    def _stated(self, public_data: Any) -> list[str]:
        """State which images and which lens were taken as public."""
        given = self.lens
        lens = None if given is None or given == PIXELS else lens_of(given)
        return [
            *super()._stated(public_data),
            *public_image_statements(public_data, lens),
        ]

    def _subsampling(self) -> Subsampling | None:
        """Return how steps sample rows; None for one release."""
        if self.algorithm != "sgd":
            return None
        steps, share = self._settings_of_steps(), game_share("nothing")
        return Subsampling(steps.sampling_rate, steps.max_iter, share)

    def _settings_of_steps(self) -> RatioSettings:
        """Return the settings of the discriminator; those that are None filled in."""
        return RATIO.filled(with_parts({"discriminator": self.discriminator}))

    def _validate_params(self) -> None:
        """Raise if a parameter has no such value, or no effect."""
        super()._validate_params()
        if self.discriminator is None:
            return
        if self.algorithm != "sgd":
            raise ValueError(
                "discriminator must be None but for algorithm='sgd'. Got "
                f"{self.discriminator!r}, which would have no effect."
            )
        of_game = {
            "loss": "logistic",
            "spectral_norm": 1.0,
            "steps_per_generator_step": None,
            "public_iter": 1000,
        }
        for name, default in of_game.items():
            if getattr(self.discriminator, name) != default:
                raise ValueError(
                    f"{name} of a discriminator must be {default} but for "
                    f"DPGANSynthesizer. Got {getattr(self.discriminator, name)!r}."
                )
