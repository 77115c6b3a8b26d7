"""DP-GAN: a generator against a discriminator that DP-SGD trains on private rows."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.nn.functional import one_hot

from skdpgen.lenses import Lens, lens_of
from skdpgen.lenses._lens_of import LensLike
from skdpgen.networks import CellsHead, Discriminator, ImageGenerator, ImageShape
from skdpgen.privacy import Counts, Release, Vectors
from skdpgen.synthesizers.embedding import (
    Encoding,
    ImageKernel,
    Labelled,
    MeasuredEmbedding,
    PointRows,
    RowKernel,
    pooling_of,
)
from skdpgen.synthesizers.gaussian import check_lens, encode_images
from skdpgen.synthesizers.models import (
    CodesModel,
    Denoised,
    ImageModel,
    TableModel,
    class_factors,
    new_table_generator,
)
from skdpgen.synthesizers.opening import Fitting, discover_bins, n_classes_of
from skdpgen.synthesizers.presets import (
    GANImageSettings,
    GANSettings,
    RatioSettings,
)
from skdpgen.tables import (
    Chunks,
    EncodedBatch,
    ImageLayout,
    as_pixels,
    holds_images,
    image_size,
)
from skdpgen.training import (
    LOSSES,
    Anchor,
    ClassWeights,
    PrivateDescent,
    PublicDescent,
    Rules,
    play,
    private_descent,
    project_to_total,
)
from skdpgen.utils import Key, Rows, saved

GameSettings = GANSettings | GANImageSettings
GameKernel = RowKernel | ImageKernel
GameModel = TableModel | ImageModel | CodesModel

# ----------------------------------------------------------------------------
# Images as codes of a public lens, for a game among codes.

LARGEST_CODE = 8.0  # in standard deviations, if all codes have norm 1


@saved("kernel.codes")
@dataclass(frozen=True, eq=False)
class CodesKernel(ImageKernel):
    """The kernel of DP-GAN-MI: an image becomes its codes, of norm 1 at most.

    The lens is public and fixed before rows are read. So only the game among codes
    uses privacy budget; decoding is post-processing.

    Parameters
    ----------
    lens : Lens
        With a decoder.
    """

    lens: Any = None

    @classmethod
    def through_lens(cls, lens: Lens, layout: ImageLayout) -> "CodesKernel":
        """Return the kernel of a lens, once a black image has passed through it."""
        check_lens(lens, layout.size)
        return cls(None, layout, lens=lens)

    @property
    def certificate_name(self) -> str:
        """Name of the features in the certificate."""
        return f"{self.width} codes of images"

    @property
    def width(self) -> int:
        """Number of codes of an image."""
        return int(self.lens.n_latent(self.layout.size))

    @property
    def reach(self) -> float:
        """Largest absolute value of a generated code."""
        return min(LARGEST_CODE / math.sqrt(self.width), 1.0)

    def rows_of(self, batch: EncodedBatch) -> NDArray[np.float32]:
        """Return the codes of a batch; images go through the lens only once."""
        pixels = as_pixels(batch.parts[Key.PIXELS])
        return encode_images(self.lens, self.layout.size, pixels).astype(np.float32)

    def inputs(self, rows: Any) -> Any:
        """Return codes unchanged: `rows_of` has done the work."""
        return rows

    def points(self, outputs: list[Tensor]) -> Tensor:
        """Return outputs of a generator, from 0 to 1, as codes."""
        return self.reach * (2.0 * outputs[0] - 1.0)

    def untrained(
        self, totals: NDArray[np.float64], settings: Any, cells: Any, rng: Generator
    ) -> CodesModel:
        """Return an untrained generator of codes, with the released class counts."""
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
# The release at the start: class counts, and columns or mean images by class.

# Of mu², by what is released at the start.
SHARE_OF_STEPS = {"columns": 0.5, "means": 0.9, "nothing": 0.98}
COUNTS_WEIGHT = 0.1  # squared, of class counts beside means; they are not free


def game_share(start: str) -> float:
    """Return the budget fraction of the steps; the release before gets the rest."""
    return SHARE_OF_STEPS[start]


def release_start(
    opening: Fitting[MeasuredEmbedding],
    settings: Any,
    *,
    steps: float,
    seed: int,
    lens: Lens | None = None,
) -> Denoised:
    """Release what the generator starts from; ``steps`` is the share it leaves.

    This is the number of rows of each class and, unless it starts from nothing,
    histograms of columns by class or the mean image of each class (proofs:
    :class:`~skdpgen.privacy.Histograms`, :class:`~skdpgen.privacy.Vectors`, and
    :class:`~skdpgen.privacy.Counts` beside them). An image of p pixels in [0, 1] is
    divided by the root of p. Its norm is then 1 at most and no entry is negative, so
    replacing it moves the sum by at most the root of 2, and of 2.2 with the counts.
    Codes of a lens have norm 1 at most, too, but either sign: 2 at most.
    """
    cells, labels = discover_bins(opening)
    layout = opening.facts.layout
    kernel: Any
    if lens is not None:
        assert isinstance(layout, ImageLayout)  # `check_public` refuses tables
        kernel = CodesKernel.through_lens(lens, layout)
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
    name, weights, blocks = "rows of each class", {}, kernel.blocks
    if settings.start == "means":
        batches = batches.through(partial(discriminator_inputs, kernel))
        blocks = {
            Key.FEATURES: Vectors(kernel.width, is_nonnegative=lens is None),
            Key.CLASSES: Counts(COUNTS_WEIGHT),
        }
        name = f"means of {kernel.certificate_name} by class"
    elif getattr(kernel, "counted", ()):
        batches = batches.through(Encoding(kernel, "cpu"))
        name, weights = f"histograms of {len(cells)} columns by class", kernel.weights
    released = opening.release_main(
        batches,
        blocks,
        name=name,
        share=1.0 - steps / opening.ledger.remaining,
        n_classes=n_classes_of(labels),
        weights=weights,
    )
    return learn_start(opening, kernel, released)


def discriminator_inputs(
    kernel: ImageKernel, batches: Iterable[EncodedBatch]
) -> Iterator[EncodedBatch]:
    """Yield images as the discriminator gets them, scaled to norm 1 at most."""
    scale = largest_norm(kernel)
    for batch in batches:
        x = kernel.inputs(kernel.rows_of(batch)) / scale
        yield EncodedBatch(batch.labels, {Key.FEATURES: x})


def largest_norm(kernel: ImageKernel) -> float:
    """Return the largest norm that pixels or codes can have; public."""
    return 1.0 if isinstance(kernel, CodesKernel) else math.sqrt(kernel.width)


def learn_start(
    opening: Fitting[MeasuredEmbedding], kernel: GameKernel, released: Release
) -> Denoised:
    """Return the release at the start, denoised; free."""
    measured, facts = opening.measured, opening.facts
    n_classes = n_classes_of(measured.labels)
    if isinstance(kernel, ImageKernel):
        counts = released.values[Key.CLASSES][:, 0]
        totals = project_to_total(counts, max(float(counts.sum()), 1.0))
        noise = released.noise_std[Key.CLASSES] * math.sqrt(n_classes)
        means = None
        if Key.FEATURES in released.values:
            scale = np.maximum(totals, 1.0)[:, None] / largest_norm(kernel)
            bounds = (-1.0, 1.0) if isinstance(kernel, CodesKernel) else (0.0, 1.0)
            means = np.clip(released.values[Key.FEATURES] / scale, *bounds)
        return Denoised(totals, noise, {}, None, ({},), {}, noisy=means)
    table_start: Denoised = kernel.learn(
        released,
        measured.cells,
        facts,
        n_classes=n_classes,
        n_rows=facts.public_total(released.adjacency, measured.labels),
        seed=measured.seed,
    )
    return table_start


# ----------------------------------------------------------------------------
# The discriminator's inputs: real rows, and drawn ones that gradients go through.

SOFTMAX_TEMPERATURE = 0.7  # that gradients of a drawn cell go through
LEAST_PROBABILITY = 1e-20  # logarithms of 0 are infinite
LEAST_SCALE = 0.2  # scale of an input that hardly varies
PIXEL_CENTRE_AND_SCALE = 0.2, 0.5
LEAST_CLASS_SHARE = 1e-3  # that is divided by
IMAGE_ANCHOR = 1.0  # weight of released mean images in the generator's loss
COLUMN_ANCHOR = 20.0  # weight of released columns in the generator's loss


def discriminator_view(
    kernel: GameKernel, rng: torch.Generator
) -> Callable[[list[Tensor]], Tensor]:
    """Return a function from outputs of a generator to inputs of the discriminator.

    A real row has one cell in each column. So one cell is drawn from each head:
    the discriminator would recognise probabilities at once. Gradients go through a
    softmax instead of the draw.
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
    """Draw a one-hot cell for each row by Gumbel noise (straight-through gradient)."""
    u = torch.rand(shares.shape, generator=rng).to(shares)
    gumbel = -(-u.clamp_min(LEAST_PROBABILITY).log()).clamp_min(LEAST_PROBABILITY).log()
    soft = (
        (shares.clamp_min(LEAST_PROBABILITY).log() + gumbel) / SOFTMAX_TEMPERATURE
    ).softmax(dim=1)
    hard = one_hot(soft.argmax(dim=1), shares.shape[1]).to(soft)
    return hard + (soft - soft.detach())


