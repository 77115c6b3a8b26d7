"""DP-NTK: one private mean of network gradients, matched for free."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeAlias

import torch
from numpy.typing import ArrayLike

from skdpgen.features import (
    ARCHITECTURES,
    ModuleNTKFeatures,
    NetworkNTKFeatures,
    NTKFeatures,
)
from skdpgen.lenses import check_pure
from skdpgen.synthesizers.base import (
    AdjacencyName,
    ClassWeight,
    Device,
    EmbeddingSynthesizer,
    Generator,
    SchemaLike,
    TaskName,
)
from skdpgen.synthesizers.embedding import RowKernel
from skdpgen.synthesizers.presets import TANGENT, TANGENT_IMAGES, papers
from skdpgen.tables import Cells
from skdpgen.utils import Interval, RandomState, StrOptions, saved

# A layer by name, or a function from the number of inputs to a network.
Architecture: TypeAlias = (
    Literal["mlp", "layer_norm", "fc_1l", "fc_2l", "cnn_2l"]
    | Callable[[int], torch.nn.Module]
)

TangentFeatures: TypeAlias = NTKFeatures | ModuleNTKFeatures | NetworkNTKFeatures
STRETCH = 4.0  # factor of numbers, so that gradients at both ends are different


@saved("estimator.ntk")
class DPNTKSynthesizer(EmbeddingSynthesizer):
    r"""Synthesizer of tables and images: matches private neural-tangent features [1]_.

    A row becomes the gradient of an untrained network by all of its weights, divided by
    its norm. Mean gradients distinguish distributions as well as an infinitely wide
    network of that kind, and no weight is trained on private data. Their mean is
    released once, per class, with one noise, beside one-hot cells of every column. A
    generator is trained until its rows have the same mean.

    Let :math:`\phi(x)` be the gradient (norm 1), :math:`x_{1h}` the one-hot cells of
    all columns, scaled to norm 1 together, and y the one-hot label. The release is

    .. math:: \sum_i [a\,\phi(x_i) ; b\,x_{i,1h}] \otimes y_i + noise,
              \qquad a^2 + b^2 = 1,

    and one row moves it by at most :math:`\sqrt{4a^2 + 2b^2}` if replaced and 1 if
    added or removed (proof: :class:`~skdpgen.privacy.Weighted`). With
    ``feature_norm=1``, as in the paper, only gradients and class counts are released;
    counts are free if a row is replaced. Images have gradients by the hidden layer
    only, which are never negative: :math:`\sqrt 2` if replaced, with their counts
    :math:`\sqrt{2.2}`. Labels are drawn in proportion to these noisy counts.

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
    architecture : {"mlp", "layer_norm", "fc_1l", "fc_2l", "cnn_2l"} or callable
        The network that is differentiated, by default "mlp": ReLU layers, or each
        normalised first ("layer_norm"). The others are the paper's (table 5): one or
        two layers and a normalisation, or a convolution of width 1 and a layer, with a
        ``width`` for each. A callable gets the number of inputs and returns
        any ``torch.nn.Module`` with *public* weights that treats rows independently.
        ``width`` and ``depth`` are then not used, gradients come from ``torch.func``,
        and the estimator can be pickled but not saved. Its ``forward`` runs on private
        rows, in double precision: one that stores, prints or sends its inputs voids the
        guarantee. Use smooth activations (SiLU, GELU): the gradient of a ReLU is a
        step, along which no generator can be trained.
    width : int, array-like of int or None, default=None
        Units of a hidden layer. None is 20, for images 800. "fc_2l" and "cnn_2l" take
        two numbers, as (30, 200) of the paper for its table adult.
    depth : int, default=1
        Hidden layers of "mlp" and "layer_norm".
    feature_norm : float or None, default=None
        The number a², in (0, 1]: the norm fraction of the gradient. None is 0.1, or
        0.02 if relationships would not exceed the noise because of few rows, many
        classes or a small epsilon, which are public (paper: 1, which counts no cells).
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
    DPMERFSynthesizer : Random Fourier features instead.
    DPPairwiseSynthesizer : Histograms of pairs instead; the first to try on tables.
    search_generator : Compares generator settings on one release.

    References
    ----------
    .. [1] Yang, Adamczewski, Li, Sutherland & Park, "Differentially private neural
       tangent kernels for privacy-preserving data generation", JAIR 2024:
       :doc:`/papers/dp_ntk`.

    Examples
    --------
    >>> from skdpgen import Generator
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> synth = DPNTKSynthesizer(epsilon=1.0, generator=Generator(max_iter=50))
    >>> X_syn, y_syn = synth.fit(X, y).sample(500)
    >>> list(X_syn.columns) == list(X.columns), len(y_syn)
    (True, 500)
    """

    _table_settings = TANGENT
    _image_settings = TANGENT_IMAGES
    _papers = papers.NTK
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EmbeddingSynthesizer._parameter_constraints,
        "architecture": [StrOptions({"mlp", "layer_norm", *ARCHITECTURES}), callable],
        "width": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "depth": [Interval(Integral, 1, None, closed="left")],
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
        architecture: Architecture = "mlp",
        width: int | ArrayLike | None = None,
        depth: int = 1,
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
        self.architecture = architecture
        self.width = width
        self.depth = depth
        self.feature_norm = feature_norm
        self.generator = generator
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _map_columns(
        self, cells: Mapping[Any, Cells], settings: Any, rng: torch.Generator
    ) -> RowKernel:
        """Draw the network's weights; they are never trained."""

        def draw(widths: Sequence[int], are_numbers: Sequence[bool]) -> TangentFeatures:
            found = of_network(settings, sum(widths), rng)
            if found is not None:
                return found
            return NTKFeatures.draw(
                sum(widths),
                settings.width,
                settings.depth,
                centre=0.5,
                scale=input_scales(widths, are_numbers),
                has_layer_norm=settings.architecture == "layer_norm",
                rng=rng,
            )

        layout = "whole" if settings.feature_norm == 1 else "binned"
        return RowKernel.of(cells, draw, layout=layout, share=settings.feature_norm)

    def _map_pixels(
        self, n_pixels: int, settings: Any, rng: torch.Generator
    ) -> TangentFeatures:
        """Draw the weights of a network on all pixels."""
        found = of_network(settings, n_pixels, rng)
        if found is not None:
            return found
        return NTKFeatures.draw(
            n_pixels,
            settings.width,
            settings.depth,
            has_layer_norm=settings.architecture == "layer_norm",
            is_positive=True,  # pixels are
            rng=rng,
        )


