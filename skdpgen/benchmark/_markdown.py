"""Data frames as Markdown tables, without another dependency."""

from typing import Any

import numpy as np
import pandas as pd


def markdown(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a frame as a Markdown table, its index first.

    Examples
    --------
    >>> print(markdown(pd.DataFrame({"a": [0.5]}, index=["x"])))
    |  | a |
    | --- | --- |
    | x | 0.500 |
    """

    def cell(value: Any) -> str:
        is_float = isinstance(value, float | np.floating)
        text = f"{value:.{digits}f}" if is_float else str(value)
        return text.replace("|", r"\|")

    head = [frame.index.name or "", *frame.columns]
    lines = [head, ["---"] * len(head), *frame.itertuples(name=None)]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def said_epsilon(epsilon: float) -> str:
    """Write an epsilon; nothing where there is none.

    Examples
    --------
    >>> said_epsilon(0.5), said_epsilon(float("inf")), said_epsilon(float("nan"))
    ('0.5', '∞', '')
    """
    return "" if pd.isna(epsilon) else f"{epsilon:g}".replace("inf", "∞")