def scales_of(kernel: GameKernel, denoised: Denoised) -> tuple[Tensor, Tensor]:
    """Return centres and scales of the discriminator's inputs: public, or released."""
    if isinstance(kernel, ImageKernel):
        ones = torch.ones(kernel.width)
        if isinstance(kernel, CodesKernel):
            scale = ones / math.sqrt(kernel.width)  # a vector of equal codes has norm 1
            if denoised.noisy is None:
                return 0.0 * ones, scale
            return torch.as_tensor(denoised.shares @ denoised.noisy), scale
        if denoised.noisy is not None:
            return torch.as_tensor(
                denoised.shares @ denoised.noisy
            ), PIXEL_CENTRE_AND_SCALE[1] * ones
        return PIXEL_CENTRE_AND_SCALE[0] * ones, PIXEL_CENTRE_AND_SCALE[1] * ones
    means, stds = [], []
    marginals = denoised.marginals.values()
    for points, marginal in zip(kernel.points_at, marginals, strict=True):
        p = np.maximum(marginal, 0.0) + 1e-9
        p = p / p.sum()
        mean = p @ points
        means.append(mean)
        stds.append(np.sqrt(p @ (points - mean) ** 2))
    scales = np.maximum(np.concatenate(stds), LEAST_SCALE)
    return torch.as_tensor(np.concatenate(means)), torch.as_tensor(scales)


