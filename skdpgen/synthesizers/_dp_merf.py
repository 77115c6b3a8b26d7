"""DP-MERF: one private mean embedding with random features, matched for free."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import torch
from numpy.typing import ArrayLike

from skdpgen.features import FourierFeatures
from skdpgen.privacy import Subsampling
from skdpgen.synthesizers.base import (
    AdjacencyName,
    ClassWeight,
    Device,
    EmbeddingSynthesizer,
    Generator,
    SchemaLike,
    TaskName,
)
from skdpgen.synthesizers.embedding import (
    ENCODER_SHARE,
    RATE,
    STEPS,
    ImageKernel,
    MeasuredEmbedding,
    RowKernel,
    encoded_kernel,
    waves_of_columns,
    waves_of_pixels,
)
from skdpgen.synthesizers.opening import Fitting, steps_share
from skdpgen.synthesizers.presets import FOURIER, FOURIER_IMAGES, papers
from skdpgen.tables import Cells
from skdpgen.utils import Interval, RandomState, StrOptions, saved


@saved("estimator.merf")
class DPMERFSynthesizer(EmbeddingSynthesizer):
    r"""Synthesizer of tables and images that matches one private mean embedding [1]_.

    A row becomes a bounded vector: random Fourier features of its columns, which
    capture relationships between columns, beside its one-hot cells, which capture
    single columns. The sum of that vector, per class, is released once with Gaussian
    noise. A neural network, with a head for every column, is then trained until its
    mean embedding is close to the released one; that reads no row and is free.

    Let :math:`\phi(x)` be the features (norm 1), :math:`x_{1h}` the one-hot cells of
    all columns, scaled to norm 1 together, and y the one-hot label. The release is

    .. math:: \sum_i [a\,\phi(x_i) ; b\,x_{i,1h}] \otimes y_i + noise,
              \qquad a^2 + b^2 = 1,

    and one row moves it by at most :math:`\sqrt{4a^2 + 2b^2}` if replaced and 1 if
    added or removed (proof: :class:`~skdpgen.privacy.Weighted`). The one-hot part is
    divided among columns by the root of their number of cells. Where no column is
    counted, class counts are released as well: free if replaced, :math:`\sqrt 2`
    otherwise. Images have Fourier features of all their pixels, and class counts;
    parameters of columns must then be None.

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
    numeric_encoding : {"binned", "fourier"}, default="binned"
        "binned" counts cells of every column, numbers included, and Fourier features
        are of all columns. "fourier" (paper) has Fourier features of numbers and counts
        categories only.
    n_features : int or None, default=None
        Fourier features; even. None is 1000 (paper: 2000; its tables had others), of
        images 4000 (paper: 10,000).
    length_scale : float, array-like, "public" or None, default=None
        Of the Gaussian kernels. Numbers are from 0 to 1 by rank, and two categories
        have distance 1; several scales are used in turn. None is (0.2, 0.5, 1.5), or
        for the paper "public": the median distance of rows with uniform columns. Pixels
        of images are from 0 to 1, and None is "public": 0.18 times the root of the
        number of pixels after pooling, 2.5 for 14 x 14 (paper: 10.24).
    interaction_degree : int or "all", default=2
        Columns in each frequency; 2 is for relationships of pairs given the class. The
        paper's is "all".
    feature_norm : float, "length" or None, default=None
        The number a², in (0, 1): the norm fraction of Fourier features. None is 0.1, or
        0.02 if relationships would not exceed the noise because of few rows, many
        classes or a small epsilon, which are public. "length" (paper, equation 13)
        gives each counted cell one over the root of the number of cells, beside
        features of norm 1.
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

    See Also
    --------
    DPIndependentSynthesizer : The baseline: the one-hot part only.
    search_generator : Compares generator settings on one release.

    References
    ----------
    .. [1] Harder, Adamczewski & Park, "DP-MERF: Differentially private mean embeddings
       with random features for practical privacy-preserving data generation",
       AISTATS 2021: :doc:`/papers/dp_merf`.

    Examples
    --------
    >>> from skdpgen import Generator
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> synth = DPMERFSynthesizer(epsilon=1.0, generator=Generator(max_iter=50))
    >>> X_syn, y_syn = synth.fit(X, y).sample(500)
    >>> list(X_syn.columns) == list(X.columns), len(y_syn)
    (True, 500)
    """

    _table_settings = FOURIER
    _image_settings = FOURIER_IMAGES
    _papers = papers.MERF
    _networks = (*EmbeddingSynthesizer._networks, "private")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EmbeddingSynthesizer._parameter_constraints,
        "numeric_encoding": [StrOptions({"binned", "fourier"})],
        "n_features": [Interval(Integral, 2, None, closed="left"), None],
        "length_scale": [
            Interval(Real, 0, None, closed="neither"),
            "array-like",
            StrOptions({"public"}),
            None,
        ],
        "interaction_degree": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"all"}),
        ],
        "feature_norm": [
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"length"}),
            None,
        ],
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
        numeric_encoding: Literal["binned", "fourier"] = "binned",
        n_features: int | None = None,
        length_scale: float | ArrayLike | Literal["public"] | None = None,
        interaction_degree: int | Literal["all"] = 2,
        feature_norm: float | Literal["length"] | None = None,
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
        self.numeric_encoding = numeric_encoding
        self.n_features = n_features
        self.length_scale = length_scale
        self.interaction_degree = interaction_degree
        self.feature_norm = feature_norm
        self.generator = generator
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _is_encoded(self) -> bool:
        """Whether features are of the codes of an auto-encoder, trained privately."""
        return self.generator is not None and self.generator.network == "private"

    def _subsampling(self) -> Subsampling | None:
        """Return how the training of the private encoder samples rows."""
        return Subsampling(RATE, STEPS, ENCODER_SHARE) if self._is_encoded() else None

    def _map_columns(
        self, cells: Mapping[Any, Cells], settings: Any, rng: torch.Generator
    ) -> RowKernel:
        """Draw Fourier features of the columns in the settings."""
        draw = waves_of_columns(settings, rng, settings.interaction_degree)
        layout = "binned" if settings.numeric_encoding == "binned" else "split"
        return RowKernel.of(cells, draw, layout=layout, share=settings.feature_norm)

    def _map_pixels(
        self, n_pixels: int, settings: Any, rng: torch.Generator
    ) -> FourierFeatures:
        """Draw Fourier features of all pixels."""
        return waves_of_pixels(n_pixels, settings, rng)

    def _kernel_of_images(
        self,
        opening: Fitting[MeasuredEmbedding],
        cells: Mapping[Any, Cells],
        labels: Cells | None,
        settings: Any,
        rng: torch.Generator,
    ) -> ImageKernel:
        """Train a private encoder first, if the user chose one."""
        if not self._is_encoded():
            return super()._kernel_of_images(opening, cells, labels, settings, rng)
        return encoded_kernel(
            opening,
            labels,
            settings,
            share=steps_share(opening, ENCODER_SHARE),
            rng=rng,
        )
