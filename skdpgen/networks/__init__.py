"""Generator networks; torch modules only."""

from skdpgen.networks._image import ImageGenerator, ImageShape
from skdpgen.networks._table import (
    CellsHead,
    PositionHead,
    TableGenerator,
    TableShape,
)

__all__ = [
    "CellsHead",
    "ImageGenerator",
    "ImageShape",
    "PositionHead",
    "TableGenerator",
    "TableShape",
]
