"""Optional dependencies, imported at the point of use."""

import importlib
from types import ModuleType


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module, or say which extra installs it.

    Examples
    --------
    >>> require("math", extra="plot").pi > 3
    True
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module.partition('.')[0]!r} is needed here and is not installed. "
            f"Install it with `pip install 'skdpgen[{extra}]'`."
        ) from error
