"""Train a classifier on public images by SGD, which moves each a little at random."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from skdpgen.utils import torch_generator, training_bar

MOVED, CUT = 2, 4  # pixels: shifts at most, and the side of a square that is cut out
# The learning rate, two settings of SGD, and the smoothing of labels.
HIGHEST_RATE, MOMENTUM, DECAY, SMOOTHED = 0.5, 0.9, 5e-4, 0.1
RISING_PART = 0.2  # of the steps, for the learning rate
TEMPERATURE = 0.2  # what scores are multiplied by


def drawn_layer(
    kind: type[nn.Conv2d | nn.Linear],
    *sizes: int,
    rng: np.random.Generator,
    **settings: Any,
) -> nn.Module:
    """Return a layer with weights from ``rng``, not from torch's global state."""
    made = nn.utils.skip_init(kind, *sizes, **settings)
    generator = torch_generator(rng)
    nn.init.kaiming_uniform_(made.weight, nonlinearity="relu", generator=generator)
    if made.bias is not None:
        nn.init.zeros_(made.bias)
    return made


def train_classifier(
    scores_of: Callable[[Tensor], Tensor],
    weights: Iterable[nn.Parameter],
    examples: tuple[Tensor, Tensor],
    n_steps: int,
    n_batch: int,
    *,
    rng: np.random.Generator,
    is_mirrored: bool = True,
    is_shown: bool = False,
) -> None:
    """Train weights by SGD with momentum; the learning rate rises and falls once.

    Images of a batch are mirrored, shifted by up to 2 pixels, and a square of them is
    cut out, all at random.

    Parameters
    ----------
    scores_of : callable
        From images to a score of each class; they are multiplied by ``TEMPERATURE``
        before the softmax.
    weights : iterable of Parameter
    examples : (Tensor, Tensor)
        Images (n, channels, height, width), and the number of the class of each.
    n_steps, n_batch : int
    rng : numpy Generator
        Draws the order of the images, and how each is moved.
    is_mirrored : bool, default=True
        Whether a mirror image has the same class: not of letters and digits.
    is_shown : bool, default=False
        Whether to show a progress bar.
    """
    images, targets = examples
    optimiser = torch.optim.SGD(weights, momentum=MOMENTUM, weight_decay=DECAY)
    order = np.empty(0, np.intp)
    for step in training_bar(range(n_steps), is_shown=is_shown):
        if len(order) < n_batch:
            order = rng.permutation(len(images))
        batch, order = order[:n_batch], order[n_batch:]
        rows = torch.from_numpy(batch).to(images.device)
        done = (step + 1) / (n_steps + 1)
        for group in optimiser.param_groups:
            group["lr"] = HIGHEST_RATE * min(
                done / RISING_PART, (1 - done) / (1 - RISING_PART)
            )
        with half_precision(images.device):
            scores = scores_of(augmented(images[rows], rng, is_mirrored=is_mirrored))
        loss = nn.functional.cross_entropy(
            TEMPERATURE * scores.float(), targets[rows], label_smoothing=SMOOTHED
        )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()


def half_precision(device: torch.device) -> AbstractContextManager[Any]:
    """Return a context in which a GPU computes products in bfloat16."""
    if device.type == "cuda":
        return torch.autocast(device.type, torch.bfloat16)
    return nullcontext()


def augmented(
    images: Tensor, rng: np.random.Generator, *, is_mirrored: bool = True
) -> Tensor:
    """Mirror, shift and cut each image at random; what comes in from outside is 0.

    Examples
    --------
    >>> augmented(torch.ones(2, 3, 16, 16), np.random.default_rng(0)).shape
    torch.Size([2, 3, 16, 16])
    """
    n, _, *sides = images.shape
    places = []
    for axis, side in enumerate(sides):
        at = rng.integers(2 * MOVED + 1, size=(n, 1)) + np.arange(side)
        if axis and is_mirrored:
            at = np.where(rng.random((n, 1)) < 0.5, at, at[:, ::-1])
        places.append(torch.from_numpy(at).to(images.device))
    rows, columns = places
    padded = nn.functional.pad(images, (MOVED,) * 4)
    which = torch.arange(n, device=images.device)[:, None, None]
    moved = padded.movedim(1, 3)[which, rows[:, :, None], columns[:, None, :]]
    cut = []
    for side in sides:
        first = rng.integers(max(side - CUT, 0) + 1, size=(n, 1))
        inside = (np.arange(side) >= first) & (np.arange(side) < first + CUT)
        cut.append(torch.from_numpy(inside).to(images.device))
    is_cut = cut[0][:, :, None] & cut[1][:, None, :]
    return moved.masked_fill(is_cut[..., None], 0.0).movedim(3, 1)
