"""The process of a cell: reads what to do, writes the row, ends with its parent."""

import json
import os
import signal
import sys
import threading

from skdpgen.benchmark.runs._cell_store import CellStore
from skdpgen.benchmark.runs._frozen_cell import Cell
from skdpgen.benchmark.runs._measure_cell import measure_cell


def main() -> None:
    """Compute the cell whose description comes as the first line of stdin.

    The parent keeps the pipe open: its end, even by ``kill -9``, closes it, and this
    process ends too, so that nothing goes on computing unseen. A cell that is done is
    written here and not by the parent, so it is kept whatever befalls that.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and decides
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    cell = Cell.from_dict(job["cell"])
    CellStore(job["out"]).write(measure_cell(cell, job["data"], debug=job["debug"]))


def _end_with_parent() -> None:
    # not `sys.stdin.read`, whose lock would be held while Python shuts down
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


if __name__ == "__main__":
    main()
