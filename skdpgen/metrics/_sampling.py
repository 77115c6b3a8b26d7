"""The synthesizer inside a fitted estimator, and the rows it is compared with."""

from typing import Any

from sklearn.pipeline import Pipeline

FEWEST_ROWS, MOST_ROWS = 5_000, 20_000


def unwrap(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator that samples, and ``X`` in the space that it samples in.

    A search gives its best estimator, a pipeline its last step. The steps before it
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
    """Sample labelled rows; by default as many as were fitted, within limits.

    Sampling is free post-processing, so a small table is judged by more rows than it
    has, and a large one by no more than the models can learn from in seconds.

    Raises
    ------
    ValueError
        If the synthesizer was fitted without labels.
    """
    fitted = getattr(synthesizer, "n_samples_", None)
    if n_samples is None and fitted is not None:
        n_samples = min(max(fitted, FEWEST_ROWS), MOST_ROWS)
    sampled = synthesizer.sample(n_samples, random_state=random_state)
    if not isinstance(sampled, tuple):
        raise ValueError(
            "A utility score needs labelled rows, and the estimator samples rows "
            "only. Fit it with `y`."
        )
    return sampled
