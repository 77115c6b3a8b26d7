"""Seconds of a fit, the release against a bare one-hot pass, memory of chunks."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.known_tables import read_split
from skdpgen.benchmark._cells import DELTA
from skdpgen.benchmark._measure_cell import peak_mib
from skdpgen.features import FourierFeatures, NTKFeatures
from skdpgen.privacy import (
    GivenBatches,
    Histograms,
    Ledger,
    OuterProducts,
    PrivacyBudget,
    Vectors,
    release,
)
from skdpgen.privacy._blocks import Block
from skdpgen.synthesizers import (
    DPHPSynthesizer,
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
    DPPairwiseSynthesizer,
)
from skdpgen.tables import Chunks, EncodedBatch, NumberCells, Numeric, Rows, Schema
from skdpgen.utils import (
    Key,
)

ROOT = Path(__file__).parents[1]
CHUNK = 50_000


def speed_table(folder: str | Path) -> pd.DataFrame:
    """Measure everything of this file; adult only if it is in the folder."""
    rows = []
    if (Path(folder) / "adult.csv.gz").exists():
        split = read_split("adult", folder)
        seconds = fit_seconds(split.X_train, split.y_train, split.classes)
        rows.append({"what": "fit adult, median of 5, s", "value": seconds})
        for make in (
            DPHPSynthesizer,
            DPMERFSynthesizer,
            DPNTKSynthesizer,
            DPPairwiseSynthesizer,
        ):
            seconds = fit_seconds(
                split.X_train, split.y_train, split.classes, make, repeats=3
            )
            what = f"{make.__name__}: fit adult, median of 3, s"
            rows.append({"what": what, "value": seconds})
    X = wide_table(100_000, 50)
    y = (X["number0"] > 20).astype(int)
    seconds, peak = tangent_release()
    what = "DP-NTK: release of width-800 gradients, 60,000 x 784, 10 classes"
    rows += [
        {"what": f"{what}, s", "value": seconds},
        {"what": f"{what}, peak MiB", "value": peak},
        {
            "what": "fit 100,000 x 50, median of 5, s",
            "value": fit_seconds(X, y, [0, 1]),
        },
        {
            "what": "DPPairwiseSynthesizer: fit 20,000 x 600, s",
            "value": pairwise_seconds(20_000, 600),
        },
        {"what": "release / bare one-hot pass", "value": release_ratio()},
        {
            "what": "DP-MERF: release of 2,000 features / bare product and sin, cos",
            "value": embedding_ratio(),
        },
        {
            "what": "DP-MERF: peak, 80,000 features, 2 classes, 178 columns, MiB",
            "value": many_features_peak(),
        },
        {"what": "peak, 100,000 chunked rows, MiB", "value": chunked_peak(100_000)},
        {"what": "peak, 1,000,000 chunked rows, MiB", "value": chunked_peak(1_000_000)},
    ]
    return pd.DataFrame(rows)


def run_apart(
    code: str, *, timeout: float | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run code of this package in a process of its own, whose memory is its own."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=check,
    )


def wide_table(n_rows: int, n_columns: int, seed: int = 0) -> pd.DataFrame:
    """Make a table of which half the columns are numbers, half small categories."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for j in range(n_columns):
        if j % 2:
            columns[f"text{j}"] = rng.choice(list("abcdefgh"), n_rows)
        else:
            columns[f"number{j}"] = rng.gamma(2.0, 10.0, n_rows)
    return pd.DataFrame(columns)


def fit_seconds(
    X: Any,
    y: Any,
    classes: Any,
    make: Any = DPIndependentSynthesizer,
    repeats: int = 5,
) -> float:
    """Return the median time of a default fit."""
    synth = make(delta=DELTA, classes=classes)
    return statistics.median(_seconds(lambda: synth.fit(X, y)) for _ in range(repeats))


