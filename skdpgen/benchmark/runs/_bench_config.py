"""What to run, as a TOML file says it: checked at once, whole, before any work."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from skdpgen.benchmark._measure import DELTA
from skdpgen.benchmark.runs._config_checks import (
    check,
    check_choice,
    is_amount,
    is_whole,
    many,
    refuse_twice,
    refuse_unknown,
)
from skdpgen.benchmark.runs._frozen_cell import REAL, Cell, Source
from skdpgen.benchmark.runs._own_table import check_name, digest, file_of
from skdpgen.metrics import SyntheticUtility
from skdpgen.synthesizers import all_synthesizers
from skdpgen.utils import ConfigError

KEYS = {
    "name": None,  # the name of the file
    "tables": None,  # required
    "methods": ["DPIndependentSynthesizer", "DPPairwiseSynthesizer"],
    "epsilons": [1.0],
    "releases": 3,
    "delta": DELTA,
    "adjacency": "replace",
    "schema": "discovered",
    "protocol": "modern",
    "classifiers": None,  # all of them
    "real": True,
}
OF_TABLE = ("path", "target", "name", "seed", "task")
OF_METHOD = ("class", "name", "settings")
OF_RUN = ("epsilon", "delta", "schema", "classes", "adjacency", "random_state")
CHOICES = {
    "adjacency": ("replace", "add_remove"),
    "schema": ("discovered", "public"),
    "protocol": ("modern", "paper"),
}
TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class Method:
    """A class of synthesizers with settings, and how tables call it."""

    name: str
    method: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class BenchConfig:
    """A product of tables, methods, epsilons and releases.

    Parameters
    ----------
    name : str
        Of the run: its folder, its mark in a page.
    sources : tuple of Source
    methods : tuple of Method
    epsilons, releases, delta, adjacency, schema : of every guarantee
    protocol, classifiers : of :class:`~skdpgen.metrics.SyntheticUtility`
    real : bool
        Whether to train the models on real rows, too: the ceiling.

    Examples
    --------
    >>> config = BenchConfig.from_dict({"tables": ["adult"], "epsilons": [1, 3]})
    >>> config.name, config.releases, [method.name for method in config.methods]
    ('bench', 3, ['DPIndependentSynthesizer', 'DPPairwiseSynthesizer'])
    """

    name: str
    sources: tuple[Source, ...]
    methods: tuple[Method, ...]
    epsilons: tuple[float, ...]
    releases: int
    delta: float | str
    adjacency: str
    schema: str
    protocol: str
    classifiers: tuple[str, ...] | None
    real: bool

    @classmethod
    def load(cls, path: str | Path) -> "BenchConfig":
        """Read a TOML file; paths in it are relative to its folder."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} is no TOML: {error}.") from None
        return cls.from_dict({"name": path.stem} | content, path.parent)

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], folder: str | Path = "."
    ) -> "BenchConfig":
        """Check what a file holds; raise :exc:`~skdpgen.utils.ConfigError` of it."""
        refuse_unknown(content, KEYS, "the file")
        said = KEYS | {"name": "bench"} | dict(content)
        name = said["name"]
        check(
            isinstance(name, str) and name == Path(name).name and name not in "..",
            "name",
            "a name for a folder",
            name,
        )
        for key in ("adjacency", "schema", "protocol"):
            check_choice(key, said[key], CHOICES[key])
        check(is_whole(said["releases"], 1), "releases", "1, 2, ...", said["releases"])
        check(isinstance(said["real"], bool), "real", "true or false", said["real"])
        is_share = is_amount(said["delta"]) and said["delta"] < 1
        is_delta = said["delta"] == "auto" or is_share
        check(is_delta, "delta", 'between 0 and 1, or "auto"', said["delta"])
        utility = _utility(said["protocol"], said["classifiers"])
        return cls(
            name=name,
            sources=_sources(many("tables", said["tables"]), Path(folder)),
            methods=_methods(many("methods", said["methods"])),
            epsilons=_epsilons(many("epsilons", said["epsilons"])),
            releases=said["releases"],
            delta=said["delta"] if said["delta"] == "auto" else float(said["delta"]),
            adjacency=said["adjacency"],
            schema=said["schema"],
            protocol=utility.protocol,
            classifiers=utility.classifiers,
            real=said["real"],
        )

    def cells(self, data: str | Path = ".") -> list[tuple[str, Cell]]:
        """Return each cell after the name of its method; raise if a table is absent."""
        found = []
        for source in self.sources:
            shared = {
                "source": source,
                "data": digest(file_of(source, data)),
                "protocol": self.protocol,
                "classifiers": self.classifiers,
            }
            if self.real:
                found.append((REAL, Cell(method=REAL, **shared)))
            asked = product(self.epsilons, self.methods, range(self.releases))
            for epsilon, method, release in asked:
                cell = Cell(
                    method=method.method,
                    settings=method.settings,
                    epsilon=epsilon,
                    release=release,
                    delta=self.delta,
                    adjacency=self.adjacency,
                    schema=self.schema,
                    **shared,
                )
                found.append((method.name, cell))
        return found


