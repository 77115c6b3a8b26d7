"""Our synthesizers beside public MST, AIM, PrivBayes and GANs, scored by the same code.

The peers are those of the packages dpmm [1]_ and SmartNoise, in environments of their
own (`python -m benchmarks peers`); skdpgen depends on neither. How they compare:

* The same training and test rows, the same classifiers, the same number of synthetic
  rows.
* A peer sees the codes of the cells that a :class:`DPIndependentSynthesizer` with the
  same budget found, with the label as one more column, and its rows are decoded by the
  same code. It does not pay for the cells, which favours it.
* Peers know only "add_remove", so ours run under it too.
* Every fit of a peer has a process of its own; its time is reported without imports,
  its peak memory with them.

References
----------
.. [1] Mahiou et al., "dpmm: Differentially Private Marginal Models, a Library for
   Synthetic Tabular Data Generation", 2025.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peer_runner as runner
from benchmarks.peer_runner import PEERS
from skdpgen.benchmark import OtherMethod
from skdpgen.benchmark._cells import Cell
from skdpgen.exceptions import (
    ConfigError,
)
from skdpgen.synthesizers import all_synthesizers
from skdpgen.synthesizers.models import decode_rows
from skdpgen.tables import Cells, Rows
from skdpgen.utils import (
    Key,
)

BASELINE = "DPIndependentSynthesizer"  # whose cells others get
UNIFORM = "uniform"
FEWEST_ROWS, MOST_ROWS = 5_000, 20_000  # the limits of `draw_samples`
PLACE = "SKDPGEN_PEERS"  # the variable that names another folder
PINNED = {
    "dpmm": ("dpmm==0.1.9",),
    # `packaging` is what opacus imports and does not ask for
    "smartnoise-synth": ("smartnoise-synth==1.0.8", "opacus==0.14.0", "packaging"),
}


@dataclass(frozen=True)
class Other:
    """Where a peer runs, and how.

    Parameters
    ----------
    python : str
        The interpreter of the other environment.
    settings : dict
        Parameters of the peer that differ from its defaults.
    """

    python: str
    settings: dict[str, Any]


class Peer:
    """A peer's synthesizer, with the cells and the methods of one of ours.

    Parameters
    ----------
    name : str
        One of PEERS.
    other : Other
        Where it runs.
    n_samples : int
        Rows to draw right after the fit, since the peer does not outlive its process.
    adjacency : {"add_remove"}
        The only one that peers know.
    **given
        Parameters of the baseline, whose cells and budget the peer gets.
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
                "adjacency must be 'add_remove': peers promise no other. "
                f"Got {adjacency!r} instead."
            )
        self.name = name
        self.other = other
        self.n_samples = n_samples
        self.baseline: Any = all_synthesizers()[BASELINE](adjacency=adjacency, **given)

    def fit(self, X: Any, y: Any) -> "Peer":
        """Let our baseline choose cells, free of charge; the peer learns their codes.

        Time and memory, in ``costs_``, are those of the peer alone.
        """
        baseline = self.baseline.fit(X, y)
        self.task_, self.n_samples_ = baseline.task_, self.n_samples
        self.schema_, self.cells_ = baseline.schema_, baseline.cells_
        cells: list[Cells] = [*baseline.cells_.values(), baseline._labels]
        request = {
            "peer": self.name,
            "epsilon": baseline.epsilon,
            "delta": baseline.privacy_.delta,
            "sizes": [column.n_cells for column in cells],
            "n_samples": self.n_samples,
            "seed": baseline.random_state or 0,
            "settings": self.other.settings,
        }
        table = _codes(baseline, X, y)
        self._drawn, self.costs_ = _ask(self.other, table, request)
        return self

    def sample(self, n_samples: Any = None, random_state: Any = None) -> Any:
        """Decode the rows that the peer drew, as our own are decoded."""
        if n_samples not in (None, len(self._drawn)):
            raise ValueError(
                f"n_samples must be {len(self._drawn)}: the peer drew that many rows "
                f"and is gone. Got {n_samples!r} instead."
            )
        rng = np.random.default_rng(random_state)
        return rows_of_codes(self.baseline, self._drawn, rng)


