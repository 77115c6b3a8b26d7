"""The configuration of a benchmark, read from TOML and checked before any work."""

import json
import math
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from skdpgen.benchmark._cells import (
    ALL,
    DELTA,
    PUBLIC,
    REAL,
    Catalogue,
    Cell,
    KnownTable,
    OtherMethod,
    Source,
)
from skdpgen.benchmark._measure_cell import with_settings
from skdpgen.benchmark._own_table import digest
from skdpgen.exceptions import (
    ConfigError,
)
from skdpgen.metrics import PROTOCOLS, SyntheticUtility
from skdpgen.synthesizers import all_synthesizers
from skdpgen.synthesizers.base import parameter_names

DEFAULTS_BY_KEY: dict[str, Any] = {
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
    "sdmetrics": False,
    "limit": None,  # seconds
    "n_samples": None,  # of images, for models; 10,000
    "n_compared": None,  # of images, for FID; 5,000
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
    "protocol": PROTOCOLS,
}
OF_KNOWN = (
    "name",
    "rows",
    "seed",
    "stratum",
    "rules",
)  # keys of a table of the catalogue
OF_FILE = ("path", "target", *OF_KNOWN, "task", "public")
TASKS = ("auto", "classification", "regression")
FORMS = "names, {name, rows}, or {path, target}"
OF_METHOD = ("class", "name", "settings", "public")
OF_RUN = ("epsilon", "delta", "schema", "classes", "adjacency", "random_state")
PUBLIC_PARAMETER = "public_data"
Printed = Mapping[tuple[str, str, float | None], str]


