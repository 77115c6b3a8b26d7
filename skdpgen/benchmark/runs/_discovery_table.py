"""What private discovery found in the tables of stored rows, against the truth."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from skdpgen.benchmark._markdown import markdown, said_epsilon
from skdpgen.benchmark._measure import share_before
from skdpgen.utils import ConfigError

FOUND = {
    "covered": "numbers inside the bounds",
    "overshoot": "range, octaves too wide",
    "category_mass": "text cells whose category is found",
    "largest_bin": "largest bin of several values",
}


def tabulate_discovery(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table: the mean over all fits of a table at an epsilon.

    Whatever the method, it is the same discovery with the same part of the budget, but
    where public rows told of columns: such fits are left out.

    Examples
    --------
    >>> entry = {"name": "bins of 3 columns", "share": 0.125}
    >>> row = {"table": "t", "epsilon": 1.0, "schema": "discovered", "covered": 0.5}
    >>> print(tabulate_discovery([row | {"rows": 9, "privacy": {"releases": [entry]}}]))
    | table | rows | ε | numbers inside the bounds | share of the budget | fits |
    | --- | --- | --- | --- | --- | --- |
    | t | 9 | 1 | 0.500 | 0.125 | 1 |
    """
    fits = [
        {
            **{name: row.get(name) for name in ("table", "rows", "epsilon", *FOUND)},
            "share": share_before(row["privacy"]["releases"]),
        }
        for row in rows
        if row.get("schema") == "discovered"
        and "privacy" in row
        and not row.get("public")
    ]
    if not fits:
        raise ConfigError(
            "No fit of this table discovered a schema by itself: take `discovery` out "
            "of its mark."
        )
    groups = pd.DataFrame(fits).groupby(["table", "rows", "epsilon"], sort=False)
    lines = []
    for (table, n_rows, epsilon), group in groups:
        means = {said: _mean(group[name]) for name, said in FOUND.items()}
        about = {"table": table, "rows": f"{n_rows:,}", "ε": said_epsilon(epsilon)}
        share = {"share of the budget": _mean(group["share"]), "fits": len(group)}
        lines.append(about | means | share)
    frame = pd.DataFrame(lines).astype(str).replace("nan", "")
    return markdown(frame.loc[:, (frame != "").any()].set_index("table"))


def _mean(values: pd.Series) -> str:
    return "" if values.isna().all() else f"{values.astype(float).mean():.3f}"
