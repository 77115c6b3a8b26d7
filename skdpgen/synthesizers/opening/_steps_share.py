"""What steps on secret samples may spend: fixed before anything is released."""

from skdpgen.privacy import Adjacency, Ledger, OneHot
from skdpgen.synthesizers.opening._binning import (
    BIN_SHARES,
    BIN_STD,
    THIRD_SHARES,
)
from skdpgen.synthesizers.opening._classes import CLASS_SHARE
from skdpgen.synthesizers.opening._column_kinds import LOOK_SHARES
from skdpgen.synthesizers.opening._context import Opening
from skdpgen.synthesizers.opening._known_columns import Known
from skdpgen.synthesizers.opening._pixel_range import PIXEL_SHARES, pixel_share
from skdpgen.synthesizers.opening._public_schema import CHECK_SHARES
from skdpgen.synthesizers.opening._shares import share_for
from skdpgen.synthesizers.opening._unknown_columns import (
    COUNT_SHARE,
    MOST_SHARE,
    discovery_share,
)
from skdpgen.synthesizers.opening._watched_columns import WATCHED_SHARES
from skdpgen.tables import TARGET


def steps_share(opening: Opening, part: float) -> float:
    """Return a share of the whole budget that is left after discovery for certain.

    It is ``part`` of the least that discovery leaves, from public quantities alone.
    *Why.* Sub-sampled steps are calibrated at the Renyi order that suits their share
    best. A share that depended on releases would make that order depend on them, and
    then no single order bounds the whole. With a fixed share the Gaussian releases
    beside the steps are a filter with the limit mu² times what the share leaves, so
    their divergence is bounded at every order, however they were chosen, and that of
    the steps adds to it.
    """
    is_public = opening.ledger.budget.adjacency is Adjacency.REPLACE
    n_rows = opening.rows.n_rows if is_public else 0
    left = least_left(opening.opened, opening.ledger, n_rows)
    checked = 0.0 if opening.public is None else CHECK_SHARES[1]  # of public columns
    return part * (left - checked)


def least_left(known: Known, ledger: Ledger, n_rows: int) -> float:
    """Return the least that discovery leaves; reads ``n_rows`` only if it is public."""
    is_public = ledger.budget.adjacency is Adjacency.REPLACE
    may_be_number = known.may_be_a_number or known.may_say_a_number
    unknown = (known.with_number() if may_be_number else known).unknown
    n_unknown, n_numbers, left = len(unknown), known.most_numbers, 1.0
    first, bins, third = MOST_SHARE, BIN_SHARES[1], THIRD_SHARES[1]
    if is_public:
        first = discovery_share(unknown, n_rows, ledger) if n_unknown else 0.0
        structure = OneHot(max(n_numbers, 1))
        bins = share_for(structure, n_rows * BIN_STD, ledger, BIN_SHARES)
    left -= 0.0 if is_public else COUNT_SHARE
    left -= CLASS_SHARE * known.has_unknown_classes
    left -= LOOK_SHARES[1] * known.may_say_a_number
    if n_unknown:  # all three releases of discovery
        return left - first - LOOK_SHARES[1]
    are_images = known.kinds.keys() <= {TARGET}
    if are_images:
        left -= pixel_share(n_rows, ledger) if is_public else PIXEL_SHARES[1]
    if not n_numbers:
        return left * (1.0 - WATCHED_SHARES[1] * (not are_images))
    return left * (1.0 - max(bins, WATCHED_SHARES[1])) * (1.0 - third)