@dataclass(frozen=True)
class Method:
    """A class of synthesizers with settings, and how tables call it."""

    name: str
    method: str
    settings: dict[str, Any]
    public: str | None = None  # which public rows of a table it is given


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
    sdmetrics : bool
        Whether to compute SDMetrics' score, by the Python of a variable.
    limit : float or None
        Seconds after which a cell is given up, whatever its method.
    n_samples, n_compared : int or None
        Of images: how many are drawn for the models, and how many are compared with
        real ones; None is 10,000 and 5,000.
    printed : mapping
        What papers print: texts by table, name of a method, and epsilon or None.
    catalogue : Catalogue
        Tables and methods that the file may name beside files and our classes.

    Examples
    --------
    >>> table = {"path": "mine.csv", "target": "y"}
    >>> config = BenchConfig.from_dict({"tables": [table], "epsilons": [1, 3]})
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
    sdmetrics: bool
    limit: float | None
    n_samples: int | None
    n_compared: int | None
    printed: Printed
    catalogue: Catalogue = field(default_factory=Catalogue, repr=False)

    @classmethod
    def load(
        cls, path: str | Path, catalogue: Catalogue | None = None
    ) -> "BenchConfig":
        """Read a TOML file; paths in it are relative to its folder."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} is no TOML: {error}.") from None
        return cls.from_dict({"name": path.stem} | content, path.parent, catalogue)

    @classmethod
    def from_dict(
        cls,
        content: Mapping[str, Any],
        folder: str | Path = ".",
        catalogue: Catalogue | None = None,
    ) -> "BenchConfig":
        """Check the content of a file; raise :exc:`~skdpgen.utils.ConfigError`."""
        catalogue = catalogue or Catalogue()
        _refuse_unknown(content, DEFAULTS_BY_KEY, "the file")
        values = DEFAULTS_BY_KEY | {"name": "bench"} | dict(content)
        name = values["name"]
        _check(
            isinstance(name, str) and name == Path(name).name and name not in "..",
            "name",
            "a name for a folder",
            name,
        )
        for key in ("adjacency", "schema", "protocol"):
            _check_choice(key, values[key], CHOICES[key])
        _check(
            _is_whole(values["releases"], 1),
            "releases",
            "1, 2, ...",
            values["releases"],
        )
        for key in ("real", "sdmetrics"):
            _check(isinstance(values[key], bool), key, "true or false", values[key])
        is_share = _is_amount(values["delta"]) and values["delta"] < 1
        is_delta = values["delta"] == "auto" or is_share
        _check(is_delta, "delta", 'between 0 and 1, or "auto"', values["delta"])
        limit = values["limit"]
        _check(
            limit is None or _is_amount(limit), "limit", "a number of seconds", limit
        )
        utility = _utility(values["protocol"], values["classifiers"])
        sources = _read_sources(
            _non_empty("tables", values["tables"]), Path(folder), catalogue
        )
        kind = _kind_of(sources)
        for key in ("n_samples", "n_compared"):
            number = values[key]
            is_right = number is None or (kind == "images" and _is_whole(number, 2))
            _check(is_right, key, "2, 3, ..., and of images alone", number)
        if values["sdmetrics"] and kind == "images":
            raise ConfigError("`sdmetrics` is a score of tables: leave it out.")
        methods = METHODS[kind] if values["methods"] is None else values["methods"]
        methods = _read_methods(
            _non_empty("methods", methods), kind, values["adjacency"], catalogue
        )
        _check_public_rows(sources, methods, catalogue)
        return cls(
            name=name,
            sources=sources,
            methods=methods,
            epsilons=_epsilons(
                _non_empty("epsilons", values["epsilons"]), methods, catalogue
            ),
            releases=values["releases"],
            delta=values["delta"]
            if values["delta"] == "auto"
            else float(values["delta"]),
            adjacency=values["adjacency"],
            schema=values["schema"],
            protocol=utility.protocol,
            classifiers=None
            if utility.classifiers is None
            else tuple(utility.classifiers),
            real=values["real"],
            sdmetrics=values["sdmetrics"],
            limit=limit,
            n_samples=values["n_samples"],
            n_compared=values["n_compared"],
            printed=_read_printed(
                values["printed"],
                [source.label for source in sources],
                [method.name for method in methods],
            ),
            catalogue=catalogue,
        )

    def cells(self, data: str | Path = ".") -> list[tuple[str, Cell]]:
        """Return each cell after the name of its method; raise if a table is absent."""
        cells = []
        for source in self.sources:
            shared: dict[str, Any] = {
                "source": source,
                "data": digest(source, data),
                "protocol": self.protocol,
                "classifiers": self.classifiers,
                "n_samples": self.n_samples,
                "n_compared": self.n_compared,
                "sdmetrics": self.sdmetrics or None,
            }
            if self.real:
                cells.append((REAL, Cell(method=REAL, **shared)))
            if self.real and source.has_public:
                cells.append((PUBLIC, Cell(method=PUBLIC, **shared)))
            fits = product(self.epsilons, self.methods, range(self.releases))
            for epsilon, method, release in fits:
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
                cells.append((method.name, cell))
        return cells


def printed_of(printed: Printed, row: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return the column of a row, or nothing."""
    for epsilon in (row["epsilon"], None):
        text = printed.get((row["table"], name, epsilon))
        if text is not None:
            return {"printed": text}
    return {}


def _read_sources(
    entries: list[Any], folder: Path, catalogue: Catalogue
) -> tuple[Source, ...]:
    """Check the tables of a file; paths are relative to its folder."""
    sources = [_source(entry, folder, catalogue) for entry in entries]
    _refuse_twice("tables", [source.label for source in sources])
    return tuple(sources)


def _kind_of(sources: tuple[Source, ...]) -> str:
    """Return "images" or "tables": methods and scores differ between them."""
    kinds = {"images" if source.is_images else "tables" for source in sources}
    if len(kinds) > 1:
        raise ConfigError(
            "`tables` must be tables only, or sets of images only. Got both: make a "
            "file for each."
        )
    return kinds.pop()


