"""Runs from a file: cells in parallel, kept as they finish, and tables made of them."""

from skdpgen.benchmark.runs._bench_config import PUBLIC_METHODS, BenchConfig
from skdpgen.benchmark.runs._bench_tables import fill_page, tabulate_rows
from skdpgen.benchmark.runs._cell_store import read_rows
from skdpgen.benchmark.runs._run_cells import run_cells

__all__ = [
    "PUBLIC_METHODS",
    "BenchConfig",
    "fill_page",
    "read_rows",
    "run_cells",
    "tabulate_rows",
]
