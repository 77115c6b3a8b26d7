"""What is measured of rows as Gaussians: columns' scores, or images' codes."""

from dataclasses import dataclass

from skdpgen.privacy import Release
from skdpgen.synthesizers.models import CopulaModel, Deformations, PictureMixture
from skdpgen.synthesizers.opening import Measured
from skdpgen.utils import saved


@saved("measured.mixture")
@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredMixture(Measured):
    """Gaussians, as far as releases have come.

    Parameters
    ----------
    mixture : CopulaModel, PictureMixture or None
        What all releases say so far; None before the first that has means.
    stages : tuple of Release
        All releases of images so far, in order, beside what the mixture took of them.
    votes : Release or None
        Of rows, on how far images are deformed.
    deformations : Deformations or None
        Of images that are drawn.
    """

    mixture: CopulaModel | PictureMixture | None = None
    stages: tuple[Release, ...] = ()
    votes: Release | None = None
    deformations: Deformations | None = None