def _source(entry: Any, folder: Path, catalogue: Catalogue) -> Source:
    settings = {"name": entry} if isinstance(entry, str) else entry
    _check(isinstance(settings, dict), "tables", FORMS, entry)
    is_known = "path" not in settings and "target" not in settings
    _refuse_unknown(settings, OF_KNOWN if is_known else OF_FILE, "a table")
    seed, rows = settings.get("seed", 0), settings.get("rows")
    _check(_is_whole(seed, 0), "seed", "0, 1, ...", seed)
    _check(rows is None or _is_whole(rows, 1), "rows", "1, 2, ...", rows)
    stratum, rules = settings.get("stratum"), settings.get("rules")
    _check(stratum is None or isinstance(stratum, str), "stratum", "a column", stratum)
    is_texts = isinstance(rules, dict) and all(
        isinstance(rule, str) for rule in rules.values()
    )
    _check(rules is None or is_texts, "rules", "{name = text}", rules)
    if is_known:
        _check("name" in settings, "tables", FORMS, entry)
        table = _known_table(settings["name"], catalogue)
        source = Source(**settings, known=table)
        if seed and not table.has_seed:
            raise ConfigError(f"{source.name} has one split: leave its seed out.")
        return source
    for key in ("path", "target"):
        _check(
            isinstance(settings.get(key), str),
            f"{key} of a table",
            "text",
            settings.get(key),
        )
    _check_choice("task", settings.get("task", "auto"), TASKS)
    path = folder / settings["path"]
    name = settings.get("name", path.name.partition(".")[0])
    _check(isinstance(name, str) and name, "name of a table", "text", name)
    paths = {"path": str(path.absolute()), "name": name}
    public = settings.get("public")
    if public is not None:
        _check(isinstance(public, str), "public of a table", "a file", public)
        paths["public"] = str((folder / public).absolute())
    return Source(**settings | paths)


def _known_table(name: Any, catalogue: Catalogue) -> KnownTable:
    """Return a table of the catalogue, or raise."""
    if isinstance(name, str) and name in catalogue.tables:
        return catalogue.tables[name]
    if not catalogue.tables:
        raise ConfigError(
            'Tables must be files as {path = "mine.csv", target = "y"}; only '
            "`python -m benchmarks run`, in the repository, knows public ones by name. "
            f"Got {name!r}."
        )
    raise ConfigError(
        f"Tables must be among {', '.join(catalogue.tables)}, or files as "
        f'{{path = "mine.csv", target = "y"}}. Got {name!r}.'
    )


def _read_methods(
    entries: list[Any], kind: str, adjacency: str, catalogue: Catalogue
) -> tuple[Method, ...]:
    """Check the methods of a file; ``kind`` is of its data, "tables" or "images"."""
    is_of_kind = all_synthesizers(kind)
    classes = {
        name: cls
        for name, cls in all_synthesizers().items()
        if name in is_of_kind or (kind in cls._takes and cls._needs_public_rows)
    }
    other_methods = catalogue.methods if kind == "tables" else {}
    names = [*classes, *other_methods]
    methods = []
    for entry in entries:
        keys: Any = {"class": entry} if isinstance(entry, str) else entry
        is_table = isinstance(keys, dict)
        _check(is_table, "methods", "names, or {class, settings}", entry)
        _refuse_unknown(keys, OF_METHOD, "a method")
        method, settings = keys.get("class"), keys.get("settings", {})
        is_known = isinstance(method, str) and method in names
        _check(is_known, "methods", f"among {', '.join(names)}", method)
        _check(isinstance(settings, dict), "settings", "{parameter = value}", settings)
        public = keys.get("public")
        public_parts = list(catalogue.public_parts) if kind == "tables" else [ALL]
        _check_public_part(classes.get(method), method, public, public_parts)
        if method in classes:
            _check_settings(classes[method], settings, kind)
        else:
            _check_other(other_methods[method], method, settings, adjacency)
        name = keys.get("name", _default_name(method, settings, public))
        is_name = isinstance(name, str) and name not in ("", REAL, PUBLIC)
        _check(is_name, "name of a method", f"text other than {REAL!r}", name)
        methods.append(Method(name, method, settings, public))
    _refuse_twice("names of methods", [method.name for method in methods])
    content = [
        json.dumps([m.method, m.settings, m.public], sort_keys=True) for m in methods
    ]
    _refuse_twice("methods", content)
    return tuple(methods)


