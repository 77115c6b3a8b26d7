"""Seconds and memory of a step of DP-SGD, beside the package opacus where it is there.

Every run has a process of its own. What is the same: network, rows, loss, clipping norm
and optimiser; all rows are in every step. What is not: ours computes in double
precision, draws its noise from the operating system, and takes rows in chunks.
"""

import json
import statistics
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.speed import run_apart
from skdpgen.benchmark._measure_cell import peak_mib
from skdpgen.privacy import Ledger, PrivacyBudget
from skdpgen.training import private_descent

N_ROWS, N_STEPS = 600, 7
NETWORKS = ("full", "tutorial", "smooth")
NORM, LEARNING_RATE = 1.0, 0.1


def step_costs() -> Iterator[dict[str, Any]]:
    """Yield, for each network, what a step costs here and in opacus."""
    libraries = ["skdpgen", *(["opacus"] if find_spec("opacus") else [])]
    for network in NETWORKS:
        for library in libraries:
            code = (
                "from benchmarks.private_steps import run; "
                f"run({network!r}, {library!r})"
            )
            yield json.loads(run_apart(code).stdout)


def run(network: str, library: str) -> None:
    """Take steps with one library; print the median of seconds, and the peak."""
    rng = torch.Generator().manual_seed(0)
    model = make_network(network)
    n_weights = sum(weight.numel() for weight in model.parameters())
    x = torch.rand(N_ROWS, 1, 28, 28, generator=rng)
    y = torch.randint(0, 10, (N_ROWS,), generator=rng)
    steps = _ours(model, x, y) if library == "skdpgen" else _theirs(model, x, y)
    seconds = []
    before = time.perf_counter()
    for _ in steps:
        seconds.append(time.perf_counter() - before)
        before = time.perf_counter()
    result = {
        "network": network,
        "weights": n_weights,
        "library": library,
        "seconds a step": statistics.median(seconds[1:]),
        "peak MiB": peak_mib(),
    }
    print(json.dumps(result))


def make_network(name: str) -> nn.Module:
    """Return full layers, the convolutions of opacus' tutorial, or smooth ones."""
    if name == "full":
        return nn.Sequential(
            nn.Flatten(),
            nn.Linear(784, 1000),
            nn.Tanh(),
            nn.Linear(1000, 210),
            nn.Tanh(),
            nn.Linear(210, 10),
        )
    if name == "tutorial":
        return nn.Sequential(
            nn.Conv2d(1, 16, 8, 2, padding=3),
            nn.ReLU(),
            nn.MaxPool2d(2, 1),
            nn.Conv2d(16, 32, 4, 2),
            nn.ReLU(),
            nn.MaxPool2d(2, 1),
            nn.Flatten(),
            nn.Linear(512, 32),
            nn.ReLU(),
            nn.Linear(32, 10),
        )
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, 2, padding=2),
        nn.GroupNorm(4, 16),
        nn.SiLU(),
        nn.Conv2d(16, 32, 5, 2, padding=2),
        nn.GroupNorm(4, 32),
        nn.SiLU(),
        nn.Conv2d(32, 64, 3, 2, padding=1),
        nn.SiLU(),
        nn.Flatten(),
        nn.Linear(1024, 64),
        nn.SiLU(),
        nn.Linear(64, 10),
    )


class _Labelled:
    def __init__(self, x: Any, y: Any) -> None:
        self._x, self._y = x, y

    def __len__(self) -> int:
        return len(self._x)

    def take(self, indices: Any) -> tuple[Any, Any]:
        return self._x[np.asarray(indices)], self._y[np.asarray(indices)]


def _ours(model: nn.Module, x: Any, y: Any) -> Iterator[None]:
    def loss(call: Any, row: Any) -> Any:
        image, label = row
        return nn.functional.cross_entropy(call(image[None]), label[None])

    with private_descent(
        model,
        loss,
        _Labelled(x, y),
        Ledger(PrivacyBudget(1.0, 1e-5)),
        name="steps",
        share=1.0,
        sampling_rate=1.0,
        n_steps=N_STEPS,
        norm_bound=NORM,
        expected_rows=len(x),
        learning_rate=LEARNING_RATE,
        is_smooth=True,  # for the time alone: a ReLU is not
    ) as descent:
        for _ in range(N_STEPS):
            descent.step()
            yield


def _theirs(model: nn.Module, x: Any, y: Any) -> Iterator[None]:
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    wrapped = GradSampleModule(model)
    optimiser = DPOptimizer(
        torch.optim.SGD(wrapped.parameters(), lr=LEARNING_RATE, momentum=0.9),
        noise_multiplier=1.0,
        max_grad_norm=NORM,
        expected_batch_size=len(x),
    )
    for _ in range(N_STEPS):
        optimiser.zero_grad()
        nn.functional.cross_entropy(wrapped(x), y).backward()
        optimiser.step()
        yield
