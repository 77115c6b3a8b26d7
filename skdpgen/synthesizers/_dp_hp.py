"""DP-HP: one private mean embedding with Hermite features, matched for free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import torch
from numpy.typing import ArrayLike

from skdpgen.features import HermiteFeatures, HermitePairs, JointFeatures
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
from skdpgen.synthesizers.presets import (
    HERMITE,
    HERMITE_IMAGES,
    affordable_subsets,
    papers,
)
from skdpgen.tables import Cells
from skdpgen.utils import Interval, RandomState, saved

MOST_PAIRED = 2048  # functions of all pixels, up to which all pairs are released
PAIR_NORM = 0.5  # at which pairs are clipped: 2 % of digits, 46 % of garments


@saved("estimator.hp")
class DPHPSynthesizer(EmbeddingSynthesizer):
    r"""Synthesizer of tables and images that matches private Hermite features [1]_.

    A Gaussian kernel on a number is a series of Hermite functions whose terms decrease
    geometrically, so a few terms suffice: (order + 1) for a column and (order + 1)² for
    a pair of columns, where random features need thousands. The *sum kernel* is of
    single columns, the *product kernel* of small sets of columns. Both are released
    once, per class, with one noise.

    Let :math:`h_j` be the functions of column j (norm at most 1), S the subsets and y
    the one-hot label. The release is

    .. math:: \sum_i \Big[b\,s(x_i) ; a\,|S|^{-1/2}
              \big(\textstyle\bigotimes_{j \in S_k} h_j(x_{ij})\big)_k\Big]
              \otimes y_i + noise, \qquad a^2 / b^2 = \gamma,

    where s, the part of the sum kernel, has the one-hot cells of every column by
    default. They are the limit of Hermite functions of high order and small length
    scale, exact and without negative entries. With ``order`` it is the paper's:
    functions of numbers beside one-hot categories, and products of numbers only. One
    row moves the release by at most :math:`\sqrt{4a^2 + 2b^2}` if replaced (with
    ``order``, a² is the part of all Hermite functions) and by 1 if added or removed
    (proof: :class:`~skdpgen.privacy.Weighted`). If no column is counted, class counts
    are released as well: free if replaced, :math:`\sqrt 2` otherwise. Products are
    released per class like all else; the published code released one sum for all
    classes, with the noise of one.

    For images, products are of all pairs of pixels, as differences from a black image
    (``HermitePairs``): pass images on white as ``255 - X``.

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
    order : pair of int or None, default=None
        Highest Hermite function of single columns, in the sum kernel, and of each
        column in the product kernel. None is ("cells", 4) (paper: (20, 9)), where
        "cells" counts the cells of every column instead. Of the pixels of images it is
        (3, 1) (paper: (100, 20)).
    interaction_degree : int, default=2
        Columns in a product; 2 is for relationships of pairs.
    n_subsets : int or None, default=None
        Random subsets of columns. None is all of them, up to 4,000 features of
        products; of pixels all pairs, up to 2,048 functions (paper: 10 subsets).
    length_scale : float or None, default=None
        Of the Gaussian kernels, where a number's column runs from 0 to 1 by rank;
        0.01 to 100. None is 0.5 (paper: 0.3), of pixels 0.2 (paper: 0.07 for digits,
        0.39 for garments).
    product_weight : float or None, default=None
        Weight of the product kernel beside the sum kernel, in the loss and in the norm
        of the release. None is 1/9, or 1/49 if relationships would not exceed the noise
        because of few rows, many classes or a small epsilon, which are public; 1 with
        an ``order``, 5 for pixels (paper: 0.05 to 0.2).
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
    .. [1] Vinaroz, Charusaie, Harder, Adamczewski & Park, "Hermite polynomial features
       for private data generation", ICML 2022. Its scores are beside those of DP-NTK:
       :doc:`/papers/dp_ntk`.

    Examples
    --------
    >>> from skdpgen import Generator
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> synth = DPHPSynthesizer(epsilon=1.0, generator=Generator(max_iter=50))
    >>> X_syn, y_syn = synth.fit(X, y).sample(500)
    >>> list(X_syn.columns) == list(X.columns), len(y_syn)
    (True, 500)
    """

    _table_settings = HERMITE
    _image_settings = HERMITE_IMAGES
    _papers = papers.HP
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EmbeddingSynthesizer._parameter_constraints,
        "order": [tuple, list, None],
        "interaction_degree": [Interval(Integral, 1, None, closed="left")],
        "n_subsets": [Interval(Integral, 1, None, closed="left"), None],
        "length_scale": [Interval(Real, 0.01, 100, closed="both"), None],
        "product_weight": [Interval(Real, 1e-6, 1e6, closed="both"), None],
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
        order: tuple[int | Literal["cells"], int] | None = None,
        interaction_degree: int = 2,
        n_subsets: int | None = None,
        length_scale: float | None = None,
        product_weight: float | None = None,
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
        self.order = order
        self.interaction_degree = interaction_degree
        self.n_subsets = n_subsets
        self.length_scale = length_scale
        self.product_weight = product_weight
        self.generator = generator
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _map_columns(
        self, cells: Mapping[Any, Cells], settings: Any, rng: torch.Generator
    ) -> RowKernel:
        """Draw the product kernel and, unless it is cells, the sum kernel."""
        order_of_singles, order = settings.order
        is_binned = order_of_singles == "cells"

        def draw(
            widths: Sequence[int], are_numbers: Sequence[bool]
        ) -> HermiteFeatures | JointFeatures:
            scale = settings.length_scale
            together = min(settings.interaction_degree, len(widths))
            product = HermiteFeatures.draw(
                widths,
                are_numbers,
                order,
                length_scale=scale,
                n_together=together,
                n_subsets=settings.n_subsets
                or affordable_subsets(len(widths), together, order),
                rng=rng,
            )
            if is_binned:
                return product
            singles = HermiteFeatures.draw(
                widths,
                are_numbers,
                order_of_singles,
                length_scale=scale,
                n_together=1,
                rng=rng,
            )
            return JointFeatures((singles, product), (1.0, settings.product_weight))

        if is_binned:
            share = settings.product_weight and settings.product_weight / (
                1.0 + settings.product_weight
            )
            return RowKernel.of(cells, draw, share=share)
        # The weights of categories, numbers and products are 1 : 1 : product_weight.
        share = (1.0 + settings.product_weight) / (2.0 + settings.product_weight)
        return RowKernel.of(cells, draw, layout="split", share=share)

    def _map_pixels(
        self, n_pixels: int, settings: Any, rng: torch.Generator
    ) -> HermitePairs | JointFeatures:
        """Draw the product kernel of pixels, beside the sum kernel of all of them."""
        together = min(settings.interaction_degree, n_pixels)
        order_of_singles, order = settings.order
        n_paired = n_pixels * (order + 1)
        if together == 2 and settings.n_subsets is None and n_paired <= MOST_PAIRED:
            return HermitePairs.draw(
                n_pixels,
                order_of_singles,
                order,
                length_scale=settings.length_scale,
                product_weight=settings.product_weight,
                radius=PAIR_NORM,
                rng=rng,
            )

        def draw(order: int, n_together: int, n_subsets: int) -> HermiteFeatures:
            return HermiteFeatures.draw(
                (1,) * n_pixels,
                (True,) * n_pixels,
                order,
                length_scale=settings.length_scale,
                n_together=n_together,
                n_subsets=n_subsets,
                rng=rng,
            )

        n_subsets = settings.n_subsets
        n_subsets = n_subsets or affordable_subsets(n_pixels, together, order)
        singles = draw(order_of_singles, 1, n_pixels)
        product = draw(order, together, n_subsets)
        return JointFeatures((singles, product), (1.0, settings.product_weight))
