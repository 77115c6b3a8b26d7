"""Settings of a generator and of a discriminator, which several estimators share."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from skdpgen.utils import Interval, StrOptions, saved

# ----------------------------------------------------------------------------
# A generator, and how it is trained.

Network = Literal["full", "upsample", "decoder", "residual", "private"]


@saved("generator")
class Generator(BaseEstimator):  # type: ignore[misc]
    """Settings of a generator and of its training.

    The generator is a neural network that turns latent vectors into synthetic rows. It
    is trained on a noisy release, so its training costs no privacy, except for
    :class:`DPGANSynthesizer` and ``DPKernelSynthesizer(algorithm="per_step")``, whose
    steps read rows and share the budget.

    Defaults that are None depend on the estimator, and on whether it is fitted to a
    table or to images; ``settings_`` shows what was used. ``network``, ``models``,
    ``pooling`` and ``precision`` are of images.

    Parameters
    ----------
    hidden_layer_sizes : array-like of int, "per_column" or None, default=None
        Units of the hidden layers. None is (256, 256). "per_column" is two layers, with
        4 and 2 units for each column of the table, as in the papers. The networks
        "decoder" and "residual" take one number, of channels, and None is (128,).
    n_latent : int or None, default=None
        Length of the latent vector. None is 8 for tables (16 of DP-GAN), and 20 for
        images (10 of DP-HP and DP-NTK).
    max_iter : int or None, default=None
        Training steps. None is 200 for tables (400 of DP-Kernel), and 4,000 for images
        (2,000 of DP-MEPF, 1,000 of DP-NTK). Private steps of DP-Kernel are 1,000: more
        of them have more noise each. Of DP-GAN see :class:`Discriminator`.
    batch_size : int, float or None, default=None
        Latent vectors a step; a float from 0 to 1 is a part of the number of rows, as
        it is public or released. None is 512 for tables (2,048 of DP-NTK), and 200 to
        500 for images. Of ``DPKernelSynthesizer(algorithm="per_step")`` it is those of
        each class, 2 to 64, and None is 8 for tables and 24 for images. Noise of many
        points takes time: with 32 a step takes three times as long as with 24.
    learning_rate : float or None, default=None
        Of the optimiser, at its peak. None is 0.01 (0.005 of DP-GAN, 0.003 for its
        images).
    schedule : {"one_cycle", "constant"}, default="one_cycle"
        Of the learning rate: it rises for a tenth of the steps, then falls to 0; or it
        is constant, as in the papers. Of DP-GAN "one_cycle" is constant at first, and
        falls in the second half.
    optimizer : {"adam", "rmsprop"}, default="adam"
        "rmsprop" is that of functional RDP. DP-GAN has Adam.
    early_stopping : bool, default=True
        Of tables: whether training ends once errors are as small as the noise of the
        release would leave them, and is left out if the release shows no relation
        beyond its noise. With False all steps are made, as in the papers.
    batch_norm : bool, default=False
        Of tables: whether hidden layers are normalised over the batch, as in the
        papers.
    loss : {"distance", "moving_average"}, default="distance"
        Of DP-MEPF: the squared distance of a batch, or of moving averages, as in the
        paper.
    moving_rate : float, default=0.001
        Of ``loss="moving_average"``: learning rate of the averages.
    n_minibatches : int, default=1
        Of DP-MERF: 1 releases one embedding of all rows. A larger number releases that
        of each of as many random parts of the rows, which the generator matches in
        turn, as in the paper's section 5.2 (10). Each part gets the noise of the whole,
        so the result is noisier.
    network : {"full", "upsample", "decoder", "residual", "private"}, default="full"
        Fully connected layers ("full"), or convolutions, as the papers had ("upsample";
        "decoder" of DP-Kernel; "residual" of DP-MEPF). "private", of DP-MERF, ends with
        the decoder of an auto-encoder that DP-SGD trains first, **on half of the
        budget**, and matches features of its codes (section 3.3, where the encoder was
        not private). Samples are smoother, and classifiers learn less from them.
    models : {"auto", "conditional", "parallel"} or None, default=None
        One network that gets the class as an input ("conditional"), or one network for
        each class ("parallel"). None is "auto": "parallel", unless the release is too
        noisy (of DP-GAN "conditional"). A private network has one decoder for all.
    pooling : int or "auto", default="auto"
        How many pixels a side are compared as one, their mean. "auto" is 2 from 16
        pixels a side on, else 1. The release is of such means, so another value needs
        another ``fit``.
    precision : {"float32", "mixed"}, default="float32"
        "mixed" trains on a release in bfloat16 where that is exact enough, on
        processors that support it.

    See Also
    --------
    Discriminator : The same, of the discriminator of DP-GAN and DP-DRE.
    search_generator : Compares such settings on one release, at no cost.

    Examples
    --------
    >>> from skdpgen import DPMERFSynthesizer
    >>> synth = DPMERFSynthesizer(generator=Generator(max_iter=50))
    >>> synth.set_params(generator__n_latent=4).generator
    Generator(max_iter=50, n_latent=4)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like", StrOptions({"per_column"}), None],
        "n_latent": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "batch_size": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "schedule": [StrOptions({"one_cycle", "constant"})],
        "optimizer": [StrOptions({"adam", "rmsprop"})],
        "early_stopping": [bool],
        "batch_norm": [bool],
        "loss": [StrOptions({"distance", "moving_average"})],
        "moving_rate": [Interval(Real, 0, None, closed="neither")],
        "n_minibatches": [Interval(Integral, 1, None, closed="left")],
        "network": [StrOptions({"full", "upsample", "decoder", "residual", "private"})],
        "models": [StrOptions({"auto", "conditional", "parallel"}), None],
        "pooling": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "precision": [StrOptions({"float32", "mixed"})],
    }

    def __init__(
        self,
        hidden_layer_sizes: ArrayLike | Literal["per_column"] | None = None,
        n_latent: int | None = None,
        max_iter: int | None = None,
        batch_size: float | None = None,
        learning_rate: float | None = None,
        schedule: Literal["one_cycle", "constant"] = "one_cycle",
        optimizer: Literal["adam", "rmsprop"] = "adam",
        early_stopping: bool = True,
        batch_norm: bool = False,
        loss: Literal["distance", "moving_average"] = "distance",
        moving_rate: float = 1e-3,
        n_minibatches: int = 1,
        network: Network = "full",
        models: Literal["auto", "conditional", "parallel"] | None = None,
        pooling: int | Literal["auto"] = "auto",
        precision: Literal["float32", "mixed"] = "float32",
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_latent = n_latent
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.optimizer = optimizer
        self.early_stopping = early_stopping
        self.batch_norm = batch_norm
        self.loss = loss
        self.moving_rate = moving_rate
        self.n_minibatches = n_minibatches
        self.network = network
        self.models = models
        self.pooling = pooling
        self.precision = precision


# ----------------------------------------------------------------------------
# A discriminator, whose steps read private rows.


@saved("discriminator")
class Discriminator(BaseEstimator):  # type: ignore[misc]
    """Settings of a discriminator, and of the DP-SGD that trains it on private rows.

    :class:`DPGANSynthesizer` trains it against a generator, and
    ``DPDRESynthesizer(algorithm="sgd")`` against public rows. Its steps read rows and
    share the budget. All settings are public. Defaults that are None depend on the
    estimator.

    Parameters
    ----------
    hidden_layer_sizes : array-like of int or None, default=None
        Units of the hidden layers. None is (64, 64) of DP-GAN, (128,) for images, and
        (16,) of DP-DRE (paper: one of 1 to 16).
    max_iter : int or None, default=None
        Steps. None is 800 of DP-GAN, 500 of DP-DRE. **They share the budget**: more of
        them are noisier.
    optimizer : {"adam", "sgd"}, default="adam"
        "sgd" moves along the noisy gradient itself, as in the code of DP-CGAN. Steps on
        public rows are always those of Adam.
    learning_rate : float or None, default=None
        None is 0.005 of DP-GAN, 0.01 of DP-DRE, which suits "adam" alone. The preset of
        DP-CGAN has 0.075 with "sgd" and a constant rate.
    schedule : {"one_cycle", "constant"}, default="one_cycle"
        "one_cycle" takes shorter steps where noise is large, and falls to 0 in the
        second half; "constant" keeps the learning rate, as in the papers.
    loss : {"logistic", "critic"}, default="logistic"
        Of DP-GAN: the logistic loss, or the difference of mean scores, with the norm
        of the slope at real rows as a penalty, as for DP-GAN-FT and DP-GAN-MI.
    spectral_norm : float, default=1.0
        Of DP-GAN with the logistic loss: bound of the spectral norm of each layer;
        ``inf`` is no bound. A critic has none.
    sampling_rate : float or None, default=None
        Probability that a step samples a row. None is 0.08 of DP-GAN, 0.02 of DP-DRE.
    max_grad_norm : float, default=1.0
        Norm to which the gradient of each row is clipped.
    steps_per_generator_step : int or None, default=None
        Of DP-GAN: steps for each step of the generator. None is 2, and 1 for images.
    public_iter : int, default=1000
        Of ``DPGANSynthesizer(algorithm="finetune")``: steps on public rows before, at a
        learning rate of 0.001, which is the least of the generator's there.

    See Also
    --------
    Generator : The same, of a generator.

    Examples
    --------
    >>> from skdpgen import DPGANSynthesizer
    >>> synth = DPGANSynthesizer(discriminator=Discriminator(max_iter=500))
    >>> synth.set_params(discriminator__sampling_rate=0.05).discriminator
    Discriminator(max_iter=500, sampling_rate=0.05)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like", None],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "optimizer": [StrOptions({"adam", "sgd"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "schedule": [StrOptions({"one_cycle", "constant"})],
        "loss": [StrOptions({"logistic", "critic"})],
        "spectral_norm": [Interval(Real, 0, None, closed="right")],
        "sampling_rate": [Interval(Real, 0, 1, closed="right"), None],
        "max_grad_norm": [Interval(Real, 0, None, closed="neither")],
        "steps_per_generator_step": [Interval(Integral, 1, None, closed="left"), None],
        "public_iter": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        hidden_layer_sizes: ArrayLike | None = None,
        max_iter: int | None = None,
        optimizer: Literal["adam", "sgd"] = "adam",
        learning_rate: float | None = None,
        schedule: Literal["one_cycle", "constant"] = "one_cycle",
        loss: Literal["logistic", "critic"] = "logistic",
        spectral_norm: float = 1.0,
        sampling_rate: float | None = None,
        max_grad_norm: float = 1.0,
        steps_per_generator_step: int | None = None,
        public_iter: int = 1000,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_iter = max_iter
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.loss = loss
        self.spectral_norm = spectral_norm
        self.sampling_rate = sampling_rate
        self.max_grad_norm = max_grad_norm
        self.steps_per_generator_step = steps_per_generator_step
        self.public_iter = public_iter


# ----------------------------------------------------------------------------
# Their settings among those of an estimator.

PARTS: Mapping[str, type[BaseEstimator]] = {
    "generator": Generator,
    "discriminator": Discriminator,
}
# Names that a generator has, too; a game has the steps of its discriminator only.
OF_DISCRIMINATOR = {
    "hidden_layer_sizes": "discriminator_layer_sizes",
    "optimizer": "discriminator_optimizer",
    "learning_rate": "discriminator_learning_rate",
    "schedule": "discriminator_schedule",
    "loss": "discriminator_loss",
}


def with_parts(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator, those of its parts under names of settings.

    Examples
    --------
    >>> flat = with_parts({"epsilon": 1.0, "generator": Generator(max_iter=5)})
    >>> flat["epsilon"], flat["max_iter"], flat["n_latent"]
    (1.0, 5, None)
    >>> with_parts({"discriminator": None})["max_grad_norm"]
    1.0
    """
    flat = {name: value for name, value in params.items() if name not in PARTS}
    if "generator" in params:
        flat |= (params["generator"] or Generator()).get_params(deep=False)
    if "discriminator" in params:
        values = (params["discriminator"] or Discriminator()).get_params(deep=False)
        flat |= {OF_DISCRIMINATOR.get(key, key): value for key, value in values.items()}
    return flat


def parameter_names(estimator: Any) -> list[str]:
    """Return names of parameters as ``set_params`` takes them, parts' among them.

    Examples
    --------
    >>> from skdpgen import DPDRESynthesizer
    >>> parameter_names(DPDRESynthesizer())[-2:]
    ['discriminator__steps_per_generator_step', 'discriminator__public_iter']
    """
    own = list(estimator.get_params(deep=False))
    return own + [
        f"{part}__{name}"
        for part in estimator._parts
        for name in inspect.signature(PARTS[part]).parameters
    ]