def pairwise_seconds(n_rows: int, n_columns: int) -> float:
    """Return the time of a fit on many columns that depend on each other."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n_rows, 20))
    X = hidden @ rng.normal(size=(20, n_columns)) / 4
    X += rng.normal(size=X.shape)
    y = (hidden[:, 0] > 0).astype(int)
    return fit_seconds(X, y, [0, 1], DPPairwiseSynthesizer, repeats=1)


def release_ratio(n_rows: int = 100_000, n_columns: int = 50) -> float:
    """Return the time of a release over that of merely counting one-hot cells."""
    rng = np.random.default_rng(0)
    values = rng.random((n_rows, n_columns))
    labels = rng.integers(0, 2, n_rows)
    edges = np.linspace(0.0, 1.0, 33)
    rows = Rows.read(values, labels)
    cells = {name: NumberCells(edges, False) for name in rows.layout.names}
    blocks: dict[str, Block] = {Key.COLUMNS: Histograms((32,) * n_columns)}

    def bare() -> None:
        for j in range(n_columns):
            code = np.searchsorted(edges[1:-1], values[:, j], side="right")
            np.bincount(labels * 32 + code, minlength=64)

    def ours() -> None:
        ledger = Ledger(PrivacyBudget(1.0, DELTA))
        release(
            rows.batches(cells), blocks, name="speed", ledger=ledger, share=1.0,
            n_classes=2,
        )  # fmt: skip

    pairs = [(_seconds(ours), _seconds(bare)) for _ in range(5)]
    return statistics.median(a / b for a, b in pairs)


def embedding_ratio(n_rows: int = 50_000, width: int = 50) -> float:
    """Return the time of releasing 2,000 Fourier features over the bare product."""
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(n_rows, width, generator=rng)
    phi = FourierFeatures.draw((1,) * width, 2000, rng=rng)
    labels = np.arange(n_rows) % 2
    starts = range(0, n_rows, 1000)

    def bare() -> None:
        for k in starts:
            angles = x[k : k + 1000] @ phi.frequencies
            angles.cos(), angles.sin()

    def ours() -> None:
        ledger = Ledger(PrivacyBudget(1.0, DELTA))
        batches = (
            EncodedBatch(labels[k : k + 1000], {Key.FEATURES: phi(x[k : k + 1000])})
            for k in starts
        )
        blocks: dict[str, Block] = {Key.FEATURES: Vectors(phi.n_features)}
        release(
            GivenBatches(batches),
            blocks,
            name="speed",
            ledger=ledger,
            share=1.0,
            n_classes=2,
        )

    pairs = [(_seconds(ours), _seconds(bare)) for _ in range(5)]
    return statistics.median(a / b for a, b in pairs)


def many_features_peak(n_features: int = 80_000) -> float:
    """Return peak memory in MiB of a fit with the paper's epileptic size."""
    out = run_apart(f"from benchmarks.speed import _fit_many; _fit_many({n_features})")
    return float(out.stdout)


def _fit_many(n_features: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9200, 178)).cumsum(axis=1)
    y = (rng.random(9200) < 0.2).astype(int)
    schema = {f"x{j}": Numeric(-50.0, 50.0) for j in range(178)}
    DPMERFSynthesizer.from_preset(
        "paper",
        data="table",
        delta=DELTA,
        classes=[0, 1],
        schema=Schema(schema),
        n_features=n_features,
        generator__max_iter=20,
    ).fit(X, y)
    print(peak_mib())


def tangent_release(n_rows: int = 60_000) -> tuple[float, float]:
    """Return seconds and peak MiB of releasing width-800 gradients of 784 inputs."""
    out = run_apart(f"from benchmarks.speed import _tangent; _tangent({n_rows})")
    seconds, peak = map(float, out.stdout.split())
    return seconds, peak


def _tangent(n_rows: int, n_at_once: int = 4000) -> None:
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(n_rows, 784, generator=rng)
    labels = np.arange(n_rows) % 10
    phi = NTKFeatures.draw(784, 800, has_layer_norm=True, rng=rng).double()
    batches = (
        EncodedBatch(
            labels[k : k + n_at_once], {Key.FEATURES: phi.factors(images.double())}
        )
        for k, images in zip(
            range(0, n_rows, n_at_once), x.split(n_at_once), strict=True
        )
    )
    blocks: dict[str, Block] = {Key.FEATURES: OuterProducts(phi.shapes)}
    ledger = Ledger(PrivacyBudget(1.0, DELTA))

    def run() -> None:
        release(
            GivenBatches(batches),
            blocks,
            name="speed",
            ledger=ledger,
            share=1.0,
            n_classes=10,
        )

    print(_seconds(run), peak_mib())


def chunked_peak(n_rows: int) -> float:
    """Return peak memory in MiB of a fit on chunks, in a process of its own."""
    out = run_apart(f"from benchmarks.speed import _fit_chunks; _fit_chunks({n_rows})")
    return float(out.stdout)


def _fit_chunks(n_rows: int) -> None:
    def chunks() -> Iterator[tuple[pd.DataFrame, Any]]:
        for k in range(n_rows // CHUNK):
            table = wide_table(CHUNK, 20, seed=k)
            yield table, (table["number0"] > 20).astype(int)

    DPIndependentSynthesizer(delta=DELTA, classes=[0, 1]).fit(Chunks(chunks))
    print(peak_mib())


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
