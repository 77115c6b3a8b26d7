"""What DP-MGE has released of rows: scores of columns, or codes of images."""

from dataclasses import dataclass

from skdpgen.privacy import Release
from skdpgen.synthesizers.models import CopulaModel, Deformations, PictureMixture
from skdpgen.synthesizers.opening import Measured
from skdpgen.utils import (
    saved,
)


@saved("measured.mixture")
@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredMixture(Measured):
    """The Gaussians, estimated from all releases so far.

    Parameters
    ----------
    mixture : CopulaModel, PictureMixture or None
        The estimate; None before the first release of means.
    stages : tuple of Release
        All releases of images so far, in order.
    votes : Release or None
        Votes of the rows on how far images are deformed.
    deformations : Deformations or None
        Deformations of sampled images.
    """

    mixture: CopulaModel | PictureMixture | None = None
    stages: tuple[Release, ...] = ()
    votes: Release | None = None
    deformations: Deformations | None = None
