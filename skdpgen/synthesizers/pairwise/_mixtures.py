"""From denoised columns and pairs to a mixture of products."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.synthesizers.models import MixtureModel, ScoreProducts
from skdpgen.synthesizers.pairwise._correlations import coupling_of
from skdpgen.synthesizers.pairwise._pair_model import PairModel
from skdpgen.synthesizers.pairwise._parities import ParityRelease
from skdpgen.tables import Cells, each_cell
from skdpgen.training import ClassConditional, PairTarget, fit_mixture

Floats = NDArray[np.float64]
LEAST_COMPONENTS, USUAL_COMPONENTS = 400, 2_000  # of all classes together
MOST_ENTRIES = 1_200_000  # probabilities of groups in all of them; then they are fewer
FEW_OF_CLASS, FEWEST_OF_CLASS = 60, 8  # components, of many and of very many classes
COMPONENTS_OF_BIN = 200  # of a number
MOST_COMPONENTS = 20_000  # of all classes together, if they are very many
STEP_LIMITS = 200, 600  # least and most training steps
# Noise of the last release, in energies of relations, from which the fewest steps are
# enough: longer training would fit the noise.
NOISY_RELEASE = 0.05
# How fast a class modifies components. What the bins of a number have of their own is
# smoothed along the number, so little of it is noise; groups of a focus have their own
# columns, each with many rows. Classes of a target may be rare.
RATE_OF_BINS, RATE_OF_CLASSES = 0.3, 0.1
SPEEDUP = 3.0  # of steps, but for classes of a target, whose scores would suffer


def usual_rates(task: str | None, n_classes: int) -> dict[str, float]:
    """Return how fast a class modifies components, and how large steps are.

    Examples
    --------
    >>> usual_rates("classification", 2)
    {'own_rate': 0.1, 'speedup': 1.0}
    >>> usual_rates(None, 20)  # groups of a focus
    {'own_rate': 0.3, 'speedup': 3.0}
    """
    if task == "classification" or n_classes == 1:
        return {"own_rate": RATE_OF_CLASSES, "speedup": 1.0}
    return {"own_rate": RATE_OF_BINS, "speedup": SPEEDUP}


def usual_components(n_classes: int, width: int, *, are_bins: bool = False) -> int:
    """Return the number of components of a class; many classes get fewer each.

    What classes of a target, or groups of a focus, have of their own is mostly in their
    columns. Relations that change along a number need more components. In wide tables
    they are fewer, since each step takes longer: ``width`` is the number of groups of
    all columns.

    Examples
    --------
    >>> [usual_components(n, 400) for n in (1, 2, 20, 100, 1000)]
    [2000, 1000, 100, 60, 20]
    >>> usual_components(2, 4_000), usual_components(20, 400, are_bins=True)
    (200, 200)
    """
    of_all = min(max(MOST_ENTRIES // width, LEAST_COMPONENTS), USUAL_COMPONENTS)
    usual = COMPONENTS_OF_BIN if are_bins else max(of_all // n_classes, FEW_OF_CLASS)
    return max(min(usual, MOST_COMPONENTS // n_classes), FEWEST_OF_CLASS)


def usual_steps(noise: float, energy: float) -> int:
    """Return how many steps to train: more if pairs have less noise.

    Parameters
    ----------
    noise : float
        Summed variances of the last release of pairs.
    energy : float
        Squared norm of the estimated relations.

    Examples
    --------
    >>> usual_steps(0.1, 1.0), usual_steps(0.0125, 1.0), usual_steps(0.0, 1.0)
    (200, 400, 600)
    """
    least, most = STEP_LIMITS
    if not noise:
        return most
    return round(
        least * min(max(math.sqrt(NOISY_RELEASE * energy / noise), 1.0), most / least)
    )


def mixture_of_columns(
    denoised: ClassConditional, cells: Mapping[Any, Cells]
) -> MixtureModel:
    """Return a mixture of one product: columns are independent given the class."""
    tables = {name: denoised.conditionals[name][:, None] for name in cells}
    groups = {name: each_cell(column) for name, column in cells.items()}
    return MixtureModel(denoised, groups, tables)


def train_mixture(
    denoised: ClassConditional,
    cells: Mapping[Any, Cells],
    pairs: PairModel | None,
    products: ScoreProducts | None = None,
    **training: Any,
) -> tuple[MixtureModel, list[float]]:
    """Return a mixture with the estimated relations, and losses of its steps.

    Without relations, or without steps, it is a product of independent columns. What a
    trained mixture lacks of the correlations of ``products`` moves the rows it draws.
    """
    if pairs is None or not pairs.is_believed or training["max_iter"] == 0:
        return mixture_of_columns(denoised, cells), []
    mixture, losses = mixture_of_pairs(denoised, pairs, **training)
    if losses and products is not None:
        rng = np.random.default_rng(training["seed"])
        coupling = coupling_of(mixture, products, cells, rng=rng)
        mixture = replace(mixture, coupling=coupling)
    return mixture, losses


def mixture_of_pairs(
    denoised: ClassConditional,
    pairs: PairModel,
    *,
    n_components: int | None,
    max_iter: int | None,
    parities: ParityRelease | None = None,
    **training: Any,
) -> tuple[MixtureModel, list[float]]:
    """Train a mixture on pairs, as :func:`fit_mixture` does; also returns losses.

    If it lacks ``parities`` that clearly exceed their noise, training goes on with
    them.
    """
    target, n_classes = pairs.target(), len(denoised.totals)
    width = sum(pairs.sizes)
    usual = usual_components(n_classes, width, are_bins=pairs.are_bins)
    training["n_components"] = n_components or usual
    if max_iter is None:
        max_iter = usual_steps(pairs.noise, float(target.energies.sum()))
    training["max_iter"] = max_iter
    tables, losses = fit_mixture(target, pairs.sizes, **training)
    if parities is not None:
        tables, losses = _with_parities(
            parities, tables, losses, target, pairs, denoised.totals, training
        )
    columns = np.split(tables, np.cumsum(pairs.sizes)[:-1], axis=2)
    names = list(denoised.conditionals)
    groups = dict(zip(names, pairs.groups, strict=True))
    return MixtureModel(
        denoised, groups, dict(zip(names, columns, strict=True))
    ), losses


def _with_parities(
    parities: ParityRelease,
    tables: Floats,
    losses: list[float],
    target: PairTarget,
    pairs: PairModel,
    totals: Floats,
    training: dict[str, Any],
) -> tuple[Floats, list[float]]:
    """Return a mixture with the parities that it lacks, and its losses.

    Where bins or groups have components of their own, most are lacking because a strong
    pair is not fitted yet: training goes on for half of the steps. If parities are
    still lacking, components start anew, with signs that have these parities.
    """
    sizes, trained = pairs.sizes, pairs.measured_pairs
    lacking = parities.target(tables, sizes, totals, trained)
    if lacking is None:
        return tables, losses
    if training["own_rate"] > RATE_OF_CLASSES:
        fewer = {**training, "max_iter": training["max_iter"] // 2}
        tables, more = fit_mixture(
            target, sizes, parities=lacking, begin=tables, **fewer
        )
        if parities.target(tables, sizes, totals, trained) is None:
            return tables, losses + more
    anew = {
        **training,
        "own_rate": RATE_OF_CLASSES,
    }  # signs are of each class: keep them
    return fit_mixture(target, sizes, parities=lacking, **anew)