def distance_to_means(
    kernel: GameKernel, denoised: Denoised, device: torch.device
) -> Callable[[list[Tensor]], Tensor] | None:
    """Return a loss: squared distance of outputs from released means; None without any.

    These means are less noisy than any gradient of the discriminator, and the loss is
    free. Latent vectors are stratified and mirrored, so means of a batch have
    little sampling noise.
    """
    shares = torch.as_tensor(denoised.shares, dtype=torch.float32, device=device)
    if denoised.start is not None:
        target = torch.as_tensor(denoised.targets[0][Key.COLUMNS]).to(shares)
        target = target / shares.clamp_min(LEAST_CLASS_SHARE)[:, None]
    elif denoised.noisy is not None:
        target = torch.as_tensor(denoised.noisy).to(shares)
    else:
        return None
    is_image = isinstance(kernel, ImageKernel)
    weights = (IMAGE_ANCHOR if is_image else COLUMN_ANCHOR) * shares

    def loss(outputs: list[Tensor]) -> Tensor:
        x = kernel.points(outputs) if is_image else torch.cat(outputs, dim=1)
        errors = x.unflatten(0, (len(shares), -1)).mean(dim=1) - target
        return (weights * errors.square().sum(dim=1)).sum()

    return loss


# ----------------------------------------------------------------------------
# Public rows, on which the game begins (DP-GAN-FT).

Game = tuple[Tensor, Tensor]  # points, one-hot labels


def public_points(
    opening: Fitting[MeasuredEmbedding],
    public_data: Rows,
    shares: NDArray[np.float64],
    rng: torch.Generator,
) -> Game:
    """Return public rows as points, and their one-hot labels.

    Rows without labels get random ones, drawn by the released class shares. The game
    then begins with the distribution of rows, and learns nothing about classes.
    """
    measured = opening.measured
    kernel, n_classes = measured.kernel, len(shares)
    if isinstance(kernel, ImageKernel):
        x, labels = _image_points(public_data, kernel, opening.facts.classes)
    else:
        assert opening.public is not None
        batches = list(opening.public.codes(measured.cells, measured.labels))
        x = np.concatenate([kernel.inputs(codes) for codes, _ in batches])
        labels = np.concatenate([class_numbers for _, class_numbers in batches])
        labels = labels if opening.public.has_labels else None
    if labels is None:
        weights = torch.as_tensor(shares, dtype=torch.float64)
        drawn = torch.multinomial(weights, len(x), replacement=True, generator=rng)
        labels = drawn.numpy()
    one_hots = np.arange(n_classes) == np.asarray(labels)[:, None]
    return torch.from_numpy(x).float(), torch.from_numpy(one_hots).float()


