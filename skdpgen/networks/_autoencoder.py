"""An auto-encoder of pixels, small enough to be trained with noise."""

from torch import Generator, Tensor, nn

from skdpgen.networks._layers import linear

DARK = -2.0  # first bias of every pixel: most images have a black background


class AutoEncoder(nn.Module):
    """Pixels to codes in [-1, 1] and back, two full layers each; no layer mixes images.

    Parameters
    ----------
    n_pixels, n_units, n_codes : int
        Sizes of the layers.
    rng : Generator or None
        Draws the first weights; None leaves them empty, to be loaded.

    Examples
    --------
    >>> import torch
    >>> network = AutoEncoder(64, 16, 4, rng=Generator().manual_seed(0))
    >>> network.decode(network.encode(torch.zeros(3, 64))).shape
    torch.Size([3, 64])
    """

    def __init__(
        self, n_pixels: int, n_units: int, n_codes: int, *, rng: Generator | None = None
    ) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            linear(n_pixels, n_units, rng),
            nn.Tanh(),
            linear(n_units, n_codes, rng),
            nn.Tanh(),
        )
        self.decoder = nn.Sequential(
            linear(n_codes, n_units, rng), nn.Tanh(), linear(n_units, n_pixels, rng)
        )
        nn.init.constant_(self.decoder[-1].bias, DARK)

    def encode(self, pixels: Tensor) -> Tensor:  # (n, n_pixels) -> (n, n_codes)
        """Return codes."""
        codes: Tensor = self.encoder(pixels)
        return codes

    def decode(self, codes: Tensor) -> Tensor:  # (n, n_codes) -> (n, n_pixels)
        """Return pixels in [0, 1]."""
        pixels: Tensor = self.decoder(codes)
        return pixels.sigmoid()

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return codes, and the pixels made from them."""
        codes = self.encode(pixels)
        return codes, self.decode(codes)
