"""The synthesizer inside a fitted estimator, and the rows it is compared with."""

from typing import Any

from sklearn.pipeline import Pipeline


def unwrap(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return what samples, and ``X`` in the space that it samples in.

    A search gives its best estimator, a pipeline its last step: the steps before
    transform ``X``, since the synthetic rows come out transformed too.

    Examples
    --------
    >>> unwrap("synthesizer", [[1]])
    ('synthesizer', [[1]])
    """
    best = getattr(estimator, "best_estimator_", None)
    if best is not None:
        return unwrap(best, X)
    if isinstance(estimator, Pipeline):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        return unwrap(estimator.steps[-1][1], X)
    return estimator, X


def draw_samples(
    synthesizer: Any, n_samples: int | None, random_state: int | None
) -> tuple[Any, Any]:
    """Sample labelled rows.

    Raises
    ------
    ValueError
        If the synthesizer was fitted without labels.
    """
    sampled = synthesizer.sample(n_samples, random_state=random_state)
    if not isinstance(sampled, tuple):
        raise ValueError(
            "A utility score needs labelled rows, and the estimator samples rows "
            "only. Fit it with `y`."
        )
    return sampled
