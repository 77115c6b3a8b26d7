"""The ratio by the method that was asked for."""

from collections.abc import Callable, Iterable
from typing import Any

import torch

from skdpgen.synthesizers.adversarial import game_share
from skdpgen.synthesizers.opening import Opening, discover_bins, steps_share
from skdpgen.synthesizers.ratio._by_steps import learn_by_steps
from skdpgen.synthesizers.ratio._one_shot import learn_at_once


def learn_ratio(
    opening: Opening,
    lens: Any,
    *,
    settings: Any,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    """Learn how much likelier public items are among private rows; keep ``_ratio``.

    The share of steps is fixed before anything is released: see ``steps_share``.
    """
    if settings.method == "sgd":
        share = steps_share(opening, game_share("nothing"))
        learn_by_steps(
            opening,
            settings.public_data,
            lens,
            settings=settings,
            share=share,
            device=device,
            progress=progress,
        )
        return
    cells, labels = discover_bins(opening)
    opening.keep(cells_=cells, _labels=labels)
    learn_at_once(opening, settings.public_data, lens)
