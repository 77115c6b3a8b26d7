"""The ratio from a discriminator that DP-SGD trains, as the paper has it."""

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from skdpgen.networks import Discriminator
from skdpgen.synthesizers.adversarial import Labelled, release_start
from skdpgen.synthesizers.embedding import PointRows
from skdpgen.synthesizers.opening import Opening
from skdpgen.synthesizers.ratio._learnt import LearntRatio
from skdpgen.synthesizers.ratio._public_side import PublicSide, see
from skdpgen.tables import as_pixels
from skdpgen.training import Generated, private_descent, score_real
from skdpgen.utils import Key

BATCH = 512  # public items of a step
LEAST_SCALE = 0.05  # scale of a code that hardly varies
AT_ONCE = 8192
QUIET = 0.3  # noise of a step, in clipping norms, above which it gets shorter


class LensPoints:
    """Images as codes of a lens, for methods that read some rows at each step."""

    def __init__(self, lens: Any, size: tuple[int, int, int]) -> None:
        self._lens, self._size = lens, size
        self.width = int(lens.n_latent(size))
        self.certificate_name = "codes of images"

    def rows_of(self, batch: Any) -> Any:
        """Return the part of a batch that :meth:`inputs` takes."""
        return as_pixels(batch.parts[Key.PIXELS])

    def inputs(self, pixels: Any) -> NDArray[np.float32]:
        """Return codes of norm 1 at most."""
        found = see(self._lens, self._size, np.asarray(pixels, dtype=np.float64))
        return found.astype(np.float32)


def learn_by_steps(
    opening: Opening,
    given: Any,
    lens: Any,
    *,
    settings: Any,
    share: float,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    r"""Train a discriminator s to tell private rows from public items, by DP-SGD.

    It goes down :math:`E\,\mathrm{softplus}(-s)` of private rows plus
    :math:`E\,\mathrm{softplus}(s)` of public ones: at its best s is the log of the
    ratio of their densities. Slopes of public rows are clipped as those of private
    rows are, or else they would outweigh them. Keeps what :func:`learn_at_once` keeps.

    *Why it is private.* Rows are read by the release of class counts and by
    :func:`~skdpgen.training.private_descent` alone, which pay. Centres and scales are
    those of public items; the number of steps is public.
    """
    settings_of_start = SimpleNamespace(start="nothing", pooling=1)
    known = release_start(opening, settings_of_start, steps=share)
    kept = opening.kept
    n_classes = len(known.totals)
    side = PublicSide.of(opening, given, lens)
    if opening.holds_images:
        kernel: Any = LensPoints(lens, opening.facts.layout.size)  # type: ignore[union-attr]
        x = side.codes.astype(np.float32)
    else:
        kernel = kept["kernel_"]
        x = kernel.inputs(side.codes)
    base = side.base(known.shares)
    centre, scale = x.mean(axis=0), np.maximum(x.std(axis=0), LEAST_SCALE)
    rng = torch.Generator().manual_seed(kept["_seed"])
    look = Discriminator(
        torch.as_tensor(centre),
        torch.as_tensor(scale),
        n_classes,
        settings.discriminator_layer_sizes,
        rng=rng,
    ).to(device)
    points = torch.as_tensor(x)
    flat = torch.as_tensor(base).flatten()
    weights = torch.full((n_classes,), 1 / BATCH, device=device)

    def some() -> tuple[torch.Tensor, torch.Tensor]:
        drawn = torch.multinomial(flat, BATCH, replacement=True, generator=rng)
        rows, labels = drawn // n_classes, drawn % n_classes
        known = functional.one_hot(labels, n_classes).float()
        return points[rows].to(device), known.to(device)

    rows = PointRows(kernel, opening.rows.batches(kept["cells_"], kept["_labels"]))
    with private_descent(
        look,
        score_real,
        Labelled(rows, n_classes),
        opening.ledger,
        name=f"discriminator of {kernel.certificate_name}, by DP-SGD",
        share=share,
        sampling_rate=settings.sampling_rate,
        n_steps=settings.max_iter,
        norm_bound=settings.norm_bound,
        expected_rows=opening.facts.n_rows,
        learning_rate=settings.learning_rate,
        momentum=0.5,
        is_adam=True,
        quiet=QUIET,
        is_smooth=True,
    ) as descent:
        public = Generated(look, settings.norm_bound, some())
        for _ in progress(range(settings.max_iter)):
            descent.step(public(*some(), weights))
        descent.average()
    rows.close()
    logs = _scores(look.cpu(), points, n_classes)
    total_std = float(known.total_std)
    opening.keep(
        _ratio=LearntRatio(side.items, base, logs, known.totals, total_std),
        n_iter_=settings.max_iter,
    )
    del kept["kernel_"]


def _scores(look: Discriminator, points: torch.Tensor, n_classes: int) -> Any:
    """Return the score of every item with every label."""
    found = []
    with torch.no_grad():
        for some in points.split(AT_ONCE):
            labels = torch.eye(n_classes)[:, None].expand(-1, len(some), -1)
            found.append(torch.stack([look(some, known) for known in labels], dim=1))
    return torch.cat(found).double().numpy()
