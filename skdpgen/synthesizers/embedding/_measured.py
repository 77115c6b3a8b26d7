"""What is measured of rows by one embedding, whatever the map."""

from dataclasses import dataclass
from typing import Any

from skdpgen.privacy import Release
from skdpgen.synthesizers.models import Deformations
from skdpgen.synthesizers.opening import Measured
from skdpgen.utils import saved


@saved
@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredEmbedding(Measured):
    """A mean embedding, or what a method that trains on rows has beside it.

    Parameters
    ----------
    kernel : RowKernel, ImageKernel or None
        None before it was drawn.
    settings : Settings or None
        As they were used; a refit may replace those of the generator.
    stopping_release : Release or None
        Means of codes that training stops by.
    votes : Release or None
        Of rows, on how far images are deformed.
    deformations : Deformations or None
        Of images that are drawn.
    """

    kernel: Any = None
    settings: Any = None
    stopping_release: Release | None = None
    votes: Release | None = None
    deformations: Deformations | None = None
