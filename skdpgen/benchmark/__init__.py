"""Comparisons: synthesizers between the real-data ceiling and a simple floor."""

from skdpgen.benchmark._compare import Comparison, compare

__all__ = ["Comparison", "compare"]
