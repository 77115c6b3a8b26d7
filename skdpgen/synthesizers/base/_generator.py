"""Settings of a generator and of its training, which several estimators share."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from skdpgen.utils import Interval, StrOptions, saved

Network = Literal["full", "upsample", "decoder", "residual"]


@saved("generator")
class Generator(BaseEstimator):  # type: ignore[misc]
    """Settings of a generator and of its training.

    The generator is a neural network that turns latent vectors into synthetic rows. It
    is trained on a noisy release, so its training costs no privacy, except for
    :class:`DPGANSynthesizer` and ``DPKernelSynthesizer(algorithm="per_step")``, whose
    steps read rows and share the budget.

    Parameters that are None are chosen by the ``preset`` of the estimator, for tables
    or for images; ``settings_`` shows what was used.

    Parameters
    ----------
    hidden_layer_sizes : array-like of int or None, default=None
        Units of the hidden layers. None is (256, 256). With the networks "decoder" and
        "residual" it is one number of channels, and None is (128,).
    n_latent : int or None, default=None
        Length of the latent vector. None is 8 for tables (16 of DP-GAN), and 20 for
        images (10 of DP-HP and DP-NTK).
    max_iter : int or None, default=None
        Training steps. None is 200 for tables (400 of DP-Kernel), and 4,000 for images
        (2,000 of DP-MEPF, 1,000 of DP-NTK). Private steps are 800 of DP-GAN and 1,000
        of DP-Kernel: more of them have more noise each.
    batch_size : int or None, default=None
        Latent vectors a step. None is 512 for tables, and 200 to 500 for images.
    learning_rate : float or None, default=None
        Of Adam, at its peak. None is 0.01 (0.003 to 0.005 of DP-GAN).
    network : {"full", "upsample", "decoder", "residual"} or None, default=None
        Of images: fully connected layers ("full", default), or convolutions, as the
        papers had ("upsample"; "decoder" of DP-Kernel; "residual" of DP-MEPF).
    models : {"auto", "conditional", "parallel"} or None, default=None
        Of images: one network that gets the class as an input ("conditional"), or one
        network for each class ("parallel"). None is "auto": "parallel", unless the
        release is too noisy. A private encoder has one decoder for all classes.
    precision : {"float32", "mixed"} or None, default=None
        Of images: "mixed" trains on a release in bfloat16 where that is exact enough,
        on processors that support it. None is "float32".

    See Also
    --------
    search_generator : Compares such settings on one release, at no cost.

    Examples
    --------
    >>> from skdpgen import DPMERFSynthesizer
    >>> synth = DPMERFSynthesizer(generator=Generator(max_iter=50))
    >>> synth.set_params(generator__n_latent=4).generator
    Generator(max_iter=50, n_latent=4)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like", None],
        "n_latent": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "network": [StrOptions({"full", "upsample", "decoder", "residual"}), None],
        "models": [StrOptions({"auto", "conditional", "parallel"}), None],
        "precision": [StrOptions({"float32", "mixed"}), None],
    }

    def __init__(
        self,
        hidden_layer_sizes: ArrayLike | None = None,
        n_latent: int | None = None,
        max_iter: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        network: Network | None = None,
        models: Literal["auto", "conditional", "parallel"] | None = None,
        precision: Literal["float32", "mixed"] | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_latent = n_latent
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.network = network
        self.models = models
        self.precision = precision


def with_generator(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator, with those of its generator among them.

    Examples
    --------
    >>> flat = with_generator({"epsilon": 1.0, "generator": Generator(max_iter=5)})
    >>> flat["epsilon"], flat["max_iter"], flat["n_latent"]
    (1.0, 5, None)
    """
    generator = params.get("generator") or Generator()
    others = {name: value for name, value in params.items() if name != "generator"}
    return others | generator.get_params(deep=False)
