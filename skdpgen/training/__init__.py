"""Turns a release into a generator; never sees a table."""

from skdpgen.training._smoothing import (
    class_totals,
    conditional_histogram,
    project_to_total,
    without_empty_ends,
)

__all__ = [
    "class_totals",
    "conditional_histogram",
    "project_to_total",
    "without_empty_ends",
]
