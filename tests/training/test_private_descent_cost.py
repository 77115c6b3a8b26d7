"""What a step of DP-SGD costs, and what another package makes of the same rows."""

import pytest
import torch
from torch import nn

from benchmarks.private_steps import make_network
from benchmarks.speed import run_apart
from skdpgen.training import RowSlopes

STEP = """
import numpy as np
import torch
from torch import nn
from benchmarks.private_steps import make_network
from skdpgen.benchmark._measure_cell import peak_mib
from skdpgen.privacy import Ledger, PrivacyBudget
from skdpgen.training import private_descent

class Unknown(nn.Module):  # whose gradient is formed for each row
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(784, 1276))
    def forward(self, x):
        return torch.tanh(x.flatten(1) @ self.weight)

class Rows:
    def __len__(self):
        return 600
    def take(self, indices):
        return np.ones((len(indices), 1, 28, 28), dtype=np.float32)

network = {network}
assert sum(one.numel() for one in network.parameters()) > 990_000
with private_descent(
    network, lambda call, row: call(row[None]).square().mean(), Rows(),
    Ledger(PrivacyBudget(1.0, 1e-5)), name="steps", share=1.0, sampling_rate=1.0,
    n_steps=1, norm_bound=1.0, expected_rows=600, learning_rate=0.1, is_smooth=True,
) as descent:
    descent.step()
print(peak_mib())
"""


@pytest.mark.parametrize(
    "network",
    [pytest.param("make_network('full')", marks=pytest.mark.slow), "Unknown()"],
)
def test_a_step_of_600_rows_and_a_million_weights_fits_into_memory(network):
    code = STEP.replace("{network}", network)
    assert float(run_apart(code).stdout) < 1536


@pytest.mark.parametrize("name", ["full", "tutorial", "smooth"])
def test_gradients_are_those_of_opacus(name):
    grad_sample = pytest.importorskip("opacus.grad_sample")
    torch.manual_seed(0)
    network = make_network(name)
    x, y = torch.rand(7, 1, 28, 28), torch.randint(0, 10, (7,))

    def loss(call, row):
        return nn.functional.cross_entropy(call(row[0][None]), row[1][None])

    slopes = RowSlopes(network, loss, (x[:0], y[:0]), is_smooth=True)
    ours = [
        torch.einsum("nta,ntb->nab", *one).flatten(1) if isinstance(one, tuple) else one
        for one in slopes((x, y))
    ]
    wrapped = grad_sample.GradSampleModule(network, loss_reduction="sum")
    nn.functional.cross_entropy(wrapped(x), y, reduction="sum").backward()
    for k in range(7):
        found = slopes.to_weights(torch.cat([one[k] for one in ours]))
        for key, weight in network.named_parameters():
            torch.testing.assert_close(
                found[key].float(), weight.grad_sample[k], rtol=1e-3, atol=1e-5
            )
