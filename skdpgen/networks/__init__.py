"""Generator networks; torch modules only."""

from skdpgen.networks._table import (
    CellsHead,
    PositionHead,
    TableGenerator,
    TableShape,
)

__all__ = ["CellsHead", "PositionHead", "TableGenerator", "TableShape"]
