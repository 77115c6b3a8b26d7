"""Public rows of DP-DRE: their codes and labels, and the items that are drawn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.lenses import CosineLens, Lens, lens_of
from skdpgen.lenses._lens_of import LensLike
from skdpgen.synthesizers.adversarial import has_images, public_pair
from skdpgen.synthesizers.gaussian import check_lens, encode_images, encoder
from skdpgen.synthesizers.models import PublicItems, label_codes, target_codes
from skdpgen.synthesizers.opening import Fitting, Opening
from skdpgen.tables import (
    ImageLayout,
    Kind,
    as_pixels,
    clock_times,
    holds_images,
    image_size,
    in_utc,
    read_target,
    zone_of,
)
from skdpgen.utils import Rows

Floats = NDArray[np.float64]
N_COEFFICIENTS = 64  # of a cosine transform: fewer codes share less noise
CENTRE, RADIUS = 0.0, 0.35  # clips bright images, which are never decoded
PIXELS = "pixels"  # the lens of a discriminator of images themselves


@dataclass(frozen=True, eq=False)
class PublicCodes:
    """Public items with their codes and labels; no private row is here.

    Parameters
    ----------
    items : PublicItems
    codes : ndarray
        Of tables the cells of columns, (n, n_columns), with -1 for none; of images the
        codes of a lens, (n, n_latent), or pixels if there is none.
    labels : ndarray of shape (n,) or None
        Codes of classes, -1 for a label that is no class; None without labels.
    """

    items: PublicItems
    codes: NDArray[Any]
    labels: NDArray[np.int64] | None

    @classmethod
    def of(
        cls, opening: Fitting[Any], public_data: Rows, lens: Lens | None
    ) -> "PublicCodes":
        """Encode public rows like the private ones, by the same cells or lens."""
        measured, facts = opening.measured, opening.facts
        if isinstance(facts.layout, ImageLayout):
            pixels, y = public_pair(public_data)
            rows = as_pixels(pixels).astype(np.float64)
            classes = None
            if y is not None and facts.task == "classification":
                classes = label_codes(np.asarray(facts.classes, dtype=object), y)
            elif y is not None and measured.labels is not None:
                assert facts.target_layout is not None
                classes = target_codes(facts.target_layout, measured.labels, y)
            return cls(
                PublicItems({}, as_pixels(pixels), _target_numbers(opening, y)),
                rows if lens is None else encode_images(lens, facts.layout.size, rows),
                classes,
            )
        public = opening.public
        assert public is not None
        batches = list(public.codes(measured.cells, measured.labels))
        codes = np.concatenate([batch for batch, _ in batches])
        labels = np.concatenate([classes for _, classes in batches])
        has_labels = public.has_labels and measured.labels is not None
        target = _target_numbers(opening, public.target)
        return cls(
            PublicItems.of_table(public.frame, target),
            codes,
            labels if has_labels else None,
        )

    def base(self, shares: Floats) -> Floats:
        """Return the share of each item and label before weighting.

        An item without a label has a share in each class, in proportion to the released
        class counts. Differences of classes are then learnt from private rows alone.
        """
        if self.labels is None:
            return np.tile(shares / len(self.codes), (len(self.codes), 1))
        has_label = np.arange(len(shares)) == np.asarray(self.labels)[:, None]
        if not has_label.any():
            raise ValueError(
                "public_data must have labels that are among the classes, or none. "
                "Got labels of which none is; leave them out."
            )
        return np.asarray(has_label / has_label.sum())


def check_public_data(
    public_data: Rows | None, X: Any, lens: LensLike | None, *, algorithm: str
) -> Lens | None:
    """Check public rows before any budget is used; return the lens for images.

    There is none for tables, and none if a discriminator sees images themselves.
    """
    if public_data is None:
        raise ValueError(
            "public_data must be given: they are what is drawn. Got None; without "
            "public rows use DPPairwiseSynthesizer, or for images use DPMGESynthesizer."
        )
    if has_images(public_data) != holds_images(X):
        raise ValueError(
            "public_data must hold images if X does, and a table if X is one. Got "
            f"{type(public_pair(public_data)[0]).__name__}."
        )
    if not has_images(public_data):
        if lens is not None:
            raise ValueError(
                "lens must be None for tables, which are seen column by column. Got "
                f"{lens!r}; leave it out."
            )
        return None
    size = image_size(public_pair(public_data)[0])
    if isinstance(lens, str) and lens == PIXELS:
        if algorithm != "sgd":
            raise ValueError(
                "lens='pixels' is for algorithm='sgd': one release needs codes. Got "
                f"algorithm={algorithm!r}."
            )
        return None
    n = min(N_COEFFICIENTS, size[1] * size[2])
    used: Lens = CosineLens(n, CENTRE, RADIUS) if lens is None else lens_of(lens)
    if lens is None:
        check_lens(used, size)
    else:
        encoder(used, size)  # tries the lens on made-up images; no decoder is needed
    return used


def _target_numbers(opening: Opening, y: Any) -> NDArray[Any] | None:
    """Return the target of a regression, which is drawn with its row; else None.

    Times of a zone are in UTC: where clocks are put back, two times look alike.
    """
    if y is None or opening.facts.task != "regression":
        return None
    layout = opening.facts.target_layout
    assert layout is not None
    if layout.kinds[0] is Kind.DATETIME:
        series, _ = read_target(y, len(y))
        zone = zone_of(layout.dtypes[0])
        times = clock_times(series, None) if zone is None else in_utc(series, zone)
        return np.asarray(times)
    return np.asarray(y, dtype=np.float64)
