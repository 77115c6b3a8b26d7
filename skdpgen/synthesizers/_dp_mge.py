"""DP-MGE: Gaussians in a public latent space, or between the ranks of columns."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import torch
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skdpgen.lenses import lens_of
from skdpgen.lenses._lens_of import LensLike
from skdpgen.privacy import Release
from skdpgen.synthesizers.base import (
    AdjacencyName,
    BaseSynthesizer,
    ClassShares,
    ClassWeight,
    Device,
    HasPresets,
    PrivateRows,
    Sample,
    SchemaLike,
    TaskName,
    check_retrained,
    require_fitted,
)
from skdpgen.synthesizers.gaussian import (
    GaussianMethod,
    ImageGaussians,
    MeasuredMixture,
    TableCopula,
    given_augmentation,
)
from skdpgen.synthesizers.models import CopulaModel, Deformations, PictureMixture
from skdpgen.synthesizers.opening import discover_bins
from skdpgen.synthesizers.presets import papers
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

MOST_PROTOTYPES = 256  # of a class


@saved("estimator.mge")
class DPMGESynthesizer(HasPresets, BaseSynthesizer):
    r"""Synthesizer of images and tables from a few private means and covariances.

    **Images.** A public lens turns an image into a vector of codes v, by default the
    low frequencies of a cosine transform. Sums of v, counts, and sums of
    :math:`v v^\top` are released by class, around prototypes that earlier releases
    define. A sample is a Gaussian around a prototype, decoded, with the grey levels of
    real pixels and small random deformations. Nothing is trained: a fit takes seconds.

    **Tables.** Each column is released by class. The normal scores of its ranks then
    make a vector v, and :math:`\sum v v^\top` their correlations: a Gaussian copula.
    It models monotone relationships only.

    A row moves a sum of v with its counts by 2 if replaced, a sum of
    :math:`v v^\top` by :math:`\sqrt 2` (proofs: :class:`~skdpgen.privacy.WithCounts`,
    ``OuterProducts``). The effect of noise on covariances is
    known: their eigenvalues are shrunk accordingly.

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
        What each class counts in the covariance or correlations of all classes, from
        which each class differs as far as noise allows. "balanced" counts all classes
        alike, None by their rows; a dict has a weight by label, 1 where it has none. It
        has no effect on tables whose correlations are released without classes, because
        of few rows or many classes. Labels are sampled as often as in the data either
        way; ``sample(class_distribution=...)`` asks for others.
    algorithm : {"adaptive", "one_shot"}, default="adaptive"
        Of images. "one_shot" is the paper's: one Gaussian for each class, with a
        variance for each code, from one release; no prototypes or grey levels.
    lens : {"cosine"}, lens, pair of callables or None, default=None
        Public encoder and decoder of images. None is a cosine transform with 160
        frequencies (100 each, in colour) that gives high ones more weight, or with
        "one_shot", whose codes are not rescaled by a release, the same weight. See
        ``skdpgen.lenses``.
    n_prototypes : int or None, default=None
        Prototypes of each class of images; None is as many as the noise allows.
    covariance : {"full", "pooled", "diagonal"} or None, default=None
        Of images: of each class ("full"), one for all classes, which has less noise, or
        only a variance for each code and class. None is "full", or "diagonal" with
        "one_shot".
    augmentation : {"auto", "deformations"}, Deformations or None, default="auto"
        Whether samples are shifted, turned, sheared, zoomed and warped a little, which
        is free. "auto" chooses how far by a private vote of the rows, on classifiers
        trained on samples; it uses 2 % of the budget. There is no vote, and "auto" is
        None, for tables, without classes and with "one_shot".
    device : str or torch.device, default="auto"
        "auto" takes a GPU if there is one.
        It is of images: of the lens, and of the classifiers of the vote.
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
        Histograms of columns by class, or means of codes by class.
    mixture_ : CopulaModel or PictureMixture
        The model, estimated from all releases.
    deformations_ : Deformations or None
        Deformations of sampled images.
    cells_ : dict
        The cells of each column that histograms were released on; empty for images.
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
       quality", 2023: DP-MGE has one diagonal Gaussian. :doc:`/papers/dp_mge_dre`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> images = images.reshape(-1, 8, 8) / 16
    >>> synth = DPMGESynthesizer(epsilon=10.0, classes=range(10), augmentation=None)
    >>> X_syn, y_syn = synth.fit(images, digits).sample(50)
    >>> X_syn.shape, len(y_syn)
    ((50, 8, 8), 50)
    """

    _takes = ("tables", "images")
    _papers = papers.MGE

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSynthesizer._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "algorithm": [StrOptions({"adaptive", "one_shot"})],
        "lens": "no_validation",
        "n_prototypes": [Interval(Integral, 1, MOST_PROTOTYPES, closed="both"), None],
        "covariance": [StrOptions({"full", "pooled", "diagonal"}), None],
        "augmentation": [StrOptions({"auto", "deformations"}), Deformations, None],
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
        algorithm: Literal["adaptive", "one_shot"] = "adaptive",
        lens: LensLike | None = None,
        n_prototypes: int | None = None,
        covariance: Literal["full", "pooled", "diagonal"] | None = None,
        augmentation: Deformations | Literal["auto", "deformations"] | None = "auto",
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
        self.algorithm = algorithm
        self.lens = lens
        self.n_prototypes = n_prototypes
        self.covariance = covariance
        self.augmentation = augmentation
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
        """Release what the model needs, in a few steps, and compute it.

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
        self : DPMGESynthesizer
        """
        self._check_call(X, y, groups)
        method = self._method_for(X, public_data)
        method.check(X)
        (for_public,) = split_generator(self.random_state, 2)[1:]
        with self._opened(X, y, public_data, groups) as opening:
            cells, labels = discover_bins(opening, gap_share=0.5)
            opening.measured = MeasuredMixture(
                cells=cells,
                labels=labels,
                seed=seed_of(for_public),
                deformations=given_augmentation(self.augmentation),
            )
            method.measure(opening, for_public)
        del X, y, opening  # private data ends here; what follows is post-processing
        return self.retrain()

    def retrain(self, **parameters: Any) -> Self:
        """Compute the model again from the stored releases; free, needs no data.

        ``fit`` calls it at the end. If ``fit`` was interrupted after the first release,
        the budget is used, as ``privacy_`` states, and this completes the fit.

        Parameters
        ----------
        **parameters
            None: the model has no settings.

        Returns
        -------
        self : DPMGESynthesizer
        """
        check_is_fitted(self, "mixture_")
        check_retrained(parameters, ())
        model = self.mixture_.finished(self._seed)
        self._keep_model(model, model.totals.sum(), model.total_std)
        return self._stating_relations(is_trained=1)

    @property
    def mixture_(self) -> CopulaModel | PictureMixture:
        """The model, estimated from all releases."""
        return require_fitted(self._measured.mixture, "mixture_")

    @property
    def votes_(self) -> Release:
        """Votes of rows on deformations of images."""
        return require_fitted(self._measured.votes, "votes_")

    @property
    def deformations_(self) -> Deformations | None:
        """Deformations of sampled images."""
        return self._measured.deformations

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
        X = self._model.draw_rows(
            labels,
            self.cells_,
            self._facts,
            deform=self.deformations_,
            container=getattr(self, "_container", None),
            rng=rng,
        )
        return self._with_target(X, labels, y, shares, rng)

    def _method_for(self, X: Any, public_data: Any) -> GaussianMethod:
        """Return the method for images or for a table, with all parameters."""
        params = self.get_params(deep=False) | {
            "public_data": public_data,
            "device": pick_device(self.device),
        }
        is_images = self._is_given_images(X)
        return ImageGaussians(params) if is_images else TableCopula(params)

    def _public_table(self, public_data: Any) -> Any:
        """Return None: public images give directions of codes, and no counts."""
        del public_data

    def _stated(self, public_data: Any) -> list[str]:
        """State which lens and images were taken as public."""
        lines = [] if self.lens is None else [f"lens: {lens_of(self.lens).name}"]
        if public_data is not None:
            lines.append(f"{len(public_data)} public images: taken as public")
        return [*super()._stated(public_data), *lines]