def _check_public_part(
    cls: Any, method: str, public: str | None, names: list[str]
) -> None:
    """Raise if a method is given public rows that it cannot read, or lacks them."""
    if public is None:
        if getattr(cls, "_needs_public_rows", False):
            raise ConfigError(
                f'{method} needs public rows: say public = "{ALL}" of it.'
            )
        return
    _check_choice("public", public, names)
    if cls is None or not cls._reads_public_rows:
        raise ConfigError(
            f"{method} cannot read public rows. Leave `public` out of it."
        )


def _check_other(
    other: OtherMethod, name: str, settings: Mapping[str, Any], adjacency: str
) -> None:
    """Raise if a method of the catalogue cannot be run with these settings."""
    if other.adjacency not in (None, adjacency):
        raise ConfigError(
            f'{name} promises "{other.adjacency}" alone: say adjacency = '
            f'"{other.adjacency}", which then is of all methods of the file.'
        )
    if not other.takes_settings:
        _refuse_unknown(settings, (), f"settings of {name}")


def _check_settings(method: type, settings: Mapping[str, Any], kind: str) -> None:
    """Raise as the estimator's own ``fit`` would, but now."""
    parameters = [key for key in parameter_names(method()) if key not in OF_RUN]
    if hasattr(method, "from_preset"):
        parameters += ["preset", "preset_data"]
    for key in settings:
        if key == PUBLIC_PARAMETER:
            raise ConfigError(
                f"settings of {method.__name__} cannot hold `{PUBLIC_PARAMETER}`: say "
                f'public = "{ALL}" beside its settings, and of which file in `tables`.'
            )
        if key in OF_RUN:
            raise ConfigError(
                f"settings of {method.__name__} cannot hold `{key}`: it is the same "
                "for all methods of a file, and has a key of its own there."
            )
    _refuse_unknown(settings, parameters, f"settings of {method.__name__}")
    try:
        json.dumps(settings)
        data = "images" if kind == "images" else "table"
        with_settings(method, settings, data)._validate_params()
    except (TypeError, ValueError) as error:
        text = " ".join(str(error).split())
        raise ConfigError(f"settings of {method.__name__}: {text}") from None


def _default_name(method: str, settings: Mapping[str, Any], public: str | None) -> str:
    texts = [f"{key}={value}" for key, value in settings.items()]
    details = ", ".join([*texts, *([f"public rows: {public}"] if public else [])])
    return f"{method} ({details})" if details else method


def _check_public_rows(
    sources: tuple[Source, ...], methods: tuple[Method, ...], catalogue: Catalogue
) -> None:
    """Raise if a method needs public rows and a table has none."""
    with_public = [method.name for method in methods if method.public]
    without_public = [source.name for source in sources if not source.has_public]
    if with_public and without_public:
        named = [name for name, table in catalogue.tables.items() if table.has_public]
        alternative = f", or a table of {', '.join(named)}" if named else ""
        raise ConfigError(
            f"{with_public[0]} is to be given public rows, and {without_public[0]} has "
            'none. Say {path = "mine.csv", target = "y", public = "theirs.csv"}'
            f"{alternative}."
        )


def _epsilons(
    values: list[Any], methods: tuple[Method, ...], catalogue: Catalogue
) -> tuple[float, ...]:
    other_methods = catalogue.methods
    noisy = [
        method.name
        for method in methods
        if method.method in other_methods
        and not other_methods[method.method].takes_infinity
    ]
    for epsilon in values:
        is_right = _is_amount(epsilon) or epsilon == math.inf
        _check(is_right, "epsilons", "numbers above 0; inf is without noise", epsilon)
        if noisy and epsilon == math.inf:
            raise ConfigError(f"{noisy[0]} knows no run without noise: leave inf out.")
    _refuse_twice("epsilons", [f"{epsilon:g}" for epsilon in values])
    return tuple(map(float, values))


