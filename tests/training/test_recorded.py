"""A recorded step is the step itself; without a GPU nothing is recorded."""

from contextlib import nullcontext

import pytest
import torch

from skdpgen.networks import ImageGenerator, ImageShape
from skdpgen.training import Goal, LossWeight, Steps, match_embedding
from skdpgen.training._recorded import Embedded

ON_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
SIDE, N_CLASSES, N_LATENT = 16, 3, 4


def means(outputs, n_parts):
    return {"pixels": outputs[0].unflatten(0, (n_parts, -1)).mean(dim=1)}


def fresh(device="cpu", is_parallel=False):
    shape = ImageShape(
        1, SIDE, SIDE, N_CLASSES, N_LATENT, "upsample", (8,), is_parallel=is_parallel
    )
    rng = torch.Generator().manual_seed(0)
    return ImageGenerator(shape, rng=rng).to(device).train()


def batch(seed=0):
    return torch.randn(12, N_LATENT, generator=torch.Generator().manual_seed(seed))


def embedded_of(generator):
    labels = torch.arange(N_CLASSES).repeat_interleave(4)
    return Embedded(generator, means, labels.to(generator_device(generator)), N_CLASSES)


def generator_device(generator):
    return next(generator.parameters()).device


def test_means_have_their_names():
    generator = fresh()
    embedded, latents = embedded_of(generator), batch()
    labels = torch.arange(N_CLASSES).repeat_interleave(4)
    expected = means(generator(latents, labels), N_CLASSES)
    torch.testing.assert_close(embedded.by_name(latents), expected)


def test_what_cannot_be_recorded_goes_on_as_before(monkeypatch):
    def refused(module, given):
        module(*given)  # trials come first; they move running means
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(torch.cuda, "stream", nullcontext)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: None)
    monkeypatch.setattr(torch.cuda, "make_graphed_callables", refused)
    generator, other = fresh(), fresh()
    assert list(generator.buffers())  # running means
    embedded = embedded_of(generator)
    embedded.record(N_LATENT)
    torch.testing.assert_close(generator.state_dict(), other.state_dict())
    latents = batch()
    torch.testing.assert_close(
        embedded.by_name(latents), embedded_of(other).by_name(latents)
    )


@ON_GPU
@pytest.mark.parametrize("is_parallel", [False, True])
def test_a_recording_plays_the_same_step(is_parallel):
    recorded, plain = fresh("cuda", is_parallel), fresh("cuda", is_parallel)
    with recorded.even_classes(), plain.even_classes():
        one, other = embedded_of(recorded), embedded_of(plain)
        forward = one.forward
        one.record(N_LATENT)
        assert one.forward != forward
        for seed in range(3):
            latents = batch(seed).to("cuda")
            losses = []
            for each in (one, other):
                each.zero_grad()
                loss = each.by_name(latents)["pixels"].square().sum()
                loss.backward()
                losses.append(loss.item())
            assert losses[0] == pytest.approx(losses[1], rel=1e-5)
            for a, b in zip(recorded.parameters(), plain.parameters(), strict=True):
                torch.testing.assert_close(a.grad, b.grad)
    torch.testing.assert_close(recorded.state_dict(), plain.state_dict())


@ON_GPU
def test_training_ends_in_the_same_place_recorded_or_not():
    losses = []
    for is_fixed in (False, True):
        goal = Goal(
            [{"pixels": torch.full((N_CLASSES, SIDE**2), 0.1, device="cuda")}],
            torch.full((N_CLASSES,), 1 / N_CLASSES, device="cuda"),
            {"pixels": LossWeight(1.0, 1.0)},
            {},
        )
        losses.append(
            match_embedding(
                fresh("cuda"),
                [means],
                goal,
                Steps(N_LATENT, max_iter=500, batch_size=12, learning_rate=1e-4),
                rng=torch.Generator().manual_seed(1),
                is_fixed=is_fixed,
            )
        )
    plain, recorded = losses
    assert recorded[:20] == pytest.approx(plain[:20], rel=1e-4)
    assert recorded[-1] == pytest.approx(plain[-1], rel=0.05)
