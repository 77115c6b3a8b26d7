"""Correlations of numbers: what a mixture of pairs lacks of them."""

import math
from collections.abc import Mapping, Sequence
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
from skdpgen.synthesizers.pairwise._pair_model import PairModel
from skdpgen.synthesizers.pairwise._pair_release import Pair
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
Codes = NDArray[np.int64]
SHARES = (0.04, 0.2)  # least and largest fraction of the budget of pairs
FEWEST_CELLS = 5  # of a column that takes part
LEAST_SPREAD = 0.95  # of its scores: below, most rows share a few of its cells
KEPT = 0.5, 1.0  # part of squared norms that clipping leaves, relative to drawn rows
KEPT = 0.5, 1.0  # part of squared norms that clipping leaves, relative to drawn rows
STRONGEST = 0.995  # correlation on Fisher's scale
DRAWN, FEWEST_DRAWN = 40_000, 200  # rows that the mixture's products are taken of


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
    pairs: PairModel,
    *,
    rng: Generator,
) -> Coupling | None:
    """Return how to move rows of the mixture; None if they are better as they are.

    A column is left out if moving it would make rows less likely, given both the pairs
    (:func:`_gains`) and the products that were released. Reads no row: all of this
    follows from releases.
    """
    known, names = mixture.known, products.names
    totals = np.maximum(known.totals, 0.0)
    n_drawn = max(DRAWN // len(totals), FEWEST_DRAWN)
    sizes = {name: cells[name].n_known for name in names}
    labels = np.repeat(np.arange(len(totals)), n_drawn)
    everyone = mixture.draw(labels, {}, rng=rng)
    drawn = [
        {name: column[start : start + n_drawn] for name, column in everyone.items()}
        for start in range(0, len(labels), n_drawn)
    ]
    means, correlations = [], []
    for label, rows in enumerate(drawn):
        means.append(products.of_rows(_matrix(rows, names), np.full(n_drawn, label)))
        scores = scores_in_cells(rows, sizes, label, known, rng=rng)
        correlations.append(_correlations(scores))
    own = totals[:, None, None] * np.stack(means)
    misfits = _misfits(products, own)
    drawn_as = np.stack(correlations)
    wanted = _wanted(products, own, drawn_as, products.scores.spreads(known))
    chosen = np.arange(len(names))
    while len(chosen) > 1:
        before, after = (
            matrices[:, chosen[:, None], chosen] for matrices in (drawn_as, wanted)
        )
        if np.allclose(before, after):
            break
        maps = [
            least_move(nearest_correlation(had), nearest_correlation(has))
            for had, has in zip(before, after, strict=True)
        ]
        used = {names[j]: sizes[names[j]] for j in chosen}
        coupling = Coupling(used, np.stack(maps))
        moved = [
            rows | coupling.moved(rows, label, known, rng=rng)
            for label, rows in enumerate(drawn)
        ]
        gains = _gains(pairs, mixture, list(used), drawn, moved)
        sums = np.stack(
            [
                total * products.of_rows(_matrix(rows, names), np.full(n_drawn, label))
                for label, (total, rows) in enumerate(zip(totals, moved, strict=True))
            ]
        )
        gains += (misfits - _misfits(products, sums)).sum(axis=1)[chosen]
        if gains.min() >= 0:
            return coupling
        chosen = chosen[gains >= 0]
    return None


def _matrix(rows: Mapping[Any, Codes], names: Sequence[Any]) -> Codes:
    return np.stack([rows[name] for name in names], axis=1)


def _misfits(products: ScoreProducts, own: Floats) -> Floats:
    """Return the squared differences of two columns' products, in variances.

    The variance is that of the noise and of the sampling of rows, whose products are 1
    over the number of columns on average.
    """
    noisy = (products.values + products.values.transpose(0, 2, 1)) / 2
    traces = np.trace(noisy, axis1=1, axis2=2)
    sampling = np.maximum(traces, 0.0).sum() / (len(noisy) * noisy.shape[1] ** 2)
    if not products.by_class:
        own = own.sum(axis=0, keepdims=True)
    squares = ((noisy - own) ** 2).sum(axis=0)
    return _off_diagonal(squares) / (products.noise_std**2 / 2 + sampling)


def _gains(
    pairs: PairModel,
    mixture: MixtureModel,
    columns: Sequence[Any],
    before: Sequence[Mapping[Any, Codes]],
    after: Sequence[Mapping[Any, Codes]],
) -> Floats:
    r"""Return by how much moving each column lowers the error of its pairs.

    N are released shares of a pair, with noise of a known variance v in each of m
    cells, A those of the mixture and B those of moved rows. The mixture was fitted to
    T, which is N after denoising, so A is nearer to N than to the truth. The squared
    error of A is about :math:`\|N - A\|^2 - m v + 2 c`, where :math:`c = m v - \|N -
    T\|^2` is what fitting took over from the noise. That of B is at least :math:`\|N -
    B\|^2 - m v`. The shares of drawn rows have an error, too. Only the difference B - A
    is taken from rows, as an inner product of the differences of two halves of them.
    Errors of a pair count relative to v and the variance of sampled rows.

    Parameters
    ----------
    pairs : PairModel
    mixture : MixtureModel
    columns : sequence of names
        That are moved.
    before, after : sequence of dict
        Cells of drawn rows, class by class.

    Returns
    -------
    gains : ndarray of shape (n_columns,)
    """
    estimates, (fits, _) = pairs.common_excess(), pairs.commons()
    names, gains = list(mixture.tables), dict.fromkeys(columns, 0.0)
    groups = [mixture.groups[name].of_cell for name in names]

    def shares(pair: Pair, rows: Sequence[Mapping[Any, Any]], half: int) -> Floats:
        (j, k), (first, second) = pair, pairs.sides(pair)
        table = np.zeros(first.n_groups * second.n_groups)
        for share, codes in zip(pairs.shares, rows, strict=True):
            one = first.of_cell[groups[j][codes[names[j]][half::2]]]
            two = second.of_cell[groups[k][codes[names[k]][half::2]]]
            counts = np.bincount(one * second.n_groups + two, minlength=len(table))
            table += share * counts / max(len(one), 1)
        return table.reshape(first.n_groups, second.n_groups)

    for pair, (excess, variance) in estimates.items():
        moved = [names[j] for j in pair if names[j] in gains]
        if not moved:
            continue
        tables = [
            level.add_up(mixture.tables[names[j]])
            for j, level in zip(pair, pairs.sides(pair), strict=True)
        ]
        exact = np.einsum("c,cma,cmb->ab", pairs.shares, *tables)
        exact /= mixture.n_components
        left = excess + pairs.independent(pair).sum(axis=0) - exact
        halves = [
            left - shares(pair, after, half) + shares(pair, before, half)
            for half in (0, 1)
        ]
        taken_over = excess.size * variance - ((excess - fits[pair]) ** 2).sum()
        gain = (left**2).sum() - (halves[0] * halves[1]).sum()
        unit = variance + 1.0 / (pairs.n_rows * excess.size)
        for name in moved:
            gains[name] += float(gain + 2.0 * max(taken_over, 0.0)) / unit
    return np.array(list(gains.values()))


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
    kept = float(np.clip(traces[1] / traces[0], *KEPT))
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
