"""Columns that are not learnt from: dropped, or written anew for each row."""

from dataclasses import dataclass

from skdpgen.utils import SchemaError, saved


@saved
@dataclass(frozen=True)
class Drop:
    """A column that is not read and comes back empty of information: left out.

    Examples
    --------
    >>> Drop()
    Drop()
    """

    nullable = True

    def check(self, name: str) -> None:
        """Nothing can be wrong."""


@saved
@dataclass(frozen=True)
class Regenerate:
    """An identifier or free text: not read, written anew for each sampled row.

    Parameters
    ----------
    template : str, default="{i}"
        Format of the new value; ``{i}`` is the number of the row.

    Examples
    --------
    >>> Regenerate("customer-{i:05d}").template.format(i=7)
    'customer-00007'
    """

    template: str = "{i}"

    nullable = True

    def check(self, name: str) -> None:
        """Raise if the template is not one."""
        try:
            self.template.format(i=0)
        except (IndexError, KeyError, ValueError):
            raise SchemaError(
                f"template of column {name!r} must be a format of i, as 'id-{{i}}'. "
                f"Got {self.template!r} instead."
            ) from None
