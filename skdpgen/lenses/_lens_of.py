"""Convert what a user passes into a lens."""

from collections.abc import Callable

from torch import Tensor, nn

from skdpgen.lenses._cosine import CosineLens
from skdpgen.lenses._lens import Lens
from skdpgen.lenses._module_lens import ModuleLens, RandomLens
from skdpgen.lenses._network_lens import ShippedLens
from skdpgen.lenses._scattering import ScatteringLens

NAMED = {
    "cosine": CosineLens,
    "random": RandomLens,
    "scattering": ScatteringLens,
    "shipped": ShippedLens,
}
LEARNT = {"vgg19": "VGG19Lens", "resnet18": "ResNet18Lens"}


Coder = Callable[[Tensor], Tensor]
LensLike = str | Lens | nn.Module | tuple[Coder, Coder]


def lens_of(
    given: LensLike, *, needs_decoder: bool = False, needs_features: bool = False
) -> Lens:
    """Return the lens that is meant.

    Parameters
    ----------
    given : name, lens, nn.Module or pair of callables
        A name ("cosine", "random", "scattering" or "shipped") stands for the lens with
        its defaults, a module for one that encodes, a pair for an encoder and its
        decoder.
    needs_decoder, needs_features : bool, default=False
        Refuse a lens without a decoder, or without features to compare images by.

    Examples
    --------
    >>> lens_of("cosine").name
    'low frequencies of a cosine transform, 80 a channel, radius 0.5 around 0.5'
    >>> lens_of("scattering", needs_decoder=True)
    Traceback (most recent call last):
    ...
    ValueError: The lens must have a way back from codes to images. Got 'wavelet ...
    """
    lens = _chosen(given)
    for needed, is_there, what in (
        (needs_decoder, lens.has_decoder, "a way back from codes to images"),
        (needs_features, lens.has_features, "features to compare images by"),
    ):
        if needed and not is_there:
            raise ValueError(f"The lens must have {what}. Got {lens.name!r}.")
    return lens


def _chosen(given: object) -> Lens:
    if isinstance(given, str):
        if given in LEARNT:
            raise ValueError(
                f"Lens {given!r} needs weights, which do not come with this package. "
                f"Give it as `{LEARNT[given]}(weights)`."
            )
        if given not in NAMED:
            raise ValueError(
                f"A lens must be one of {', '.join(map(repr, NAMED))}, or a value. "
                f"Got {given!r} instead."
            )
        return NAMED[given]()
    if isinstance(given, type):
        raise TypeError(
            f"A lens must be a value, not its class. Write `{given.__name__}(...)`."
        )
    if isinstance(given, nn.Module):
        return ModuleLens(given)
    if isinstance(given, Lens):
        return given
    if isinstance(given, tuple | list) and len(given) == 2:
        return ModuleLens(*given)
    raise TypeError(
        "A lens must be a name, a lens, a module, or a pair of an encoder and a "
        f"decoder. Got {type(given).__name__} instead."
    )
