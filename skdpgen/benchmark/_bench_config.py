"""What to run, as a TOML file says it: checked at once, whole, before any work."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from skdpgen.benchmark._measure import DELTA
from skdpgen.benchmark._public_splits import ALL, WITH_PUBLIC
from skdpgen.benchmark._rivals import RIVALS
from skdpgen.benchmark.runs._bench_methods import Method, read_methods
from skdpgen.benchmark.runs._bench_sources import kind_of, read_sources
from skdpgen.benchmark.runs._config_checks import (
    check,
    check_choice,
    is_amount,
    is_whole,
    many,
    refuse_twice,
    refuse_unknown,
)
from skdpgen.benchmark.runs._frozen_cell import PUBLIC, REAL, Cell, Source
from skdpgen.benchmark.runs._own_table import digest
from skdpgen.benchmark.runs._printed import Printed, read_printed
from skdpgen.metrics import SyntheticUtility
from skdpgen.utils import ConfigError

KEYS = {
    "name": None,  # the name of the file
    "tables": None,  # required
    "methods": None,  # METHODS, by what the tables are
    "epsilons": [1.0],
    "releases": 3,
    "delta": DELTA,
    "adjacency": "replace",
    "schema": "discovered",
    "protocol": "modern",
    "classifiers": None,  # all of them
    "real": True,
    "limit": None,  # seconds
    "printed": {},
}
METHODS = {
    "tables": ["DPIndependentSynthesizer", "DPPairwiseSynthesizer"],
    "images": ["DPMGESynthesizer", "DPMERFSynthesizer"],
}
PUBLIC_METHODS = [  # of one table that has public rows
    *METHODS["tables"],
    {"class": "DPPairwiseSynthesizer", "public": ALL},
    {"class": "DPDRESynthesizer", "public": ALL},
]
CHOICES = {
    "adjacency": ("replace", "add_remove"),
    "schema": ("discovered", "public"),
    "protocol": ("modern", "paper"),
}


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
        Whether to train the models on real rows, too: the ceiling; and on public ones
        as they are, where a table has some.
    limit : float or None
        Seconds after which a cell is given up, whatever its method.
    printed : mapping
        What papers print: texts by table, name of a method, and epsilon or None.

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
    limit: float | None
    printed: Printed

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
        limit = said["limit"]
        check(limit is None or is_amount(limit), "limit", "a number of seconds", limit)
        utility = _utility(said["protocol"], said["classifiers"])
        sources = read_sources(many("tables", said["tables"]), Path(folder))
        kind = kind_of(sources)
        methods = METHODS[kind] if said["methods"] is None else said["methods"]
        methods = read_methods(many("methods", methods), kind, said["adjacency"])
        _check_public(sources, methods)
        return cls(
            name=name,
            sources=sources,
            methods=methods,
            epsilons=_epsilons(many("epsilons", said["epsilons"]), methods),
            releases=said["releases"],
            delta=said["delta"] if said["delta"] == "auto" else float(said["delta"]),
            adjacency=said["adjacency"],
            schema=said["schema"],
            protocol=utility.protocol,
            classifiers=utility.classifiers,
            real=said["real"],
            limit=limit,
            printed=read_printed(
                said["printed"],
                [source.label for source in sources],
                [method.name for method in methods],
            ),
        )

    def cells(self, data: str | Path = ".") -> list[tuple[str, Cell]]:
        """Return each cell after the name of its method; raise if a table is absent."""
        found = []
        for source in self.sources:
            shared = {
                "source": source,
                "data": digest(source, data),
                "protocol": self.protocol,
                "classifiers": self.classifiers,
            }
            if self.real:
                found.append((REAL, Cell(method=REAL, **shared)))
            if self.real and source.has_public:
                found.append((PUBLIC, Cell(method=PUBLIC, **shared)))
            asked = product(self.epsilons, self.methods, range(self.releases))
            for epsilon, method, release in asked:
                cell = Cell(
                    method=method.method,
                    settings=method.settings,
                    public=method.public,
                    epsilon=epsilon,
                    release=release,
                    delta=self.delta,
                    adjacency=self.adjacency,
                    schema=None if source.is_images else self.schema,
                    **shared,
                )
                found.append((method.name, cell))
        return found


def _check_public(sources: tuple[Source, ...], methods: tuple[Method, ...]) -> None:
    """Raise if a method wants public rows that a table has not."""
    wants = [method.name for method in methods if method.public]
    lacks = [source.name for source in sources if not source.has_public]
    if wants and lacks:
        raise ConfigError(
            f"{wants[0]} is to be given public rows, and {lacks[0]} has none. Say "
            '{path = "mine.csv", target = "y", public = "theirs.csv"}, or a table of '
            f"{', '.join(WITH_PUBLIC)}."
        )


def _epsilons(given: list[Any], methods: tuple[Method, ...]) -> tuple[float, ...]:
    peers = [method.name for method in methods if method.method in RIVALS]
    for one in given:
        is_right = is_amount(one) or one == math.inf
        check(is_right, "epsilons", "numbers above 0; inf is without noise", one)
        if peers and one == math.inf:
            raise ConfigError(f"{peers[0]} knows no run without noise: leave inf out.")
    refuse_twice("epsilons", [f"{one:g}" for one in given])
    return tuple(map(float, given))


def _utility(protocol: str, classifiers: Any) -> SyntheticUtility:
    names = None if classifiers is None else many("classifiers", classifiers)
    try:
        return SyntheticUtility(protocol=protocol, classifiers=names)
    except (TypeError, ValueError) as error:
        raise ConfigError(" ".join(str(error).split())) from None
