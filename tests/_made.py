"""Estimators of tests, with settings of their generator among the parameters."""

import inspect
from typing import Any

from skdpgen import Generator


def made(cls: Any, *args: Any, **params: Any) -> Any:
    """Return an estimator; what only its generator has goes to the generator.

    Examples
    --------
    >>> from skdpgen import DPMERFSynthesizer
    >>> made(DPMERFSynthesizer, n_features=10, max_iter=5)
    DPMERFSynthesizer(generator=Generator(max_iter=5), n_features=10)
    """
    return cls(*args, **nested(cls, params))


def nested(cls: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as the constructor takes them."""
    own = inspect.signature(cls).parameters
    settings = {
        name: params[name]
        for name in Generator().get_params()
        if name in params and name not in own
    }
    if not settings:
        return params
    others = {name: value for name, value in params.items() if name not in settings}
    return others | {"generator": Generator(**settings)}
