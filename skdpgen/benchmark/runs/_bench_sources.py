"""The tables of a run: known by their names, or files of the user's."""

from pathlib import Path
from typing import Any

from skdpgen.benchmark.runs._config_checks import (
    check,
    check_choice,
    is_whole,
    refuse_twice,
    refuse_unknown,
)
from skdpgen.benchmark.runs._frozen_cell import Source
from skdpgen.benchmark.runs._own_table import check_name
from skdpgen.utils import ConfigError

OF_KNOWN = ("name", "rows", "seed")
OF_FILE = ("path", "target", *OF_KNOWN, "task", "public")
TASKS = ("auto", "classification", "regression")
FORMS = "names, {name, rows}, or {path, target}"


def read_sources(given: list[Any], folder: Path) -> tuple[Source, ...]:
    """Check the tables of a file; paths are relative to its folder."""
    found = [_source(one, folder) for one in given]
    refuse_twice("tables", [source.label for source in found])
    return tuple(found)


def kind_of(sources: tuple[Source, ...]) -> str:
    """Return what all tables are, since methods and scores go by it."""
    kinds = {"images" if source.is_images else "tables" for source in sources}
    if len(kinds) > 1:
        raise ConfigError(
            "`tables` must be tables only, or sets of images only. Got both: make a "
            "file for each."
        )
    return kinds.pop()


def _source(one: Any, folder: Path) -> Source:
    said = {"name": one} if isinstance(one, str) else one
    check(isinstance(said, dict), "tables", FORMS, one)
    is_known = "path" not in said and "target" not in said
    refuse_unknown(said, OF_KNOWN if is_known else OF_FILE, "a table")
    seed, rows = said.get("seed", 0), said.get("rows")
    check(is_whole(seed, 0), "seed", "0, 1, ...", seed)
    check(rows is None or is_whole(rows, 1), "rows", "1, 2, ...", rows)
    if is_known:
        check("name" in said, "tables", FORMS, one)
        check_name(said["name"])
        source = Source(**said)
        if seed and (source.is_images or source.has_public or source.name == "adult"):
            raise ConfigError(f"{source.name} has one split: leave its seed out.")
        return source
    for key in ("path", "target"):
        check(
            isinstance(said.get(key), str), f"{key} of a table", "text", said.get(key)
        )
    check_choice("task", said.get("task", "auto"), TASKS)
    path = folder / said["path"]
    name = said.get("name", path.name.partition(".")[0])
    check(isinstance(name, str) and name, "name of a table", "text", name)
    read = {"path": str(path.absolute()), "name": name}
    public = said.get("public")
    if public is not None:
        check(isinstance(public, str), "public of a table", "a file", public)
        read["public"] = str((folder / public).absolute())
    return Source(**said | read)
