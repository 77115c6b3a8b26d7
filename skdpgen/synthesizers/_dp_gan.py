"""DP-GAN: a generator against a discriminator that DP-SGD trains on rows."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NoReturn, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skdpgen.lenses._lens_of import LensLike
from skdpgen.privacy import Subsampling
from skdpgen.synthesizers.adversarial import (
    check_public,
    check_start,
    game_share,
    has_images,
    lens_of_game,
    parameters_without_effect,
    public_image_statements,
    release_start,
    train_adversarially,
)
from skdpgen.synthesizers.base import (
    AdjacencyName,
    ClassWeight,
    Device,
    Discriminator,
    EmbeddingSynthesizer,
    Generator,
    PrivateRows,
    SchemaLike,
    TaskName,
    with_parts,
)
from skdpgen.synthesizers.opening import steps_share
from skdpgen.synthesizers.presets import ADVERSARIAL, ADVERSARIAL_IMAGES, papers
from skdpgen.utils import (
    Labels,
    RandomState,
    StrOptions,
    pick_device,
    saved,
    seed_of,
    split_generator,
)


@saved("estimator.gan")
class DPGANSynthesizer(EmbeddingSynthesizer):
    r"""Synthesizer by a private generative adversarial network: the baseline [1]_.

    A discriminator s learns by DP-SGD to distinguish real rows from generated ones,
    given the class. A generator G is trained against it, and depends on nothing else:

    .. math:: \min_s E\,\log(1 + e^{-s(x, y)}) + E\,\log(1 + e^{s(G(z, y), y)}), \quad
              \min_G E\,\log(1 + e^{-s(G(z, y), y)}).

    Only the first term reads real rows: its gradient is clipped row by row, and noise
    is added. The gradient of the second term is free. It is clipped as well; else it
    would outweigh the first. Layers of the discriminator are scaled to a bounded
    spectral norm after each step. It takes several steps for each step of the generator
    [2]_, whose weights are averaged.

    It is the baseline of the papers, and mostly worse than methods that match one
    release: steps share the budget, and the generator cannot correct for their noise.
    For tables, columns by class are released first and kept; the paper starts from
    nothing.

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
    algorithm : {"scratch", "finetune", "latent"}, default="scratch"
        "finetune" trains on public rows first, for free (DP-GAN-FT [3]_). "latent"
        trains on codes of a public lens, for images only (DP-GAN-MI [3]_).
    lens : name, lens, module, pair of callables or None, default=None
        Lens of "latent", with a decoder. None is "shipped". See ``skdpgen.lenses``.
    start : {"columns", "means", "nothing"} or None, default=None
        The release that the generator starts from. "columns" uses half of the budget
        for columns by class (None, for tables); "means" a tenth for the mean of each
        class (None, for images). "nothing" counts classes only (paper).
    discriminator : Discriminator or None, default=None
        Layers, private steps and other settings of the discriminator; None has their
        defaults. See :class:`Discriminator`; a search names them
        ``discriminator__max_iter``.
    generator : Generator or None, default=None
        Layers, training steps and other settings of the generator; None has their
        defaults. See :class:`Generator`; a search names them ``generator__max_iter``.
        Its ``max_iter`` must be None: it takes steps as the discriminator does.
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
        The release that the generator started from: columns by class, or class counts.
    kernel_ : RowKernel or ImageKernel
        The feature map, and how rows become what it takes.
    cells_ : dict
        The cells of each column.
    settings_ : Settings
        The method's parameters as they were used.
    generator_ : TableGenerator or ImageGenerator
        The torch module.
    loss_curve_ : list of float
        Loss of the generator at each of its steps.
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
    DPMERFSynthesizer : Matches one release, and mostly does better.

    References
    ----------
    .. [1] Torkzadehmahani, Kairouz & Paten, "DP-CGAN: differentially private synthetic
       data and label generation", CVPR workshops 2019. Its scores on tables:
       :doc:`/papers/dp_merf`.
    .. [2] Bie, Kamath & Zhang, "Private GANs, revisited", TMLR 2023.
    .. [3] "Large-scale public data improves differentially private image generation
       quality", 2023, for DP-GAN-FT and DP-GAN-MI: :doc:`/papers/dp_mge_dre`.

    Examples
    --------
    >>> from skdpgen import Discriminator
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> synth = DPGANSynthesizer(discriminator=Discriminator(max_iter=20))
    >>> X_syn, y_syn = synth.fit(X, y).sample(500)
    >>> list(X_syn.columns) == list(X.columns), len(y_syn)
    (True, 500)
    """

    _reads_public_rows = True
    _table_settings = ADVERSARIAL
    _image_settings = ADVERSARIAL_IMAGES
    _papers = papers.GAN
    _parts = ("discriminator", "generator")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EmbeddingSynthesizer._parameter_constraints,
        "algorithm": [StrOptions({"scratch", "finetune", "latent"})],
        "lens": "no_validation",
        "start": [StrOptions({"columns", "means", "nothing"}), None],
        "discriminator": [Discriminator, None],
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
        algorithm: Literal["scratch", "finetune", "latent"] = "scratch",
        lens: LensLike | None = None,
        start: Literal["columns", "means", "nothing"] | None = None,
        discriminator: Discriminator | None = None,
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
        self.lens = lens
        self.start = start
        self.discriminator = discriminator
        self.generator = generator
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
        """Release a start, then train a discriminator on rows, a generator against it.

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
        self : DPGANSynthesizer
        """
        self._check_call(X, y, groups)
        device, settings = pick_device(self.device), self._fill_settings(X)
        check_public(public_data, X, algorithm=self.algorithm)
        lens = lens_of_game(self.algorithm, self.lens)
        (for_training,) = split_generator(self.random_state, 2)[1:]
        with self._opened(X, y, public_data, groups) as opening:
            steps = steps_share(opening, game_share(settings.start))
            seed = seed_of(for_training)
            start = release_start(opening, settings, steps=steps, seed=seed, lens=lens)
            model, losses = train_adversarially(
                opening,
                start,
                share=steps,
                public=public_data,
                class_weight=self.class_weight,
                device=device,
                progress=self._progress,
            )
        del X, y, opening  # private data ends here
        n_labelled, noise = start.totals.sum(), start.total_std
        return self._keep_model(model, n_labelled, noise, losses=losses)

    def _public_table(self, public_data: Any) -> Any:
        """Return public rows of a table; public images are read in the game."""
        return None if has_images(public_data) else public_data

    def _stated(self, public_data: Any) -> list[str]:
        """State which images, and which lens, were taken as public."""
        stated = public_image_statements(
            public_data, lens_of_game(self.algorithm, self.lens)
        )
        return [*super()._stated(public_data), *stated]

    def retrain(self, **parameters: Any) -> NoReturn:
        """Raise: a discriminator cannot be trained again without rows; use ``fit``."""
        del parameters
        check_is_fitted(self, "release_")
        raise ValueError(
            "retrain needs a release to train on, and a discriminator reads rows at "
            "every step. Use `fit`, which costs, or a method that matches a release."
        )

    def _validate_params(self) -> None:
        """Raise if a parameter has no such value, or a generator its own steps."""
        super()._validate_params()
        if self.generator is not None and self.generator.max_iter is not None:
            raise ValueError(
                "max_iter must be None of the generator of DPGANSynthesizer: it "
                "follows the steps of `discriminator__max_iter`. Got "
                f"{self.generator.max_iter!r} instead."
            )

    def _tests_relations(self) -> bool:
        """Return False: a discriminator trains on rows, whatever it finds."""
        return False

    def _without_effect(self, is_image: bool) -> dict[str, str]:
        check_start(self.start, is_image=is_image)
        return parameters_without_effect(self.algorithm)

    def _subsampling(self) -> Subsampling | None:
        """Return how steps sample rows; tables and images have the same settings."""
        settings = ADVERSARIAL.filled(with_parts(self.get_params(deep=False)))
        part = game_share("nothing")  # the largest fraction that any start leaves
        return Subsampling(settings.sampling_rate, settings.max_iter, part)
