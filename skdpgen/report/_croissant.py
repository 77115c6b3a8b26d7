"""Croissant metadata of a synthetic file, from released quantities and the file."""

import csv
import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skdpgen.tables import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Integer,
    Numeric,
    Regenerate,
    Schema,
)
from skdpgen.utils import Synthesizer, own_version

ISO_DATE = "%Y-%m-%d"
CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
# the context that the specification recommends, with one term of our own at the end
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
    "privacy": {"@id": "urn:skdpgen:privacy", "@type": "@json"},
}
ENCODINGS = {
    ".csv": "text/csv",
    ".txt": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".parquet": "application/x-parquet",
    ".pq": "application/x-parquet",
    ".arrow": "application/vnd.apache.arrow.file",
    ".feather": "application/vnd.apache.arrow.file",
    ".ipc": "application/vnd.apache.arrow.file",
}
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
MOST_LISTED = 50  # categories in a description
RECORD_SET = "rows"  # its identifier


def write_croissant(
    synthesizer: Synthesizer,
    file: str | Path,
    path: str | Path | None = None,
    *,
    target: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
    name: str | None = None,
    license: str | None = None,
    url: str | None = None,
    creator: str | None = None,
    date_published: str | None = None,
) -> dict[str, Any]:
    """Describe a file of synthetic rows as a Croissant dataset, and write the JSON.

    The description has the name, size and SHA-256 of the file, a record set with a
    field for each column, and the privacy statement of the fit under ``privacy``. All
    of it is from the released schema, the certificate and the file, so it may be
    published with the file. ``file`` must hold synthetic rows: a checksum of private
    rows is private.

    Parameters
    ----------
    synthesizer : fitted synthesizer
        Which the rows are from.
    file : path
        A ``.csv``, ``.tsv``, ``.parquet``, ``.arrow`` or ``.feather`` file.
    path : path or None, default=None
        The JSON file; None is ``synthetic.croissant.json`` beside ``synthetic.csv``.
    target : str or None, default=None
        Name of the column that holds y; None is the one that is no column of X.
    separator : str or None, default=None
        Between cells of text; None is a comma, or a tab in ``.tsv``.
    decimal : {".", ","}, default="."
        Before decimals in text. Numbers with a comma are described as text.
    name : str or None, default=None
        Of the dataset; None is the name of the file without its ending.
    license, url, creator, date_published : str or None, default=None
        Which Croissant requires of a published dataset, and only you know: fill them in
        before you publish. ``creator`` is the name of an organisation.

    Returns
    -------
    content : dict
        What was written.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from skdpgen import DPIndependentSynthesizer, Integer
    >>> X = pd.DataFrame({"age": [17, 90] * 500})
    >>> synthesizer = DPIndependentSynthesizer(schema={"age": Integer(0, 120)}).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "synthetic.csv"
    ...     synthesizer.sample(10).to_csv(file, index=False)
    ...     content = write_croissant(synthesizer, file)
    >>> content["recordSet"][0]["field"][0]["dataType"], content["privacy"]["epsilon"]
    ('sc:Integer', 1.0)
    """
    file = Path(file)
    kind = _kind_of(file)
    if kind not in ENCODINGS:
        raise ValueError(
            f"file must end in one of {', '.join(ENCODINGS)} (or .csv.gz). Got "
            f"{file.name!r}."
        )
    is_text = kind in TEXT_ENDINGS
    names, types = _header(file, kind, separator)
    columns = _columns(synthesizer.schema_, names, target)
    if is_text:
        types = {name: _type(columns[name], decimal) for name in names}
    given = {"license": license, "url": url, "datePublished": date_published}
    if creator is not None:
        given["creator"] = {"@type": "Organization", "name": creator}  # type: ignore[assignment]
    privacy = privacy_statement(synthesizer)
    content = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": name or _stem(file),
        "description": _summary(privacy),
        **{key: value for key, value in given.items() if value is not None},
        "privacy": privacy,
        "distribution": [_file_object(file, kind)],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": RECORD_SET,
                "name": RECORD_SET,
                "description": "A record for each synthetic row.",
                "field": [
                    _field(name, columns[name], types[name], file) for name in names
                ],
            }
        ],
    }
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    place = croissant_path(file) if path is None else Path(path)
    place.write_text(text + "\n", encoding="utf-8")
    return content


def croissant_path(file: Path) -> Path:
    """Return the path of the description that stands beside a file.

    Examples
    --------
    >>> croissant_path(Path("out/synthetic.csv.gz")).as_posix()
    'out/synthetic.croissant.json'
    """
    return file.with_name(f"{_stem(file)}.croissant.json")


def privacy_statement(synthesizer: Synthesizer) -> dict[str, Any]:
    """Return what a description says of the guarantee, in plain types.

    An infinite epsilon is None, and the promise begins with "NOT PRIVATE".

    Examples
    --------
    >>> import pandas as pd
    >>> from skdpgen import DPIndependentSynthesizer, Integer
    >>> X = pd.DataFrame({"age": [17, 90] * 500})
    >>> synthesizer = DPIndependentSynthesizer(schema={"age": Integer(0, 120)}).fit(X)
    >>> privacy_statement(synthesizer)["promise"]
    '(1, 1e-05)-differentially private; unit: one row, adjacency "replace".'
    """
    report = synthesizer.privacy_
    certificate = report.to_dict()
    kept = ("epsilon", "delta", "adjacency", "unit", "mu", "statements")
    return {
        "promise": str(report).splitlines()[0],
        **{key: certificate[key] for key in kept},
        "method": type(synthesizer).__name__,
        "software": "skdpgen",
        "softwareVersion": own_version(),
    }


