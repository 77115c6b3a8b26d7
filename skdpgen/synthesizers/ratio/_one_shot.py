"""The ratio from one release: means of codes by class, and a tilt that has them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Counts, Histograms, Moments
from skdpgen.synthesizers.gaussian import Pictures
from skdpgen.synthesizers.models import single_columns
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.synthesizers.ratio._learnt import LearntRatio, one_hot
from skdpgen.synthesizers.ratio._public_side import PublicSide
from skdpgen.training import Told, project_to_total
from skdpgen.utils import Key

Floats = NDArray[np.float64]
FREE = 0.5  # squared weight of counts, beside first and second moments
LEAST = 1e-6


def learn_at_once(opening: Opening, given: Any, lens: Any) -> None:
    r"""Release means of codes by class; keep them beside public items.

    *Why it is private.* Of tables histograms of columns by class are released
    (:class:`~skdpgen.privacy.Histograms`: d one-hot blocks, :math:`\sqrt{2 d}` if a
    row is replaced, :math:`\sqrt d` if one is added or removed). Of images codes v of
    norm 1 at most beside :math:`v \circ v / \sqrt 2` and class counts of squared
    weight 1/2: two rows of one class differ by 2 at most
    (:class:`~skdpgen.privacy.Moments`: squares are free), two of different classes by
    :math:`\sqrt{2 (1 + 1/2 + 1/2)} = 2`, and a row that is added moves them by
    :math:`\sqrt 2`. All else is made of that and of public items.
    """
    kept, facts = opening.kept, opening.facts
    labels, n_classes = kept["_labels"], n_classes_of(kept["_labels"])
    side = PublicSide.of(opening, given, lens)
    sizes: tuple[int, ...] = ()
    if opening.holds_images:
        rows = Pictures(opening, labels, lens)
        moments = Moments(rows.width)
        codes = np.hstack([side.codes, moments.b * side.codes**2, _ones(side.codes)])
        matrix = codes
        found = opening.release(
            "release_",
            rows.codes(lambda label, z: (label, z)),
            {Key.FEATURES: moments, Key.CLASSES: Counts(FREE)},
            name="means and squares of codes by class",
            n_classes=n_classes,
        )
        counts = found.values[Key.CLASSES]
        n_rows = facts.public_total(found.adjacency, labels)
        totals = project_to_total(counts[:, 0], n_rows or max(float(counts.sum()), 1.0))
        total_std = float(found.noise_std[Key.CLASSES]) * n_classes**0.5
        values = np.hstack([found.values[Key.FEATURES], counts])
        noise = np.full(values.shape[1], float(found.noise_std[Key.FEATURES]))
        noise[-1] = float(found.noise_std[Key.CLASSES])
        units = np.append(np.maximum(codes[:, :-1].std(axis=0), LEAST), 1.0)
    else:
        cells, codes = kept["cells_"], side.codes
        sizes = tuple(column.n_cells for column in cells.values())
        matrix = one_hot(codes, sizes)
        found = opening.release(
            "release_",
            opening.rows.batches(cells, labels),
            {Key.COLUMNS: Histograms(sizes)},
            name=f"histograms of {len(cells)} columns by class",
            n_classes=n_classes,
        )
        known = single_columns(found, cells, labels, facts)
        totals, total_std = np.asarray(known.totals), float(known.total_std)
        values = found.values[Key.COLUMNS]
        noise = np.full(values.shape[1], float(found.noise_std[Key.COLUMNS]))
        units = np.ones(values.shape[1])
    base = side.base(totals / totals.sum())
    variances = _variances(matrix, base, noise, facts.n_rows)
    told = Told(values / facts.n_rows, variances, units)
    known_so_far = side.items, base, None, totals, total_std, codes, told, sizes
    opening.keep(_ratio=LearntRatio(*known_so_far))


def _ones(codes: Any) -> Floats:
    return np.ones((len(codes), 1))


def _variances(codes: Any, base: Floats, noise: Floats, n_rows: float) -> Floats:
    """Return noise of means of codes, and how private rows vary by chance."""
    squared = codes.multiply(codes) if hasattr(codes, "multiply") else codes**2
    means, squares = (np.asarray(one.T @ base).T for one in (codes, squared))
    return (noise / n_rows) ** 2 + np.maximum(squares - means**2, 0.0) / n_rows
