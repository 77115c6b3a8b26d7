"""How many images leave the range of their pixels, or use hardly any of it."""

from collections.abc import Iterable, Iterator

from skdpgen.privacy import Histograms, Ledger, OneHot, release, sensitivity
from skdpgen.synthesizers.opening._column_kinds import BLURRED
from skdpgen.synthesizers.opening._shares import share_for
from skdpgen.tables import EncodedBatch, InRange, Rows, range_codes
from skdpgen.utils import Key

PIXEL_SHARES = (0.0005, 0.01)  # of mu², at least and at most
PIXEL_STD = 1 / 50  # of the images: the noise that is aimed at


def look_at_pixels(rows: Rows, ledger: Ledger, n_rows: float) -> dict[str, float]:
    r"""Release how many images are dark, or have pixels below or above the range.

    *Sensitivity.* Each image is in one of the five cells of :class:`InRange`, by its
    own darkest and brightest pixel. So replacing one moves the histogram by
    :math:`\sqrt 2` at most, and adding or removing one by 1 at most
    (:class:`~skdpgen.privacy.OneHot`). Nothing is asked and paid where noise would
    hide a twelfth of the images.
    """
    structure = OneHot(1)
    share = pixel_share(n_rows, ledger)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    if rows.elsewhere is not None or std > BLURRED * n_rows:
        return {}
    released = release(
        rows.batches({}).through(_as_codes),
        {Key.COLUMNS: Histograms((len(InRange),))},
        name="images that leave the range of their pixels",
        ledger=ledger,
        share=share,
    )
    shares = released.values[Key.COLUMNS][0] / n_rows
    noise = float(released.noise_std[Key.COLUMNS]) / n_rows
    both = shares[InRange.BELOW_AND_ABOVE]
    return {
        "dark": float(shares[InRange.DARK]),
        "below": float(shares[InRange.BELOW] + both),
        "above": float(shares[InRange.ABOVE] + both),
        "dark_noise": noise,
        "below_noise": 2**0.5 * noise,
        "above_noise": 2**0.5 * noise,
    }


def pixel_share(n_rows: float, ledger: Ledger) -> float:
    """Return the share of mu² that the release gets."""
    return share_for(OneHot(1), n_rows * PIXEL_STD, ledger, PIXEL_SHARES)


def _as_codes(batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
    """Turn each image into the number of its cell."""
    for batch in batches:
        codes = range_codes(batch.parts[Key.PIXELS])
        yield EncodedBatch(batch.labels, {Key.COLUMNS: codes[:, None]})
