"""A script that acts as the interpreter of a peer, and copies rows."""

import sys

# stands in for the other interpreter: its argument 2 is the folder of the question
FAKE = """#!{python}
import json, sys
from pathlib import Path
import numpy as np
place = Path(sys.argv[2])
request = json.loads((place / "request.json").read_text())
table = np.load(place / "table.npy")
assert (table.max(axis=0) < request["sizes"]).all() and table.min() >= 0
{extra}
rng = np.random.default_rng(request["seed"])
rows = rng.integers(0, len(table), request["n_samples"])
np.save(place / "answer.npy", table[rows])
answer = {{"fit_seconds": 7.0, "peak_mib": 11.0, "version": "fake 1"}}
answer["settings"] = request["settings"]
(place / "answer.json").write_text(json.dumps(answer))
"""


def write_fake(path, extra=""):
    """Write it, with lines of Python to run before it answers; return its path."""
    path.write_text(FAKE.format(python=sys.executable, extra=extra))
    path.chmod(0o755)
    return str(path)