def of_network(
    settings: Any, n_inputs: int, rng: torch.Generator
) -> ModuleNTKFeatures | NetworkNTKFeatures | None:
    """Return features of a user's network, or of a paper's; None for ReLU layers."""
    architecture = settings.architecture
    if callable(architecture):
        return ModuleNTKFeatures(check_network(architecture(n_inputs), n_inputs))
    if architecture not in ARCHITECTURES:
        return None
    widths = settings.width if isinstance(settings.width, tuple) else (settings.width,)
    return NetworkNTKFeatures.draw(architecture, n_inputs, widths, rng=rng)


def input_scales(widths: Sequence[int], are_numbers: Sequence[bool]) -> list[float]:
    """Return the factors of inputs: numbers, from 0 to 1 by rank, are stretched.

    Examples
    --------
    >>> input_scales([1, 3], [True, False])
    [4.0, 1.0, 1.0, 1.0]
    """
    kinds = zip(widths, are_numbers, strict=True)
    return [STRETCH if number else 1.0 for width, number in kinds for _ in range(width)]


def check_network(network: Any, n_inputs: int) -> torch.nn.Module:
    """Return a network if it has gradients row by row; else raise with the reason."""
    if not isinstance(network, torch.nn.Module):
        raise ValueError(
            "architecture must return a torch.nn.Module. Got "
            f"{type(network).__name__} instead."
        )
    rows = torch.randn(3, n_inputs, generator=torch.Generator().manual_seed(0))
    try:
        with torch.no_grad():
            pure = copy.deepcopy(network).eval()
            together = pure(rows)
            separately = torch.cat([pure(row[None]) for row in rows])
    except RuntimeError as error:
        raise ValueError(
            f"architecture(n_inputs) must take rows of n_inputs={n_inputs} numbers. "
            f"Got a network that fails on them: {error}"
        ) from error
    if together.shape != separately.shape or not torch.allclose(
        together, separately, atol=1e-4
    ):
        raise ValueError(
            "architecture must return a network that treats each row by itself. Got "
            "one whose output depends on the other rows."
        )
    if not any(weight.requires_grad for weight in network.parameters()):
        raise ValueError(
            "architecture must return a network with weights to differentiate by. Got "
            "one without."
        )
    try:
        features = ModuleNTKFeatures(network).double()
        features(rows.double())
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            "architecture must return a network that `torch.func` can differentiate, "
            f"in double precision. Got one that cannot: {error}"
        ) from error
    check_pure(features, (n_inputs,), features.n_features, "architecture")
    return network
