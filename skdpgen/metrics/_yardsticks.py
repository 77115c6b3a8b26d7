"""All yardsticks of one release that are no classifier's score."""

from typing import Any

from skdpgen.metrics._detection import detection_auc
from skdpgen.metrics._fidelity import total_variation
from skdpgen.metrics._query_error import query_error

NAMES = ("one_way_tv", "two_way_tv", "three_way_tv", "detection_auc", "query_error")


def yardsticks(real: Any, synthetic: Any) -> dict[str, float]:
    """Distances of one, two and three columns, detection, and error of queries.

    Each is the function of its name with defaults; their seeds are public and fixed, so
    tables compare. The floor of each is what other real rows get. This reads real rows,
    so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.

    Examples
    --------
    >>> import pandas as pd
    >>> real = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0, 1, 0, 1]})
    >>> found = yardsticks(real, real)
    >>> found["three_way_tv"], found["query_error"]
    (0.0, 0.0)
    """
    distances = (total_variation(real, synthetic, order=k) for k in (1, 2, 3))
    others = detection_auc(real, synthetic), query_error(real, synthetic)
    return dict(zip(NAMES, (*distances, *others), strict=True))
