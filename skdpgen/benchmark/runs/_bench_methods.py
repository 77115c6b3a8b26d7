"""Who takes part in a run: classes of synthesizers, the lowest floor, peers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skdpgen.benchmark._rivals import RIVALS
from skdpgen.benchmark.runs._config_checks import check, refuse_twice, refuse_unknown
from skdpgen.benchmark.runs._frozen_cell import REAL, UNIFORM
from skdpgen.synthesizers import all_synthesizers
from skdpgen.utils import ConfigError

OF_METHOD = ("class", "name", "settings")
OF_RUN = ("epsilon", "delta", "schema", "classes", "adjacency", "random_state")


@dataclass(frozen=True)
class Method:
    """A class of synthesizers with settings, and how tables call it."""

    name: str
    method: str
    settings: dict[str, Any]


def read_methods(given: list[Any], kind: str, adjacency: str) -> tuple[Method, ...]:
    """Check the methods of a file; ``kind`` is of its data, "tables" or "images"."""
    ours = all_synthesizers(kind)
    known = [*ours, *([UNIFORM, *RIVALS] if kind == "tables" else [])]
    found = []
    for one in given:
        said = {"class": one} if isinstance(one, str) else one
        check(isinstance(said, dict), "methods", "names, or {class, settings}", one)
        refuse_unknown(said, OF_METHOD, "a method")
        method, settings = said.get("class"), said.get("settings", {})
        is_known = isinstance(method, str) and method in known
        check(is_known, "methods", f"among {', '.join(known)}", method)
        check(isinstance(settings, dict), "settings", "{parameter = value}", settings)
        if method in RIVALS and adjacency != "add_remove":
            raise ConfigError(
                f'{method} promises "add_remove" alone: say adjacency = "add_remove", '
                "which then is of all methods of the file."
            )
        if method in ours:
            _check_settings(ours[method], settings)
        elif method == UNIFORM:
            refuse_unknown(settings, (), f"settings of {UNIFORM}")
        name = said.get("name", _named(method, settings))
        is_name = isinstance(name, str) and name not in ("", REAL)
        check(is_name, "name of a method", f"text other than {REAL!r}", name)
        found.append(Method(name, method, settings))
    refuse_twice("names of methods", [method.name for method in found])
    content = [json.dumps([m.method, m.settings], sort_keys=True) for m in found]
    refuse_twice("methods", content)
    return tuple(found)


def _check_settings(method: type, settings: Mapping[str, Any]) -> None:
    """Raise as the estimator's own ``fit`` would, but now."""
    known = [key for key in method().get_params() if key not in OF_RUN]
    for key in settings:
        if key in OF_RUN:
            raise ConfigError(
                f"settings of {method.__name__} cannot hold `{key}`: it is the same "
                "for all methods of a file, and has a key of its own there."
            )
    refuse_unknown(settings, known, f"settings of {method.__name__}")
    try:
        json.dumps(settings)
        method(**settings)._validate_params()
    except (TypeError, ValueError) as error:
        text = " ".join(str(error).split())
        raise ConfigError(f"settings of {method.__name__}: {text}") from None


def _named(method: str, settings: Mapping[str, Any]) -> str:
    said = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{method} ({said})" if said else method
