"""Comparisons: synthesizers between the real-data ceiling and a simple baseline."""

from skdpgen.benchmark._bench_config import PUBLIC_METHODS, BenchConfig
from skdpgen.benchmark._cells import Catalogue, KnownTable, OtherMethod
from skdpgen.benchmark._compare import Comparison, compare
from skdpgen.benchmark._result_tables import fill_page, tabulate_rows
from skdpgen.benchmark._run_cells import read_rows, run_cells

__all__ = [
    "PUBLIC_METHODS",
    "BenchConfig",
    "Catalogue",
    "Comparison",
    "KnownTable",
    "OtherMethod",
    "compare",
    "fill_page",
    "read_rows",
    "run_cells",
    "tabulate_rows",
]