def check_public(public_data: Rows | None, X: Any, *, algorithm: str) -> None:
    """Raise for public rows that cannot be used, before any budget is used.

    Only public properties of the private rows are read: whether they are images, and
    their size.
    """
    if (algorithm == "finetune") != (public_data is not None):
        raise ValueError(
            "public_data must be given for algorithm='finetune', and only there. Got "
            f"algorithm={algorithm!r} and public_data of {type(public_data).__name__}."
        )
    if algorithm == "latent" and not holds_images(X):
        raise ValueError(
            "algorithm='latent' learns codes of images. Got a table; use 'scratch', or "
            "'finetune' with public rows."
        )
    if public_data is None:
        return
    if has_images(public_data) != holds_images(X):
        raise ValueError(
            "public_data must hold images if X does, and a table if X is one. Got "
            f"{type(public_pair(public_data)[0]).__name__}."
        )
    if has_images(public_data) and not isinstance(X, Chunks):
        image_size(X, public_pair(public_data)[0])


def has_images(public_data: Rows | None) -> bool:
    """Return whether public rows are images."""
    return public_data is not None and holds_images(public_pair(public_data)[0])


def public_image_statements(public_data: Rows | None, lens: Lens | None) -> list[str]:
    """Return the statements of a certificate on public images and a lens."""
    stated = []
    if has_images(public_data):
        n_images = len(public_pair(public_data)[0])
        stated.append(f"{n_images} public images: taken as public")
    return stated + ([] if lens is None else [f"lens: {lens.name}"])


def lens_of_game(algorithm: str, lens: LensLike | None) -> Lens | None:
    """Return the lens whose codes the game is among; None if it is among rows."""
    if algorithm != "latent":
        return None
    return lens_of("shipped" if lens is None else lens, needs_decoder=True)


def check_start(start: str | None, *, is_image: bool) -> None:
    """Refuse to start a table from means, or images from columns."""
    wrong, kind = ("columns", "images") if is_image else ("means", "tables")
    if start == wrong:
        taken = "'means'" if is_image else "'columns'"
        raise ValueError(
            f"start must be {taken}, 'nothing' or None for {kind}. Got {start!r} "
            "instead."
        )


def parameters_without_effect(algorithm: str) -> dict[str, str]:
    """Return parameters without effect, each with the setting that would use it."""
    on_release = "methods that train on a release"
    unused = dict.fromkeys(("precision", "early_stopping", "optimizer"), on_release)
    if algorithm != "latent":
        unused["lens"] = "algorithm='latent'"
    if algorithm != "finetune":
        unused["public_iter"] = "algorithm='finetune'"
    if algorithm == "latent":
        unused |= dict.fromkeys(("pooling", "network"), "algorithm='scratch'")
    return unused


