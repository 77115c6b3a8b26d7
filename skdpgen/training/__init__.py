"""Turns a release into a generator; never sees a table."""

from skdpgen.training._conditional import ClassConditional, class_conditional_model
from skdpgen.training._smoothing import (
    class_totals,
    conditional_histogram,
    project_to_total,
    without_empty_cells,
)

__all__ = [
    "ClassConditional",
    "class_conditional_model",
    "class_totals",
    "conditional_histogram",
    "project_to_total",
    "without_empty_cells",
]
