"""A cell: one release of one method on one table, with all that decides its numbers."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from skdpgen.benchmark._public_splits import IMAGES, WITH_PUBLIC
from skdpgen.benchmark._reading import IMAGE_SETS, MADE_UP

REAL = "real"  # the method that trains on real rows: the ceiling
PUBLIC = "public rows"  # the method that trains on these as they are
UNIFORM = "uniform"  # the method that draws all cells alike: below every floor
NOT_PRIVATE = (
    "NOT PRIVATE: scores, distances, numbers of rows, seconds and memory were computed "
    "from real rows without noise. Where the rows are private, do not publish them."
)
FINGERPRINTS = ("cell", "data")  # columns computed from every byte of a table
LENGTH = 16  # of a key: 64 bits, for some thousands of cells


@dataclass(frozen=True)
class Source:
    """A table: one that is known by its name, or a file of the user's.

    Parameters
    ----------
    name : str
        A name of :data:`~skdpgen.benchmark._reading.TABLES` or ``IMAGE_SETS`` there,
        or how to call the file.
    path : str or None
        The file; None if it lies under its name in the folder of the data.
    target : str or None
        Column of the file to predict.
    seed : int
        Of the split into rows to fit and rows to test on.
    task : {"auto", "classification", "regression"}
        Of the file: by "auto" a target of floats is a number to predict.
    public : str or None
        A file of public rows of the same columns.
    rows : int or None
        So many of the rows to fit, drawn at random; None takes all.
    """

    name: str
    path: str | None = None
    target: str | None = None
    seed: int = 0
    task: str = "auto"
    public: str | None = None
    rows: int | None = None

    @property
    def label(self) -> str:
        """What tables call it."""
        rows = "" if self.rows is None else f", {self.rows:,} rows"
        seed = f", seed {self.seed}" if self.seed and not self.is_own else ""
        return f"{self.name}{rows}{seed}"

    @property
    def is_own(self) -> bool:
        """Whether it is a file of the user's, which may be private."""
        return self.path is not None

    @property
    def is_made_up(self) -> bool:
        """Whether it is made when it is read, and has no file."""
        return not self.is_own and self.name in MADE_UP

    @property
    def has_public(self) -> bool:
        """Whether it has public rows beside those to protect."""
        return self.public is not None or (not self.is_own and self.name in WITH_PUBLIC)

    @property
    def is_images(self) -> bool:
        """Whether it is a set of images that is known by its name."""
        return self.path is None and self.name in (*IMAGE_SETS, *IMAGES)


@dataclass(frozen=True)
class Cell:
    """What is to be computed; equal cells have equal keys.

    Parameters
    ----------
    source : Source
    data : str
        Digest of the file of the table.
    method : str
        Name of a class or of a peer, "uniform", "real", or "public rows".
    settings : dict
        Parameters of the class.
    epsilon, delta, adjacency, schema : of the guarantee; None where nothing is fitted
        A ``delta`` of "auto" is far below one over the number of rows.
    release : int
        Number of the release, which seeds all that is public.
    protocol, classifiers : of the models that score
    public : str or None
        Which public rows of the table the method is given; a name of
        :data:`~skdpgen.benchmark._public_splits.PARTS`.

    Examples
    --------
    >>> cell = Cell(Source("adult"), "0123", "real")
    >>> cell.key == Cell.from_dict(cell.to_dict()).key
    True
    >>> cell.key == Cell(Source("adult"), "4567", "real").key
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

    @property
    def key(self) -> str:
        """Digest of everything but where files lie."""
        content = self.to_dict()
        del content["source"]["path"], content["source"]["public"]
        # what came later: keys of before stay what they were
        for of, name in ((content["source"], "rows"), (content, "public")):
            if of[name] is None:
                del of[name]
        text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        content = asdict(self)
        return content | {"classifiers": self.classifiers and list(self.classifiers)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Cell":
        """Return what :meth:`to_dict` made plain."""
        models = content["classifiers"]
        return cls(
            **content
            | {
                "source": Source(**content["source"]),
                "classifiers": models and tuple(models),
            }
        )

    def about(self) -> dict[str, Any]:
        """Return the first columns of its row."""
        content = self.to_dict()
        source = content.pop("source")
        place = {"table": self.source.label, "split_seed": source["seed"]}
        alarm = {"not_private": NOT_PRIVATE} if self.source.is_own else {}
        return {"cell": self.key, **place, **content, **alarm}

    def shared(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row as it goes into results that people share.

        Of a file of the user's it has no fingerprint: someone who knows all rows but
        one would try what the last one may be until the fingerprint is the same.
        """
        hidden = FINGERPRINTS if self.source.is_own else ()
        return {name: value for name, value in row.items() if name not in hidden}

    def __str__(self) -> str:
        """Say which it is, in a few words."""
        if self.epsilon is None:
            return f"{self.source.label}, {self.method}"
        return (
            f"{self.source.label}, {self.method}, epsilon {self.epsilon:g}, "
            f"release {self.release}"
        )
