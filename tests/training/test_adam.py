"""Adam: the same steps as torch's."""

import subprocess
import sys

import pytest
import torch

from skdpgen.training._steps import Adam


@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.5, 0.9)])
def test_steps_are_those_of_torch(betas):
    rng = torch.Generator().manual_seed(0)
    ours, theirs = ([torch.ones(3), torch.ones(2, 2)] for _ in range(2))
    rates = (0.1, 0.02)
    oracle = torch.optim.Adam(
        [{"params": [p], "lr": r} for p, r in zip(theirs, rates, strict=True)],
        betas=betas,
    )
    adam = Adam(ours, betas)
    for _ in range(20):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.randn(one.shape, generator=rng)
            other.grad = one.grad.clone()
        adam.step(rates)
        oracle.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_a_fit_of_a_table_does_not_import_a_compiler():
    code = (
        "import sys; from skdpgen import DPPairwiseSynthesizer as P;"
        "from skdpgen.datasets import load_example as e;"
        "P(classes=['left', 'stayed'], delta=1e-5).fit(*e(3000));"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
