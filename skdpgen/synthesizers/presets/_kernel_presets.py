"""Settings of DP-Kernel: ours, and the paper's."""

from dataclasses import dataclass
from typing import Any

from skdpgen.synthesizers.presets._fourier_presets import Waves
from skdpgen.synthesizers.presets._settings import (
    OURS,
    OURS_IMAGES,
    PAPER,
    PAPER_IMAGES,
    ImageSettings,
    Settings,
    TableSettings,
)
from skdpgen.utils import saved


@dataclass(frozen=True, kw_only=True)
class _Steps(Settings):
    """What the settings of tables and of images have in common."""

    sampling_rate: float
    n_points: int

    def check_steps(self) -> None:
        """Raise, before anything is paid, for settings that allow no step."""
        if self.max_iter < 1:
            raise ValueError(
                "max_iter must be at least 1 for release='per_step'. Got "
                f"{self.max_iter!r} instead."
            )


@saved
@dataclass(frozen=True, kw_only=True)
class KernelSettings(_Steps, Waves, TableSettings):
    """What one fit was made with; parameters that were None are filled in."""

    layout: str  # "binned" counts cells of all columns as well, "whole" none


@saved
@dataclass(frozen=True, kw_only=True)
class KernelImageSettings(_Steps, Waves, ImageSettings):
    """What one fit of images was made with."""


BANDWIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)  # the paper's 1 to 16, for pixels in [-1, 1]
FEW = {"sampling_rate": 0.1, "n_points": 8}
MANY = {"sampling_rate": 1e-3, "n_points": 6}


def kernel_presets(release: str) -> dict[str, dict[str, Any]]:
    """Return the presets of tables and of images for a way to release."""
    steps = {"max_iter": 1000} if release == "per_step" else {}
    ours: dict[str, Any] = {"n_features": 4000, **FEW}
    paper: dict[str, Any] = {"n_features": 10_000, **MANY}
    all_steps = {"max_iter": 200_000} if release == "per_step" else {}
    return {
        "tables": {
            "default": KernelSettings(
                length_scale=(0.3, 1.0, 3.0),
                layout="binned",
                **ours,
                **OURS | steps,
            ),
            "paper": KernelSettings(
                length_scale=BANDWIDTHS, layout="whole", **paper, **PAPER | all_steps
            ),
        },
        "images": {
            "default": KernelImageSettings(
                length_scale="public", **ours, **OURS_IMAGES | steps
            ),
            "paper": KernelImageSettings(
                length_scale=BANDWIDTHS,
                **paper,
                **PAPER_IMAGES
                | all_steps
                | {"generator": "decoder", "hidden_layer_sizes": (128,)},
            ),
        },
    }
