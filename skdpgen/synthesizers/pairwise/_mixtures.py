"""From what is known of columns, and of pairs, to a mixture that has them."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from skdpgen.synthesizers.models import MixtureModel
from skdpgen.synthesizers.pairwise._pair_model import PairModel
from skdpgen.synthesizers.pairwise._parities import ParityRelease
from skdpgen.tables import Cells, each_cell
from skdpgen.training import ClassConditional, fit_mixture

USUAL, FEWEST = 200, 8  # components of a class
OF_ALL = 20_000  # components of all classes together
STEPS = 200, 600  # of training, at least and at most
NOISY = (
    0.05  # noise of the last look, in energies of relations: from here, fewest steps
)


def usual_components(n_classes: int) -> int:
    """Return how many components a class gets; few rows a class tell few apart.

    Examples
    --------
    >>> usual_components(2), usual_components(100), usual_components(300)
    (200, 200, 66)
    """
    return max(min(USUAL, OF_ALL // n_classes), FEWEST)


def usual_steps(noise: float, energy: float) -> int:
    """Return how long to train: the less noise there is to learn, the longer.

    Parameters
    ----------
    noise : float
        Summed variances of what was last measured of pairs.
    energy : float
        Squared norm of the relations that were found.

    Examples
    --------
    >>> usual_steps(0.1, 1.0), usual_steps(0.0125, 1.0), usual_steps(0.0, 1.0)
    (200, 400, 600)
    """
    least, most = STEPS
    if not noise:
        return most
    return round(least * min(max(math.sqrt(NOISY * energy / noise), 1.0), most / least))


def mixture_of_columns(
    known: ClassConditional, cells: Mapping[Any, Cells]
) -> MixtureModel:
    """Return a mixture of one product: columns are independent given the class."""
    tables = {name: known.conditionals[name][:, None] for name in cells}
    groups = {name: each_cell(column) for name, column in cells.items()}
    return MixtureModel(known, groups, tables)


def train_mixture(
    known: ClassConditional,
    cells: Mapping[Any, Cells],
    pairs: PairModel | None,
    *,
    is_quiet: bool = True,
    **training: Any,
) -> tuple[MixtureModel, list[float]]:
    """Return a mixture with the relations that there are, and losses of its steps."""
    if pairs is None or not pairs.is_believed:
        return mixture_of_columns(known, cells), []

    def progress(steps: Iterable[int]) -> Iterable[int]:
        return tqdm(steps, "training", disable=is_quiet)

    return mixture_of_pairs(known, pairs, progress=progress, **training)


def mixture_of_pairs(
    known: ClassConditional,
    pairs: PairModel,
    *,
    n_components: int | None,
    max_iter: int | None,
    parities: ParityRelease | None = None,
    **training: Any,
) -> tuple[MixtureModel, list[float]]:
    """Train a mixture on pairs, as :func:`fit_mixture` does; also returns losses.

    If it lacks ``parities`` that surely are there, it is trained once more with them.
    """
    training["n_components"] = n_components or usual_components(len(known.totals))
    target = pairs.target()
    if max_iter is None:
        max_iter = usual_steps(pairs.noise, float(target.energies.sum()))
    training["max_iter"] = max_iter
    tables, losses = fit_mixture(target, pairs.sizes, **training)
    if parities is not None:
        lacking = parities.target(tables, pairs.sizes, known.totals)
        if lacking is not None:
            tables, losses = fit_mixture(
                target, pairs.sizes, parities=lacking, **training
            )
    columns = np.split(tables, np.cumsum(pairs.sizes)[:-1], axis=2)
    names = list(known.conditionals)
    groups = dict(zip(names, pairs.groups, strict=True))
    return MixtureModel(known, groups, dict(zip(names, columns, strict=True))), losses
