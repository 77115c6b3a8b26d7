"""What may be said of an error where rows are private."""

import traceback
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
HIDDEN = (
    "{name} outside skdpgen; its text may show values of the data and is not printed "
    "here. Run the same with `skdpgen --debug ...` where that does no harm."
)
OF_PARAMETERS = "InvalidParameterError"  # scikit-learn's; it quotes parameters alone


def in_a_line(error: BaseException) -> str:
    """Return what to say of an error: our own words, never those of others.

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
    """Say whether the last line that ran is in this package."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and PACKAGE in Path(frames[-1].filename).parents
