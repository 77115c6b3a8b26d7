"""Who takes part in a run: classes of synthesizers, the lowest floor, peers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skdpgen.benchmark._public_splits import ALL, PARTS
from skdpgen.benchmark._rivals import RIVALS
from skdpgen.benchmark.runs._config_checks import (
    check,
    check_choice,
    refuse_twice,
    refuse_unknown,
)
from skdpgen.benchmark.runs._frozen_cell import PUBLIC, REAL, UNIFORM
from skdpgen.synthesizers import all_synthesizers
from skdpgen.utils import ConfigError

OF_METHOD = ("class", "name", "settings", "public")
OF_RUN = ("epsilon", "delta", "schema", "classes", "adjacency", "random_state")
GIVEN = "public_data"


@dataclass(frozen=True)
class Method:
    """A class of synthesizers with settings, and how tables call it."""

    name: str
    method: str
    settings: dict[str, Any]
    public: str | None = None  # which public rows of a table it is given


def read_methods(given: list[Any], kind: str, adjacency: str) -> tuple[Method, ...]:
    """Check the methods of a file; ``kind`` is of its data, "tables" or "images"."""
    is_of_kind = all_synthesizers(kind)
    ours = {
        name: one
        for name, one in all_synthesizers().items()
        if name in is_of_kind or (kind in one._takes and one._needs_public_rows)
    }
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
        public = said.get("public")
        _check_public(ours.get(method), method, public, kind)
        if method in ours:
            _check_settings(ours[method], settings)
        elif method == UNIFORM:
            refuse_unknown(settings, (), f"settings of {UNIFORM}")
        name = said.get("name", _named(method, settings, public))
        is_name = isinstance(name, str) and name not in ("", REAL, PUBLIC)
        check(is_name, "name of a method", f"text other than {REAL!r}", name)
        found.append(Method(name, method, settings, public))
    refuse_twice("names of methods", [method.name for method in found])
    content = [
        json.dumps([m.method, m.settings, m.public], sort_keys=True) for m in found
    ]
    refuse_twice("methods", content)
    return tuple(found)


def _check_public(ours: Any, method: str, public: Any, kind: str) -> None:
    """Raise if a method is given public rows that it cannot read, or lacks them."""
    if public is None:
        if getattr(ours, "_needs_public_rows", False):
            raise ConfigError(
                f'{method} needs public rows: say public = "{ALL}" of it.'
            )
        return
    check_choice("public", public, PARTS if kind == "tables" else PARTS[:1])
    if ours is None or not ours._reads_public_rows:
        raise ConfigError(
            f"{method} cannot read public rows. Leave `public` out of it."
        )


def _check_settings(method: type, settings: Mapping[str, Any]) -> None:
    """Raise as the estimator's own ``fit`` would, but now."""
    not_here = (*OF_RUN, GIVEN)
    known = [key for key in method().get_params() if key not in not_here]
    for key in settings:
        if key == GIVEN:
            raise ConfigError(
                f"settings of {method.__name__} cannot hold `{GIVEN}`: say "
                f'public = "{ALL}" beside its settings, and of which file in `tables`.'
            )
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


def _named(method: str, settings: Mapping[str, Any], public: str | None) -> str:
    texts = [f"{key}={value}" for key, value in settings.items()]
    said = ", ".join([*texts, *([f"public rows: {public}"] if public else [])])
    return f"{method} ({said})" if said else method
