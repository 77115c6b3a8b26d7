"""Train the networks that come with the package, on public images alone.

Grey ones see letters in many fonts (notMNIST), letters of many alphabets (Omniglot) and
photographs without colour (CIFAR-10); colour ones see photographs (CIFAR-10, its
training part). No digits and no garments: a benchmark on those says what the lens is
worth on images it never saw. One on CIFAR-10 does not.

    python examples/train_lens.py path/to/data skdpgen/lenses/weights
"""

import sys
import time
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import nn
from torch.nn.functional import avg_pool2d, cross_entropy, max_pool2d

from skdpgen.networks import PublicAutoEncoder
from skdpgen.networks._table import linear
from skdpgen.synthesizers import Deformations

STEPS, BATCH, PEAK = 3500, 128, 2e-3
JITTER, WEIGHT = 0.3, 0.02  # noise that codes must bear; how much classes count
HELD_OUT = 0.05


def letters(folder):
    """Return letters of fonts and of alphabets, and what they are."""
    fonts = np.load(folder / "notmnist_10k.npz")
    many = np.load(folder / "omniglot_small_28x28.npz")
    return [
        (tensor(fonts["x_train"][:, None]), labels(fonts["y_train"])),
        (tensor(many["x_train"][:, None]), labels(many["y_train"])),
    ]


def photographs(folder):
    """Return the training part of CIFAR-10, 28 x 28 pixels of each image."""
    with np.load(folder / "cifar10_jpeg.npz") as file:
        content, ends = file["jpeg_train"].tobytes(), file["offset_train"]
        images = [
            np.asarray(Image.open(BytesIO(content[first:last])))
            for first, last in pairwise(ends.tolist())
        ]
        return tensor(np.moveaxis(np.stack(images), -1, 1)), labels(file["y_train"])


def tensor(images):
    """Return images of bytes as a tensor."""
    return torch.tensor(images, dtype=torch.uint8)


def labels(y):
    """Return labels from 0 on."""
    return torch.from_numpy(np.unique(y, return_inverse=True)[1]).long()


def drawn(images, rng):
    """Return images of a batch as they may be, too: moved, bolder, fainter, turned."""
    images = images.float() / 255
    if images.shape[2] > 28:  # any part of a photograph
        top, left = torch.randint(images.shape[2] - 27, (2,), generator=rng).tolist()
        images = images[:, :, top : top + 28, left : left + 28]
    if torch.rand((), generator=rng) < 0.5:
        images = images.flip(3)
    else:
        images = Deformations()(images, rng)
    bold = torch.rand(len(images), 1, 1, 1, generator=rng) < 0.3
    images = torch.where(bold, max_pool2d(images, 3, 1, 1), images)
    faint = 1.0 - 0.5 * torch.rand(len(images), 1, 1, 1, generator=rng)
    return (images * faint).clamp(0.0, 1.0)


def train(sources, n_channels, rng):
    """Return a trained network; every source has a linear classifier of its own."""
    network = PublicAutoEncoder(n_channels, rng=rng)
    heads = nn.ModuleList(linear(96 * 16, int(y.max()) + 1, rng) for _, y in sources)
    every = [*network.parameters(), *heads.parameters()]
    optimiser = torch.optim.AdamW(every, weight_decay=1e-3)
    start = time.perf_counter()
    for step in range(STEPS):
        rate = PEAK * min(20 * (step + 1) / STEPS, 1.05 * (1 - step / STEPS), 1.0)
        for group in optimiser.param_groups:
            group["lr"] = rate
        loss = 0.0
        for (images, y), head in zip(sources, heads, strict=True):
            some = torch.randint(len(images), (BATCH // len(sources),), generator=rng)
            batch = drawn(images[some], rng)
            codes = network.encode(batch)
            jitter = JITTER * torch.randn(codes.shape, generator=rng)
            error = (network.decode(codes + jitter) - batch).square().mean()
            loss = loss + error / batch.var() + 1e-3 * codes.square().mean()
            seen = avg_pool2d(batch, 2) if step % 2 else batch
            last = nn.functional.adaptive_avg_pool2d(network.maps(seen)[-1], 4)
            loss = loss + WEIGHT * cross_entropy(head(last.flatten(1)), y[some])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        if step % 500 == 499:
            seconds = time.perf_counter() - start
            print(
                f"{n_channels} channels, step {step + 1}: {loss:.3f}, {seconds:.0f} s"
            )
    return network.eval().requires_grad_(False)


def judge(network, sources):
    """Print what is lost of images that were held out, and how long codes are."""
    norms = []
    for images, _ in sources:
        batch = images[:, :, :28, :28].float() / 255
        codes = network.encode(batch)
        lost = (network.decode(codes) - batch).square().mean() / batch.var()
        norms.append(codes.norm(dim=1))
        print(f"lost {lost:.3f}, codes {codes.std():.2f} (mean square by image)")
    norms = torch.cat(norms)
    print("norms of codes, median and 99 %:", norms.quantile(torch.tensor([0.5, 0.99])))


def main(data, out):
    """Train both networks and write their weights, half precision."""
    photos, y = photographs(data)
    grey = photos.float().mean(dim=1, keepdim=True).to(torch.uint8)
    every = {"grey": [*letters(data), (grey, y)], "colour": [(photos, y)]}
    for name, sources in every.items():
        if len(sys.argv) > 3 and name not in sys.argv[3:]:
            continue
        rng = torch.Generator().manual_seed(0)
        kept, rest = [], []
        for images, y in sources:
            order = torch.randperm(len(images), generator=rng)
            n = int(HELD_OUT * len(images))
            rest.append((images[order[:n]], y[order[:n]]))
            kept.append((images[order[n:]], y[order[n:]]))
        network = train(kept, 3 if name == "colour" else 1, rng)
        judge(network, rest)
        state = {k: v.half().contiguous() for k, v in network.state_dict().items()}
        out.mkdir(exist_ok=True)
        save_file(state, out / f"{name}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
