"""Tables as Gaussians: columns by class, then products of their normal scores."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.random import Generator

from skdpgen.privacy import Histograms, Ledger, OuterProducts, Release, sensitivity
from skdpgen.synthesizers.models import (
    CopulaModel,
    NormalScores,
    draw_given,
    single_columns,
)
from skdpgen.synthesizers.opening import Facts, Opening, decode_rows, n_classes_of
from skdpgen.tables import Cells, EncodedBatch
from skdpgen.training import class_correlations
from skdpgen.utils import Key, saved

SHARES = (0.05, 0.5)  # of what is left, for products: at least, at most
POOLED_EDGE, CLASS_EDGE = 0.01, 0.05  # largest eigenvalue of noise, of all that could be


@saved
@dataclass(frozen=True)
class CopulaSpace:
    r"""A row becomes the normal scores of its cells, a vector v of norm 1 at most.

    Two releases: histograms of columns by class, which decide what the score of a cell
    is, and the sum of :math:`v v^\top`, by class or of all rows.

    *Why it is private.* Scores are a function of the first release, so the second is a
    sum of :math:`v v^\top` of rows clipped to norm 1: no inner product of two of them
    is negative, and a row moves it by :math:`\sqrt 2` if replaced, by 1 if added or
    removed (:class:`~skdpgen.privacy.OuterProducts` of the kind "square"). The two
    compose adaptively. Their shares go by the numbers of rows, classes and columns.
    """

    def measure(
        self, opening: Opening, cells: Mapping[Any, Cells], labels: Cells | None
    ) -> None:
        """Release columns by class, and products; keeps both."""
        n_classes, d = n_classes_of(labels), len(cells)
        opening.progress.total += 1
        share = share_of_products(opening.ledger, opening.facts.n_rows, d)
        released = opening.release(
            "release_",
            opening.rows.batches(cells, labels),
            {Key.COLUMNS: Histograms(tuple(c.n_cells for c in cells.values()))},
            name=f"histograms of {d} columns by class",
            share=1.0 - share,
            n_classes=n_classes,
        )
        if not share:
            return
        opening.step("products")
        known = single_columns(released, cells, labels, opening.facts)
        product = OuterProducts(((d, d),), 1.0, ("square",))
        std = opening.ledger.noise_std(
            share=opening.ledger.remaining,
            sensitivity=sensitivity(product.structure, released.adjacency),
        )
        edge = noise_edge(std, opening.facts.n_rows / n_classes, d)
        by_class = n_classes > 1 and edge < CLASS_EDGE
        scores = NormalScores.of(known, cells)

        def batches() -> Iterator[EncodedBatch]:
            for batch in opening.rows.batches(cells, labels):
                rows = scores.encode(batch.parts[Key.COLUMNS], batch.labels)
                v = torch.from_numpy(rows)
                known = np.where(batch.labels >= 0, 0, -1)
                label = batch.labels if by_class else known
                yield EncodedBatch(label, {Key.MOMENTS: [(v, v)]})

        opening.release(
            "moments_",
            batches(),
            {Key.MOMENTS: product},
            name=f"products of normal scores of {d} columns" + " by class" * by_class,
            n_classes=n_classes if by_class else 1,
        )

    def learn(
        self,
        released: Release,
        moments: Release | None,
        cells: Mapping[Any, Cells],
        labels: Cells | None,
        facts: Facts,
    ) -> CopulaModel:
        """Return columns and correlations, denoised."""
        known = single_columns(released, cells, labels, facts)
        orders, d = NormalScores.of(known, cells).orders, len(cells)
        if moments is None:
            return CopulaModel(known, orders, np.eye(d)[None])
        values = moments.values[Key.MOMENTS].reshape(-1, d, d)
        totals = known.totals if len(values) > 1 else known.totals[:1] * 0 + known.totals.sum()
        found = class_correlations(values, moments.noise_std[Key.MOMENTS], totals)
        return CopulaModel(known, orders, found)


def noise_edge(std: float, n_rows: float, n_columns: int) -> float:
    r"""Return the largest eigenvalue that noise alone gives correlations, over d.

    Products of rows of norm 1 have a diagonal of n / d, so that noise in correlations
    is :math:`s d / (n \sqrt 2)`; d is the largest eigenvalue that there can be.
    """
    return 2.0 * std / math.sqrt(2.0) * math.sqrt(n_columns) / max(n_rows, 1.0)


def share_of_products(ledger: Ledger, n_rows: float, n_columns: int) -> float:
    """Return which part of what is left goes to products; 0 if there are none."""
    if n_columns < 2:
        return 0.0
    product = OuterProducts(((n_columns, n_columns),), 1.0, ("square",))
    whole = sensitivity(product.structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=ledger.remaining, sensitivity=whole)
    edge = noise_edge(std, n_rows, n_columns)
    return float(np.clip((edge / POOLED_EDGE) ** 2, *SHARES))
