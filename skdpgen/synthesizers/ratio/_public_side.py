"""Public items as a ratio sees them: codes, labels, and what is drawn of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.lenses import CosineLens, lens_of
from skdpgen.synthesizers.adversarial import has_images, public_pair
from skdpgen.synthesizers.gaussian import check_lens, encoder
from skdpgen.synthesizers.models import PublicItems, label_codes, target_codes
from skdpgen.synthesizers.opening import Fitting, Opening
from skdpgen.tables import as_pixels, holds_images, image_size

Floats = NDArray[np.float64]
COEFFICIENTS = 64  # of a cosine transform: fewer codes share less noise
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class PublicSide:
    """Public items, and what is known of each; no private row is here.

    Parameters
    ----------
    items : PublicItems
    codes : ndarray
        Cells of the columns of tables, (n, n_columns), -1 where there is none; codes of
        images, (n, n_latent).
    labels : ndarray of shape (n,) or None
        Classes, -1 for those that are none; None if public rows have no labels.
    """

    items: PublicItems
    codes: Any
    labels: Any

    @classmethod
    def of(cls, opening: Fitting[Any], given: Any, lens: Any) -> "PublicSide":
        """Read public rows as the private ones are read, with their cells or lens."""
        measured = opening.measured
        if opening.holds_images:
            pixels, y = public_pair(given)
            rows = as_pixels(pixels).astype(np.float64)
            known = None
            if y is not None and opening.facts.task == "classification":
                known = label_codes(np.asarray(opening.facts.classes, dtype=object), y)
            elif y is not None and measured.labels is not None:
                known = target_codes(opening.facts.target_layout, measured.labels, y)
            return cls(
                PublicItems({}, as_pixels(pixels), _numbers(opening, y)),
                see(lens, opening.facts.layout.size, rows),  # type: ignore[union-attr]
                known,
            )
        public = opening.public
        assert public is not None
        batches = list(public.codes(measured.cells, measured.labels))
        codes = np.concatenate([batch for batch, _ in batches])
        labels = np.concatenate([known for _, known in batches])
        has_labels = public.has_labels and measured.labels is not None
        target = _numbers(opening, public.target)
        return cls(
            PublicItems.of_table(public.frame, target),
            codes,
            labels if has_labels else None,
        )

    def base(self, shares: Floats) -> Floats:
        """Return the share of each item and label before rows have told anything.

        Without labels an item has a share in each class, as often as these were
        released: what tells classes apart is then learnt of the private rows alone.
        """
        if self.labels is None:
            return np.tile(shares / len(self.codes), (len(self.codes), 1))
        known = np.arange(len(shares)) == np.asarray(self.labels)[:, None]
        if not known.any():
            raise ValueError(
                "public_data must have labels that are among the classes, or none. "
                "Got labels of which none is; leave them out."
            )
        return np.asarray(known / known.sum())


def see(lens: Any, size: tuple[int, int, int], pixels: Floats) -> Floats:
    """Return codes of images, in batches of one shape."""
    encode = encoder(lens, size)
    parts = []
    for start in range(0, len(pixels), AT_ONCE):
        some = np.zeros((AT_ONCE, pixels.shape[1]))
        mine = pixels[start : start + AT_ONCE]
        some[: len(mine)] = mine
        parts.append(encode(some)[: len(mine)])
    return np.concatenate(parts)


def given_items(given: Any, X: Any, lens: Any) -> Any:
    """Check public rows before anything is paid; return the lens images go through."""
    if given is None:
        raise ValueError(
            "public_data must be given: they are what is drawn. Got None; without "
            "public rows use DPPairwiseSynthesizer, or DPMERFSynthesizer for images."
        )
    if has_images(given) != holds_images(X):
        raise ValueError(
            "public_data must hold images if X does, and a table if X is one. Got "
            f"{type(public_pair(given)[0]).__name__}."
        )
    if not has_images(given):
        if lens is not None:
            raise ValueError(
                "lens must be None for tables, which are seen column by column. Got "
                f"{lens!r}; leave it out."
            )
        return None
    size = image_size(public_pair(given)[0])
    n = min(COEFFICIENTS, size[1] * size[2])
    chosen = CosineLens(n) if lens is None else lens_of(lens)
    if lens is None:
        check_lens(chosen, size)
    else:
        encoder(chosen, size)  # which needs no way back, and is tried on made-up images
    return chosen


def _numbers(opening: Opening, y: Any) -> Any:
    """Return the numbers of a regression, to be drawn as they are."""
    if y is None or opening.facts.task != "regression":
        return None
    return np.asarray(y, dtype=np.float64)
