"""Comparisons: synthesizers between the real-data ceiling and the floor."""

from skdpgen.benchmark._compare import Comparison, compare

__all__ = ["Comparison", "compare"]
