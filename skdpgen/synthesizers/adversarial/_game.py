"""A generator trained against a discriminator that sees rows by DP-SGD."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from skdpgen.networks import Discriminator
from skdpgen.synthesizers.adversarial._looks import (
    Labelled,
    anchored,
    looks,
    scales_of,
)
from skdpgen.synthesizers.adversarial._public import public_points
from skdpgen.synthesizers.embedding import ImageKernel, PointRows
from skdpgen.synthesizers.models import (
    Denoised,
    TableModel,
    new_table_generator,
)
from skdpgen.synthesizers.opening import Opening
from skdpgen.training import PublicDescent, play, private_descent, score_real

PUBLIC_RATE = 1e-3  # of the discriminator on public rows, which have no noise
QUIET = 0.1  # noise of a step, in clipping norms, above which it gets shorter
WARM_UP = 200  # steps of a generator of images towards released means; free
SPECTRAL = 1.0  # bound of each layer of the discriminator


def untrained(kernel: Any, known: Denoised, settings: Any, rng: Any) -> Any:
    """Return the model before the game: what was released, and random weights."""
    n_classes = len(known.totals)
    if isinstance(kernel, ImageKernel):
        return kernel.untrained(known.totals, settings, {}, rng)
    generator = new_table_generator(kernel, settings, n_classes, rng, known.start)
    return TableModel(generator, known.totals, known.marginals)


@contextmanager
def private_turns(
    opening: Opening, look: Discriminator, n_classes: int, *, share: float
) -> Iterator[Any]:
    """Give steps of the discriminator along rows, paid for with ``share``.

    Real rows are read here and nowhere else in the game.
    """
    kept, settings = opening.kept, opening.kept["settings_"]
    kernel = kept["kernel_"]
    batches = opening.rows.batches(kept["cells_"], kept["_labels"])
    points = PointRows(kernel, batches)
    with private_descent(
        look,
        score_real,
        Labelled(points, n_classes),
        opening.ledger,
        name=f"discriminator of {kernel.certificate_name}, by DP-SGD",
        share=share,
        sampling_rate=settings.sampling_rate,
        n_steps=settings.max_iter,
        norm_bound=settings.norm_bound,
        expected_rows=opening.facts.n_rows,
        learning_rate=settings.discriminator_rate,
        momentum=0.5,
        is_adam=True,
        quiet=QUIET,
        is_smooth=True,
    ) as descent:
        yield descent
    points.close()


def train_against(
    opening: Opening,
    known: Denoised,
    *,
    share: float,
    public: Any = None,
    is_balanced: bool,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    """Let generator and discriminator play on a fixed share of the budget.

    ``opening`` keeps kernel, cells, labels, settings and seed already, and the model
    and its losses afterwards. With ``public`` rows they play on those first.

    *Why it is private.* Rows are read by :func:`~skdpgen.training.private_descent`
    alone, which pays. All else, classes, scales, the start, is made of releases, and
    the number of steps is public.
    """
    kept = opening.kept
    kernel, settings = kept["kernel_"], kept["settings_"]
    rng = torch.Generator().manual_seed(kept["_seed"])
    model = untrained(kernel, known, settings, rng)
    n_classes = len(known.totals)
    look = Discriminator(
        *scales_of(kernel, known),
        n_classes,
        settings.discriminator_layer_sizes,
        rng=rng,
    ).to(device)
    generator = model.generator.to(device)
    shares = torch.as_tensor(known.shares, dtype=torch.float32, device=device)
    counts = torch.full_like(shares, 1 / n_classes) if is_balanced else shares
    turns: dict[str, Any] = {
        "shares": shares,
        "counts": counts,
        "n_latent": settings.n_latent,
        "n_between": settings.n_between,
        "batch_size": settings.batch_size,
        "learning_rate": settings.learning_rate,
        "spectral_bound": SPECTRAL,
        "anchor": anchored(kernel, known, device),
        "rng": rng,
    }
    view = looks(kernel, rng)
    if known.noisy is not None:
        turns["warm_up"] = WARM_UP
    if public is not None:
        descent = PublicDescent(
            look,
            *public_points(opening, public, known.shares, rng),
            batch_size=settings.batch_size,
            learning_rate=PUBLIC_RATE,
            rng=rng,
        )
        play(generator, look, descent, view, n_steps=settings.public_iter, **turns)
    with private_turns(opening, look, n_classes, share=share) as descent:
        losses = play(
            generator,
            look,
            descent,
            view,
            n_steps=settings.max_iter,
            norm_bound=settings.norm_bound,
            progress=progress,
            **turns,
        )
    generator.cpu()
    opening.keep(_model=model, loss_curve_=losses, n_iter_=settings.max_iter)
