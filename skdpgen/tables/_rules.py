"""Rules between columns that are public knowledge; sampled rows obey them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from skdpgen.utils import SchemaError, saved


@saved
@dataclass(frozen=True)
class LessEqual:
    """Column ``low`` is at most column ``high``, where neither is missing.

    Examples
    --------
    >>> LessEqual("start", "end").written
    'end'
    """

    low: Any
    high: Any

    @property
    def read(self) -> tuple[Any, ...]:
        """Columns that decide."""
        return (self.low,)

    @property
    def written(self) -> Any:
        """The column that is repaired."""
        return self.high


@saved
@dataclass(frozen=True)
class SumOf:
    """Column ``total`` is the sum of ``parts``, where none of them is missing.

    Examples
    --------
    >>> SumOf("income", ["wages", "rents"]).parts
    ('wages', 'rents')
    """

    total: Any
    parts: Sequence[Any]

    def __post_init__(self) -> None:
        """Store a tuple."""
        if isinstance(self.parts, str) or not len(self.parts):
            raise SchemaError(
                f"parts of a SumOf must be a list of columns. Got {self.parts!r} "
                "instead."
            )
        object.__setattr__(self, "parts", tuple(self.parts))

    @property
    def read(self) -> tuple[Any, ...]:
        """Columns that decide."""
        return tuple(self.parts)

    @property
    def written(self) -> Any:
        """The column that is repaired."""
        return self.total


@saved
@dataclass(frozen=True)
class MissingIf:
    """Column ``column`` is missing in rows where ``given`` is ``value``.

    Examples
    --------
    >>> MissingIf("spouse_age", "married", "no").read
    ('married',)
    """

    column: Any
    given: Any
    value: Any

    @property
    def read(self) -> tuple[Any, ...]:
        """Columns that decide."""
        return (self.given,)

    @property
    def written(self) -> Any:
        """The column that is repaired."""
        return self.column


@saved
@dataclass(frozen=True)
class Determines:
    """The category of ``source`` fixes that of ``target``, as a mapping says.

    Of categories that the mapping does not have, and of missing ones, nothing is said.

    Examples
    --------
    >>> Determines("city", "country", {"Rome": "IT", "Bari": "IT"}).codes
    (('Rome', 'IT'), ('Bari', 'IT'))
    """

    source: Any
    target: Any
    codes: Mapping[Any, Any] | Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        """Store pairs, which hash and can be written to files."""
        pairs = self.codes.items() if isinstance(self.codes, Mapping) else self.codes
        object.__setattr__(self, "codes", tuple((key, code) for key, code in pairs))

    @property
    def read(self) -> tuple[Any, ...]:
        """Columns that decide."""
        return (self.source,)

    @property
    def written(self) -> Any:
        """The column that is repaired."""
        return self.target


Rule = LessEqual | SumOf | MissingIf | Determines
RULES = {rule.__name__: rule for rule in (LessEqual, SumOf, MissingIf, Determines)}


def rule_to_dict(rule: Rule) -> dict[str, Any]:
    """Return the rule as plain types.

    Examples
    --------
    >>> rule_to_dict(LessEqual("a", "b"))
    {'type': 'LessEqual', 'low': 'a', 'high': 'b'}
    """
    values = {item.name: _plain(getattr(rule, item.name)) for item in fields(rule)}
    return {"type": type(rule).__name__, **values}


def rule_from_dict(content: Any) -> Rule:
    """Read back what :func:`rule_to_dict` wrote, or a person; or take a rule."""
    if isinstance(content, Rule):
        return content
    entries = dict(content) if isinstance(content, Mapping) else {}
    kind = entries.pop("type", None)
    if kind not in RULES or set(entries) != {item.name for item in fields(RULES[kind])}:
        raise SchemaError(
            "A rule must be one as LessEqual('a', 'b'), in dictionaries also {'type': "
            f"'LessEqual', 'low': 'a', 'high': 'b'}}. Got {content!r} instead."
        )
    rule: Rule = RULES[kind](**entries)
    return rule


def _plain(value: Any) -> Any:
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
