"""A generator trained against a discriminator that sees rows by DP-SGD."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn.functional import one_hot

from skdpgen.lenses import lens_of
from skdpgen.networks import CellsHead, Discriminator, ImageGenerator, ImageShape
from skdpgen.privacy import Counts, Release, Vectors
from skdpgen.synthesizers.embedding import (
    Encoding,
    ImageKernel,
    MeasuredEmbedding,
    PointRows,
    RowKernel,
    pooling_of,
)
from skdpgen.synthesizers.gaussian import check_lens, encoder
from skdpgen.synthesizers.models import (
    CodesModel,
    Denoised,
    TableModel,
    new_table_generator,
)
from skdpgen.synthesizers.opening import Fitting, discover_bins, n_classes_of
from skdpgen.tables import (
    Chunks,
    EncodedBatch,
    ImageLayout,
    as_pixels,
    holds_images,
    image_size,
)
from skdpgen.training import (
    Anchor,
    ClassWeights,
    PublicDescent,
    Rules,
    play,
    private_descent,
    project_to_total,
    score_real,
)
from skdpgen.utils import Key, saved

# ----------------------------------------------------------------------------
# Images as codes of a public lens, and a game that is played among codes.

AT_ONCE = 1024
REACH = 8.0  # of a code: so many usual deviations, if all codes have norm 1


@saved("kernel.codes")
@dataclass(frozen=True, eq=False)
class CodesKernel(ImageKernel):
    """An image becomes its codes v of a lens, of norm 1 at most (DP-GAN-MI).

    The lens is public and fixed before rows are read, so what is paid for is the game
    among codes; the way back to images is free.

    Parameters
    ----------
    lens : Lens
        With a decoder.
    """

    lens: Any = None

    @classmethod
    def seen_through(cls, lens: Any, layout: Any) -> "CodesKernel":
        """Return the kernel of a lens, which a black image has gone through."""
        check_lens(lens, layout.size)
        return cls(None, layout, lens=lens)

    @property
    def certificate_name(self) -> str:
        """What the certificate calls it."""
        return f"{self.width} codes of images"

    @property
    def blocks(self) -> dict[str, Any]:
        """What a release sums, if it starts from nothing."""
        return {Key.CLASSES: Counts(self.beta)}

    @property
    def width(self) -> int:
        """How many codes an image has."""
        return int(self.lens.n_latent(self.layout.size))

    @property
    def reach(self) -> float:
        """How far a code can be from 0 in what is generated."""
        return min(REACH / math.sqrt(self.width), 1.0)

    def rows_of(self, batch: EncodedBatch) -> Any:
        """Return codes: images go through the lens once.

        In batches of one shape, filled up with black images, since what an image
        becomes must not depend on how many are beside it.
        """
        encode = encoder(self.lens, self.layout.size)
        images = batch.parts[Key.PIXELS]
        codes = np.empty((len(images), self.width), dtype=np.float32)
        for start in range(0, len(images), AT_ONCE):
            some = as_pixels(images[start : start + AT_ONCE])
            filled = np.zeros((AT_ONCE, some.shape[1]))
            filled[: len(some)] = some
            codes[start : start + len(some)] = encode(filled)[: len(some)]
        return codes

    def inputs(self, rows: Any) -> Any:
        """Return codes as they are."""
        return rows

    def points(self, outputs: list[Tensor]) -> Tensor:
        """Return what a generator draws, from 0 to 1, as codes."""
        return self.reach * (2.0 * outputs[0] - 1.0)

    def untrained(
        self, totals: Any, settings: Any, cells: Any, rng: Generator
    ) -> CodesModel:
        """Return a generator of codes that knows nothing but class counts."""
        del cells
        shape = ImageShape(
            1,
            1,
            self.width,
            n_classes=len(totals),
            n_latent=settings.n_latent,
            hidden=settings.hidden_layer_sizes,
            is_parallel=settings.models != "conditional",
        )
        generator = ImageGenerator(shape, rng=rng)
        size = self.layout.size
        return CodesModel(generator, totals, self.lens, self.reach, size)


# ----------------------------------------------------------------------------
# What a private GAN pays for before it plays: class counts, and columns by class.

SHARES = {"columns": 0.5, "means": 0.9, "nothing": 0.98}  # of mu², for steps beside
PAID = 0.1  # squared weight of class counts beside means


def game_share(start: str) -> float:
    """Return the part of the budget that steps get beside the first release."""
    return SHARES[start]


def release_start(
    opening: Fitting[MeasuredEmbedding],
    settings: Any,
    *,
    steps: float,
    seed: int,
    lens: Any = None,
) -> Denoised:
    """Release what the generator starts with, with all but the share of the steps.

    That is how many rows each class has and, unless it starts from nothing, histograms
    of columns by class or the mean image of each (proofs:
    :class:`~skdpgen.privacy.Histograms`, :class:`~skdpgen.privacy.Vectors`, and
    :class:`~skdpgen.privacy.Counts` beside them). An image of p pixels in [0, 1] is
    divided by the root of p: it has a norm of 1 at most, and no negative entry, so
    replacing one moves the sum by at most the root of 2, and of 2.2 with the counts.
    Codes of a lens have a norm of 1 as well, but either sign: by at most 2.
    """
    cells, labels = discover_bins(opening)
    layout = opening.facts.layout
    kernel: Any
    if lens is not None:
        kernel = CodesKernel.seen_through(lens, layout)
    elif isinstance(layout, ImageLayout):
        kernel = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    elif settings.start == "columns":
        kernel = RowKernel.of(cells, lambda *_: None, layout="binned", share=0.0)
    else:
        kernel = RowKernel.of(cells, lambda *_: None, layout="whole", share=1.0)
    opening.measured = MeasuredEmbedding(
        cells=cells, labels=labels, seed=seed, kernel=kernel, settings=settings
    )
    batches = opening.rows.batches(cells, labels)
    name, how, blocks = "rows of each class", {}, kernel.blocks
    if settings.start == "means":
        batches = batches.through(partial(shown, kernel))
        blocks = {
            Key.FEATURES: Vectors(kernel.width, is_nonnegative=lens is None),
            Key.CLASSES: Counts(PAID),
        }
        name = f"means of {kernel.certificate_name} by class"
    elif getattr(kernel, "counted", ()):
        batches = batches.through(Encoding(kernel, "cpu"))
        name, how = f"histograms of {len(cells)} columns by class", kernel.weights
    released = opening.release_main(
        batches,
        blocks,
        name=name,
        share=1.0 - steps / opening.ledger.remaining,
        n_classes=n_classes_of(labels),
        weights=how,
    )
    return learn_start(opening, kernel, released)


def shown(kernel: ImageKernel, batches: Iterable[Any]) -> Iterator[EncodedBatch]:
    """Yield what a discriminator sees of images, at a norm of 1 at most."""
    scale = largest(kernel)
    for batch in batches:
        x = kernel.inputs(kernel.rows_of(batch)) / scale
        yield EncodedBatch(batch.labels, {Key.FEATURES: x})


def largest(kernel: ImageKernel) -> float:
    """Return the largest norm that pixels or codes can have; public."""
    return 1.0 if isinstance(kernel, CodesKernel) else math.sqrt(kernel.width)


def learn_start(
    opening: Fitting[MeasuredEmbedding], kernel: Any, released: Release
) -> Denoised:
    """Return what the first release says; free."""
    measured, facts = opening.measured, opening.facts
    n_classes = n_classes_of(measured.labels)
    if isinstance(kernel, ImageKernel):
        counts = released.values[Key.CLASSES][:, 0]
        totals = project_to_total(counts, max(float(counts.sum()), 1.0))
        noise = released.noise_std[Key.CLASSES] * math.sqrt(n_classes)
        means = None
        if Key.FEATURES in released.values:
            each = np.maximum(totals, 1.0)[:, None] / largest(kernel)
            ends = (-1.0, 1.0) if isinstance(kernel, CodesKernel) else (0.0, 1.0)
            means = np.clip(released.values[Key.FEATURES] / each, *ends)
        return Denoised(totals, noise, {}, None, ({},), {}, noisy=means)
    known: Denoised = kernel.learn(
        released,
        measured.cells,
        facts,
        n_classes=n_classes,
        n_rows=facts.public_total(released.adjacency, measured.labels),
        seed=measured.seed,
    )
    return known


# ----------------------------------------------------------------------------
# What a discriminator sees: rows that were drawn, with slopes through the drawing.

SOFT = 0.7  # temperature of the slopes of a drawn cell
LEAST = 1e-20
LEAST_SCALE = 0.2
INK = 0.2, 0.5  # centre and scale of pixels
RAREST = 1e-3
IMAGE_ANCHOR = 1.0
ANCHOR = 20.0  # weight of columns that are known, against a score


class Labelled:
    """Private rows as a pair of tensors: points, and labels as one-hot numbers.

    A label without a class is all zeros: such a row has no gradient.
    """

    def __init__(self, points: Any, n_classes: int) -> None:
        self._points, self._n_classes = points, n_classes

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._points)

    def take(self, indices: NDArray[np.intp]) -> tuple[Any, Any]:
        """Return the rows at ``indices``."""
        some = self._points.take(indices)
        known = np.arange(self._n_classes) == np.asarray(some.labels)[:, None]
        return some.x.astype(np.float32), known.astype(np.float32)


def looks(kernel: Any, rng: torch.Generator) -> Callable[[list[Tensor]], Tensor]:
    """Return a function from outputs of a generator to what a discriminator sees.

    Real rows have one cell in each column, so a cell is drawn of each head:
    probabilities themselves would give the generator away. Slopes go through the soft
    drawing.
    """
    if isinstance(kernel, ImageKernel):
        return kernel.points

    def draw(outputs: list[Tensor]) -> Tensor:
        drawn = [
            _drawn(output, rng) if isinstance(head, CellsHead) else output
            for head, output in zip(kernel.heads, outputs, strict=True)
        ]
        return kernel.points(drawn)

    return draw


def _drawn(shares: Tensor, rng: torch.Generator) -> Tensor:
    """Draw a one-hot cell of each row by Gumbel noise, with soft slopes."""
    u = torch.rand(shares.shape, generator=rng).to(shares)
    gumbel = -(-u.clamp_min(LEAST).log()).clamp_min(LEAST).log()
    soft = ((shares.clamp_min(LEAST).log() + gumbel) / SOFT).softmax(dim=1)
    hard = one_hot(soft.argmax(dim=1), shares.shape[1]).to(soft)
    return hard + (soft - soft.detach())


def scales_of(kernel: Any, known: Denoised) -> tuple[Tensor, Tensor]:
    """Return centres and scales of what is seen: public, or of a release."""
    if isinstance(kernel, ImageKernel):
        one = torch.ones(kernel.width)
        if isinstance(kernel, CodesKernel):
            scale = one / math.sqrt(kernel.width)  # if all codes are alike, of norm 1
            at = 0.0 * one if known.noisy is None else known.shares @ known.noisy
            return torch.as_tensor(at), scale
        if known.noisy is not None:
            return torch.as_tensor(known.shares @ known.noisy), INK[1] * one
        return INK[0] * one, INK[1] * one
    centre, scale = [], []
    for at, marginal in zip(kernel.points_at, known.marginals.values(), strict=True):
        p = np.maximum(marginal, 0.0) + 1e-9
        p = p / p.sum()
        mean = p @ at
        centre.append(mean)
        scale.append(np.sqrt(p @ (at - mean) ** 2))
    scales = np.maximum(np.concatenate(scale), LEAST_SCALE)
    return torch.as_tensor(np.concatenate(centre)), torch.as_tensor(scales)


def anchored(
    kernel: Any, known: Denoised, device: torch.device
) -> Callable[[list[Tensor]], Tensor] | None:
    """Return how far outputs are from the means that were released; None if none.

    They are known better than a discriminator could tell, and looking is free. Latent
    vectors are even and mirrored, so means of a batch hardly vary by themselves.
    """
    shares = torch.as_tensor(known.shares, dtype=torch.float32, device=device)
    if known.start is not None:
        target = torch.as_tensor(known.targets[0][Key.COLUMNS]).to(shares)
        target = target / shares.clamp_min(RAREST)[:, None]
    elif known.noisy is not None:
        target = torch.as_tensor(known.noisy).to(shares)
    else:
        return None
    is_image = isinstance(kernel, ImageKernel)
    weights = (IMAGE_ANCHOR if is_image else ANCHOR) * shares

    def loss(outputs: list[Tensor]) -> Tensor:
        x = kernel.points(outputs) if is_image else torch.cat(outputs, dim=1)
        errors = x.unflatten(0, (len(shares), -1)).mean(dim=1) - target
        return (weights * errors.square().sum(dim=1)).sum()

    return loss


# ----------------------------------------------------------------------------
# Public rows as a discriminator sees them, to begin the game with (DP-GAN-FT).

Game = tuple[Tensor, Tensor]  # points, one-hot labels


def public_points(
    opening: Fitting[MeasuredEmbedding], given: Any, shares: Any, rng: torch.Generator
) -> Game:
    """Return public rows, and their labels as one-hot numbers.

    Rows without labels get some at random, as often as classes were released: the game
    then begins with what rows look like, and nothing of how classes differ.
    """
    measured = opening.measured
    kernel, n_classes = measured.kernel, len(shares)
    if isinstance(kernel, ImageKernel):
        x, labels = _images(given, kernel, opening.facts.classes)
    else:
        assert opening.public is not None
        batches = list(opening.public.codes(measured.cells, measured.labels))
        x = np.concatenate([kernel.inputs(codes) for codes, _ in batches])
        labels = np.concatenate([known for _, known in batches])
        labels = labels if opening.public.has_labels else None
    if labels is None:
        weights = torch.as_tensor(shares, dtype=torch.float64)
        drawn = torch.multinomial(weights, len(x), replacement=True, generator=rng)
        labels = drawn.numpy()
    known = np.arange(n_classes) == np.asarray(labels)[:, None]
    return torch.from_numpy(x).float(), torch.from_numpy(known).float()


def check_public(given: Any, X: Any, *, mode: str) -> None:
    """Raise, before anything is paid, for public rows that are of no use.

    Of private rows only what is public is looked at: whether they are images, and
    their size.
    """
    if (mode == "finetune") != (given is not None):
        raise ValueError(
            "public_data must be given for mode='finetune', and only there. Got "
            f"mode={mode!r} and public_data of {type(given).__name__}."
        )
    if mode == "latent" and not holds_images(X):
        raise ValueError(
            "mode='latent' plays among codes of images. Got a table; use 'scratch', or "
            "'finetune' with public rows."
        )
    if given is None:
        return
    if has_images(given) != holds_images(X):
        raise ValueError(
            "public_data must hold images if X does, and a table if X is one. Got "
            f"{type(public_pair(given)[0]).__name__}."
        )
    if has_images(given) and not isinstance(X, Chunks):
        image_size(X, public_pair(given)[0])


def has_images(given: Any) -> bool:
    """Say whether public rows are images."""
    return given is not None and holds_images(public_pair(given)[0])


def images_stated(given: Any, lens: Any) -> list[str]:
    """Return what a certificate says of public images, and of a lens."""
    stated = []
    if has_images(given):
        n_images = len(public_pair(given)[0])
        stated.append(f"{n_images} public images: taken as public")
    return stated + ([] if lens is None else [f"lens: {lens.name}"])


def lens_of_game(mode: str, given: Any) -> Any:
    """Return the lens that is played through; None if there is none."""
    if mode != "latent":
        return None
    return lens_of("shipped" if given is None else given, needs_decoder=True)


def without_game(mode: str, start: str | None, *, is_image: bool) -> dict[str, str]:
    """Return parameters that a mode has no use for, and who has."""
    unused = {} if mode == "latent" else {"lens": "mode='latent'"}
    if mode != "finetune":
        unused["public_iter"] = "mode='finetune'"
    if mode == "latent":
        unused |= dict.fromkeys(("pooling", "generator"), "mode='scratch'")
    if start == ("columns" if is_image else "means"):
        unused["start"] = "images" if start == "means" else "tables"
    return unused


def _images(given: Any, kernel: ImageKernel, classes: Any) -> tuple[Any, Any]:
    """Return public images as points, and the places of their labels."""
    pixels, labels = public_pair(given)
    x = kernel.inputs(as_pixels(pixels))
    if labels is None or classes is None:
        return x, None
    places = {str(one): place for place, one in enumerate(classes)}
    found = np.array([places.get(str(one), -1) for one in np.asarray(labels)])
    return x, found


def public_pair(given: Any) -> tuple[Any, Any]:
    """Return public rows and labels; None for no labels.

    Examples
    --------
    >>> public_pair([1, 2])
    ([1, 2], None)
    """
    is_pair = isinstance(given, tuple) and len(given) == 2
    return given if is_pair else (given, None)


# ----------------------------------------------------------------------------
# A generator trained against a discriminator that sees rows by DP-SGD.

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
    opening: Fitting[MeasuredEmbedding],
    look: Discriminator,
    n_classes: int,
    *,
    share: float,
) -> Iterator[Any]:
    """Give steps of the discriminator along rows, paid for with ``share``.

    Real rows are read here and nowhere else in the game.
    """
    measured = opening.measured
    kernel, settings = measured.kernel, measured.settings
    batches = opening.rows.batches(measured.cells, measured.labels)
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
    opening: Fitting[MeasuredEmbedding],
    known: Denoised,
    *,
    share: float,
    public: Any = None,
    is_balanced: bool,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> tuple[Any, list[float]]:
    """Let generator and discriminator play on a fixed share of the budget.

    Returns the model and its losses. With ``public`` rows they play on those first.

    *Why it is private.* Rows are read by :func:`~skdpgen.training.private_descent`
    alone, which pays. All else, classes, scales, the start, is made of releases, and
    the number of steps is public.
    """
    measured = opening.measured
    kernel, settings = measured.kernel, measured.settings
    rng = torch.Generator().manual_seed(measured.seed)
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
    weights = torch.full_like(shares, 1 / n_classes) if is_balanced else shares
    classes = ClassWeights(shares, weights)
    rules = Rules(
        settings.n_latent,
        settings.n_between,
        settings.batch_size,
        settings.learning_rate,
        SPECTRAL,
    )
    anchor_loss = anchored(kernel, known, device)
    warm_up = WARM_UP if known.noisy is not None else 0
    anchor = None if anchor_loss is None else Anchor(anchor_loss, warm_up)
    view = looks(kernel, rng)
    if public is not None:
        descent = PublicDescent(
            look,
            *public_points(opening, public, known.shares, rng),
            batch_size=settings.batch_size,
            learning_rate=PUBLIC_RATE,
            rng=rng,
        )
        play(
            generator,
            look,
            descent,
            view,
            classes,
            rules,
            n_steps=settings.public_iter,
            anchor=anchor,
            rng=rng,
        )
    with private_turns(opening, look, n_classes, share=share) as descent:
        losses = play(
            generator,
            look,
            descent,
            view,
            classes,
            replace(rules, norm_bound=settings.norm_bound),
            n_steps=settings.max_iter,
            anchor=anchor,
            rng=rng,
            progress=progress,
        )
    generator.cpu()
    return model, losses
