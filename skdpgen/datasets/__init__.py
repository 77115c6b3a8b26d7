"""Example tables, made by code: no download, no private rows."""

from skdpgen.datasets._example import load_example, load_example_regression, make_parity

__all__ = [
    "load_example",
    "load_example_regression",
    "make_parity",
]