def _image_points(
    public_data: Rows, kernel: ImageKernel, classes: tuple[Any, ...] | None
) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Return public images as points, and the codes of their labels, if they have any.

    A label that is no class has code -1.
    """
    pixels, labels = public_pair(public_data)
    x = kernel.inputs(as_pixels(pixels))
    if labels is None or classes is None:
        return x, None
    code_of = {str(label): code for code, label in enumerate(classes)}
    codes = np.array([code_of.get(str(label), -1) for label in np.asarray(labels)])
    return x, codes


def public_pair(public_data: Any) -> tuple[Any, Any]:
    """Return public rows and their labels; None without labels.

    Examples
    --------
    >>> public_pair([1, 2])
    ([1, 2], None)
    """
    is_pair = isinstance(public_data, tuple) and len(public_data) == 2
    return public_data if is_pair else (public_data, None)


# ----------------------------------------------------------------------------
# A generator trained against a discriminator that sees rows by DP-SGD.

# Learning rate of the discriminator on public rows, which have no noise, and the least
# one of the generator there: that of the papers' fine-tuning, 1e-6, teaches it nothing.
PUBLIC_RATE = 1e-3
QUIET_NOISE = 0.1  # of a step, in clipping norms; above, steps get shorter
WARM_UP = 200  # steps of a generator of images towards released means; free


def untrained(
    kernel: GameKernel, denoised: Denoised, settings: GameSettings, rng: Generator
) -> GameModel:
    """Return the model before the game: released columns or means, random weights."""
    n_classes = len(denoised.totals)
    if isinstance(kernel, ImageKernel):
        return kernel.untrained(denoised.totals, settings, {}, rng)
    assert isinstance(settings, GANSettings)
    generator = new_table_generator(kernel, settings, n_classes, rng, denoised.start)
    return TableModel(generator, denoised.totals, denoised.marginals)


@contextmanager
def private_steps(
    opening: Fitting[MeasuredEmbedding],
    discriminator: nn.Module,
    n_classes: int,
    *,
    kernel: Any,
    settings: GameSettings | RatioSettings,
    loss: Any,
    share: float,
    quiet: float,
) -> Iterator[PrivateDescent]:
    """Open private rows for DP-SGD steps of the discriminator; they use ``share``.

    A game, and DP-DRE by DP-SGD, read private rows only here. ``kernel`` makes points
    of rows, and ``loss`` is that of one of them.
    """
    measured = opening.measured
    batches = opening.rows.batches(measured.cells, measured.labels)
    points = PointRows(kernel, batches)
    with private_descent(
        discriminator,
        loss,
        Labelled(points, n_classes),
        opening.ledger,
        name=f"discriminator of {kernel.certificate_name}, by DP-SGD",
        share=share,
        sampling_rate=settings.sampling_rate,
        n_steps=settings.max_iter,
        norm_bound=settings.max_grad_norm,
        expected_rows=opening.facts.n_rows,
        learning_rate=settings.discriminator_learning_rate,
        momentum=0.5 if settings.discriminator_optimizer == "adam" else 0.0,
        is_adam=settings.discriminator_optimizer == "adam",
        quiet=quiet,
        is_smooth=True,
        schedule=settings.discriminator_schedule,
    ) as descent:
        yield descent
    points.close()


def train_adversarially(
    opening: Fitting[MeasuredEmbedding],
    denoised: Denoised,
    *,
    share: float,
    public: Rows | None = None,
    class_weight: str | Mapping[Any, float] | None,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> tuple[GameModel, list[float]]:
    """Train generator and discriminator in turns, on a fixed share of the budget.

    Returns the model and its losses. With ``public`` rows the game begins on those.

    *Why it is private.* Only :func:`~skdpgen.training.private_descent` reads rows, and
    it charges the ledger. Classes, scales and the start are computed from releases, and
    the number of steps is public.
    """
    measured = opening.measured
    kernel, settings = measured.kernel, measured.settings
    rng = torch.Generator().manual_seed(measured.seed)
    model = untrained(kernel, denoised, settings, rng)
    n_classes = len(denoised.totals)
    discriminator = Discriminator(
        *scales_of(kernel, denoised),
        n_classes,
        settings.discriminator_layer_sizes,
        rng=rng,
        is_critic=settings.discriminator_loss == "critic",
    ).to(device)
    generator = model.generator.to(device)
    shares = torch.as_tensor(denoised.shares, dtype=torch.float32, device=device)
    labels = opening.facts.classes or ()
    factors = class_factors(class_weight, labels, denoised.shares)
    weights = shares
    if factors is not None:
        products = denoised.shares * factors
        weights = torch.as_tensor(products / products.sum()).to(shares)
    classes = ClassWeights(shares, weights)
    rules = Rules(
        settings.n_latent,
        settings.steps_per_generator_step,
        settings.batch_size,
        settings.learning_rate,
        settings.spectral_norm,
        schedule=settings.schedule,
        loss=settings.discriminator_loss,
    )
    anchor_loss = distance_to_means(kernel, denoised, device)
    warm_up = WARM_UP if denoised.noisy is not None else 0
    anchor = None if anchor_loss is None else Anchor(anchor_loss, warm_up)
    view = discriminator_view(kernel, rng)
    if public is not None:
        public_descent = PublicDescent(
            discriminator,
            *public_points(opening, public, denoised.shares, rng),
            batch_size=settings.batch_size,
            learning_rate=PUBLIC_RATE,
            rng=rng,
            loss=settings.discriminator_loss,
        )
        play(
            generator,
            discriminator,
            public_descent,
            view,
            classes,
            replace(rules, learning_rate=max(rules.learning_rate, PUBLIC_RATE)),
            n_steps=settings.public_iter,
            anchor=anchor,
            rng=rng,
        )
    with private_steps(
        opening,
        discriminator,
        n_classes,
        kernel=kernel,
        settings=settings,
        loss=LOSSES[settings.discriminator_loss].real,
        share=share,
        quiet=QUIET_NOISE,
    ) as descent:
        losses = play(
            generator,
            discriminator,
            descent,
            view,
            classes,
            replace(rules, norm_bound=settings.max_grad_norm),
            n_steps=settings.max_iter,
            anchor=anchor,
            rng=rng,
            progress=progress,
        )
    generator.cpu()
    return model, losses
