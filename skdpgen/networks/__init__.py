"""Generator networks; torch modules only."""

from skdpgen.networks._autoencoder import AutoEncoder
from skdpgen.networks._image import ImageGenerator, ImageShape
from skdpgen.networks._table import (
    CellsHead,
    PositionHead,
    TableGenerator,
    TableShape,
)

__all__ = [
    "AutoEncoder",
    "CellsHead",
    "ImageGenerator",
    "ImageShape",
    "PositionHead",
    "TableGenerator",
    "TableShape",
]