def _summary(privacy: Mapping[str, Any]) -> str:
    return (
        f"Synthetic rows, drawn from a model that {privacy['method']} of skdpgen "
        f"{privacy['softwareVersion']} fitted to private rows. The fit: "
        f"{privacy['promise']}"
    )


# ----------------------------------------------------------------------------
# The file: its columns, its size, its checksum.


def _kind_of(file: Path) -> str:
    return Path(file.name.lower().removesuffix(".gz")).suffix


def _stem(file: Path) -> str:
    name = file.name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def _header(
    file: Path, kind: str, separator: str | None
) -> tuple[list[str], dict[str, str]]:
    """Return the names of the columns, and the types that the file itself declares."""
    if kind in TEXT_ENDINGS:
        mark = separator or ("\t" if kind == ".tsv" else ",")
        is_packed = file.name.lower().endswith(".gz")
        opened: Any = gzip.open if is_packed else open
        with opened(file, "rt", encoding="utf-8-sig", newline="") as lines:
            return next(csv.reader(lines, delimiter=mark), []), {}
    import pyarrow as arrow

    if ENCODINGS[kind] == "application/x-parquet":
        from pyarrow import parquet

        schema = parquet.read_schema(file)
    else:
        with arrow.memory_map(str(file)) as source, arrow.ipc.open_file(source) as rows:
            schema = rows.schema
    return list(schema.names), {one.name: _type_of_arrow(one.type) for one in schema}


def _file_object(file: Path, kind: str) -> dict[str, Any]:
    is_packed = file.name.lower().endswith(".gz")
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": quote(file.name),
        "name": file.name,
        "contentUrl": quote(file.name),
        "contentSize": f"{file.stat().st_size} B",
        "encodingFormat": "application/gzip" if is_packed else ENCODINGS[kind],
        "sha256": digest,
    }


# ----------------------------------------------------------------------------
# The columns: their types, and what is public or released of them in words.


def _columns(schema: Schema, names: list[str], target: str | None) -> dict[str, Column]:
    """Return the column of the schema for each column of the file."""
    columns = {str(name): column for name, column in schema.columns.items()}
    besides = [name for name in names if name not in columns]
    is_target = besides == [target] or (target is None and len(besides) == 1)
    if is_target and schema.target is not None:
        return columns | {besides[0]: schema.target}
    if besides:
        raise ValueError(
            "Columns of the file must be those that the synthesizer samples. Got "
            f"{', '.join(map(repr, besides))} besides; write the file with "
            "`index=False`, and name the column of y by `target=`."
        )
    return columns


def _field(name: str, column: Column, data_type: str, file: Path) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{RECORD_SET}/{quote(name, safe='')}",
        "name": name,
        "description": _description(column),
        "dataType": data_type,
        "source": {
            "fileObject": {"@id": quote(file.name)},
            "extract": {"column": name},
        },
    }


def _type(column: Column, decimal: str) -> str:
    """Return the data type of cells in a file of text."""
    if isinstance(column, Numeric | Integer):
        is_plain = column.format is None and (decimal == "." or column.decimals == 0)
        if not is_plain or any(isinstance(code, str) for code in column.codes):
            return "sc:Text"
        return "sc:Integer" if isinstance(column, Integer) else "sc:Float"
    if isinstance(column, Datetime):
        is_iso = column.format is None or column.format.startswith(ISO_DATE)
        if not is_iso or column.codes:
            return "sc:Text"
        is_date = column.whole_days and column.format in (None, ISO_DATE)
        return "sc:Date" if is_date else "sc:DateTime"
    if isinstance(column, Boolean):
        return "sc:Boolean"
    if isinstance(column, Categorical):
        kinds = {type(value) for value in column.values}
        if kinds == {bool}:
            return "sc:Boolean"
        if kinds == {int}:
            return "sc:Integer"
        return "sc:Float" if kinds and kinds <= {int, float} else "sc:Text"
    return "sc:Text"


def _type_of_arrow(kind: Any) -> str:
    """Return the data type of a column that declares its own."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_boolean(kind):
        return "sc:Boolean"
    if types.is_integer(kind):
        return "sc:Integer"
    if types.is_floating(kind) or types.is_decimal(kind):
        return "sc:Float"
    if types.is_date(kind):
        return "sc:Date"
    return "sc:DateTime" if types.is_timestamp(kind) else "sc:Text"


def _description(column: Column) -> str:
    """Say in words what the schema says of a column.

    Examples
    --------
    >>> _description(Integer(0, 120, codes=[-1]))
    'Whole number from 0 to 120, or one of the codes -1. May be missing.'
    """
    text = _in_words(column)
    codes = getattr(column, "codes", ())
    if codes:
        text += f", or one of the codes {', '.join(map(str, codes))}"
    form = getattr(column, "format", None)
    text += "" if form is None else f", written as {form}"
    return f"{text}." + (" May be missing." if column.nullable else "")


def _in_words(column: Column) -> str:
    if isinstance(column, Numeric | Integer | Datetime):
        kind = {Integer: "Whole number", Datetime: "Time"}.get(type(column), "Number")
        if isinstance(column, Datetime) and column.whole_days:
            kind = "Date"
        lower, upper = (str(end).removesuffix("T00:00:00")
                        for end in (column.lower, column.upper))  # fmt: skip
        return kind if column.lower is None else f"{kind} from {lower} to {upper}"
    if isinstance(column, Boolean):
        return "True or false"
    if isinstance(column, Categorical):
        values = list(map(str, column.values))
        if len(values) > MOST_LISTED:
            return f"One of {len(values)} categories"
        return f"One of: {', '.join(values)}"
    return "Made up anew for each row" if isinstance(column, Regenerate) else "Left out"
