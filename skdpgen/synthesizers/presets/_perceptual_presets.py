"""Settings of DP-MEPF: ours, and the paper's."""

from dataclasses import dataclass

from skdpgen.synthesizers.presets._settings import (
    OURS_IMAGES,
    PAPER_IMAGES,
    ImageSettings,
)
from skdpgen.utils import saved


@saved
@dataclass(frozen=True, kw_only=True)
class PerceptualSettings(ImageSettings):
    """What one fit was made with; parameters that were None are filled in."""

    second_norm: float
    pixel_norm: float
    loss: str
    stopping_budget: float


PERCEPTUAL_IMAGES = {
    "default": PerceptualSettings(
        second_norm=0.5,
        pixel_norm=0.75,
        loss="distance",
        stopping_budget=0.0,
        **OURS_IMAGES | {"max_iter": 2000, "batch_size": 200},
    ),
    "paper": PerceptualSettings(
        second_norm=0.5,
        pixel_norm=0.0,
        loss="moving_average",
        stopping_budget=0.01,
        **PAPER_IMAGES
        | {"generator": "residual", "hidden_layer_sizes": (128,), "n_latent": 100},
    ),
}
