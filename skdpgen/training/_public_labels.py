"""How often classes are, where public rows say what to expect."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skdpgen.training._public_columns import LEAST, OF_CELL, WIDE, looks_at
from skdpgen.training._smoothing import project_to_total
from skdpgen.training._trust import pooled_weights, prior_of

Floats = NDArray[np.float64]
LEAST_SHARE = 0.25  # of its public share, that a class keeps if noise may hide it


def public_labels(columns: Sequence[Floats]) -> Floats:
    """Return how many public rows each class has; of one class if none is known.

    A row without a cell in a column is not counted there: the fullest column says it.

    Examples
    --------
    >>> public_labels([np.array([[3.0, 0.0], [1.0, 1.0]]), np.array([[3.0], [1.0]])])
    array([3., 2.])
    """
    return np.asarray(max((one.sum(axis=1) for one in columns), key=np.sum))


def trusted_totals(
    totals: Floats, noisy: Floats, noise_std: float, public: Floats, *, are_bins: bool
) -> Floats:
    """Return class counts, shrunk to public shares as far as the release agrees.

    A class that is rarer than its noise would else be lost, or be any size. The
    evidence is that of single columns (``with_public``), of a column of classes. Noise
    alone makes no class vanish: a part of its public share is left, at most the noise.

    Parameters
    ----------
    totals : ndarray of shape (n_classes,)
        Class counts without public rows.
    noisy : ndarray of shape (n_classes,)
        As they were released.
    noise_std : float
        Of each of them.
    public : ndarray of shape (n_classes,) or (1,)
        Public rows of each class, if they are known.
    are_bins : bool
        Whether classes are bins of a number, in order.

    Examples
    --------
    >>> noisy = np.array([380.0, -15.0])
    >>> shares = {"noise_std": 30.0, "public": np.array([370.0, 30.0])}
    >>> trusted_totals(np.array([400.0, 0.0]), noisy, **shares, are_bins=False)[1] > 10
    np.True_
    """
    if len(public) != len(totals) or len(totals) == 1:
        return totals
    total = float(totals.sum())
    n_ordered = len(totals) if are_bins else 0
    logs, means = looks_at(
        noisy / total, public + OF_CELL, noise_std / total, n_ordered
    )
    prior = prior_of(len(means), len(means) + len(WIDE))
    weights = pooled_weights(logs, prior)[0, : len(means)]
    trust = float(weights.sum())
    noise = noise_std / total
    least = np.minimum(LEAST_SHARE * public / max(public.sum(), LEAST), noise)
    theirs = np.maximum(weights @ means / max(trust, LEAST), least)
    theirs = project_to_total(theirs, 1.0)
    theirs = np.maximum(theirs, least) / np.maximum(theirs, least).sum()
    return np.asarray(trust * total * theirs + (1 - trust) * totals)