def _sources(given: list[Any], folder: Path) -> tuple[Source, ...]:
    found = []
    for one in given:
        if isinstance(one, str):
            check_name(one)
            found.append(Source(one))
            continue
        check(isinstance(one, dict), "tables", "names, or {path, target}", one)
        refuse_unknown(one, OF_TABLE, "a table")
        for key in ("path", "target"):
            is_text = isinstance(one.get(key), str)
            check(is_text, f"{key} of a table", "text", one.get(key))
        check_choice("task", one.get("task", "auto"), TASKS)
        seed = one.get("seed", 0)
        check(is_whole(seed, 0), "seed", "0, 1, ...", seed)
        path = folder / one["path"]
        name = one.get("name", path.name.partition(".")[0])
        check(isinstance(name, str) and name, "name of a table", "text", name)
        said = {"path": str(path.absolute()), "name": name}
        found.append(Source(**one | said))
    refuse_twice("tables", [source.name for source in found])
    return tuple(found)


def _methods(given: list[Any]) -> tuple[Method, ...]:
    known = all_synthesizers("tables")
    found = []
    for one in given:
        said = {"class": one} if isinstance(one, str) else one
        check(isinstance(said, dict), "methods", "names, or {class, settings}", one)
        refuse_unknown(said, OF_METHOD, "a method")
        method, settings = said.get("class"), said.get("settings", {})
        is_known = isinstance(method, str) and method in known
        check(is_known, "methods", f"among {', '.join(known)}", method)
        check(isinstance(settings, dict), "settings", "{parameter = value}", settings)
        _check_settings(known[method], settings)
        name = said.get("name", _named(method, settings))
        is_name = isinstance(name, str) and name not in ("", REAL)
        check(is_name, "name of a method", f"text other than {REAL!r}", name)
        found.append(Method(name, method, settings))
    refuse_twice("names of methods", [method.name for method in found])
    content = [json.dumps([m.method, m.settings], sort_keys=True) for m in found]
    refuse_twice("methods", content)
    return tuple(found)


def _check_settings(method: type, settings: dict[str, Any]) -> None:
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


def _named(method: str, settings: dict[str, Any]) -> str:
    said = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{method} ({said})" if said else method


def _epsilons(given: list[Any]) -> tuple[float, ...]:
    for one in given:
        check(is_amount(one), "epsilons", "finite numbers above 0", one)
    refuse_twice("epsilons", [f"{one:g}" for one in given])
    return tuple(map(float, given))


def _utility(protocol: str, classifiers: Any) -> SyntheticUtility:
    names = None if classifiers is None else many("classifiers", classifiers)
    try:
        return SyntheticUtility(protocol=protocol, classifiers=names)
    except (TypeError, ValueError) as error:
        raise ConfigError(" ".join(str(error).split())) from None
