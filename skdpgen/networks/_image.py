"""Image generators: latent numbers and a label in, pixels from 0 to 1 out."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from skdpgen.networks._autoencoder import AutoEncoder
from skdpgen.networks._table import (
    ByClass,
    Doubled,
    convolution,
    linear,
    up_convolution,
)
from skdpgen.utils import (
    saved,
)

FIRST_MAP_SIDE = 4  # pixels, in architectures that double it
HALVED_FROM_SIDE = 16  # pixels; "full" then draws half as many
UPSAMPLE_CHANNELS = 16  # of the first map


@saved("network.image_shape")
@dataclass(frozen=True)
class ImageShape:
    """All that decides the shape of an :class:`ImageGenerator`.

    Parameters
    ----------
    channels, height, width : int
        Of an image.
    n_classes, n_latent : int
        Width of the one-hot label and of the latent vector.
    architecture : {"full", "upsample", "decoder", "residual", "coded"}
        In this order: full (fully connected) layers, then a smooth doubling; full
        layers and two bilinear doublings, each with a convolution, as in DP-MERF, DP-HP
        and DP-NTK; transposed convolutions, as in MMD-GAN and functional RDP; residual
        blocks, for 32 to 64 pixels a side; full layers to codes, for a given decoder
        that all classes share.
    hidden : tuple of int
        Units of the full layers. For "decoder" and "residual" the first is the number
        of channels of the first map, and the other layers follow from it.
    code : tuple of int or None
        For "coded": units of the decoder, number of codes, and how many pixels a side
        it draws as one.
    is_parallel : bool, default=False
        Whether each class has a network of its own.
    """

    channels: int
    height: int
    width: int
    n_classes: int
    n_latent: int
    architecture: str = "full"
    hidden: tuple[int, ...] = (256, 256)
    code: tuple[int, int, int] | None = None
    is_parallel: bool = False

    @property
    def n_pixels(self) -> int:
        """How many numbers an image has."""
        return self.channels * self.height * self.width

    @property
    def n_doublings(self) -> int:
        """How often a map of ``FIRST_MAP_SIDE`` must double to hold an image."""
        return max(
            math.ceil(math.log2(max(self.height, self.width) / FIRST_MAP_SIDE)), 1
        )

    @property
    def least_weights(self) -> int:
        """How many numbers a generator has at least; a file with fewer is refused.

        A network of each class takes all classes in. Matrices that double an image are
        no weights, but must not be much larger than these.
        """
        by_class = self.n_classes**2 if self.is_parallel else self.n_classes
        return max(by_class, max(self.height, self.width) ** 2 // 4096)


@saved("network.image")
class ImageGenerator(nn.Module):
    """Images from latent vectors and labels; images of one label differ.

    Parameters
    ----------
    shape : ImageShape
        Layers and sizes.
    rng : Generator or None
        Draws the first weights; None leaves them empty, to be loaded.

    Examples
    --------
    >>> shape = ImageShape(1, 8, 8, n_classes=2, n_latent=4)
    >>> generator = ImageGenerator(shape, rng=Generator().manual_seed(0))
    >>> (pixels,) = generator(torch.zeros(5, 4), torch.zeros(5, dtype=torch.long))
    >>> pixels.shape
    torch.Size([5, 64])
    """

    def __init__(self, shape: ImageShape, *, rng: Generator | None = None) -> None:
        super().__init__()
        self.shape = shape
        body = BODIES[shape.architecture]
        self.body: nn.Module
        if shape.is_parallel:
            self.body = ByClass(body(shape, rng) for _ in range(shape.n_classes))
        else:
            self.body = body(shape, rng)
        self.decoder = CodesDecoder(shape, rng) if shape.code else None

    @contextmanager
    def even_classes(self) -> Iterator[None]:
        """Take classes in their order, each with as many rows, as in training."""
        of_classes = [part for part in self.modules() if isinstance(part, ByClass)]
        try:
            for part in of_classes:
                part.is_even = True
            yield
        finally:
            for part in of_classes:
                part.is_even = False

    def forward(self, latents: Tensor, labels: Tensor) -> list[Tensor]:
        """Return pixels in [0, 1], (n, channels x height x width), and codes if any."""
        one_hot = nn.functional.one_hot(labels, self.shape.n_classes).to(latents)
        given = torch.cat([latents, one_hot], dim=1)
        maps = self.body(given, labels) if self.shape.is_parallel else self.body(given)
        codes = []
        if self.decoder is not None:
            codes, maps = [maps], self.decoder(maps)
            # cut where pooling pads: at the end
            maps = maps[:, :, : self.shape.height, : self.shape.width]
        # other architectures draw more than they need on all sides: keep the middle
        top = (maps.shape[2] - self.shape.height) // 2
        left = (maps.shape[3] - self.shape.width) // 2
        rows = slice(top, top + self.shape.height)
        maps = maps[:, :, rows, left : left + self.shape.width]
        # in single precision, also where "mixed" computed the maps in half of it
        return [maps.float().sigmoid().flatten(1), *codes]


class Maps(nn.Unflatten):
    """Maps of a line of numbers, with all channels of a pixel beside each other.

    Convolutions keep this order in memory, and on a processor they take some 60 % of
    the time. Transposed ones take as long as before.
    """

    def forward(self, line: Tensor) -> Tensor:
        """Return the maps, (n, channels, height, width)."""
        maps = super().forward(line)
        return maps.contiguous(memory_format=torch.channels_last)


class Full(nn.Sequential):
    """Full layers; from 16 pixels a side on, drawn at half size and doubled."""

    def __init__(self, shape: ImageShape, rng: Generator | None) -> None:
        step = 2 if min(shape.height, shape.width) >= HALVED_FROM_SIDE else 1
        height, width = math.ceil(shape.height / step), math.ceil(shape.width / step)
        layers, units = _full(shape, rng)
        layers += [
            linear(units, shape.channels * height * width, rng),
            nn.Unflatten(1, (shape.channels, height, width)),
        ]
        if step > 1:
            layers.append(Doubled(height, width))
        super().__init__(*layers)


class Coded(nn.Sequential):
    """Full layers to codes."""

    def __init__(self, shape: ImageShape, rng: Generator | None) -> None:
        assert shape.code is not None
        _, n_codes, _ = shape.code
        layers, units = _full(shape, rng)
        super().__init__(*layers, linear(units, n_codes, rng), nn.Tanh())


class CodesDecoder(nn.Sequential):
    """The decoder of an auto-encoder; smaller outputs are upsampled smoothly."""

    def __init__(self, shape: ImageShape, rng: Generator | None) -> None:
        assert shape.code is not None
        n_units, n_codes, step = shape.code
        height, width = math.ceil(shape.height / step), math.ceil(shape.width / step)
        size = shape.channels, height, width
        decoder = AutoEncoder(math.prod(size), n_units, n_codes, rng=rng).decoder
        layers = [decoder, nn.Unflatten(1, size)]
        if step > 1:
            layers.append(nn.Upsample(scale_factor=step, mode="bicubic"))
        super().__init__(*layers)

    def take(self, state: Mapping[str, Tensor]) -> None:
        """Load trained weights, and train them no further."""
        self[0].load_state_dict(state)
        self[0].requires_grad_(False)


class Upsample(nn.Sequential):
    """Full layers, then twice: double the map and convolve it."""

    def __init__(self, shape: ImageShape, rng: Generator | None) -> None:
        height, width = math.ceil(shape.height / 4), math.ceil(shape.width / 4)
        layers, units = _full(shape, rng)
        super().__init__(
            *layers,
            linear(units, UPSAMPLE_CHANNELS * height * width, rng),
            nn.BatchNorm1d(UPSAMPLE_CHANNELS * height * width),
            nn.ReLU(),
            Maps(1, (UPSAMPLE_CHANNELS, height, width)),
            nn.Upsample(scale_factor=2, mode="bilinear"),
            convolution(UPSAMPLE_CHANNELS, UPSAMPLE_CHANNELS // 2, 5, rng),
            nn.ReLU(),
            nn.Upsample(scale_factor=2, mode="bilinear"),
            convolution(UPSAMPLE_CHANNELS // 2, shape.channels, 5, rng),
        )


class Decoder(nn.Sequential):
    """A full layer, then transposed convolutions: maps double, channels halve."""

    def __init__(self, shape: ImageShape, rng: Generator | None) -> None:
        n_maps = shape.hidden[0]
        layers: list[nn.Module] = [
            linear(shape.n_latent + shape.n_classes, n_maps * FIRST_MAP_SIDE**2, rng),
            nn.Unflatten(1, (n_maps, FIRST_MAP_SIDE, FIRST_MAP_SIDE)),
            nn.BatchNorm2d(n_maps),
            nn.ReLU(),
        ]
        for _ in range(shape.n_doublings - 1):
            fewer = max(n_maps // 2, 8)
            layers += [up_convolution(n_maps, fewer, rng), nn.BatchNorm2d(fewer)]
            layers += [nn.ReLU()]
            n_maps = fewer
        super().__init__(*layers, up_convolution(n_maps, shape.channels, rng))


class Residual(nn.Sequential):
    """A full layer, residual blocks that double the map, and a last convolution."""

    def __init__(self, shape: ImageShape, rng: Generator | None) -> None:
        n_maps = shape.hidden[0]
        layers: list[nn.Module] = [
            linear(shape.n_latent + shape.n_classes, n_maps * FIRST_MAP_SIDE**2, rng),
            Maps(1, (n_maps, FIRST_MAP_SIDE, FIRST_MAP_SIDE)),
        ]
        for _ in range(shape.n_doublings):
            fewer = max(n_maps // 2, 16)
            layers.append(ResidualBlock(n_maps, fewer, rng))
            n_maps = fewer
        last = convolution(n_maps, shape.channels, 3, rng)
        super().__init__(*layers, nn.BatchNorm2d(n_maps), nn.ReLU(), last)


class ResidualBlock(nn.Module):
    """Two convolutions beside a shortcut; the map doubles."""

    def __init__(self, n_inputs: int, n_outputs: int, rng: Generator | None) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.BatchNorm2d(n_inputs),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            convolution(n_inputs, n_outputs, 3, rng),
            nn.BatchNorm2d(n_outputs),
            nn.ReLU(),
            convolution(n_outputs, n_outputs, 3, rng),
        )
        self.shortcut = nn.Sequential(
            nn.Upsample(scale_factor=2), convolution(n_inputs, n_outputs, 1, rng)
        )

    def forward(self, maps: Tensor) -> Tensor:  # (n, maps, h, w) -> (n, fewer, 2h, 2w)
        """Return the doubled map."""
        return self.main(maps) + self.shortcut(maps)


def _full(shape: ImageShape, rng: Generator | None) -> tuple[list[nn.Module], int]:
    """Return the hidden full layers, and the width of the last one."""
    width, layers = shape.n_latent + shape.n_classes, []
    for units in shape.hidden:
        layers += [linear(width, units, rng), nn.BatchNorm1d(units), nn.ReLU()]
        width = units
    return layers, width


BODIES = {
    "coded": Coded,
    "full": Full,
    "upsample": Upsample,
    "decoder": Decoder,
    "residual": Residual,
}


# ----------------------------------------------------------------------------
# A discriminator for DP-SGD: smooth, conditional on labels, without batch statistics.

POWER_ROUNDS = 2  # of the power method, which goes on where it stopped


class WholeLinear(nn.Linear):
    """A linear layer whose gradient DP-SGD forms as a whole, and not as two factors.

    Factors are recorded while a layer is called. A loss with a slope of the network
    uses its weights in ways that such a record would miss
    (:class:`~skdpgen.training.RowSlopes` has factors for plain linear layers only).
    """


class Discriminator(nn.Module):
    r"""How real a row looks, given its label: one number, before the sigmoid.

    Full layers with SiLU, whose slopes have no jump. The label comes in beside the row,
    and chooses the last layer: :math:`s(x, y) = y^\top (V h(x, y) + c)` with a one-hot
    y. A row without a known label has y = 0, a score of 0, and no gradient at all.

    Parameters
    ----------
    centre, scale : Tensor of shape (n_inputs,)
        What is subtracted from a row, and what it is divided by; public, or released.
    n_classes : int
    hidden : sequence of int
        Units of the hidden layers.
    rng : Generator
        Draws the first weights.
    is_critic : bool, default=False
        Whether the slope of the score by a row enters its loss: layers are then
        :class:`WholeLinear`.

    Examples
    --------
    >>> rng = Generator().manual_seed(0)
    >>> score = Discriminator(torch.zeros(3), torch.ones(3), 2, (8,), rng=rng)
    >>> score(torch.rand(5, 3), torch.eye(2)[[0, 1, 0, 1, 0]]).shape
    torch.Size([5])
    >>> score(torch.rand(1, 3), torch.zeros(1, 2)).item()
    0.0
    """

    def __init__(
        self,
        centre: Tensor,
        scale: Tensor,
        n_classes: int,
        hidden: Sequence[int],
        *,
        rng: Generator,
        is_critic: bool = False,
    ) -> None:
        super().__init__()
        self.register_buffer("centre", centre.float())
        self.register_buffer("scale", scale.float())
        self.centre: Tensor
        self.scale: Tensor
        width, layers = len(centre) + n_classes, []
        for units in hidden:
            layers += [linear(width, units, rng), nn.SiLU()]
            width = units
        self.body = nn.Sequential(*layers)
        self.head = linear(width, n_classes, rng)
        if is_critic:
            for layer in self.modules():
                if isinstance(layer, nn.Linear):
                    layer.__class__ = WholeLinear
        self._directions: dict[str, Tensor] = {}

    def forward(self, x: Tensor, one_hot: Tensor) -> Tensor:  # (n, d), (n, k) -> (n,)
        """Return the score of each row."""
        inputs = torch.cat([(x - self.centre) / self.scale, one_hot], dim=-1)
        return (self.head(self.body(inputs)) * one_hot).sum(dim=-1)

    @torch.no_grad()
    def limit(self, bound: float) -> None:
        """Scale layers down to a spectral norm of ``bound``; reads weights alone.

        Noise of DP-SGD makes weights grow. It is projected away after each step, since
        a spectral norm inside of the network would enter the gradient of each row.
        """
        for name, layer in self.named_modules():
            if not isinstance(layer, nn.Linear):
                continue
            weight = layer.weight
            # the power method: directions of the largest singular value, kept between
            # calls, as weights move little from one to the next
            direction = self._directions.get(name)
            if direction is None or direction.device != weight.device:
                n = weight.shape[1]
                direction = weight.new_full((n,), 1.0 / math.sqrt(n))
            for _ in range(POWER_ROUNDS):
                direction = weight.T @ (weight @ direction)
                direction = direction / direction.norm().clamp_min(1e-12)
            self._directions[name] = direction
            spectral_norm = float((weight @ direction).norm())
            if spectral_norm > bound:
                layer.weight.mul_(bound / spectral_norm)


# ----------------------------------------------------------------------------
# A discriminator of images themselves.

WIDTHS, FILTER_SIDE = (8, 16), 5  # channels of two convolutions, and their pixels
PIXEL_CENTRE, PIXEL_SCALE = 0.2, 0.5


class ImageDiscriminator(nn.Module):
    r"""How real an image looks, given its label: two convolutions and a linear layer.

    Strides of 2 instead of pooling, and SiLU: slopes have no jump. The label chooses
    the output, as in :class:`Discriminator`. It is small, since noise grows with the
    number of weights.

    Parameters
    ----------
    size : tuple of int
        Channels, height and width.
    n_classes : int
    rng : Generator
        Draws the first weights.

    Examples
    --------
    >>> rng = Generator().manual_seed(0)
    >>> score = ImageDiscriminator((1, 8, 8), 2, rng=rng)
    >>> score(torch.rand(5, 64), torch.eye(2)[[0, 1, 0, 1, 0]]).shape
    torch.Size([5])
    >>> score(torch.rand(1, 64), torch.zeros(1, 2)).item()
    0.0
    """

    def __init__(
        self, size: tuple[int, int, int], n_classes: int, *, rng: Generator
    ) -> None:
        super().__init__()
        self.size = size
        channels, *sides = size
        layers: list[nn.Module] = []
        for units in WIDTHS:
            layer = convolution(channels, units, FILTER_SIDE, rng)
            layer.stride = (2, 2)
            layers += [layer, nn.SiLU()]
            channels, sides = units, [(side + 1) // 2 for side in sides]
        self.body = nn.Sequential(*layers)
        self.head = linear(channels * sides[0] * sides[1], n_classes, rng)

    def forward(self, x: Tensor, one_hot: Tensor) -> Tensor:  # (n, d), (n, k) -> (n,)
        """Return the score of each image, given its pixels in [0, 1]."""
        maps = self.body((x.unflatten(-1, self.size) - PIXEL_CENTRE) / PIXEL_SCALE)
        return (self.head(maps.flatten(1)) * one_hot).sum(dim=-1)
