"""Estimators of tests, with settings of their parts among the parameters."""

import inspect
from typing import Any

from skdpgen.synthesizers.base._generator import OF_DISCRIMINATOR, PARTS


def made(
    cls: Any, *args: Any, preset: str = "default", data: str = "table", **params: Any
) -> Any:
    """Return an estimator; what only a part of it has goes to that part.

    Examples
    --------
    >>> from skdpgen import DPDRESynthesizer, DPMERFSynthesizer
    >>> made(DPMERFSynthesizer, n_features=10, max_iter=5)
    DPMERFSynthesizer(generator=Generator(max_iter=5), n_features=10)
    >>> made(DPDRESynthesizer, discriminator_layer_sizes=(4,))
    DPDRESynthesizer(discriminator=Discriminator(hidden_layer_sizes=(4,)))
    """
    if preset == "default":
        return cls(*args, **nested(cls, params))
    names = dict(zip(["epsilon"], args, strict=False))
    return cls.from_preset(preset, data=data, **names, **named(cls, params))


def named(cls: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as ``set_params`` takes them."""
    names = names_in_parts(cls)
    return {names.get(name, name): value for name, value in params.items()}


def nested(cls: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as the constructor takes them."""
    others: dict[str, Any] = {}
    settings: dict[str, dict[str, Any]] = {}
    for name, value in named(cls, params).items():
        part, is_nested, setting = name.partition("__")
        if is_nested:
            settings.setdefault(part, {})[setting] = value
        else:
            others[name] = value
    return others | {part: PARTS[part](**values) for part, values in settings.items()}


def names_in_parts(cls: Any) -> dict[str, str]:
    """Return names as in ``settings_``, and as a search has them.

    Steps of a game are those of its discriminator.
    """
    own = inspect.signature(cls).parameters
    names: dict[str, str] = {}
    for part in sorted(cls._parts):
        for name in inspect.signature(PARTS[part]).parameters:
            is_other = part == "discriminator"
            flat = OF_DISCRIMINATOR.get(name, name) if is_other else name
            if flat not in own:
                names.setdefault(flat, f"{part}__{name}")
    return names
