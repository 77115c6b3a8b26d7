"""What a certificate rests on besides the releases: said in words, taken as public."""

import inspect
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from skdpgen.privacy import Adjacency, PrivacyBudget
from skdpgen.tables import Categorical, ImageLayout, Integer, Layout

ELSEWHERE = {"epsilon", "delta", "adjacency", "schema", "classes"}
NO_MATTER = {"random_state", "verbose", "device"}  # for what is learnt about the rows
MOST_SHOWN = 1_000  # entries of a parameter
IS_CLONE = (
    "fitted as a clone, such as a search makes: each clone that was fitted on these "
    "rows costs its own epsilon"
)


def delta_stated(budget: PrivacyBudget, given: float | None) -> str:
    """Say where delta came from.

    Examples
    --------
    >>> delta_stated(PrivacyBudget(1.0, 1e-6), None)
    'delta: 1e-06, chosen as a tenth of 1 / rows or less'
    """
    if given is not None:
        how = "as given"
    elif budget.adjacency is Adjacency.REPLACE:
        how = "chosen as a tenth of 1 / rows or less"
    else:
        how = "a constant for up to a million rows"
    return f"delta: {budget.delta:g}, {how}"


def dtypes_stated(layout: Layout | ImageLayout, target: Layout | None) -> str:
    """Say which dtypes were read; a reader may have guessed them from the values.

    Examples
    --------
    >>> from skdpgen.tables import Kind
    >>> kinds = (Kind.INTEGER, Kind.FLOAT, Kind.INTEGER)
    >>> dtypes = ("int64", "float64", "int64")
    >>> dtypes_stated(Layout("pandas", ("a", "b", "c"), kinds, dtypes), None)
    'dtypes as read, taken as public: float64 (b), int64 (all others)'
    """
    if isinstance(layout, ImageLayout):
        found = [f"{layout.dtype} (pixels)"]
    else:
        names: dict[str, list[Any]] = {}
        for name, dtype in zip(layout.names, layout.dtypes, strict=True):
            names.setdefault(dtype, []).append(name)
        usual = max(names, key=lambda dtype: len(names[dtype]))
        rest = names.pop(usual)
        found = [f"{d} ({', '.join(map(str, mine))})" for d, mine in names.items()]
        others = "all others" if names else "all columns"
        found.append(f"{usual} ({others if len(rest) > 1 else rest[0]})")
    if target is not None:
        found.append(f"{target.dtypes[0]} (target)")
    return f"dtypes as read, taken as public: {', '.join(found)}"


def kinds_stated(unknown: Any, columns: Any) -> list[str]:
    """Say of which columns the rows themselves told the kind, and what was lost."""
    lines = {
        "text read as numbers, as most cells are": unknown.parsed,
        "text read as times, as most cells are": unknown.dated,
        "text that differs in nearly every row, written anew": unknown.identifiers,
        "whole numbers that differ in nearly every row, perhaps identifiers": (
            unknown.numbered
        ),
        "text in which no value stood out, all of it is other": [
            name for name in unknown.texts if not columns[name].categories
        ],
    }
    lines["numbers whose size did not show, all 0 or missing"] = [
        n
        for n in unknown.numbers
        if columns[n] in (Categorical([]), Integer(0, 0), Integer(0, 0, nullable=False))
    ]
    told = {what: ", ".join(map(str, names)) for what, names in lines.items()}
    return [f"{what}: {names}" for what, names in told.items() if names]


def parameters_stated(estimator: Any) -> str:
    """Say which parameters were set; if the rows were looked at first, they may leak.

    Examples
    --------
    >>> from skdpgen.synthesizers import DPMERFSynthesizer
    >>> parameters_stated(DPMERFSynthesizer(0.5, length_scale=[0.5, 1.0]))
    'parameters that were set, taken as public: length_scale=[0.5, 1.0]'
    >>> parameters_stated(DPMERFSynthesizer())
    'parameters: all at their defaults, which are constants'
    """
    defaults = inspect.signature(type(estimator)).parameters
    given = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in ELSEWHERE | NO_MATTER and not _is(value, defaults[name].default)
    }
    if not given:
        return "parameters: all at their defaults, which are constants"
    shown = ", ".join(f"{name}={_short(value)}" for name, value in given.items())
    return f"parameters that were set, taken as public: {shown}"


def _is(value: Any, default: Any) -> bool:
    return value is default or (
        type(value) is type(default)
        and isinstance(value, str | int | float)
        and value == default
    )


def _short(value: Any) -> str:
    """Return a parameter in words; for a function or network return its name."""
    if hasattr(value, "columns"):
        return f"a table of shape {tuple(value.shape)}"
    if isinstance(value, tuple) and value and hasattr(value[0], "shape"):
        return "(" + ", ".join(map(_short, value)) + ")"
    if getattr(value, "shape", (0,))[0] > MOST_SHOWN:
        return f"an array of shape {tuple(value.shape)}"
    if isinstance(value, str | int | float | type(None)):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_short(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple) and any(map(callable, value)):
        return "(" + ", ".join(map(_short, value)) + ")"
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__ + _short(
            {one.name: getattr(value, one.name) for one in fields(value)}
        )
    if getattr(value, "ndim", 0) > 2:
        return f"an array of shape {tuple(value.shape)}"
    if callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return f"{name} (a function or network that was given)"
    return str(np.asarray(value, dtype=object).tolist())
