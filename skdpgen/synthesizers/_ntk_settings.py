"""Settings of DP-NTK: ours, and the paper's."""

from dataclasses import dataclass, replace
from typing import Any, Self

from skdpgen.synthesizers._settings import OURS, PAPER, Settings


@dataclass(frozen=True, kw_only=True)
class TangentSettings(Settings):
    """What one fit was made with; parameters that were None are filled in."""

    architecture: Any
    width: int
    depth: int
    tangent_share: float | None

    def sharing(self, share: float) -> Self:
        """Return these settings with what features got of a row's squared norm."""
        return replace(self, tangent_share=self.tangent_share or share)


PRESETS = {
    "default": TangentSettings(
        architecture="mlp",
        width=20,
        depth=1,
        tangent_share=None,  # by the number of rows
        **OURS | {"batch_size": 2048},
    ),
    "paper": TangentSettings(
        architecture="layer_norm",
        width=100,
        depth=1,
        tangent_share=1.0,
        **PAPER,
    ),
}
