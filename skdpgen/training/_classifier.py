"""Training of a classifier on rows that were drawn, and cost nothing."""

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from skdpgen.training._adam import Adam, trained
from skdpgen.training._pace import paced

PEAK = 3e-3  # learning rate
BATCH = 128


def train_classifier(
    network: nn.Module, rows: Tensor, labels: Tensor, *, max_iter: int, rng: Generator
) -> nn.Module:
    """Train by Adam, with a learning rate that rises for a while, then falls to 0."""
    optimiser = Adam(trained(network))
    for step in paced(range(max_iter)):
        rate = PEAK * min(10 * (step + 1), max_iter - step) / max_iter
        some = torch.randint(len(rows), (BATCH,), generator=rng)
        loss = cross_entropy(network(rows[some]), labels[some])
        optimiser.clear()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step(rate)
    return network.eval()
