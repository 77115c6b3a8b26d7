"""A release after denoising and before training, of tables and of images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Release
from skdpgen.synthesizers.opening import Facts, PublicTables
from skdpgen.tables import Cells
from skdpgen.training import ClassConditional, class_conditional_model

Floats = NDArray[np.float64]
LEAST_CLASS_SHARE = 1e-3  # that a balanced loss divides by
TARGET_SCALE = 0.2  # length scale between the ranks of a numeric target


@dataclass(frozen=True, eq=False)
class Denoised:
    """A release after denoising, before any training.

    Parameters
    ----------
    totals : ndarray of shape (n_classes,)
        Rows of each class.
    total_std : float
        Noise of their sum.
    marginals : mapping of name to ndarray
        How the values of a column spread over its cells.
    start : ndarray of shape (n_classes, outputs) or None
        Logits of independent columns, if every column was counted.
    targets : tuple of dict
        Embeddings to match, block by block, (n_classes, width); used in turn.
    noise_energy : mapping of block name to float
        Squared errors that noise leaves in the targets.
    energy : float
        The squared distance from start to targets, which training reduces.
    noisy : ndarray of shape (n_classes, n_features) or None
        The features as they were released, per row.
    noise_std : float
        Noise of each entry of ``noisy``.
    alone : tuple or None
        Columns given the class, and their mean features if they are independent.
    """

    totals: Floats
    total_std: float
    marginals: Mapping[Any, Floats]
    start: Floats | None
    targets: tuple[Mapping[str, Floats], ...]
    noise_energy: Mapping[str, float]
    energy: float = 0.0
    noisy: Floats | None = None
    noise_std: float = 0.0
    alone: tuple[tuple[Floats, ...], Floats] | None = None

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return np.asarray(self.totals / self.totals.sum())


def summed_groups(released: Release, n_classes: int) -> Release:
    """Return a release with its groups added up, and the noise of the sums."""
    values, std = {}, {}
    for name, block in released.values.items():
        groups = block.reshape(-1, n_classes, block.shape[1])
        values[name] = groups.sum(axis=0)
        std[name] = released.noise_std[name] * np.sqrt(len(groups))
    return replace(released, values=values, noise_std=std)


def class_factors(
    class_weight: str | Mapping[Any, float] | None,
    classes: Sequence[Any],
    shares: Floats,
) -> Floats | None:
    """Return what the error of each class is multiplied by; None if all count as 1.

    Only ratios matter: losses are scaled by the mean.

    Parameters
    ----------
    class_weight : "balanced", dict or None
        A class that the dictionary does not name has weight 1.
    classes : sequence
        Labels in the order of ``shares``.
    shares : ndarray of shape (n_classes,)
        Released.

    Examples
    --------
    >>> shares = np.array([0.8, 0.2])
    >>> class_factors("balanced", ["no", "yes"], shares).tolist()
    [1.25, 5.0]
    >>> class_factors({"yes": 3.0}, ["no", "yes"], shares).tolist()
    [0.5, 1.5]
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return np.asarray(1.0 / np.maximum(shares, LEAST_CLASS_SHARE))
    if not classes:  # the target turned out to be a number
        return None
    weights = np.array([float(class_weight.get(label, 1.0)) for label in classes])
    return np.asarray(weights / weights.mean())  # equal weights change nothing


def mixing(shares: Floats, *, factors: Floats | None, is_number: bool) -> Floats | None:
    """Return the matrix that mixes errors of classes; None if they are not mixed.

    For a number the classes are its bins, and the square root of a Gaussian kernel
    between their ranks makes the product kernel on (row, target) of the loss.
    """
    n = len(shares)
    if is_number and n > 1:
        ranks = (np.arange(n) + 0.5) / n
        distance = ranks[:, None] - ranks[None, :]
        values, vectors = np.linalg.eigh(np.exp(-0.5 * (distance / TARGET_SCALE) ** 2))
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
    return None if factors is None else np.diag(factors / factors.mean())


# ----------------------------------------------------------------------------
# Released histograms of single columns, given the class.


def single_columns(
    released: Release,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    facts: Facts,
    scales: Sequence[float] | None = None,
    public: PublicTables | None = None,
) -> ClassConditional:
    """Denoise histograms of columns, with the help of public rows if there are any."""
    n_rows = facts.public_total(released.adjacency, labels)
    return class_conditional_model(
        released,
        cells,
        n_rows,
        {*facts.discovered} - {*facts.from_public},
        scales,
        facts.earlier,
        facts.n_rows,
        are_bins=facts.task == "regression",
        public=None if public is None else public.columns,
    )
