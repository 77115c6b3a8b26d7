"""DP-MERF: one private mean embedding with random features, matched for free."""

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
    GeneratorName,
    ModelsName,
    Pooling,
    Precision,
    PresetName,
    SchemaLike,
    TaskName,
    documented,
)
from skdpgen.synthesizers.embedding import (
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
from skdpgen.synthesizers.presets import FOURIER, FOURIER_IMAGES
from skdpgen.tables import Cells
from skdpgen.utils import Interval, RandomState, StrOptions, saved


@saved("estimator.merf")
@documented
class DPMERFSynthesizer(EmbeddingSynthesizer):
    r"""Synthesizer of tables and images that matches one private mean embedding [1]_.

    A row becomes a bounded vector: random Fourier features of its columns, which
    capture relationships between columns, beside its one-hot cells, which capture
    single columns. The sum of that vector, per class, is released once with Gaussian
    noise. A neural network, with a head for every column, is then trained until its
    mean embedding is close to the released one; that reads no row and is free.

    Let :math:`\phi(x)` be the features (norm 1), :math:`x_{1h}` the one-hot cells of d
    columns (norm :math:`\sqrt d`) and y the one-hot label. The release is

    .. math:: \sum_i [a\,\phi(x_i) ; b\,x_{i,1h} / \sqrt d] \otimes y_i + noise,
              \qquad a^2 + b^2 = 1,

    and one row moves it by at most :math:`\sqrt{4a^2 + 2b^2}` if replaced and 1 if
    added or removed (proof: :class:`~skdpgen.privacy.Weighted`). The one-hot part is
    divided among columns by the root of their number of cells. Where no column is
    counted, class counts are released as well: free if replaced, :math:`\sqrt 2`
    otherwise. Images have Fourier features of all their pixels, and class counts;
    parameters of columns must then be None.

    Parameters
    ----------
    {epsilon ... preset}
    numbers : {"binned", "fourier"} or None, default=None
        "binned" (default) counts cells of every column, numbers included, and Fourier
        features are of all columns. "fourier" (paper) has Fourier features of numbers
        and counts categories only.
    n_features : int or None, default=None
        Fourier features; even. None is 1000 (paper: 2000; its tables had others), of
        images 4000 (paper: 10,000).
    length_scale : float, array-like, "public" or None, default=None
        Of the Gaussian kernels. Numbers are from 0 to 1 by rank, and two categories
        have distance 1; several scales are used in turn. None is (0.2, 0.5, 1.5), or
        for the paper "public": the median distance of rows with uniform columns. Pixels
        of images are from 0 to 1, and None is "public": 0.18 times the root of the
        number of pixels after pooling, 2.5 for 14 x 14 (paper: 10.24).
    n_together : int, "all" or None, default=None
        Columns in each frequency. None is 2, for relationships of pairs given the
        class. The paper's is "all".
    fourier_norm : float or None, default=None
        The number a², in (0, 1): the norm fraction of Fourier features. None is 0.1, or
        0.02 if relationships would not exceed the noise because of few rows, many
        classes or a small epsilon, which are public (paper: 0.5).
    release : {"one_shot", "minibatch"}, default="one_shot"
        "one_shot" releases one embedding. "minibatch" releases that of each of
        ``n_minibatches`` random parts of the rows, as in the paper's section 5.2. Each
        part gets the noise of the whole, so the result is noisier.
    n_minibatches : int or None, default=None
        Of "minibatch". None is 10.
    {models}
        With a private encoder all classes share the decoder.
    {pooling ... generator}
    encoder : "private" or None, default=None
        Of images: "private" first trains an auto-encoder by DP-SGD. Features are then
        of its codes, and its decoder is the last part of the generator, as in the
        paper's section 3.3, where the encoder was not private. Its steps read pooled
        images and share the budget. Samples are smoother than without it, and
        classifiers learn less from them.
    encoder_budget : float or None, default=None
        Part of the budget (of mu²) that the encoder gets. None is 0.5.
    {hidden_layer_sizes ... verbose}

    Attributes
    ----------
    {privacy_ ... n_features_in_}

    See Also
    --------
    DPIndependentSynthesizer : The baseline: the one-hot part only.
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
    >>> synth = DPMERFSynthesizer(epsilon=1.0, classes=["left", "stayed"], max_iter=50)
    >>> X_syn, y_syn = synth.fit(X, y).sample(500)
    >>> list(X_syn.columns) == list(X.columns), len(y_syn)
    (True, 500)
    """

    _presets = FOURIER
    _image_presets = FOURIER_IMAGES
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EmbeddingSynthesizer._parameter_constraints,
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
        "fourier_norm": [Interval(Real, 0, 1, closed="neither"), None],
        "release": [StrOptions({"one_shot", "minibatch"})],
        "n_minibatches": [Interval(Integral, 1, None, closed="left"), None],
        "encoder": [StrOptions({"private"}), None],
        "encoder_budget": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        schema: SchemaLike = None,
        classes: ArrayLike | None = None,
        adjacency: AdjacencyName = "replace",
        class_weight: ClassWeight = None,
        task: TaskName = "auto",
        preset: PresetName = "default",
        numbers: Literal["binned", "fourier"] | None = None,
        n_features: int | None = None,
        length_scale: float | ArrayLike | Literal["public"] | None = None,
        n_together: int | Literal["all"] | None = None,
        fourier_norm: float | None = None,
        release: Literal["one_shot", "minibatch"] = "one_shot",
        n_minibatches: int | None = None,
        encoder: Literal["private"] | None = None,
        encoder_budget: float | None = None,
        models: ModelsName = None,
        pooling: Pooling = None,
        generator: GeneratorName = None,
        hidden_layer_sizes: ArrayLike | None = None,
        n_latent: int | None = None,
        max_iter: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        precision: Precision = None,
        device: Device = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
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
        self.fourier_norm = fourier_norm
        self.release = release
        self.n_minibatches = n_minibatches
        self.encoder = encoder
        self.encoder_budget = encoder_budget
        self.models = models
        self.pooling = pooling
        self.generator = generator
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_latent = n_latent
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.precision = precision
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _n_minibatches(self) -> int:
        """Number of parts of the rows that are released one by one."""
        return self.n_minibatches or 10 if self.release == "minibatch" else 1

    @property
    def _encoder_budget(self) -> float:
        """Part of the budget that the encoder gets."""
        return self.encoder_budget or 0.5

    def _subsampling(self) -> Subsampling | None:
        """Return how the training of the private encoder samples rows."""
        if self.encoder is None:
            return None
        return Subsampling(RATE, STEPS, self._encoder_budget)

    def _without_effect(self, is_image: bool) -> dict[str, str]:
        """Return parameters without effect, each with the setting that uses it."""
        unused = {} if is_image else {"encoder": "images"}
        if self.release != "minibatch":
            unused["n_minibatches"] = "release='minibatch'"
        if self.encoder is None:
            unused["encoder_budget"] = "encoder='private'"
        return unused

    def _map_columns(
        self, cells: Mapping[Any, Cells], settings: Any, rng: torch.Generator
    ) -> RowKernel:
        """Draw Fourier features of the columns in the settings."""
        draw = waves_of_columns(settings, rng, settings.n_together)
        layout = "binned" if settings.numbers == "binned" else "split"
        return RowKernel.of(cells, draw, layout=layout, share=settings.fourier_norm)

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
        if self.encoder is None:
            return super()._kernel_of_images(opening, cells, labels, settings, rng)
        return encoded_kernel(
            opening,
            labels,
            settings,
            share=steps_share(opening, self._encoder_budget),
            rng=rng,
        )
