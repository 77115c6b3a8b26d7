"""Which lens images are seen through: what was asked for, or a public one of ours."""

from typing import Any

from skdpgen.lenses import CosineLens, lens_of
from skdpgen.synthesizers.gaussian._lens_map import check_lens
from skdpgen.synthesizers.gaussian._public_basis import PublicBasis, check_public

COEFFICIENTS = 160, 300  # of a channel, and of all channels together
RADIUS, EMPHASIS = 2.0, 0.5
FINER = 2  # times as many frequencies, where public images say which matter


def choose_lens(
    given: Any, public_data: Any, size: tuple[int, int, int], *, is_plain: bool = False
) -> Any:
    """Return the lens for images of a size, after it has seen a black one.

    Parameters
    ----------
    given : what the user asked for, or None
    public_data : array of images or None
    size : tuple of int
        Channels, height and width.
    is_plain : bool, default=False
        Whether codes are released as they are. Those of our lens are then near norm 1;
        else they are small, so that none is cut, and enlarged by a released size.
    """
    whole = size[1] * size[2]
    n = min(COEFFICIENTS[0], COEFFICIENTS[1] // size[0], whole)
    many = n if public_data is None else min(FINER * n, whole)
    ours = CosineLens(many, radius=RADIUS, emphasis=EMPHASIS)
    usual = CosineLens(many) if is_plain else ours
    lens = usual if given is None else lens_of(given, needs_decoder=True)
    check_lens(lens, size)
    if public_data is None:
        return lens
    check_public(public_data, size)
    n_latent = n * size[0] if given is None else lens.n_latent(size)
    return PublicBasis.of(public_data, lens, n_latent)
