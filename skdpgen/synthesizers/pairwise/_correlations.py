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
    expected_noise,
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
PRODUCT_SHARES = (0.04, 0.2)  # least and largest fraction of the budget of pairs
FEWEST_CELLS = 5  # of a column that takes part
LEAST_SPREAD = 0.95  # of its scores: below, most rows share a few of its cells
UNCLIPPED_PART = 0.5, 1.0  # of squared norms, relative to drawn rows: least and largest
STRONGEST = 0.995  # correlation on Fisher's scale
N_ROUNDS = 3  # in which rows are moved
ROWS_DRAWN, FEWEST_ROWS_DRAWN = 40_000, 200  # the mixture's products are taken of them


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
    share = products_share(opening.ledger, n_rows, len(used), PRODUCT_SHARES)
    if not share:
        return None
    n_classes = len(columns.totals)
    _, by_class = expected_noise(opening, len(used), n_classes, share)
    opening.progress.total += 1
    opening.step("products")
    return release_products(
        opening,
        used,
        labels,
        NormalScores.of_numbers(columns, used, by_class=by_class),
        n_classes=n_classes,
        share=share,
    )


def coupling_of(
    mixture: MixtureModel,
    products: ScoreProducts,
    cells: Mapping[Any, Cells],
    *,
    rng: Generator,
) -> Coupling | None:
    """Return how to move rows of the mixture; None if they lack nothing.

    A linear map of scores of which rows are not normal does not give them the wanted
    correlations: their ranks become scores again, and what is still lacking moves them
    again. Reads no row: all of this follows from releases.
    """
    known, names = mixture.known, products.names
    totals = np.maximum(known.totals, 0.0)
    n_drawn = max(ROWS_DRAWN // len(totals), FEWEST_ROWS_DRAWN)
    sizes = {name: cells[name].n_known for name in names}
    labels = np.repeat(np.arange(len(totals)), n_drawn)
    everyone = mixture.draw(labels, {}, rng=rng)
    drawn = [
        {name: column[start : start + n_drawn] for name, column in everyone.items()}
        for start in range(0, len(labels), n_drawn)
    ]
    spreads, maps = products.scores.spreads(known), []
    for _ in range(N_ROUNDS):
        sums, correlations = [], []
        for label, (total, rows) in enumerate(zip(totals, drawn, strict=True)):
            codes = np.stack([rows[name] for name in names], axis=1)
            sums.append(total * products.of_rows(codes, np.full(n_drawn, label)))
            scores = scores_in_cells(rows, sizes, label, known, rng=rng)
            correlations.append(_correlations(scores))
        wanted = _wanted(products, np.stack(sums), np.stack(correlations), spreads)
        if np.allclose(wanted, correlations):
            break
        both = zip(correlations, wanted, strict=True)
        maps.append(
            np.stack(
                [least_move(*map(nearest_correlation, matrices)) for matrices in both]
            )
        )
        move = Coupling(sizes, maps[-1][None])
        drawn = [
            rows | move.moved(rows, label, known, rng=rng)
            for label, rows in enumerate(drawn)
        ]
    return Coupling(sizes, np.stack(maps)) if maps else None


def _wanted(
    products: ScoreProducts, own: Floats, drawn: Floats, spreads: Floats
) -> Floats:
    r"""Return the correlations that classes should have, as far as noise lets one know.

    They are those of the mixture, plus what it lacks of the products beyond noise. What
    it lacks is added on Fisher's scale, artanh r: there a class with a weaker relation
    than others keeps it, and no correlation exceeds 1.

    Rows of norm above 1 were clipped, and the more columns go together, the more rows
    are. Clipping scales all columns of a row alike, so sums are compared relative to
    their traces.

    Parameters
    ----------
    products : ScoreProducts
    own : ndarray of shape (n_classes, d, d)
        Sums of the same products in as many rows of the mixture.
    drawn : ndarray of shape (n_classes, d, d)
        Correlations of these rows, with scores within cells.
    spreads : ndarray of shape (d,)
        Standard deviations of scores.
    """
    noisy = (products.values + products.values.transpose(0, 2, 1)) / 2
    std = products.noise_std / math.sqrt(2)  # of the mean of two entries
    traces = np.array([np.trace(sums.sum(axis=0)) for sums in (own, noisy)])
    kept = float(np.clip(traces[1] / traces[0], *UNCLIPPED_PART))
    noisy, std = noisy / kept, std / kept

    def fisher(correlations: Floats) -> Floats:
        inside = np.clip(_off_diagonal(correlations), -STRONGEST, STRONGEST)
        return np.asarray(np.arctanh(inside))

    def added(noisy: Floats, sums: Floats, std: float, shift: Floats) -> Floats:
        units = _units(sums)
        had = sums / units / spreads / spreads[:, None]
        expected = np.tanh(fisher(had) + shift)
        left = noisy - expected * units * spreads * spreads[:, None]
        left = shrink_symmetric(_off_diagonal(left), std)
        more = left / units / spreads / spreads[:, None]
        return fisher(expected + more) - fisher(had)

    pooled = std * math.sqrt(len(noisy))
    common = added(noisy.sum(axis=0), own.sum(axis=0), pooled, np.zeros(own.shape[1:]))
    shifts = np.stack([common] * len(own))
    if products.by_class:
        shifts = np.stack(
            [added(*of_class, std, common) for of_class in zip(noisy, own, strict=True)]
        )
    wanted = np.where(shifts, np.tanh(fisher(drawn) + shifts), drawn)
    return np.asarray(_off_diagonal(wanted) + np.eye(len(spreads)))


def _units(sums: Floats) -> Floats:
    """Return what sums of products are divided by to be correlations."""
    root = np.sqrt(np.maximum(np.diag(sums), np.finfo(float).tiny))
    return np.asarray(root * root[:, None])


def _off_diagonal(matrix: Floats) -> Floats:
    return np.asarray(matrix * (1.0 - np.eye(matrix.shape[-1])))


def _correlations(scores: Floats) -> Floats:
    """Return correlations; a score that is the same in all rows has none."""
    centred = scores - scores.mean(axis=0)
    sums = centred.T @ centred
    matrix = sums / _units(sums)
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(matrix)
