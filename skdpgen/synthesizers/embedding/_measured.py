"""The releases of a method with a mean embedding, or with training on rows."""

from dataclasses import dataclass
from typing import Any

from skdpgen.privacy import Release
from skdpgen.synthesizers.models import Deformations
from skdpgen.synthesizers.opening import Measured
from skdpgen.utils import (
    saved,
)


@saved("measured.embedding")
@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredEmbedding(Measured):
    """The kernel and settings of a mean embedding, and releases beside the main one.

    Parameters
    ----------
    kernel : RowKernel, ImageKernel or None
        None before it was drawn.
    settings : Settings or None
        Settings of the fit; a refit may replace those of the generator.
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
