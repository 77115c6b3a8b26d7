"""Warnings that point at the user's line, however deep they are raised."""

import sys
import warnings

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
