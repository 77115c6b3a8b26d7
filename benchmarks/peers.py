"""Our synthesizers beside public MST, AIM, PrivBayes and GANs, scored by the same code.

The rivals are those of the packages dpmm [1]_ and SmartNoise, in environments of their
own (`skdpgen bench peers`); skdpgen depends on neither. What is the same and what not:

* The same training and test rows, the same classifiers, the same number of synthetic
  rows.
* A rival sees the codes of the cells that a :class:`DPIndependentSynthesizer` with the
  same budget found, with the label as one more column, and its rows are decoded by the
  same code. It does not pay for the cells, which favours it.
* Rivals know only "add_remove", so ours run under it too.
* Every fit of a rival has a process of its own; its time is reported without imports,
  its peak memory with them.

References
----------
.. [1] Mahiou et al., "dpmm: Differentially Private Marginal Models, a Library for
   Synthetic Tabular Data Generation", 2025.
"""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skdpgen.benchmark import _rival_runner as runner
from skdpgen.benchmark._floor_codes import FLOOR, rows_of_codes
from skdpgen.synthesizers import all_synthesizers
from skdpgen.tables import Cells, Rows
from skdpgen.utils import Key

RIVALS = tuple(runner.RIVALS)
FEWEST_ROWS, MOST_ROWS = 5_000, 20_000  # the limits of `draw_samples`


@dataclass(frozen=True)
class Other:
    """Where a rival runs, and how.

    Parameters
    ----------
    python : str
        The interpreter of the other environment.
    settings : dict
        Parameters of the rival that differ from its defaults.
    """

    python: str
    settings: dict[str, Any]


class Rival:
    """A rival's synthesizer, with the cells and the methods of one of ours.

    Parameters
    ----------
    name : str
        One of RIVALS.
    other : Other
        Where it runs.
    n_samples : int
        Rows to draw right after the fit, since the rival does not outlive its process.
    adjacency : {"add_remove"}
        The only one that rivals know.
    **given
        Parameters of the floor, whose cells and budget the rival gets.
    """

    def __init__(
        self,
        name: str,
        other: Other,
        n_samples: int,
        *,
        adjacency: str = "add_remove",
        **given: Any,
    ) -> None:
        if adjacency != "add_remove":
            raise ValueError(
                "adjacency must be 'add_remove': rivals promise no other. "
                f"Got {adjacency!r} instead."
            )
        self.name = name
        self.other = other
        self.n_samples = n_samples
        self.floor: Any = all_synthesizers()[FLOOR](adjacency=adjacency, **given)

    def fit(self, X: Any, y: Any) -> "Rival":
        """Let our floor choose cells, free of charge, and the rival learn their codes.

        Time and memory, in ``costs_``, are those of the rival alone.
        """
        floor = self.floor.fit(X, y)
        self.task_, self.n_samples_ = floor.task_, self.n_samples
        self.schema_, self.cells_ = floor.schema_, floor.cells_
        cells: list[Cells] = [*floor.cells_.values(), floor._labels]
        request = {
            "rival": self.name,
            "epsilon": floor.epsilon,
            "delta": floor.privacy_.delta,
            "sizes": [column.n_cells for column in cells],
            "n_samples": self.n_samples,
            "seed": floor.random_state or 0,
            "settings": self.other.settings,
        }
        table = _codes(floor, X, y)
        self._drawn, self.costs_ = _ask(self.other, table, request)
        return self

    def sample(self, n_samples: Any = None, random_state: Any = None) -> Any:
        """Decode the rows that the rival drew, as our own are decoded."""
        if n_samples not in (None, len(self._drawn)):
            raise ValueError(
                f"n_samples must be {len(self._drawn)}: the rival drew that many rows "
                f"and is gone. Got {n_samples!r} instead."
            )
        rng = np.random.default_rng(random_state)
        return rows_of_codes(self.floor, self._drawn, rng)


def _codes(floor: Any, X: Any, y: Any) -> Any:
    """Return the cells of all columns, the label last; rows of no class are left out.

    A rival has no code for "in no cell". Where a column has no cell for missing, such
    values, which are rare, go to its last cell.
    """
    parts = []
    for batch in Rows.read(X, y, task=floor.task_).batches(floor.cells_, floor._labels):
        codes = np.column_stack([batch.parts[Key.COLUMNS], batch.labels])
        parts.append(codes[batch.labels >= 0])
    table = np.concatenate(parts)
    cells = [*floor.cells_.values(), floor._labels]
    last = np.array([column.n_cells - 1 for column in cells])
    return np.where(table < 0, last, table)


def _ask(
    other: Other, table: Any, request: dict[str, Any]
) -> tuple[Any, dict[str, float]]:
    """Let the other Python fit and draw; return the codes and the costs."""
    # paths to our packages must not reach the other environment
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        np.save(place / "table.npy", table)
        (place / "request.json").write_text(json.dumps(request))
        # the runner ends when nobody holds the other end: with this process
        read, held = os.pipe()
        try:
            done = subprocess.run(
                [other.python, runner.__file__, folder],
                env=clean,
                stdin=read,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            os.close(read)
            os.close(held)
        if done.returncode:
            raise RuntimeError(
                f"{request['rival']} failed under {other.python}. Install "
                f"{runner.RIVALS[request['rival']][0]} there, or read its errors:\n"
                f"{done.stderr[-2000:]}"
            )
        answer = json.loads((place / "answer.json").read_text())
        return np.load(place / "answer.npy"), answer
