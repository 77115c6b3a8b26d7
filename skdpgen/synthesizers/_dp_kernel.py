"""DP-Kernel: the kernel mean itself, released with the noise of a Gaussian process."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import torch
from numpy.typing import ArrayLike

from skdpgen.features import FourierFeatures
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
    with_parts,
)
from skdpgen.synthesizers.embedding import (
    SLOPES_SHARE,
    RowKernel,
    keep_points,
    release_counts,
    train_by_slopes,
    waves_of_columns,
    waves_of_pixels,
)
from skdpgen.synthesizers.models import Denoised
from skdpgen.synthesizers.opening import steps_share
from skdpgen.synthesizers.presets import Settings, kernel_settings, papers
from skdpgen.tables import Cells
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


@saved("estimator.kernel")
class DPKernelSynthesizer(EmbeddingSynthesizer):
    r"""Synthesizer that matches the private kernel mean of images or rows [1]_.

    Let k be a mean of Gaussian kernels and :math:`f_D = \sum_i k(x_i, \cdot) \otimes
    e_{y_i}` the kernel mean of the data, a function of norm 1 a row. With the noise of
    a Gaussian process of covariance k it is private as a function [2]_. A generator is
    trained until its own kernel mean is close to it. There are two private ways:

    * ``algorithm="one_shot"`` releases the function once, in a fixed basis of random
      cosines (as :class:`DPMERFSynthesizer` does; for tables beside the cells of every
      column), and trains on it for free. It is less noisy, and ``retrain`` is
      free.
    * ``algorithm="per_step"`` is the paper's algorithm, corrected: every step takes a
      secret sample of the rows and releases the *gradients* of the function at the
      generated points, with the exact noise that a Gaussian process has there (proof:
      :func:`~skdpgen.privacy.functional_oracle`), and all steps are accounted for.

    The published implementation is not private: noise was added to the loss but not to
    its gradient, and the square of the loss was minimised, so each update had the exact
    direction of the private function's gradient, up to the sign. A test in this package
    shows that, and that ``per_step`` is not affected.

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
    algorithm : {"one_shot", "per_step"}, default="one_shot"
        See above.
    length_scale : float, array-like or None, default=None
        Of the Gaussians, whose mean is the kernel. Pixels and the ranks of numbers are
        from 0 to 1, and two categories have distance 1. None is (0.3, 1, 3) for tables,
        and for images 0.18 times the root of the number of pixels after pooling, 2.5
        for 14 x 14 (code of the paper: 0.5, 1, 2, 4, 8).
    n_features : int, default=4000
        Cosines and sines of "one_shot", which the paper has not; even (preset:
        10,000, those of DP-MERF).
    sampling_rate : float, default=0.1
        Of "per_step": probability that a step samples a row (paper: 0.001, and 0.01
        of a generator for each class).
    feature_norm : float or None, default=None
        Of "one_shot", for tables: the norm fraction of cosines and sines, in (0, 1].
        None is 0.1, or 0.02 if relationships would not exceed the noise because of few
        rows, many classes or a small epsilon, which are public (preset: 1, which counts
        no cells).
    generator : Generator or None, default=None
        Layers, training steps and other settings of the generator; None has their
        defaults. See :class:`Generator`; a search names them ``generator__max_iter``.
        **Its steps of "per_step" share the budget**: more of them are noisier.
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
        The noisy function, of "one_shot"; the noisy class counts, of "per_step".
    kernel_ : RowKernel or ImageKernel
        The feature map, and how rows become what it takes.
    cells_ : dict
        The cells of each column.
    settings_ : Settings
        The method's parameters as they were used.
    generator_ : TableGenerator or ImageGenerator
        The torch module.
    loss_curve_ : list of float
        Loss of every training step of "one_shot"; length of the noisy slopes of
        "per_step".
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
    DPMERFSynthesizer : The mean of random features, with cells of every column beside.

    References
    ----------
    .. [1] Jiang, Sun & Yu, "Functional Rényi differential privacy for generative
       modeling", NeurIPS 2023: :doc:`/papers/functional_rdp`.
    .. [2] Hall, Rinaldo & Wasserman, "Differential privacy for functions and functional
       data", JMLR 2013.

    Examples
    --------
    >>> from skdpgen import Generator
    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> images = images.reshape(-1, 8, 8) / 16
    >>> synth = DPKernelSynthesizer(epsilon=10.0, generator=Generator(max_iter=20))
    >>> X_syn, y_syn = synth.fit(images, digits).sample(50)
    >>> X_syn.shape, len(y_syn)
    ((50, 8, 8), 50)
    """

    _papers = papers.KERNEL
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EmbeddingSynthesizer._parameter_constraints,
        "algorithm": [StrOptions({"one_shot", "per_step"})],
        "length_scale": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "n_features": [Interval(Integral, 2, None, closed="left")],
        "sampling_rate": [Interval(Real, 0, 1, closed="right")],
        "feature_norm": [Interval(Real, 0, 1, closed="right"), None],
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
        algorithm: Literal["one_shot", "per_step"] = "one_shot",
        length_scale: float | ArrayLike | None = None,
        n_features: int = 4000,
        sampling_rate: float = 0.1,
        feature_norm: float | None = None,
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
        self.algorithm = algorithm
        self.length_scale = length_scale
        self.n_features = n_features
        self.sampling_rate = sampling_rate
        self.feature_norm = feature_norm
        self.generator = generator
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _table_settings(self) -> Settings:  # type: ignore[override]
        return kernel_settings(self.algorithm)[0]

    @property
    def _image_settings(self) -> Settings:  # type: ignore[override]
        return kernel_settings(self.algorithm)[1]

    def fit(
        self, X: PrivateRows, y: Labels | None = None, *, groups: Any = None
    ) -> Self:
        """Release the kernel mean and train a generator on it, or on its slopes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or images
            A pandas or other data frame, an array, or :class:`~skdpgen.tables.Chunks`.
            Arrays (n, height, width) and (n, channels, height, width) are images.
        y : array-like of shape (n_samples,) or None, default=None
            Labels, numbers, or nothing.
        groups : None
            Must be None: persons with several rows are not supported.

        Returns
        -------
        self : DPKernelSynthesizer
        """
        self._check_call(X, y, groups)
        if self.algorithm == "one_shot":
            return super().fit(X, y, groups=groups)
        device, settings = pick_device(self.device), self._fill_settings(X)
        settings.check_steps()
        (for_training,) = split_generator(self.random_state, 2)[1:]
        with self._opened(X, y, groups=groups) as opening:
            keep_points(opening, settings, seed=seed_of(for_training))
            steps = steps_share(opening, SLOPES_SHARE)
            model, losses, noise = train_by_slopes(
                opening,
                release_counts(opening, steps=steps),
                share=steps,
                class_weight=self.class_weight,
                device=device,
                progress=self._progress,
            )
        del X, y, opening  # private data ends here
        return self._keep_model(model, model.totals.sum(), noise, losses=losses)

    def _learn(self, kernel: Any, released: Release) -> Denoised:
        """Return the denoised release; "per_step" has none to train on."""
        if kernel.phi is None:
            raise ValueError(
                "retrain needs a release to train on, and algorithm='per_step' reads "
                "rows at every step. Use algorithm='one_shot', or `fit`, which costs."
            )
        return super()._learn(kernel, released)

    def _map_columns(
        self, cells: Mapping[Any, Cells], settings: Any, rng: torch.Generator
    ) -> RowKernel:
        """Draw cosines of all columns together."""
        draw = waves_of_columns(settings, rng)
        layout = "whole" if settings.feature_norm == 1 else "binned"
        return RowKernel.of(cells, draw, layout=layout, share=settings.feature_norm)

    def _map_pixels(
        self, n_pixels: int, settings: Any, rng: torch.Generator
    ) -> FourierFeatures:
        """Draw cosines of all pixels."""
        return waves_of_pixels(n_pixels, settings, rng)

    def _without_effect(self, is_image: bool) -> dict[str, str]:
        """Return parameters without effect, each with the setting that uses it."""
        del is_image
        steps, once = "algorithm='per_step'", "algorithm='one_shot'"
        if self.algorithm == "one_shot":
            return {"sampling_rate": steps}
        return {"n_features": once, "feature_norm": once}

    def _subsampling(self) -> Subsampling | None:
        """Return how steps sample rows; tables and images have the same settings."""
        if self.algorithm == "one_shot":
            return None
        settings: Any = self._table_settings.filled(
            with_parts(self.get_params(deep=False))
        )
        return Subsampling(settings.sampling_rate, settings.max_iter, SLOPES_SHARE)