def _utility(protocol: str, classifiers: Any) -> SyntheticUtility:
    names = (
        None if classifiers is None else tuple(_non_empty("classifiers", classifiers))
    )
    try:
        return SyntheticUtility(protocol=protocol, classifiers=names)
    except (TypeError, ValueError) as error:
        raise ConfigError(" ".join(str(error).split())) from None


def _read_printed(
    printed_tables: Any, tables: Collection[str], methods: Collection[str]
) -> dict[tuple[str, str, float | None], str]:
    """Check ``[printed.TABLE]``: a text of each method, or one for each epsilon.

    A text that names no epsilon holds for all of them, under the key None.

    Examples
    --------
    >>> texts = {"a": {"real": ".9", "b": {"0.2": ".6", "1": ".7"}}}
    >>> _read_printed(texts, ["a"], ["b"])
    {('a', 'real', None): '.9', ('a', 'b', 0.2): '.6', ('a', 'b', 1.0): '.7'}
    """
    _check(
        isinstance(printed_tables, dict),
        "printed",
        "{table = {method = text}}",
        printed_tables,
    )
    _refuse_unknown(printed_tables, tables, "`printed`")
    printed: dict[tuple[str, str, float | None], str] = {}
    for table, texts in printed_tables.items():
        _check(isinstance(texts, dict), "printed", "{method = text}", texts)
        _refuse_unknown(texts, [REAL, PUBLIC, *methods], f"`printed` of {table}")
        for method, text in texts.items():
            by_epsilon = text if isinstance(text, dict) else {None: text}
            for epsilon, cell_text in by_epsilon.items():
                is_text = isinstance(cell_text, str) and _is_number(epsilon)
                _check(
                    is_text, f"printed of {method}", "a text, or {epsilon = text}", text
                )
                at = None if epsilon is None else float(epsilon)
                printed[table, method, at] = cell_text
    return printed


def _is_number(epsilon: str | None) -> bool:
    try:
        return epsilon is None or float(epsilon) > 0
    except ValueError:
        return False


def _non_empty(key: str, values: Any) -> list[Any]:
    """Return a list; raise if it is empty or no list."""
    is_list = isinstance(values, list | tuple) and len(values) > 0
    _check(is_list, key, "a list of one or more", values)
    return list(values)


def _is_amount(value: Any) -> bool:
    """Return whether a value is a finite number above 0."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value < math.inf


def _is_whole(value: Any, least: int) -> bool:
    """Return whether a value is an integer of at least ``least``."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number and value >= least


def _check(is_right: Any, key: str, requirement: str, value: Any) -> None:
    """Raise unless a condition holds: name the key, the requirement and the value."""
    if not is_right:
        raise ConfigError(f"`{key}` must be {requirement}. Got {value!r} instead.")


def _check_choice(key: str, value: Any, choices: Iterable[str]) -> None:
    """Raise unless a value is one of the choices."""
    is_choice = isinstance(value, str) and value in choices
    _check(is_choice, key, f"one of {', '.join(choices)}", value)


def _refuse_unknown(
    mapping: Mapping[str, Any], allowed: Collection[str], where: str
) -> None:
    """Raise if a mapping has keys that are not allowed."""
    unknown = [str(key) for key in mapping if key not in allowed]
    if unknown:
        raise ConfigError(
            f"Unknown in {where}: {', '.join(unknown)}. Known are {', '.join(allowed)}."
        )


def _refuse_twice(key: str, names: list[str]) -> None:
    """Raise if a name occurs more than once."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"`{key}` must differ. Got {', '.join(twice)} twice.")
