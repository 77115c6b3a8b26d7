"""DP-MGE: Gaussians in a public latent space, or between the ranks of columns."""

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from skdpgen.lenses import lens_of
from skdpgen.privacy import Release
from skdpgen.synthesizers.base import BaseSynthesizer, documented, there
from skdpgen.synthesizers.gaussian import (
    GaussianMethod,
    ImageGaussians,
    MeasuredMixture,
    TableCopula,
    given_prior,
)
from skdpgen.synthesizers.models import CopulaModel, Deformations, PictureMixture
from skdpgen.synthesizers.opening import discover_bins
from skdpgen.utils import Interval, StrOptions, saved, seed_of, split_generator

MOST = 256  # prototypes of a class


@saved("estimator.mge")
@documented
class DPMGESynthesizer(BaseSynthesizer):
    r"""Synthesizer of images and tables from a few private means and covariances.

    **Images.** A public lens turns an image into a vector of codes v, by default the
    low frequencies of a cosine transform. Released are sums of v, of counts and of
    :math:`v v^\top` by class, around prototypes that are found on the way; a sample is
    a Gaussian around a prototype, decoded, with the tones of real pixels, and deformed
    a little as any picture may be. There is nothing to train: a fit takes seconds.

    **Tables.** Each column is released by class; then the normal scores of its ranks
    make a vector v, and :math:`\sum v v^\top` their correlations: a Gaussian copula.
    It has the relations that are monotone, and no others.

    A row moves a sum of v with its counts by 2 if replaced, a sum of
    :math:`v v^\top` by :math:`\sqrt 2` (proofs: :class:`~skdpgen.privacy.WithCounts`,
    :class:`~skdpgen.privacy.OuterProducts`). What noise does to covariances is known:
    their eigenvalues are shrunk by it.

    Parameters
    ----------
    {epsilon ... adjacency}
    {task}
    preset : {{"default", "paper"}}, default="default"
        Of images. "paper" is one Gaussian a class, with a variance for each code, from
        one release: no prototypes, tones or deformations.
    lens : {{"cosine"}}, lens, pair of callables or None, default=None
        How images are seen, with a way back from codes to images; public. None is a
        cosine transform with 160 frequencies (100 each, in colour) that gives high
        ones more weight ("paper": the same weight). See :mod:`skdpgen.lenses`.
    n_prototypes : int or None, default=None
        Prototypes of each class of images; None is as many as the noise allows.
    covariance : {{"full", "pooled", "diagonal"}} or None, default=None
        Of images: of each class (None is "full"), one for all classes, which has less
        noise, or only a variance for each code and class.
    prior : {{"auto", "deformations"}}, Deformations or None, default="auto"
        Whether samples are shifted, turned, sheared, zoomed and warped a little, which
        costs nothing. "auto" asks the rows how far: a vote for .02 of the budget, of
        classifiers that learnt from samples. Without classes it does nothing.
    public_data : array of images or None, default=None
        Public images of the same shape, of anything. Codes then stand along their
        principal directions.
    {random_state}
    verbose : int, default=0
        1 shows a progress bar over the stages.

    Attributes
    ----------
    {privacy_ ... schema_}
    release_ : Release
        Histograms of columns by class, or means of codes by class.
    mixture_ : CopulaModel or PictureMixture
        What all releases say.
    deformations_ : Deformations or None
        Those of sampled images.
    cells_ : dict
        The cells of each column that histograms were released on; empty for images.
    {classes_ ... n_features_in_}

    References
    ----------
    .. [1] "Large-scale public data improves differentially private image generation
       quality", 2023: DP-MGE has one diagonal Gaussian.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> images = images.reshape(-1, 8, 8) / 16
    >>> synth = DPMGESynthesizer(epsilon=10.0, classes=range(10), prior=None)
    >>> X_syn, y_syn = synth.fit(images, digits).sample(50)
    >>> X_syn.shape, len(y_syn)
    ((50, 8, 8), 50)
    """

    _takes = ("tables", "images")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSynthesizer._parameter_constraints,
        "preset": [StrOptions({"default", "paper"})],
        "lens": "no_validation",
        "n_prototypes": [Interval(Integral, 1, MOST, closed="both"), None],
        "covariance": [StrOptions({"full", "pooled", "diagonal"}), None],
        "public_data": "no_validation",
        "prior": [StrOptions({"auto", "deformations"}), Deformations, None],
    }

    def __init__(
        self,
        epsilon=1.0,
        delta=None,
        schema=None,
        classes=None,
        adjacency="replace",
        task="auto",
        preset="default",
        lens=None,
        n_prototypes=None,
        covariance=None,
        prior="auto",
        public_data=None,
        random_state=None,
        verbose=0,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.classes = classes
        self.adjacency = adjacency
        self.task = task
        self.preset = preset
        self.lens = lens
        self.n_prototypes = n_prototypes
        self.covariance = covariance
        self.prior = prior
        self.public_data = public_data
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y=None):
        """Release means, prototypes and products, each once.

        Parameters
        ----------
        {X_or_images}
        {y}

        Returns
        -------
        self : DPMGESynthesizer
        """
        self._validate_params()
        method = self._method_for(X)
        method.check(X)
        (for_public,) = split_generator(self.random_state, 2)[1:]
        with self._opened(X, y) as opening:
            cells, labels = discover_bins(opening, keeps_gaps=True)
            opening.measured = MeasuredMixture(
                cells=cells,
                labels=labels,
                seed=seed_of(for_public),
                deformations=given_prior(self.prior),
            )
            method.measure(opening, for_public)
        del X, y, opening  # private data ends here; what follows is post-processing
        return self.refit()

    def refit(self):
        """Make the model anew from what was released; costs nothing, needs no data.

        ``fit`` ends with it. If it was interrupted after the first release, the budget
        is spent, ``privacy_`` says so, and this finishes the work.

        Returns
        -------
        self : DPMGESynthesizer
        """
        check_is_fitted(self, "mixture_")
        model = self.mixture_.finished(self._seed)
        self._keep_model(model, model.totals.sum(), model.total_std)
        return self._stating_relations(is_trained=1)

    @property
    def mixture_(self) -> CopulaModel | PictureMixture:
        """What all releases say."""
        return there(self._measured.mixture, "mixture_")

    @property
    def votes_(self) -> Release:
        """Votes of rows on deformations of images."""
        return there(self._measured.votes, "votes_")

    @property
    def deformations_(self) -> Deformations | None:
        """Those of sampled images."""
        return self._measured.deformations

    def sample(self, n_samples=None, y=None, class_shares=None, random_state=None):
        """Draw synthetic rows; free, and as often as wanted.

        Parameters
        ----------
        {n_samples ... random_state}

        Returns
        -------
        {X}
        """
        n_samples = self._sample_size(n_samples, y)
        rng = self._sampling_generator(random_state)
        shares = self._model.shares
        labels = self._draw_labels(n_samples, y, class_shares, shares, rng)
        X = self._model.draw_rows(
            labels,
            self.cells_,
            self._facts,
            deform=self.deformations_,
            container=getattr(self, "_container", None),
            rng=rng,
        )
        return self._with_target(X, labels, y, shares, rng)

    def _method_for(self, X: Any) -> GaussianMethod:
        """Return the method for images or for a table; both have all parameters."""
        params = self.get_params(deep=False)
        is_images = self._is_given_images(X)
        return ImageGaussians(params) if is_images else TableCopula(params)

    def _stated(self):
        """Say which lens and images were taken as public."""
        lines = [] if self.lens is None else [f"lens: {lens_of(self.lens).name}"]
        if self.public_data is not None:
            lines.append(f"{len(self.public_data)} public images: taken as public")
        return [*super()._stated(), *lines]
