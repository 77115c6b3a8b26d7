"""Fit a peer's synthesizer on coded columns, in an environment of its own.

Not part of the package at run time: `peers` gives this file to another Python, which
has the peer, numpy and pandas, but not this package. A folder holds the question
(`request.json`, `table.npy`) and takes the answer (`answer.json`, `answer.npy`).
"""

import importlib
import json
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

# Package, module and class; the package is named in error messages and answers.
PEERS = {
    "mst": ("dpmm", "dpmm.pipelines", "MSTPipeline"),
    "aim": ("dpmm", "dpmm.pipelines", "AIMPipeline"),
    "privbayes": ("dpmm", "dpmm.pipelines", "PrivBayesPipeline"),
    "dpctgan": ("smartnoise-synth", "snsynth", "dpctgan"),
    "patectgan": ("smartnoise-synth", "snsynth", "patectgan"),
}


def main(folder: str) -> None:
    """Answer the question in a folder."""
    import numpy as np

    place = Path(folder)
    request = json.loads((place / "request.json").read_text())
    start = time.perf_counter()
    model = fit(np.load(place / "table.npy"), request)
    fitted = time.perf_counter()
    np.save(place / "answer.npy", draw(model, request))
    answer = {
        "fit_seconds": fitted - start,
        "sample_seconds": time.perf_counter() - fitted,
        "peak_mib": peak_mib(),
        "version": version(request["peer"]),
    }
    (place / "answer.json").write_text(json.dumps(answer))


def fit(table: Any, request: dict[str, Any]) -> Any:
    """Fit the peer with its own defaults on codes; the number of codes is public."""
    import pandas as pd

    package, module, name = PEERS[request["peer"]]
    imported = importlib.import_module(module)
    names = [f"c{j}" for j in range(table.shape[1])]
    frame = pd.DataFrame(table, columns=names)
    if package == "smartnoise-synth":
        return fit_smartnoise(imported.Synthesizer, name, frame, request)
    model = getattr(imported, name)(
        epsilon=request["epsilon"],
        delta=request["delta"],
        disable_processing=True,  # columns are cut already, at no cost to the peer
        n_jobs=1,
        **request["settings"],
    )
    sizes = dict(zip(names, request["sizes"], strict=True))
    model.fit(frame, domain=sizes, random_state=request["seed"])
    return model


def fit_smartnoise(kinds: Any, name: str, frame: Any, request: dict[str, Any]) -> Any:
    """Fit one of SmartNoise's, unseeded; it does not know codes of empty cells."""
    given = {"epsilon": request["epsilon"], "delta": request["delta"]}
    model = kinds.create(name, **given, **request["settings"])
    model.fit(frame, categorical_columns=list(frame), preprocessor_eps=0.0)
    return model


def draw(model: Any, request: dict[str, Any]) -> Any:
    """Draw rows of codes, columns in the order of the table."""
    import numpy as np

    if PEERS[request["peer"]][0] == "smartnoise-synth":
        rows = model.sample(request["n_samples"])
    else:
        rows = model.generate(request["n_samples"], random_state=request["seed"])
    names = [f"c{j}" for j in range(len(request["sizes"]))]
    return rows[names].to_numpy().astype(np.int64)


def version(peer: str) -> str:
    """Return package and version of a peer."""
    from importlib.metadata import version

    package = PEERS[peer][0]
    return f"{package} {version(package)}"


def peak_mib() -> float:
    """Return the most memory that this process has used, in MiB.

    `getrusage` would count a large parent as well: on Linux a forked process inherits
    the parent's peak when it starts another program.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def end_with_parent() -> None:
    """Wait for the end of stdin, which the parent holds open, and exit."""
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    main(sys.argv[1])
