"""scikit-learn's private names, imported here and nowhere else."""

from sklearn.base import _clone_parametrized as clone_parametrized
from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["Interval", "StrOptions", "clone_parametrized"]
