"""Images as the paper has them: one diagonal Gaussian a class, from one release."""

from typing import Any

import numpy as np

from skdpgen.privacy import Counts, Moments
from skdpgen.synthesizers.gaussian._lens_map import Pictures
from skdpgen.synthesizers.models import PictureMixture
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.tables import Cells
from skdpgen.training import project_to_total
from skdpgen.utils import Key

FREE = 0.5  # of counts beside first and second moments, as squared weight


def measure_moments(opening: Opening, labels: Cells | None, lens: Any) -> None:
    r"""Release sums of codes, of their squares and of rows, all at once.

    Keeps ``release_`` and ``mixture_``: mean and variance of each code in each class.

    *Why it is private.* Codes v of norm 1 at most, beside :math:`v \circ v / \sqrt 2`,
    move by 2 if a row of the same class replaces another
    (:class:`~skdpgen.privacy.Moments`: the squares are free). If the class differs,
    both rows move sums of their own, and counts of squared weight 1/2 beside them:
    :math:`\sqrt{2 (1 + 1/2 + 1/2)} = 2` again. A row that is added moves all by
    :math:`\sqrt 2`.
    """
    rows, n_classes = Pictures(opening, labels, lens), n_classes_of(labels)
    d, moments = rows.width, Moments(rows.width)
    opening.step("moments")
    found = opening.release(
        "release_",
        rows.codes(lambda label, z: (label, z)),
        {Key.FEATURES: moments, Key.CLASSES: Counts(FREE)},
        name="means and squares of codes by class",
        n_classes=n_classes,
    )
    counts = found.values[Key.CLASSES][:, 0]
    n_rows = opening.facts.public_total(found.adjacency, labels)
    totals = project_to_total(counts, n_rows or max(float(counts.sum()), 1.0))
    each = np.maximum(totals, 1.0)[:, None]
    sums, squares = np.split(found.values[Key.FEATURES], [d], axis=1)
    means = sums / each
    noise = found.noise_std[Key.FEATURES] / each  # makes squares of means too large
    variances = squares / moments.b / each - (means**2 - noise**2)
    mixture = PictureMixture(
        lens,
        rows.shape,
        totals,
        float(found.noise_std[Key.CLASSES]) * n_classes**0.5,
        means[:, None],
        np.ones((n_classes, 1)),
        np.zeros((n_classes, d, d)),
        np.maximum(variances, 0.0),
        np.zeros(1),
    )
    opening.keep(mixture_=mixture)
