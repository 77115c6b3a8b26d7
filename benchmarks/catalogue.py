"""What runs of this repository may name: public tables, sets of images, and peers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.fit_costs import tabulate_costs
from benchmarks.image_sets import IMAGE_SETS, PUBLIC_SETS, measure_image_cell
from benchmarks.known_tables import MADE_UP, TABLES, read_split
from benchmarks.peers import METHODS
from benchmarks.public_splits import HALVES, PARTS, REGIONS, read_public_split
from benchmarks.superclasses import SUPERCLASSES, measure_superclass_cell
from skdpgen.benchmark import Catalogue, KnownTable

ROOT = Path(__file__).parents[1]


def _files(name: str) -> tuple[tuple[str, ...], ...]:
    return ((f"{name}.parquet", f"{name}.csv.gz"),)  # in the order of `read_split`


def _images(
    *names: str, measure: Callable[..., dict[str, Any]] = measure_image_cell
) -> KnownTable:
    return KnownTable(
        files=tuple((f"{name}.npz",) for name in names),
        measure=measure,
        has_public=len(names) > 1,
        has_seed=False,
    )


def _with_public(name: str, of: str) -> KnownTable:
    read = partial(_read_public_split, name)
    return KnownTable(read, _files(of), has_public=True, has_seed=False)


def _read_public_split(name: str, folder: str | Path, seed: int) -> Any:
    return read_public_split(name, folder)  # which has one split


def _tabulate(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the table of `python -m benchmarks fits`; None of other rows."""
    return tabulate_costs(rows) if any("axis" in row for row in rows) else None


KNOWN_TABLES = {
    name: KnownTable(
        partial(read_split, name),
        _files(name),
        has_seed=name != "adult",  # whose split is official
    )
    for name in TABLES
}
KNOWN_TABLES |= {name: _images(name) for name in IMAGE_SETS}
KNOWN_TABLES |= {name: _with_public(name, at.name) for name, at in REGIONS.items()}
KNOWN_TABLES |= {name: _with_public(name, whole) for name, whole in HALVES.items()}
KNOWN_TABLES |= {name: _images(*names) for name, names in PUBLIC_SETS.items()}
KNOWN_TABLES |= {
    name: _images(*superclass.names, measure=measure_superclass_cell)
    for name, superclass in SUPERCLASSES.items()
}
KNOWN_TABLES |= {name: KnownTable(partial(read_split, name)) for name in MADE_UP}

CATALOGUE = Catalogue(
    tables=KNOWN_TABLES,
    methods=METHODS,
    public_parts=PARTS,
    tabulate=_tabulate,
    module="benchmarks.catalogue",
    folder=str(ROOT),
)
