"""What was asked of DP-Pairwise at epsilon 1, beside what stored rows show.

python -m benchmarks targets
"""

import re
from pathlib import Path

import pandas as pd

from skdpgen.benchmark import read_rows
from skdpgen.benchmark._result_tables import markdown

RESULTS = Path(__file__).parent / "results"
ASKED = RESULTS / "targets.csv"
ROWS = RESULTS / "tables" / "tables.jsonl"
PAGE = Path(__file__).parent / "benchmarks.md"
MARKED = re.compile(r"<!-- targets -->\n.*?<!-- /targets -->", re.DOTALL)
METHOD = "DPPairwiseSynthesizer"
TITLES = {
    "roc_auc_best": "best model, ROC-AUC",
    "macro_f1_best": "best model, macro-F1",
    "r2_best": "best model, R²",
    "tv2": "two-way distance",
    "tv3": "three-way distance",
}


def table_of_targets() -> str:
    """Return each target with the mean and the deviation of stored releases."""
    rows = [row for row in read_rows(ROWS) if row.get("method") == METHOD]
    frame = pd.DataFrame(rows)
    lines = []
    for asked in pd.read_csv(ASKED).itertuples():
        scores = frame.loc[frame["table"] == asked.table, asked.score]
        is_distance = str(asked.score).startswith("tv")
        mean, digits = float(scores.mean()), 4 if is_distance else 3
        short = mean - asked.target if is_distance else asked.target - mean
        lines.append(
            {
                "table": asked.table,
                "score": TITLES[str(asked.score)],
                "target": ("≤ " if is_distance else "≥ ") + _share(asked.target, 3),
                "measured": f"{_share(mean, digits)} ± {_share(scores.std(), digits)}",
                "reached": "yes" if short <= 0 else f"short by {_share(short, digits)}",
                "releases": len(scores),
            }
        )
    return markdown(pd.DataFrame(lines).set_index("table"))


def filled(page: str) -> str:
    """Return the page with the table between its marks."""
    table = f"<!-- targets -->\n{table_of_targets()}\n<!-- /targets -->"
    return MARKED.sub(lambda _: table, page)


def _share(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".lstrip("0")
