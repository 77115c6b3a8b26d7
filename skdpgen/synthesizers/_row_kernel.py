"""The kernel on rows: Fourier features beside one-hot cells, one bounded vector."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from skdpgen.features import ExpectedFourier, FourierFeatures
from skdpgen.networks import CellsHead, PositionHead
from skdpgen.privacy import (
    Counts,
    Histograms,
    NonNegative,
    Signed,
    Vectors,
    Weighted,
    sensitivity,
)
from skdpgen.synthesizers._merf_settings import Settings
from skdpgen.synthesizers._opening import Opening
from skdpgen.synthesizers._resolution import cell_scales
from skdpgen.tables import Cells, EncodedBatch, cell_points

RICH, POOR = 0.1, 0.02  # Fourier shares of a row's squared norm
TYPICAL = 5e-3
AT_ONCE = 2**21  # features of the rows that are mapped together


@dataclass(frozen=True, eq=False)
class RowKernel:
    r"""A row becomes :math:`[a\,\phi(x) ; b\,x_{1h} / \sqrt{d}]`, a² + b² = 1.

    The first part are Fourier features of some columns, the second are one-hot cells
    of d columns. The norm of a row is at most 1; the first part has any sign, the
    second is not negative, so replacing a row moves the sum by at most
    :math:`\sqrt{4a^2 + 2b^2}` (proof: :class:`~skdpgen.privacy.Weighted`).

    Parameters
    ----------
    phi : FourierFeatures or None
        None if no column is seen by Fourier features.
    seen, counted : tuple of int
        Columns that phi looks at; columns whose cells are counted.
    points : tuple of ndarray
        Where the cells of the columns in ``seen`` stand.
    sizes : tuple of int
        Cells of every column.
    fourier_share : float
        The number a².
    """

    phi: FourierFeatures | None
    seen: tuple[int, ...]
    counted: tuple[int, ...]
    points: tuple[Any, ...]
    sizes: tuple[int, ...]
    fourier_share: float

    @classmethod
    def of(
        cls, cells: Mapping[Any, Cells], settings: Settings, *, rng: Generator
    ) -> "RowKernel":
        """Draw the features for given cells.

        With binned numbers all columns are counted and seen; else numbers are seen and
        categories are counted. ``length_scale="public"`` is the paper's median of
        distances, as if columns were independent and uniform: sqrt(d / 6).
        """
        is_binned = settings.numbers == "binned"
        length_scale = settings.length_scale
        columns = list(cells.values())
        every = tuple(range(len(columns)))
        ordered = tuple(j for j in every if columns[j].is_ordered)
        seen = every if is_binned else ordered
        counted = every if is_binned else tuple(j for j in every if j not in ordered)
        points = tuple(cell_points(columns[j]) for j in seen)
        if isinstance(length_scale, str):
            length_scale = math.sqrt(max(len(seen), 1) / 6)
        phi = None
        if seen:
            phi = FourierFeatures.draw(
                [at.shape[1] for at in points],
                settings.n_features,
                length_scale=length_scale,
                n_together=settings.n_together,
                rng=rng,
            )
        share = settings.fourier_share if seen and counted else float(bool(seen))
        sizes = tuple(column.n_cells for column in columns)
        return cls(phi, seen, counted, points, sizes, share)

    @property
    def is_binned(self) -> bool:
        """Whether the generator draws cells of every column."""
        return len(self.counted) == len(self.sizes)

    @property
    def blocks(self) -> dict[str, Any]:
        """What a release sums; class counts ride along where nothing holds them."""
        blocks: dict[str, Any] = {}
        if self.counted:
            sizes = tuple(self.sizes[j] for j in self.counted)
            blocks["columns"] = Histograms(sizes, self.scales)
        if self.phi is not None:
            blocks["fourier"] = Vectors(self.phi.n_features, self.phi.norm_bound)
        if not self.counted:
            blocks["classes"] = Counts(beta=self.fourier_share)  # free up to a²
        return blocks

    @property
    def scales(self) -> tuple[float, ...]:
        """How much of the one-hot part each column gets; squares sum to 1."""
        return cell_scales([self.sizes[j] for j in self.counted])

    @property
    def weights(self) -> dict[str, float]:
        """What each block is scaled by."""
        weights = {}
        if self.counted:
            weights["columns"] = math.sqrt(1 - self.fourier_share)
        if self.phi is not None:
            weights["fourier"] = math.sqrt(self.fourier_share)
        return weights

    @property
    def heads(self) -> tuple[CellsHead | PositionHead, ...]:
        """What a generator must give out for every column."""
        widths = {j: at.shape[1] for j, at in zip(self.seen, self.points, strict=True)}
        return tuple(
            CellsHead(size)
            if j in self.counted
            else PositionHead(is_nullable=widths[j] > 1)
            for j, size in enumerate(self.sizes)
        )

    def encode(
        self, batches: Iterable[EncodedBatch], device: torch.device
    ) -> Iterator[EncodedBatch]:
        """Map rows of cells, a few at a time: n x features is never in memory."""
        phi = None if self.phi is None else self.phi.to(device)
        # a value without a cell has code -1: the last row, all zeros
        places = [
            np.vstack([at, np.zeros(at.shape[1])]).astype(np.float32)
            for at in self.points
        ]
        at_once = max(AT_ONCE // (phi.n_features if phi else 1), 1)
        for batch in batches:
            codes = batch.parts["columns"]
            for start in range(0, len(codes), at_once):
                some = codes[start : start + at_once]
                parts = {"columns": some[:, self.counted]}
                if phi is not None:
                    x = [
                        at[some[:, j]] for j, at in zip(self.seen, places, strict=True)
                    ]
                    inputs = torch.from_numpy(np.concatenate(x, axis=1)).to(device)
                    parts["fourier"] = phi(inputs)
                yield EncodedBatch(batch.labels[start : start + at_once], parts)

    def embedding(self, device: torch.device) -> Any:
        """Return what turns outputs of a generator into blocks of an embedding.

        The function takes the outputs and a number of equal groups of rows (classes),
        and returns the mean of each group, (n_groups, width), block by block.
        """
        phi = None if self.phi is None else self.phi.to(device)
        expected = None
        if phi is not None and self.is_binned:
            points = [torch.as_tensor(at, device=device) for at in self.points]
            expected = ExpectedFourier.of(phi, points)

        def embed(outputs: list[Tensor], n_groups: int = 1) -> dict[str, Tensor]:
            blocks = {}
            if self.counted:
                counted = torch.cat([outputs[j] for j in self.counted], dim=1)
                blocks["columns"] = counted.unflatten(0, (n_groups, -1)).mean(dim=1)
            if expected is not None:
                blocks["fourier"] = expected.mean(outputs, n_groups)
            elif phi is not None:
                x = torch.cat([outputs[j] for j in self.seen], dim=1)
                blocks["fourier"] = phi.mean(x, n_groups)
            return blocks

        return embed

    def only(self, which: Tensor) -> "RowKernel":
        """Return the kernel with some of the frequencies."""
        return replace(self, phi=None if self.phi is None else self.phi.only(which))


def with_share(settings: Settings, opening: Opening, labels: Cells | None) -> Settings:
    """Fill in the Fourier share from public quantities and releases alone.

    What relations add to an embedding of norm 1 has been of squared norm ``TYPICAL``
    on tables; where the noise of all features together exceeds that, little is lost
    by leaving nearly all of the norm to the one-hot part.
    """
    if settings.fourier_share is not None:
        return settings
    n_classes = labels.n_cells if labels is not None else 1
    delta = sensitivity(
        Weighted((Signed(), NonNegative()), (RICH**0.5, (1 - RICH) ** 0.5)),
        opening.ledger.budget.adjacency,
    )
    std = opening.ledger.noise_std(share=opening.ledger.remaining, sensitivity=delta)
    noise = (std / opening.facts.n_rows) ** 2 / RICH * settings.n_features * n_classes
    return replace(settings, fourier_share=RICH if noise <= TYPICAL else POOR)
