"""The cells of a run: a table, a method, and all settings that decide the results.

A cell is one release of one method on one table. A run names tables by their files; a
:class:`Catalogue` adds tables and methods that it may name by a word.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REAL = "real"  # the method that trains on real rows: the ceiling
PUBLIC = "public rows"  # the method that trains on these as they are
ALL, NO_LABELS = "all", "without labels"  # which public rows a method is given
DELTA = 1e-5  # default of a run, for any number of rows
NOT_PRIVATE = (
    "NOT PRIVATE: scores, distances, numbers of rows, seconds and memory were computed "
    "from real rows without noise. Where the rows are private, do not publish them."
)
OWN_PARTS = {ALL: lambda public: public, NO_LABELS: lambda public: public[0]}
FINGERPRINTS = ("cell", "data")  # columns computed from every byte of a table
LENGTH = 16  # of a key: 64 bits, for some thousands of cells


@dataclass(frozen=True)
class KnownTable:
    """A table that a run may name by a word, or a set of images.

    Parameters
    ----------
    read : callable or None
        Takes a folder and a seed of the split; returns the rows. None of images.
    files : tuple of tuple of str
        Names of its files in the folder, public rows last, and of each file the names
        to try in turn. Empty if the table is made when it is read.
    measure : callable or None
        Returns the row of a cell, as :func:`measure_cell` does for tables: for images.
    has_public, has_seed : bool
        Whether it has public rows beside those to protect; whether a seed decides the
        split.
    preset_data : str or None
        Its name in the papers: a preset has the settings of that data set, where the
        paper of the method has it.
    """

    read: Callable[[str | Path, int], Any] | None = None
    files: tuple[tuple[str, ...], ...] = ()
    measure: Callable[..., dict[str, Any]] | None = None
    has_public: bool = False
    has_seed: bool = True
    preset_data: str | None = None


@dataclass(frozen=True)
class OtherMethod:
    """A method of tables that is no class of this package.

    Parameters
    ----------
    make : callable
        Takes a cell and the number of rows; returns what makes a synthesizer when it is
        given the guarantee.
    adjacency : str or None
        The only one that it knows; None if it knows all.
    takes_settings, takes_infinity : bool
        Whether it has settings, and whether it can run without noise.
    """

    make: Callable[["Cell", int], Callable[..., Any]]
    adjacency: str | None = None
    takes_settings: bool = True
    takes_infinity: bool = True


@dataclass(frozen=True)
class Catalogue:
    """Tables and methods that a run may name, besides files and our own methods.

    Parameters
    ----------
    tables : mapping of str to KnownTable
    methods : mapping of str to OtherMethod
    public_parts : mapping of str to callable
        Which public rows a method may be given: each takes them all and returns some.
    tabulate : callable
        Takes stored rows; returns their table in Markdown, or None if it is like that
        of other rows.
    module : str or None
        Module that has this value as ``CATALOGUE``: the process of a cell imports it.
    folder : str or None
        Where that module is found.
    """

    tables: Mapping[str, KnownTable] = field(default_factory=dict)
    methods: Mapping[str, OtherMethod] = field(default_factory=dict)
    public_parts: Mapping[str, Callable[[Any], Any]] = field(
        default_factory=lambda: dict(OWN_PARTS)
    )
    tabulate: Callable[[Sequence[Mapping[str, Any]]], str | None] = lambda rows: None
    module: str | None = None
    folder: str | None = None


@dataclass(frozen=True)
class Source:
    """A table: a file of the user's, or one that a catalogue knows by its name.

    Parameters
    ----------
    name : str
        A name of the catalogue, or how to call the file.
    path : str or None
        The file of the user's.
    target : str or None
        Column of the file to predict.
    seed : int
        Of the split into rows to fit and rows to test on.
    task : {"auto", "classification", "regression"}
        Of the file: by "auto" a target of floats is a number to predict.
    public : str or None
        A file of public rows of the same columns.
    rows : int or None
        Number of rows to fit, drawn at random; None takes all.
    stratum : str or None
        Column that every set of NIST's score has.
    rules : dict of str to str, or None
        What holds in right rows, by name: texts of ``rule_violations``.
    known : KnownTable or None
        Its entry in the catalogue; None for a user's file.
    """

    name: str
    path: str | None = None
    target: str | None = None
    seed: int = 0
    task: str = "auto"
    public: str | None = None
    rows: int | None = None
    stratum: str | None = None
    rules: dict[str, str] | None = None
    known: KnownTable | None = field(default=None, compare=False, repr=False)

    @property
    def label(self) -> str:
        """Its name in result tables."""
        rows = "" if self.rows is None else f", {self.rows:,} rows"
        seed = f", seed {self.seed}" if self.seed and not self.is_own else ""
        return f"{self.name}{rows}{seed}"

    @property
    def is_own(self) -> bool:
        """Whether it is a file of the user's, which may be private."""
        return self.path is not None

    @property
    def has_public(self) -> bool:
        """Whether it has public rows in addition to those to protect."""
        return self.known.has_public if self.known else self.public is not None

    @property
    def is_images(self) -> bool:
        """Whether it is a set of images."""
        return self.known is not None and self.known.measure is not None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; the catalogue is not among them."""
        return {name: value for name, value in vars(self).items() if name != "known"}


@dataclass(frozen=True)
class Cell:
    """One computation of a run; equal cells have equal keys.

    Parameters
    ----------
    source : Source
    data : str
        Digest of the file of the table.
    method : str
        Name of a class or of a method of the catalogue, "real", or "public rows".
    settings : dict
        Parameters of the class.
    epsilon, delta, adjacency, schema : of the guarantee; None where nothing is fitted
        A ``delta`` of "auto" is far below one over the number of rows.
    release : int
        Number of the release, which seeds all that is public.
    protocol, classifiers : of the models that score
    public : str or None
        Which public rows of the table the method is given.
    n_samples, n_compared : int or None
        Of images: how many are drawn for models, and how many are compared with real
        ones. None is the number that the catalogue's own measure has.
    sdmetrics : bool or None
        Whether SDMetrics' score is computed, too.

    Examples
    --------
    >>> cell = Cell(Source("mine", "mine.csv", "y"), "0123", "real")
    >>> cell.key == Cell.from_dict(cell.to_dict()).key
    True
    >>> cell.key == Cell(Source("mine", "mine.csv", "y"), "4567", "real").key
    False
    """

    source: Source
    data: str
    method: str
    settings: dict[str, Any] = field(default_factory=dict)
    epsilon: float | None = None
    release: int = 0
    delta: float | str | None = None
    adjacency: str | None = None
    schema: str | None = None
    protocol: str = "modern"
    classifiers: tuple[str, ...] | None = None
    public: str | None = None
    n_samples: int | None = None
    n_compared: int | None = None
    sdmetrics: bool | None = None

    @property
    def key(self) -> str:
        """Digest of everything except file paths."""
        content = self.to_dict()
        del content["source"]["path"], content["source"]["public"]
        # fields that were added later: left out if None, so that old keys stay valid
        of_cell = ("public", "n_samples", "n_compared", "sdmetrics")
        later = [(content, name) for name in of_cell]
        of_source = ("rows", "stratum", "rules")
        later += [(content["source"], name) for name in of_source]
        for of, name in later:
            if of[name] is None:
                del of[name]
        text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return vars(self) | {
            "source": self.source.to_dict(),
            "classifiers": self.classifiers and list(self.classifiers),
        }

    @classmethod
    def from_dict(
        cls, content: dict[str, Any], catalogue: Catalogue | None = None
    ) -> "Cell":
        """Return a cell from the plain values of :meth:`to_dict`."""
        models, source = content["classifiers"], Source(**content["source"])
        if catalogue is not None and not source.is_own:
            table = catalogue.tables[source.name]
            source = Source(**content["source"], known=table)
        return cls(
            **content | {"source": source, "classifiers": models and tuple(models)}
        )

    def about(self) -> dict[str, Any]:
        """Return the first columns of its row."""
        content = self.to_dict()
        source = content.pop("source")
        place = {"table": self.source.label, "split_seed": source["seed"]}
        alarm = {"not_private": NOT_PRIVATE} if self.source.is_own else {}
        return {"cell": self.key, **place, **content, **alarm}

    def shared(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row for shared results.

        A row of a user's file has no fingerprint: anyone who knows all rows but one
        could try values of the last one until the fingerprint matches.
        """
        hidden = FINGERPRINTS if self.source.is_own else ()
        return {name: value for name, value in row.items() if name not in hidden}

    def __str__(self) -> str:
        """Return a short description."""
        if self.epsilon is None:
            return f"{self.source.label}, {self.method}"
        return (
            f"{self.source.label}, {self.method}, epsilon {self.epsilon:g}, "
            f"release {self.release}"
        )
