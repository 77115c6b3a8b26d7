"""Warnings that point at the caller's line, and what may be printed of an error."""

import sys
import traceback
import warnings
from collections.abc import Collection
from pathlib import Path
from types import FrameType

# ----------------------------------------------------------------------------
# Warnings that point at the user's line, however deep they are raised.

OURS = {__name__.partition(".")[0], "contextlib"}  # which leads to our `with`


def warn_caller(
    message: str, category: type[Warning], *, through: Collection[str] = ()
) -> None:
    """Warn at the line that called into the package.

    Python shows a warning once a line: at a line of ours a second fit, of another
    table, would be silent.

    Parameters
    ----------
    message : str
    category : type of Warning
    through : collection of str, default=()
        Other packages whose lines are passed over, such as those of a search.
    """
    passed = OURS | {*through}
    level, frame = 1, sys._getframe()
    while frame.f_back and _package_of(frame) in passed:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


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
