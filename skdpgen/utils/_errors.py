"""Exceptions and warnings of the package; each message says what to do."""

import sys
import traceback
import warnings
from pathlib import Path


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


class PrivacyLeakWarning(UserWarning):
    """Something was read from private data outside the guarantee."""


class NotPrivateWarning(UserWarning):
    """The result carries no privacy guarantee at all."""


class LargeDeltaWarning(UserWarning):
    """delta is above one over the number of rows: it may expose a row outright.

    The number of rows is public, or was released with noise. ``delta=None`` fits it.
    """


class IdentifierWarning(UserWarning):
    """Whole numbers differ in nearly every row: they may be identifiers of people.

    Said by a released number of different values. Synthetic rows hold numbers of the
    same range, so many of them belong to real people. ``Regenerate()`` or ``Drop()`` in
    a schema keeps them out; bounds, as ``Integer(0, 1000)``, say that they are amounts.
    """


class NothingLearntWarning(UserWarning):
    """No relation between columns was learnt; samples have columns by class only.

    No pair of columns exceeded the noise, or the budget allowed none. The warning
    depends on released and public quantities only. Fewer columns, a schema, a larger
    epsilon or more rows help.
    """


class RareValuesWarning(UserWarning):
    """Many rows of a column hold values that are too rare to be found."""


class SchemaWarning(UserWarning):
    """Statements of the schema contradict released values."""


class SupportWarning(UserWarning):
    """Private rows are where hardly any public row is: no weight can mend that."""


class SearchCostWarning(UserWarning):
    """Several fits on the same rows each cost privacy; together they add up."""


# ----------------------------------------------------------------------------
# Warnings that point at the user's line, however deep they are raised.

OURS = {__name__.partition(".")[0], "contextlib"}  # which leads to our `with`


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line that called into the package.

    Python shows a warning once a line: at a line of ours a second fit, of another
    table, would be silent.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back and _is_own_module(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_own_module(name: str) -> bool:
    return name.partition(".")[0] in OURS


# ----------------------------------------------------------------------------
# What may be said of an error where rows are private.

PACKAGE = Path(__file__).parents[1]
HIDDEN = (
    "{name} outside skdpgen; its text may show values of the data and is not printed "
    "here. Run the same with `skdpgen --debug ...` where that does no harm."
)
OF_PARAMETERS = "InvalidParameterError"  # scikit-learn's; it quotes parameters alone


def in_a_line(error: BaseException) -> str:
    """Return a message for an error: only messages of this package are quoted.

    Examples
    --------
    >>> in_a_line(KeyError("Jane Doe, 12.3.1966")).startswith("KeyError outside")
    True
    """
    if isinstance(error, FileNotFoundError | IsADirectoryError | PermissionError):
        return f"{error.strerror}: {error.filename}"
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed. Say `pip install {error.name}`."
    if (_is_ours(error) or type(error).__name__ == OF_PARAMETERS) and str(error):
        return " ".join(str(error).split())
    return HIDDEN.format(name=type(error).__name__)


def _is_ours(error: BaseException) -> bool:
    """Return whether the last line that ran is in this package."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and PACKAGE in Path(frames[-1].filename).parents
