"""What may not be installed, and the private parts of scikit-learn."""

import importlib
from types import ModuleType

import numpy as np
from sklearn.base import _clone_parametrized as clone_parametrized
from sklearn.utils._param_validation import Interval, StrOptions

# ----------------------------------------------------------------------------
# Optional dependencies, imported at the point of use.


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module; the error names the extra that installs it.

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


# ----------------------------------------------------------------------------
# scikit-learn's private names, imported here and nowhere else.

__all__ = ["Amount", "Interval", "StrOptions", "clone_parametrized"]


class Amount(Interval):  # type: ignore[misc]
    """An interval of numbers proper: ``True`` is no amount of 1.

    Examples
    --------
    >>> from numbers import Real
    >>> amount = Amount(Real, 0, None, closed="right")
    >>> amount.is_satisfied_by(1), amount.is_satisfied_by(True)
    (True, False)
    """

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a parameter is one of these numbers."""
        is_number = not isinstance(val, bool | np.bool_)
        return is_number and bool(super().is_satisfied_by(val))
