"""DP-MEPF: one private mean of perceptual features, matched for free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike

from skdpgen.lenses import PerceptualMap, PrivateClassifier, check_map, lens_of
from skdpgen.lenses._lens_of import LensLike
from skdpgen.privacy import Release, Subsampling
from skdpgen.synthesizers.base import (
    AdjacencyName,
    ClassWeight,
    Device,
    EmbeddingSynthesizer,
    Generator,
    PrivateRows,
    SchemaLike,
    TaskName,
    require_fitted,
)
from skdpgen.synthesizers.embedding import (
    ENCODER_SHARE,
    RATE,
    STEPS,
    CodeMap,
    ImageKernel,
    MeasuredEmbedding,
    classifier_lens,
    early_model,
    perceptual_kernel,
    pooling_of,
    private_lens,
    size_seen,
    without_labels,
)
from skdpgen.synthesizers.gaussian import (
    MILD_CHOICES,
    Pictures,
    choose_augmentation,
    given_augmentation,
    vote_share,
)
from skdpgen.synthesizers.models import Deformations, Denoised, ImageModel
from skdpgen.synthesizers.opening import Fitting, steps_share
from skdpgen.synthesizers.presets import PERCEPTUAL_IMAGES, papers
from skdpgen.tables import Cells, Chunks, image_size
from skdpgen.utils import Interval, Labels, RandomState, StrOptions, pick_device, saved


@saved("estimator.mepf")
class DPMEPFSynthesizer(EmbeddingSynthesizer):
    r"""Synthesizer of images: matches private means of perceptual features [1]_.

    A public lens turns an image into features f that distinguish strokes, textures and
    shapes: the maps of a network with random filters, of one that was trained on public
    images, or wavelet scattering. Their mean by class is released once, beside the mean
    of their squares and of Fourier features of pixels, with one noise. A generator is
    trained until its images have the same means:

    .. math:: \sum_i \Big[ a\,\frac{f_i}{\|f_i\|} ;\; b\,\frac{f_i^2}{\|f_i^2\|} ;\;
              c\,\phi_{Fourier}(x_i) \Big] \otimes y_i + noise,
              \qquad a^2 + b^2 + c^2 = 1.

    One image moves it by at most :math:`\sqrt{2 a^2 + 2 b^2 + 4 c^2}` if replaced, as
    features are never negative (4 a² for a lens with negative features), and class
    counts of squared weight :math:`\beta = c^2` are free beside it; by
    :math:`\sqrt{1 + \beta}` if added or removed (proof:
    ``SideBySide``).

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
    lens : name, lens or module
        Public features of images, by default "random": untrained filters. See
        ``skdpgen.lenses``; the paper has ``VGG19Lens(weights)``. Names are
        "random", "shipped", "scattering", and two whose lens DP-SGD trains on half of
        the budget: "private" has the layers of an auto-encoder, "private_classifier"
        those of a ResNet-20, as in appendix F
        (:class:`~skdpgen.lenses.PrivateClassifier` has its settings).
    second_norm : float, default=0.5
        In [0, 1): the norm fraction of squares among the features of the lens; 0
        releases means only.
    pixel_norm : float, default=0.75
        The number c², in [0, 1): the norm fraction of Fourier features of the pixels,
        which prevent speckle that filters do not detect (paper: 0).
    stopping_budget : float, default=0.0
        Part of the budget for a second release, of the lens's codes and their squares
        by class: training keeps the generator that is closest to it (paper: 1/101,
        and its code adds no noise there).
    augmentation : {"auto", "deformations"}, Deformations or None, default="auto"
        Whether samples are shifted, turned, sheared, zoomed and warped a little. "auto"
        chooses how far by a private vote of the rows, on classifiers trained on
        samples; it uses 2 % of the budget, and nothing without classes.
    generator : Generator or None, default=None
        Layers, training steps and other settings of the generator; None has their
        defaults. See :class:`Generator`; a search names them ``generator__max_iter``.
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
        The noisy embedding; all that the generator was made of.
    kernel_ : RowKernel or ImageKernel
        The feature map, and how rows become what it takes.
    cells_ : dict
        The cells of each column.
    settings_ : Settings
        The method's parameters as they were used.
    generator_ : TableGenerator or ImageGenerator
        The torch module.
    loss_curve_ : list of float
        Loss of every training step; 1 is what independent columns leave.
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
    deformations_ : Deformations or None
        Deformations of sampled images.

    See Also
    --------
    DPMGESynthesizer : Gaussians of codes instead: in seconds.
    DPMERFSynthesizer : Random Fourier features of pixels instead.

    References
    ----------
    .. [1] Harder, Jalali Asadabadi, Sutherland & Park, "Pre-trained perceptual features
       improve differentially private image generation", TMLR 2023:
       :doc:`/papers/dp_mepf`.

    Examples
    --------
    >>> from skdpgen import Generator
    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> images = images.reshape(-1, 8, 8) / 16
    >>> few = Generator(max_iter=9)
    >>> synth = DPMEPFSynthesizer(epsilon=10.0, generator=few, augmentation=None)
    >>> X_syn, y_syn = synth.fit(images, digits).sample(50)
    >>> X_syn.shape, len(y_syn)
    ((50, 8, 8), 50)
    """

    _takes: ClassVar[tuple[str, ...]] = ("images",)
    _image_settings = PERCEPTUAL_IMAGES
    _papers = papers.MEPF
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EmbeddingSynthesizer._parameter_constraints,
        "lens": "no_validation",
        "second_norm": [Interval(Real, 0, 1, closed="left")],
        "pixel_norm": [Interval(Real, 0, 1, closed="left")],
        "stopping_budget": [Interval(Real, 0, 1, closed="left")],
        "augmentation": [StrOptions({"auto", "deformations"}), Deformations, None],
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
        lens: LensLike
        | PrivateClassifier
        | Literal["private", "private_classifier"] = "random",
        second_norm: float = 0.5,
        pixel_norm: float = 0.75,
        stopping_budget: float = 0.0,
        augmentation: Deformations | Literal["auto", "deformations"] | None = "auto",
        generator: Generator | None = None,
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
        self.lens = lens
        self.second_norm = second_norm
        self.pixel_norm = pixel_norm
        self.stopping_budget = stopping_budget
        self.augmentation = augmentation
        self.generator = generator
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _classifier(self) -> PrivateClassifier | None:
        """How a classifier is trained, if that is the lens."""
        if isinstance(self.lens, PrivateClassifier):
            return self.lens
        is_named = isinstance(self.lens, str) and self.lens == "private_classifier"
        return PrivateClassifier() if is_named else None

    @property
    def _is_private(self) -> bool:
        """Whether the lens is trained on private images."""
        is_named = isinstance(self.lens, str) and self.lens == "private"
        return is_named or self._classifier is not None

    def _subsampling(self) -> Subsampling | None:
        """Return how the training of a private lens samples rows."""
        by_label = self._classifier
        if by_label is not None:
            return Subsampling(
                by_label.sampling_rate, by_label.n_steps, by_label.budget
            )
        return Subsampling(RATE, STEPS, ENCODER_SHARE) if self._is_private else None

    def _check_call(self, X: PrivateRows, y: Labels | None, groups: Any) -> None:
        """Raise for wrong arguments, before any release: a classifier needs labels."""
        super()._check_call(X, y, groups)
        if self._classifier is not None and y is None and not isinstance(X, Chunks):
            raise without_labels(self._classifier)

    def _fill_settings(self, X: Any) -> Any:
        """Return the settings; a lens that cannot encode such images raises here."""
        settings = super()._fill_settings(X)
        first = X.first if isinstance(X, Chunks) else (X, None)
        if not self._is_private and first is not None:
            size = image_size(first[0])  # public, as of all chunks
            seen = size_seen(size, pooling_of(size, settings.pooling))
            perceptual = PerceptualMap(self._lens(), seen, settings.second_norm)
            check_map(perceptual, seen)
            if settings.stopping_budget:
                check_map(CodeMap(perceptual), seen)
        return settings

    def _kernel_of_images(
        self,
        opening: Fitting[MeasuredEmbedding],
        cells: Mapping[Any, Cells],
        labels: Cells | None,
        settings: Any,
        rng: torch.Generator,
    ) -> ImageKernel:
        """Make the kernel of the lens; release what training stops by, if it does."""
        device, by_label = pick_device(self.device), self._classifier
        lens: Any
        if by_label is not None:
            lens = classifier_lens(
                opening,
                labels,
                settings,
                training=by_label,
                share=steps_share(opening, by_label.budget),
                device=device,
                rng=rng,
            )
        elif self._is_private:
            share = steps_share(opening, ENCODER_SHARE)
            lens = private_lens(opening, labels, settings, share=share, rng=rng)
        else:
            lens = self._lens()
        return perceptual_kernel(
            opening, cells, labels, settings, lens=lens, device=device, rng=rng
        )

    def _kept_share(
        self, opening: Fitting[MeasuredEmbedding], labels: Cells | None
    ) -> float:
        """Reserve the budget fraction of the vote, if there is one."""
        return vote_share(opening, labels, self.augmentation)

    def _after_release(self, opening: Fitting[MeasuredEmbedding]) -> None:
        """Let rows vote on deformations, with samples after a short training."""
        measured, deform = opening.measured, given_augmentation(self.augmentation)
        labels = measured.labels
        opening.measured = replace(measured, deformations=deform)
        if vote_share(opening, labels, self.augmentation):
            device = pick_device(self.device)
            model = early_model(opening, device=device)
            rng = np.random.default_rng(measured.seed)
            rows = Pictures(opening, labels, None, device)
            choose_augmentation(rows, model, MILD_CHOICES, rng)

    def _train(
        self, denoised: Denoised, kernel: Any, settings: Any
    ) -> tuple[ImageModel, list[float]]:
        """Return a generator with the deformations that the vote chose."""
        model, losses = super()._train(denoised, kernel, settings)
        return replace(model, deform=self.deformations_), losses

    @property
    def stopping_release_(self) -> Release:
        """Means of codes by class, by which training chooses the best generator."""
        return require_fitted(self._measured.stopping_release, "stopping_release_")

    @property
    def votes_(self) -> Release:
        """Votes of rows on deformations."""
        return require_fitted(self._measured.votes, "votes_")

    @property
    def deformations_(self) -> Deformations | None:
        """Deformations of sampled images."""
        return self._measured.deformations

    def _lens(self) -> Any:
        """Return the public lens that the user chose."""
        given: Any = self.lens
        return lens_of(given, needs_features=True)

    def _stated(self, public_data: Any) -> list[str]:
        """State which lens was taken as public."""
        lens = [] if self._is_private else [f"lens: {self._lens().name}"]
        return [*super()._stated(public_data), *lens]
