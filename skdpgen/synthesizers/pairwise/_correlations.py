"""Correlations of numbers: what a mixture of pairs lacks of them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.synthesizers.models import (
    Coupling,
    MixtureModel,
    NormalScores,
    ScoreProducts,
    products_share,
    release_products,
    scores_in_cells,
)
from skdpgen.synthesizers.opening import Fitting
from skdpgen.tables import Cells
from skdpgen.training import (
    ClassConditional,
    least_move,
    nearest_correlation,
    shrink_symmetric,
)

# Cells of a pair are coarse, so a mixture that matches them draws numbers that depend
# less on each other than they should: of two that are nearly equal, each is drawn
# evenly in its cell, and noise hides much of the rest. Products of normal scores need
# one number for each pair. They correct what the mixture draws, where the two differ
# by more than noise.

Floats = NDArray[np.float64]
SHARES = (0.04, 0.2)  # least and largest fraction of the budget of pairs
FEWEST_CELLS = 5  # of a column that takes part
LEAST_SPREAD = 0.95  # of its scores: below, most rows share a few of its cells
DRAWN, FEWEST_DRAWN = 40_000, 500  # rows that the mixture's products are taken of
CLOSEST = 0.995  # largest correlation


def measure_products(
    opening: Fitting[Any],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    columns: ClassConditional,
) -> ScoreProducts | None:
    """Release products of the normal scores of numbers; None if there are not two.

    Which columns take part depends on released columns only.
    """
    used = {
        name: column
        for name, column in cells.items()
        if column.is_ordered and column.n_known >= FEWEST_CELLS
    }
    spreads = NormalScores.of_numbers(columns, used).spreads(columns)
    used = {
        name: column
        for (name, column), spread in zip(used.items(), spreads, strict=True)
        if spread >= LEAST_SPREAD
    }
    n_rows = opening.facts.n_rows
    share = products_share(opening.ledger, n_rows, len(used), SHARES)
    if not share:
        return None
    opening.progress.total += 1
    opening.step("products")
    return release_products(
        opening,
        used,
        labels,
        NormalScores.of_numbers(columns, used),
        n_classes=len(columns.totals),
        share=share,
    )


def coupling_of(
    mixture: MixtureModel,
    products: ScoreProducts,
    cells: Mapping[Any, Cells],
    *,
    rng: Generator,
) -> Coupling | None:
    """Return how to move rows of the mixture; None if no correlation clearly differs.

    Reads no row: the mixture is trained on releases, and so are the products.
    """
    known, names = mixture.known, products.names
    totals = np.maximum(known.totals, 0.0)
    n_drawn = max(DRAWN // len(totals), FEWEST_DRAWN)
    sizes = {name: cells[name].n_known for name in names}
    means, correlations = [], []
    for label in range(len(totals)):
        labels = np.full(n_drawn, label)
        drawn = mixture.draw(labels, {}, rng=rng)
        codes = np.stack([drawn[name] for name in names], axis=1)
        means.append(products.of_rows(codes, labels))
        scores = scores_in_cells(drawn, sizes, label, known, rng=rng)
        correlations.append(nearest_correlation(_correlations(scores)))
    own = totals[:, None, None] * np.stack(means)
    lacking = _lacking(products, own, products.scores.spreads(known))
    if not lacking.any():
        return None
    maps = []
    for before, difference in zip(correlations, lacking, strict=True):
        after = np.clip(before + difference, -CLOSEST, CLOSEST)
        np.fill_diagonal(after, 1.0)
        maps.append(least_move(before, nearest_correlation(after)))
    return Coupling(sizes, np.stack(maps))


def _lacking(products: ScoreProducts, own: Floats, spreads: Floats) -> Floats:
    """Return what the correlations of the mixture lack in each class, beyond noise.

    Parameters
    ----------
    products : ScoreProducts
    own : ndarray of shape (n_classes, d, d)
        Sums of the same products in as many rows of the mixture.
    spreads : ndarray of shape (d,)
        Standard deviations of scores.
    """
    noisy = (products.values + products.values.transpose(0, 2, 1)) / 2
    std = products.noise_std / math.sqrt(2)  # of the mean of two entries
    of_all = _off_diagonal(noisy.sum(axis=0) - own.sum(axis=0))
    of_all = shrink_symmetric(of_all, std * math.sqrt(len(noisy)))
    common = _off_diagonal(of_all / _units(own.sum(axis=0)))
    lacking = np.stack([common] * len(own))
    if products.by_class:
        for label, sums in enumerate(own):
            units = _units(sums)
            left = _off_diagonal(noisy[label] - sums - common * units)
            lacking[label] += _off_diagonal(shrink_symmetric(left, std) / units)
    return np.asarray(lacking / spreads / spreads[:, None])


def _units(sums: Floats) -> Floats:
    """Return what sums of products are divided by to be correlations."""
    root = np.sqrt(np.maximum(np.diag(sums), np.finfo(float).tiny))
    return np.asarray(root * root[:, None])


def _off_diagonal(matrix: Floats) -> Floats:
    return np.asarray(matrix * (1.0 - np.eye(len(matrix))))


def _correlations(scores: Floats) -> Floats:
    """Return correlations; a score that is the same in all rows has none."""
    centred = scores - scores.mean(axis=0)
    sums = centred.T @ centred
    matrix = sums / _units(sums)
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(matrix)
