"""DP-MERF's own protocol: hard predictions, beside the numbers that it printed."""

from functools import partial
from typing import Any

import pandas as pd

from skdpgen.benchmark._measure import measure_ceiling, measure_releases
from skdpgen.benchmark._reading import Split
from skdpgen.metrics import SyntheticUtility
from skdpgen.synthesizers import (
    PAPER_SIZES,
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
)

# Real rows, and DP-MERF at (1, 1e-5): ROC / PRC, or weighted F1 of several classes.
PRINTED = {
    "adult": (".730 / .639", ".650 / .564"),
    "census_kdd": (".747 / .415", ".686 / .358"),
    "cervical": (".786 / .493", ".545 / .184"),
    "creditcard_fraud_sample": (".923 / .874", ".772 / .637"),
    "epileptic": (".797 / .617", ".611 / .340"),
    "isolet": (".893 / .728", ".547 / .404"),
    "covtype_20k": (".643", ".467"),
    "kdd99_10pct": (".959", ".850"),
}


def paper_row(
    split: Split,
    *,
    is_schema_public: bool,
    n_releases: int,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Measure one table: real rows, the floor, our MERF, MERF with their settings.

    ``settings`` change the paper's, where its steps would take too long.
    """
    utility = SyntheticUtility(protocol="paper")
    sizes = PAPER_SIZES.get(split.name, {}) | settings
    entrants = {
        "floor": DPIndependentSynthesizer,
        "ours": DPMERFSynthesizer,
        "paper preset": partial(DPMERFSynthesizer, preset="paper", **sizes),
    }
    real, printed = PRINTED.get(split.name, ("", ""))
    row = {"set": split.name, "schema": "public" if is_schema_public else "discovered"}
    row |= {"printed real": real, "real": _scores([measure_ceiling(split, utility)])}
    row["printed"] = printed
    for name, make in entrants.items():
        runs = measure_releases(
            split,
            make,
            utility,
            n_releases=n_releases,
            is_schema_public=is_schema_public,
            epsilon=1.0,
        )
        row[name] = _scores(list(runs))
    return row


def _scores(runs: list[dict[str, Any]]) -> str:
    """Return the means over releases as the paper prints them."""
    means = pd.DataFrame(runs).mean(numeric_only=True)
    wanted = ("roc_auc", "average_precision", "weighted_f1")
    found = [f"{means[name]:.3f}" for name in wanted if name in means]
    return " / ".join(found) or "asks for a schema"
