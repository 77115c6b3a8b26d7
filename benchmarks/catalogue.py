"""What runs of this repository may name: public tables, sets of images, and peers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.fit_costs import tabulate_costs
from benchmarks.image_sets import (
    IMAGE_SETS,
    PUBLIC_SETS,
    UNLABELLED,
    measure_image_cell,
    measure_unlabelled_cell,
)
from benchmarks.known_tables import MADE_UP, TABLES, read_split
from benchmarks.peers import METHODS
from benchmarks.public_splits import HALVES, PARTS, REGIONS, read_public_split
from benchmarks.superclasses import SUPERCLASSES, measure_superclass_cell
from skdpgen.benchmark import Catalogue, KnownTable

ROOT = Path(__file__).parents[1]


def _files(name: str) -> tuple[tuple[str, ...], ...]:
    return ((f"{name}.parquet", f"{name}.csv.gz"),)  # in the order of `read_split`


def _images(
    *names: str,
    measure: Callable[..., dict[str, Any]] = measure_image_cell,
    preset_data: str | None = None,
    has_public: bool | None = None,
) -> KnownTable:
    return KnownTable(
        files=tuple((f"{name}.npz",) for name in names),
        measure=measure,
        has_public=len(names) > 1 if has_public is None else has_public,
        has_seed=False,
        preset_data=preset_data or IN_PAPERS.get(names[0]),
    )


def _with_public(name: str, of: str) -> KnownTable:
    read = partial(_read_public_split, name)
    return KnownTable(read, _files(of), has_public=True, has_seed=False)


def _read_public_split(name: str, folder: str | Path, seed: int) -> Any:
    return read_public_split(name, folder)  # which has one split


def _tabulate(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the table of `python -m benchmarks fits`; None of other rows."""
    return tabulate_costs(rows) if any("axis" in row for row in rows) else None


# Names of the papers' data sets, for the settings of `preset = "paper"`.
IN_PAPERS = {
    "adult": "adult",
    "adult_thinned": "adult",
    "census_kdd": "census",
    "census_thinned": "census",
    "cervical": "cervical",
    "cervical_filled": "cervical",
    "cervical_thinned": "cervical",
    "creditcard_fraud_sample": "credit",
    "credit_without_time": "credit",
    "epileptic": "epileptic",
    "isolet": "isolet",
    "covtype_20k": "covtype",
    "covtype_thinned": "covtype",
    "kdd99_10pct": "intrusion",
    "kdd99_four_categories": "intrusion",
    "census_thinned_more": "census",
    "credit_thinned": "credit",
    "kdd99_five_categories": "intrusion",
    "mnist": "mnist",
    "fashion_mnist": "fashion_mnist",
    "cifar10_jpeg": "cifar10",
}
KNOWN_TABLES = {
    name: KnownTable(
        partial(read_split, name),
        _files(table.file or name),
        has_seed=name != "adult",  # whose split is official
        preset_data=IN_PAPERS.get(name),
    )
    for name, table in TABLES.items()
}
KNOWN_TABLES |= {name: _images(name) for name in IMAGE_SETS}
KNOWN_TABLES |= {
    name: _images(of, measure=measure_unlabelled_cell, preset_data=name)
    for name, of in UNLABELLED.items()
}
KNOWN_TABLES |= {name: _with_public(name, at.name) for name, at in REGIONS.items()}
KNOWN_TABLES |= {name: _with_public(name, whole) for name, whole in HALVES.items()}
KNOWN_TABLES |= {name: _images(*names) for name, names in PUBLIC_SETS.items()}
KNOWN_TABLES |= {
    name: _images(*superclass.names, measure=measure_superclass_cell, has_public=True)
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
