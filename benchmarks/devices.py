"""The same fits on a processor and on a GPU: seconds, and whether results agree."""

import time
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.image_sets import read_image_set
from skdpgen.datasets import load_example
from skdpgen.privacy import Release, insecure_noise_seed
from skdpgen.synthesizers import all_synthesizers

N_IMAGES, N_SAMPLES = 10_000, 2_000
METHODS: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "table": (
        ("DPPairwiseSynthesizer", {}),
        ("DPMERFSynthesizer", {}),
        ("DPHPSynthesizer", {}),
        ("DPNTKSynthesizer", {}),
        ("DPGANSynthesizer", {"discriminator__max_iter": 100}),
    ),
    "images": (
        ("DPMGESynthesizer", {}),
        ("DPMERFSynthesizer", {}),
        ("DPHPSynthesizer", {}),
        ("DPNTKSynthesizer", {}),
        ("DPMEPFSynthesizer", {"generator__max_iter": 200}),
        ("DPKernelSynthesizer", {}),
        ("DPGANSynthesizer", {"discriminator__max_iter": 50}),
    ),
}


def compare_devices(
    folder: Path,
    only: Collection[str] = (),
    devices: tuple[str, ...] = ("cuda", "cpu"),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each method, or ``only`` some: seconds, and how far results are.

    Noise and all other randomness have the same seeds. ``release`` is the largest
    difference of released numbers, in standard deviations of their noise; ``samples``
    is the share of values that are the same.
    """
    table = load_example(20_000)
    X, y, *_ = read_image_set(folder / "mnist.npz")
    images = X[:N_IMAGES], y[:N_IMAGES]
    for kind, methods in METHODS.items():
        rows = table if kind == "table" else images
        for name, settings in methods:
            if only and name not in only:
                continue
            yield {
                "data": kind,
                "method": name,
                **_compare(name, settings, rows, devices),
            }


def _compare(
    name: str, settings: dict[str, Any], rows: Any, devices: tuple[str, ...]
) -> dict[str, Any]:
    results: dict[str, Any] = {}
    fits = []
    for device in devices:
        try:
            fits.append(_fit(name, settings, rows, device))
        except Exception as error:
            results[f"{device} failed"] = f"{type(error).__name__}: {error}"[:300]
            continue
        results[f"fit on {device}, s"] = round(fits[-1][0], 2)
        results[f"sample on {device}, s"] = round(fits[-1][1], 2)
    if len(fits) == 2:
        (*_, one, first), (*_, other, second) = fits
        results["release"] = _distance(one, other)
        results["samples"] = float(np.mean(_texts(first) == _texts(second)))
    return results


def _fit(name: str, settings: dict[str, Any], rows: Any, device: str) -> Any:
    method = all_synthesizers()[name]
    synthesizer = method(classes=np.unique(rows[1]).tolist(), random_state=0)
    synthesizer.set_params(**settings)
    if "device" in synthesizer.get_params():
        synthesizer.set_params(device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.ones(1, device=device).sum().item()  # its start is not measured
        with insecure_noise_seed(0):
            start = time.perf_counter()
            synthesizer.fit(*rows)
            fitted = time.perf_counter() - start
    start = time.perf_counter()
    X, _ = synthesizer.sample(N_SAMPLES, random_state=0)
    drawn = time.perf_counter() - start
    return fitted, drawn, getattr(synthesizer, "release_", None), X


def _texts(rows: Any) -> Any:
    """Return rows to compare: a missing value is equal to another."""
    return np.asarray(rows).astype(str)


def _distance(one: Any, other: Any) -> float | None:
    """Return the largest difference of two releases, over the noise of the number."""
    if not isinstance(one, Release):
        return None
    largest = 0.0
    for name, values in one.values.items():
        if isinstance(values, np.ndarray):
            difference = np.max(np.abs(values - other.values[name]), initial=0.0)
            largest = max(largest, float(difference / one.noise_std[name]))
    return largest
