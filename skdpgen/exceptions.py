"""Exceptions and warnings of the package; each message says what to do."""

__all__ = [
    "BudgetExceededError",
    "ConfigError",
    "FileFormatError",
    "IdentifierWarning",
    "InterchangeWarning",
    "LargeDeltaWarning",
    "NoisyColumnsWarning",
    "NotPrivateWarning",
    "NothingLearnedWarning",
    "RareValuesWarning",
    "RowsElsewhereError",
    "SchemaError",
    "SchemaRequiredError",
    "SchemaWarning",
    "SearchCostWarning",
    "SupportWarning",
    "UncountedColumnsWarning",
]


class SchemaError(ValueError):
    """A schema is incomplete, contradicts itself or does not match the table."""


class SchemaRequiredError(SchemaError):
    """Private discovery cannot work at this size and budget: give a schema."""


class BudgetExceededError(RuntimeError):
    """A release asks for more than is left of the privacy budget."""


class ConfigError(ValueError):
    """A configuration file is incomplete or has unknown entries."""


class FileFormatError(ValueError):
    """A file is damaged, of a newer version, or not one that this package wrote."""


class RowsElsewhereError(ValueError):
    """Rows are in a cluster or with other parties, and would have to be here."""


class NotPrivateWarning(UserWarning):
    """The result carries no privacy guarantee at all."""


class LargeDeltaWarning(UserWarning):
    """delta is above one over the number of rows: it may expose a row outright.

    The number of rows is public, or was released with noise. ``delta=None`` fits it.
    """


class IdentifierWarning(UserWarning):
    """Whole numbers differ in nearly every row: they may be identifiers of people.

    This follows from a released number of different values. Synthetic rows hold numbers
    of the same range, so many of them belong to real people. ``Regenerate()`` or
    ``Drop()`` in a schema keeps them out; bounds, as ``Integer(0, 1000)``, state that
    they are amounts.
    """


class InterchangeWarning(UserWarning):
    """Something cannot be said in the format of another tool, and was left out."""


class NoisyColumnsWarning(UserWarning):
    """Noise hides the values of columns: samples of them say nothing.

    Two standard errors of a share are half of the rows or more. This follows from the
    noise and the number of rows, which is public or released. More rows, a larger
    epsilon or fewer columns help.
    """


class NothingLearnedWarning(UserWarning):
    """No relation between columns was learned; samples have columns by class only.

    No relation exceeded the noise, or no pairs of columns could be afforded. This
    follows from released and public quantities alone. Fewer columns, a schema, a larger
    epsilon or more rows help.
    """


class RareValuesWarning(UserWarning):
    """Many rows of a column hold values that are too rare to be discovered."""


class SchemaWarning(UserWarning):
    """Statements of the schema contradict released values."""


class SupportWarning(UserWarning):
    """Private rows are where hardly any public row is: no weight can correct that."""


class UncountedColumnsWarning(UserWarning):
    """No release counts the values of some columns, so their shares may be far off.

    Missing values, special codes and rare categories may be drawn far too often, or
    never. This follows from the settings of a method, not from the rows. Default
    settings count the values of every column.
    """


class SearchCostWarning(UserWarning):
    """Several fits on the same rows each cost privacy; together they add up."""