def _codes(baseline: Any, X: Any, y: Any) -> Any:
    """Return the cells of all columns, the label last; rows of no class are left out.

    A peer has no code for "in no cell". Where a column has no cell for missing, such
    values, which are rare, go to its last cell.
    """
    parts = []
    for batch in Rows.read(X, y, task=baseline.task_).batches(
        baseline.cells_, baseline._labels
    ):
        codes = np.column_stack([batch.parts[Key.COLUMNS], batch.labels])
        parts.append(codes[batch.labels >= 0])
    table = np.concatenate(parts)
    cells = [*baseline.cells_.values(), baseline._labels]
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
        read_end, write_end = os.pipe()
        try:
            done = subprocess.run(
                [other.python, runner.__file__, folder],
                env=clean,
                stdin=read_end,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            os.close(read_end)
            os.close(write_end)
        if done.returncode:
            raise RuntimeError(
                f"{request['peer']} failed under {other.python}. Install "
                f"{PEERS[request['peer']][0]} there, or read its errors:\n"
                f"{done.stderr[-2000:]}"
            )
        answer = json.loads((place / "answer.json").read_text())
        return np.load(place / "answer.npy"), answer


class Uniform:
    """Every cell of a column as likely as any other: below every baseline.

    Parameters
    ----------
    **given
        Parameters of the baseline, whose cells it takes.
    """

    def __init__(self, **given: Any) -> None:
        self.baseline: Any = all_synthesizers()[BASELINE](**given)

    def fit(self, X: Any, y: Any) -> "Uniform":
        """Let our baseline choose cells; nothing else that it learnt is used."""
        baseline = self.baseline.fit(X, y)
        self.task_, self.n_samples_ = baseline.task_, baseline.n_samples_
        self.schema_, self.cells_ = baseline.schema_, baseline.cells_
        self.privacy_ = baseline.privacy_
        return self

    def sample(self, n_samples: int, random_state: Any = None) -> Any:
        """Draw codes, and decode them as our own are decoded."""
        rng = np.random.default_rng(random_state)
        cells: list[Cells] = [*self.cells_.values(), self.baseline._labels]
        sizes = [column.n_cells for column in cells]
        drawn = rng.integers(0, sizes, (n_samples, len(sizes)))
        return rows_of_codes(self.baseline, drawn, rng)


def rows_of_codes(baseline: Any, codes: Any, rng: Any) -> Any:
    """Return the rows and labels of cells that someone drew, the label's last."""
    sizes = [column.n_cells for column in baseline.cells_.values()]
    drawn = dict(zip(baseline.cells_, codes.T, strict=False))
    labels = codes[:, -1]
    # the decay of a number in an end cell follows the drawer's own histogram
    marginals = {
        name: np.bincount(column, minlength=size) / len(column)
        for (name, column), size in zip(drawn.items(), sizes, strict=True)
    }
    shares = np.bincount(labels, minlength=baseline._labels.n_cells) / len(labels)
    X = decode_rows(baseline._facts, baseline.cells_, drawn, marginals, rng=rng)
    return baseline._with_target(X, labels, None, shares, rng)


def peers_folder() -> Path:
    """Return where environments are: a folder of the user's caches."""
    path = os.environ.get(PLACE)
    return Path(path) if path else Path.home() / ".cache" / "skdpgen" / "peers"


def python_in(package: str) -> Path:
    """Return the interpreter of a package, there or not."""
    folder = peers_folder() / package
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def python_of(peer: str) -> str:
    """Return the interpreter that has a peer; raise if it is not installed."""
    package = PEERS[peer][0]
    python = python_in(package)
    if not python.exists():
        raise ConfigError(
            f"{peer} needs {package}, which is not at {python.parent.parent}. Say "
            f"`python -m benchmarks peers install {peer}`."
        )
    return str(python)


def install_peer(peer: str) -> Path:
    """Make the environment of a peer anew; return its folder.

    An installation that fails or is stopped leaves nothing that looks finished.
    """
    package = PEERS[peer][0]
    folder = peers_folder() / package
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        venv.create(folder, with_pip=True)
        run = [str(python_in(package)), "-m", "pip", "install", *PINNED[package]]
        # paths to our packages must not reach the other environment
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        subprocess.run(run, check=True, env=clean, stdout=sys.stderr)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _make_peer(cell: Cell, n_rows: int) -> Any:
    """Return what makes a peer; raise if it is not installed."""
    other = Other(python_of(cell.method), cell.settings)
    n_samples = min(max(n_rows, FEWEST_ROWS), MOST_ROWS)
    return partial(Peer, cell.method, other, n_samples)


METHODS = {UNIFORM: OtherMethod(lambda cell, n_rows: Uniform, takes_settings=False)}
METHODS |= {
    name: OtherMethod(_make_peer, adjacency="add_remove", takes_infinity=False)
    for name in PEERS
}
