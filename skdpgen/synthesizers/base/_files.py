"""Files of fitted estimators: written, and read by this version and all later ones.

`docs/file_format.md` describes them. What is promised of each type is listed in
`tests/format`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from skdpgen.exceptions import FileFormatError
from skdpgen.privacy import PrivacyReport
from skdpgen.synthesizers.opening import Facts, Fitted, Measured
from skdpgen.tables import Schema
from skdpgen.utils import (
    FORMAT,
    JSON,
    NAMES,
    NewerFormatError,
    PlainReader,
    PlainWriter,
    arrays_and_weights,
    fields_of,
    json_bytes,
    members_of,
    pack,
    read_json,
    saved_type,
    unpack,
)

PARAMETERS, FIT = "parameters.json", "fit.json"
SCHEMA, CERTIFICATE = "schema.json", "certificate.json"

# ----------------------------------------------------------------------------
# What a file says, before values are made of it; and steps from older formats.


@dataclass
class Content:
    """All that a file says, as JSON, arrays and weights; migrations change it.

    Parameters
    ----------
    header, parameters, schema, certificate, fit : dict
        JSON of the members of these names.
    arrays : dict of ndarray
        By the names of their members.
    weights : dict of Tensor
        Of all networks.
    """

    header: dict[str, Any]
    parameters: Any
    schema: Any
    certificate: Any
    fit: Any
    arrays: dict[str, Any]
    weights: dict[str, Any]


# From a format to the next: MIGRATIONS[1] makes content of format 2 of one of format 1.
MIGRATIONS: dict[int, Callable[[Content], Content]] = {}


def migrated(content: Content) -> Content:
    """Return content as this version writes it, whatever format it has."""
    for number in range(content.header["format"], FORMAT):
        if number not in MIGRATIONS:
            raise FileFormatError(f"it has format {number}, which is not read any more")
        content = MIGRATIONS[number](content)
    return content


def each_object(plain: Any, change: Callable[[dict[str, Any]], Any]) -> Any:
    """Return JSON with every object in it changed, the innermost first.

    It is for migrations, which rename types and fields.

    Examples
    --------
    >>> def rename(one):
    ...     return {**one, "object": "new"} if one.get("object") == "old" else one
    >>> each_object([{"object": "old", "fields": {}}], rename)
    [{'object': 'new', 'fields': {}}]
    """
    if isinstance(plain, list):
        return [each_object(one, change) for one in plain]
    if isinstance(plain, dict):
        return change({key: each_object(one, change) for key, one in plain.items()})
    return plain


# ----------------------------------------------------------------------------
# Writing.


def write_estimator(estimator: Any, path: str | Path) -> None:
    """Write parameters and fitted state to one file."""
    kind = type(estimator)
    if kind not in NAMES:
        raise TypeError(
            "An estimator that is saved must have a name in files, as in "
            f"`@saved('estimator.pairwise')`. Got {kind.__name__} without."
        )
    given = estimator.get_params(deep=False)
    if not isinstance(given.get("random_state"), Integral | None):
        given["random_state"] = None  # a generator's state is no public parameter
    fitted: Fitted[Any] = estimator._fitted
    assert fitted.facts is not None  # of an estimator that has a model
    header: dict[str, JSON] = {
        "estimator": NAMES[kind],
        "output": getattr(estimator, "_container", None),
    }
    writer = PlainWriter(apart=_apart)
    certificate = fitted.certificate.to_dict()
    texts = {
        PARAMETERS: {
            name: writer.plain(given[attribute], ("parameters", name))
            for name, attribute in sorted(fields_of(kind).items())
        },
        SCHEMA: schema_form(writer, fitted.facts.schema),
        CERTIFICATE: {name: _leaf(writer, part) for name, part in certificate.items()},
        FIT: writer.plain(fitted),
    }
    members = {
        name: json_bytes(plain, indent=None if name == FIT else 2)
        for name, plain in texts.items()
    }
    data = pack(header, {**members, **members_of(writer)})
    Path(path).write_bytes(data)  # only now: an error leaves no file


def _apart(writer: PlainWriter, value: object, place: tuple[str, ...]) -> JSON:
    """Return the form of schemas and certificates, which people read, too."""
    if isinstance(value, PrivacyReport):
        return {"certificate": CERTIFICATE}
    if not isinstance(value, Schema):
        return None
    names = list(value.columns)
    is_of_fit = place == ("facts", "schema")
    are_text = all(type(name) is str for name in names)
    return {
        "schema": SCHEMA if is_of_fit else schema_form(writer, value),
        "names": None if are_text else writer.plain(tuple(names), place),
    }


def schema_form(writer: PlainWriter, schema: Schema) -> JSON:
    """Return what `Schema.save` writes; names that are no text become one."""
    content = schema.to_dict()
    columns: dict[str, JSON] = {}
    for name, column in content["columns"].items():
        text = str(name)
        while text in columns:  # 1 and "1"
            text += "'"
        columns[text] = _entries(writer, column)
    plain: dict[str, JSON] = {"columns": columns}
    if "target" in content:
        plain["target"] = _entries(writer, content["target"])
    plain |= {key: content[key] for key in ("other", "origin") if key in content}
    if schema.rules:
        plain["rules"] = tuple(
            {
                "type": said["type"],
                **{
                    item.name: writer.plain(getattr(rule, item.name))
                    for item in fields(rule)
                },
            }
            for rule, said in zip(schema.rules, content["rules"], strict=True)
        )
    return plain


def _entries(writer: PlainWriter, entries: Mapping[str, Any]) -> JSON:
    return {key: _leaf(writer, value) for key, value in entries.items()}


def _leaf(writer: PlainWriter, value: Any) -> JSON:
    """Return plain types as JSON; a number that is not finite as in all members."""
    if isinstance(value, dict):
        return _entries(writer, value)
    if isinstance(value, list):
        return tuple(_leaf(writer, one) for one in value)
    return writer.plain(value)


# ----------------------------------------------------------------------------
# Reading.


def read_estimator(path: str | Path) -> Any:
    """Read what :func:`write_estimator` wrote; runs no code from the file."""
    path = Path(path)
    if path.is_dir():
        raise FileFormatError(f"{path} is a folder, not a file that `save` wrote.")
    if path.exists() and not path.is_file():
        raise FileFormatError(f"{path} is not a file that `save` wrote.")
    data = path.read_bytes()
    try:
        return _estimator_of(_content_of(data))
    except NewerFormatError as error:
        raise FileFormatError(str(error)) from None
    except FileFormatError as error:
        reason: BaseException = error
    except Exception as error:  # whatever a value says of what it is made of
        reason = error
    raise FileFormatError(
        f"{path} is damaged, or not a file that `save` wrote: {_in_words(reason)}."
    ) from reason


def _in_words(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    text = " ".join(str(error).split()).removesuffix(".")
    return text if isinstance(error, FileFormatError) else f"it does not fit ({text})"


def _content_of(data: bytes) -> Content:
    header, members = unpack(data)
    missing = [
        name
        for name in (PARAMETERS, SCHEMA, CERTIFICATE, FIT)
        if header["format"] == FORMAT and name not in members
    ]
    if missing:
        raise FileFormatError(f"it has no member {missing[0]}")
    parameters, schema, certificate, fit = (
        read_json(members[name], name) if name in members else None
        for name in (PARAMETERS, SCHEMA, CERTIFICATE, FIT)
    )
    arrays, weights = arrays_and_weights(members)
    content = Content(header, parameters, schema, certificate, fit, arrays, weights)
    return migrated(content)


def _estimator_of(content: Content) -> Any:
    kind = saved_type(content.header["estimator"], BaseEstimator)
    reader = PlainReader(
        content.arrays,
        content.weights,
        {
            "schema": lambda reader, plain: schema_of(reader, plain, content.schema),
            "certificate": lambda reader, plain: certificate_of(
                reader, content.certificate
            ),
        },
    )
    estimator = kind(**reader.named(kind, content.parameters))
    fitted = reader.value(content.fit)
    if not _is_complete(fitted):
        raise FileFormatError(f"{FIT} must hold a fit that is complete")
    estimator.set_output(transform=content.header["output"])
    estimator._keep(fitted)
    return estimator


def _is_complete(fitted: object) -> bool:
    return (
        isinstance(fitted, Fitted)
        and isinstance(fitted.certificate, PrivacyReport)
        and isinstance(fitted.facts, Facts)
        and isinstance(fitted.measured, Measured)
        and fitted.model is not None
    )


def schema_of(
    reader: PlainReader, plain: Mapping[str, Any], of_fit: Mapping[str, Any]
) -> Schema:
    """Return a schema, with its names; that of the fit is a member of its own."""
    form = of_fit if plain["schema"] == SCHEMA else plain["schema"]
    names, texts = plain["names"], form["columns"]
    found = list(texts) if names is None else reader.value(names)
    if len(found) != len(texts) or len(set(found)) != len(texts):
        raise FileFormatError("a schema must have a name for each column")
    read = partial(_entries_read, reader)
    content: dict[str, Any] = {
        "columns": dict(zip(found, map(read, texts.values()), strict=True)),
        "rules": tuple(map(read, form.get("rules", ()))),
        "target": read(form["target"]) if "target" in form else None,
    }
    besides = {key: form[key] for key in form if key not in content}
    return Schema.from_dict({**besides, **content})


def certificate_of(reader: PlainReader, form: Mapping[str, Any]) -> PrivacyReport:
    """Return the certificate; what follows from the rest of it is not read."""
    read = partial(_entries_read, reader)
    said = {key: form[key] for key in form if key not in ("releases", "profile")}
    releases = tuple(map(read, form["releases"]))
    return PrivacyReport.from_dict({**read(said), "releases": releases})


def _entries_read(reader: PlainReader, entries: Mapping[str, Any]) -> dict[str, Any]:
    return {key: reader.value(part) for key, part in entries.items()}
