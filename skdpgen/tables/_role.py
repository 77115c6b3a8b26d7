"""Names of what a table has beside its columns."""

from enum import Enum

from skdpgen.utils import saved


@saved
class Role(Enum):
    """Names that no column of a table can have."""

    TARGET = "target"
    PIXELS = "pixels"


TARGET = Role.TARGET
PIXELS = Role.PIXELS
