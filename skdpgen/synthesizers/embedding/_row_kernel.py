"""The kernel on rows: bounded features beside one-hot cells, one bounded vector."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from skdpgen.features import FourierFeatures
from skdpgen.networks import CellsHead, PositionHead
from skdpgen.privacy import (
    Counts,
    Histograms,
    NonNegative,
    Release,
    Signed,
    Weighted,
    sensitivity,
    shortened,
)
from skdpgen.synthesizers.embedding._feature_map import (
    MOST_ROWS,
    FeatureMap,
    Mapper,
    feature_block,
)
from skdpgen.synthesizers.models import (
    Denoised,
    TableModel,
    decode_rows,
    learn_table,
    new_table_generator,
    train_table,
)
from skdpgen.synthesizers.opening import Facts, Opening, cell_scales
from skdpgen.synthesizers.presets import Waves, column_scales, pixel_scales
from skdpgen.tables import Cells, EncodedBatch, MixedCells, cell_points, code_or_none
from skdpgen.training import Embed, strata
from skdpgen.utils import (
    Key,
    are_amounts,
    asked,
    has_role,
    is_amount,
    is_whole,
    refuse_unless,
    saved,
)

MOST_CATEGORIES = 10_000  # of a column whose categories are points


def _check_sizes(cells: Mapping[Any, Cells], embedded: Iterable[int]) -> None:
    """Refuse columns whose points would not fit in memory."""
    columns = list(cells.items())
    for name, column in (columns[j] for j in embedded):
        if not column.is_ordered and column.n_cells > MOST_CATEGORIES:
            raise ValueError(
                f"A column must have at most {MOST_CATEGORIES:,} categories where rows "
                f"are points, since every category is a dimension. Got "
                f"{column.n_cells:,} for column {name!r}. Use DPPairwiseSynthesizer or "
                f"DPIndependentSynthesizer, or join rare categories in the schema."
            )


# ----------------------------------------------------------------------------
# The mean embedding of a generator's rows, in the blocks of a release.

Alone = tuple[Sequence[NDArray[Any]], NDArray[Any]]  # tables, and their mean features


def row_embedding(
    kernel: "RowKernel",
    device: torch.device,
    rng: Generator,
    alone: Alone | None = None,
) -> Embed:
    """Return a function from outputs of a generator to blocks of an embedding.

    The function takes the outputs and a number of equal groups of rows (classes),
    and returns the mean of each group, (n_parts, width), block by block. Where
    the mean over drawn cells has no closed form, ``rng`` draws them. If the mean
    features of independent columns are given, as ``alone`` = (their tables, that
    mean), only the difference from it is drawn: rows of both are drawn with the same
    random numbers, so most of the randomness cancels out (a control variate).
    """
    phi = None if kernel.phi is None else kernel.phi.to(device)
    points = [torch.as_tensor(at, device=device).float() for at in kernel.points_at]
    expected: Any = None
    tables: list[Tensor] | None = None
    mean: Tensor | None = None
    if phi is not None and kernel.is_binned:
        expected = phi.expected(points)
        if alone is not None:
            tables = [torch.as_tensor(t, device=device).float() for t in alone[0]]
            mean = torch.as_tensor(alone[1], device=device).float()

    def embed(outputs: list[Tensor], n_parts: int = 1) -> dict[str, Tensor]:
        blocks: dict[str, Tensor] = {}
        if kernel.counted:
            counted = torch.cat([outputs[j] for j in kernel.counted], dim=1)
            blocks[Key.COLUMNS] = counted.unflatten(0, (n_parts, -1)).mean(dim=1)
        if expected is not None:
            blocks[Key.FEATURES] = expected.mean(outputs, n_parts)
        elif phi is not None:
            n = len(outputs[0])
            each = n // n_parts
            groups = [strata(each, len(outputs), rng) for _ in range(n_parts)]
            places = torch.cat(groups).to(device)
            x = _drawn(kernel, outputs, points, places)
            features = phi.mean(x, n_parts)
            if tables is not None and mean is not None:
                rows = [t.repeat_interleave(each, dim=0) for t in tables]
                same = phi.mean(_drawn(kernel, rows, points, places), n_parts)
                features = features + (mean - same)
            blocks[Key.FEATURES] = features
        return blocks

    return embed


def _drawn(
    kernel: "RowKernel", outputs: list[Tensor], points: list[Tensor], places: Tensor
) -> Tensor:
    """Return inputs of phi: drawn points of cells, and positions as they are."""
    heads = kernel.heads
    x = [
        draw_point(outputs[j], at, places[:, j, None])
        if isinstance(heads[j], CellsHead)
        else outputs[j]
        for j, at in zip(kernel.seen, points, strict=True)
    ]
    return torch.cat(x, dim=1)


def draw_point(probabilities: Tensor, points: Tensor, place: Tensor) -> Tensor:
    """Draw a cell for each row and return its point, with a straight-through gradient.

    Forward it is the point of the cell that a uniform number falls into, as in drawn
    rows; its gradient is that of the mean of all points.
    """
    below = probabilities.detach().cumsum(dim=1)
    cell = (place * below[:, -1:] >= below).sum(dim=1).clamp(max=len(points) - 1)
    soft = probabilities @ points
    return points[cell] + soft - soft.detach()


# ----------------------------------------------------------------------------
# The kernel on rows: bounded features beside one-hot cells, one bounded vector.

RICH_SHARE, POOR_SHARE = 0.1, 0.02  # of a row's squared norm, for its features
TYPICAL_RELATIONS = 5e-3
FARTHEST_POINT = 2.0  # of a cell, from 0; they lie in [0, 1]
ROWS_LOOKED_UP = 512  # together, for memory
DRAWN, ROUNDS = 1024, 16  # rows of a class in each round that estimate a mean


# None from a kernel without features, which only makes points of rows
Draw = Callable[[Sequence[int], Sequence[bool]], FeatureMap | None]


@asked("kernel")
@saved("kernel.rows")
@dataclass(frozen=True, eq=False)
class RowKernel:
    r"""A row becomes :math:`[a\,\phi(x) ; b\,x_{1h} / \sqrt{d}]`, a² + b² = 1.

    The first part holds features of some columns, the second one-hot cells of d
    columns. The norm of a row is at most 1; the first part has any sign, the second is
    not negative, so replacing a row moves the sum by at most :math:`\sqrt{4a^2 + 2b^2}`
    (proof: :class:`~skdpgen.privacy.Weighted`).

    Parameters
    ----------
    phi : FeatureMap or None
        None if features map no column.
    seen, counted : tuple of int
        Columns that phi maps; columns whose cells are counted.
    points_at : tuple of ndarray
        Points of the cells of the columns in ``seen``.
    sizes : tuple of int
        Cells of every column.
    ordered : tuple of bool
        Which columns are numbers, or ordered like numbers.
    share : float or None
        The number a²; None before it is chosen.
    has_equal_scales : bool, default=False
        Whether all columns that are counted have one scale (:func:`share_by_length`).
    """

    phi: Any  # a FeatureMap or None; optional attributes are read of it
    seen: tuple[int, ...]
    counted: tuple[int, ...]
    points_at: tuple[NDArray[Any], ...]
    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]
    share: float | None
    has_equal_scales: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what is cached is made again."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def check_asked(self) -> None:
        """Check the fields of a kernel that another party sent.

        Points must be near 0: for distant ones, a map may compute all rows of a batch
        in another way (:func:`~skdpgen.features._hermite.hermite_functions`), and
        rounding grows.
        """
        last = len(self.sizes) - 1
        refuse_unless(
            (self.phi is None or has_role(self.phi, "map"))
            and all(is_whole(j, 0, last) for j in (*self.seen, *self.counted))
            and len(self.seen) == len(self.points_at)
            and all(
                are_amounts(at, FARTHEST_POINT, 2) and at.size for at in self.points_at
            )
            and (self.share is None or is_amount(self.share, 0, 1))
            and type(self.has_equal_scales) is bool,
            "a kernel of columns that there are",  # parties read this text
        )

    @classmethod
    def of(
        cls,
        cells: Mapping[Any, Cells],
        draw: Draw,
        *,
        layout: str = "binned",
        share: float | Literal["length"] | None,
    ) -> "RowKernel":
        """Draw the features for given cells.

        Parameters
        ----------
        cells : mapping of name to cells
        draw : callable
            From the number of inputs of each mapped column, and whether it is
            a number, to a feature map; None for a kernel that only makes points.
        layout : {"binned", "split", "whole"}, default="binned"
            "binned" counts and maps all columns, "split" maps numbers and counts
            categories, "whole" maps all columns and counts none.
        share : float, "length" or None
            Part of a row's squared norm that features get, if cells are counted as
            well; None leaves it to :meth:`with_share`. "length" is that of DP-MERF
            (:func:`share_by_length`).
        """
        columns = list(cells.values())
        indices = tuple(range(len(columns)))
        ordered = tuple(
            column.is_ordered and not isinstance(column, MixedCells)
            for column in columns
        )
        is_split = layout == "split"
        embedded = tuple(j for j in indices if ordered[j] or not is_split)
        counted = tuple(j for j in indices if not ordered[j] or not is_split)
        counted = () if layout == "whole" else counted
        _check_sizes(cells, embedded)
        points = tuple(cell_points(columns[j]) for j in embedded)
        phi = None
        if embedded:
            phi = draw([at.shape[1] for at in points], [ordered[j] for j in embedded])
        sizes = tuple(column.n_cells for column in columns)
        is_by_length = share == "length"
        if share == "length":
            share = share_by_length([sizes[j] for j in counted])
        if not (embedded and counted):
            share = float(bool(embedded))
        return cls(phi, embedded, counted, points, sizes, ordered, share, is_by_length)

    @property
    def certificate_name(self) -> str:
        """Name in the certificate."""
        return f"{len(self.sizes)} columns"

    @property
    def is_binned(self) -> bool:
        """Whether the generator draws cells of every column."""
        return len(self.counted) == len(self.sizes)

    @property
    def blocks(self) -> dict[str, Any]:
        """Blocks that a release sums; with class counts if no other block has them."""
        blocks: dict[str, Any] = {}
        if self.counted:
            sizes = tuple(self.sizes[j] for j in self.counted)
            blocks[Key.COLUMNS] = Histograms(sizes, self.scales)
        if self.phi is not None:
            blocks[Key.FEATURES] = feature_block(self.phi)
        if not self.counted:
            assert self.share is not None  # `of` sets it where no cell is counted
            blocks[Key.CLASSES] = Counts(beta=self.share)  # free up to a²
        return blocks

    @property
    def scales(self) -> tuple[float, ...]:
        """How much of the one-hot part each column gets; squares sum to 1."""
        if self.has_equal_scales:
            n = len(self.counted)
            return (shortened(1.0 / math.sqrt(n)),) * n
        return cell_scales([self.sizes[j] for j in self.counted])

    @property
    def weights(self) -> dict[str, float]:
        """Scale of each block."""
        assert self.share is not None  # see `with_share`
        weights: dict[str, float] = {}
        if self.counted:
            weights[Key.COLUMNS] = math.sqrt(1 - self.share)
        if self.phi is not None:
            weights[Key.FEATURES] = math.sqrt(self.share)
        return weights

    @cached_property
    def heads(self) -> tuple[CellsHead | PositionHead, ...]:
        """Output head of a generator for every column."""
        widths = {
            j: at.shape[1] for j, at in zip(self.seen, self.points_at, strict=True)
        }
        return tuple(
            CellsHead(size)
            if j in self.counted or not self.ordered[j]
            else PositionHead(is_nullable=widths[j] > 1)
            for j, size in enumerate(self.sizes)
        )

    def encode(
        self, batches: Iterable[EncodedBatch], device: torch.device
    ) -> Iterator[EncodedBatch]:
        """Map rows of cells, a few at a time: n x features is never in memory."""
        mapper = None if self.phi is None else Mapper.of(self.phi, device)
        at_once = mapper.at_once if mapper else MOST_ROWS
        for batch in batches:
            codes = batch.parts[Key.COLUMNS]
            for start in range(0, len(codes), at_once):
                chunk = codes[start : start + at_once]
                parts: dict[str, Any] = {Key.COLUMNS: chunk[:, self.counted]}
                if mapper is not None:
                    parts[Key.FEATURES] = mapper(self.inputs(chunk))
                yield EncodedBatch(batch.labels[start : start + at_once], parts)

    @property
    def width(self) -> int:
        """Number of values of a point."""
        return sum(at.shape[1] for at in self.points_at)

    def rows_of(self, batch: EncodedBatch) -> NDArray[Any]:
        """Return the part of a batch that :meth:`inputs` takes."""
        codes: NDArray[Any] = batch.parts[Key.COLUMNS]
        return codes

    def inputs(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        """Return rows of cells as points; a value without a cell is all zeros."""
        x = np.zeros((len(codes), self.width), dtype=np.float32)
        for start in range(0, len(codes), ROWS_LOOKED_UP):
            some = slice(start, start + ROWS_LOOKED_UP)
            for columns, at, n_cells, first, places in self._lookups:
                of_cell = code_or_none(codes[some, columns], n_cells)
                # the last point is that of no cell
                x[some, places] = at[np.where(of_cell < 0, -1, first + of_cell)]
        return x

    @cached_property
    def _lookups(self) -> list[tuple[NDArray[Any], ...]]:
        """Return what :meth:`inputs` looks up, for columns with points of one width.

        They are: the columns, the points of all their cells and a last one of zeros,
        the number of cells of each column, the index of its first one, and where its
        point stands in a row.
        """
        widths = np.array([at.shape[1] for at in self.points_at])
        starts = np.cumsum(widths) - widths
        lookups: list[tuple[NDArray[Any], ...]] = []
        for width in np.unique(widths):
            (which,) = np.nonzero(widths == width)
            tables = [self.points_at[k] for k in which]
            n_cells = np.array([len(at) for at in tables])
            points = np.concatenate([*tables, np.zeros((1, width))], dtype=np.float32)
            places = starts[which][:, None] + np.arange(width)
            columns = np.array(self.seen)[which]
            first = np.cumsum(n_cells) - n_cells
            lookups.append((columns, points, n_cells, first, places))
        return lookups

    def points(self, outputs: list[Tensor]) -> Tensor:
        """Return a generator's outputs as points: means over cells, or positions."""
        heads = self.heads
        x = [
            outputs[j] @ torch.as_tensor(at).to(outputs[j])
            if isinstance(heads[j], CellsHead)
            else outputs[j]
            for j, at in zip(self.seen, self.points_at, strict=True)
        ]
        return torch.cat(x, dim=1)

    def in_turns(self) -> list[tuple["RowKernel", Any]]:
        """Return kernels with some features each, and which; None is all.

        Each scales its features as if they were all. Means that are drawn are cheap,
        and are not cut.
        """
        if not self.is_binned or not hasattr(self.phi, "in_turns"):
            return [(self, None)]
        turns = self.phi.in_turns()
        return [(replace(self, phi=phi), which) for which, phi in turns]

    def embedding(
        self, device: torch.device, rng: Generator, alone: Alone | None = None
    ) -> Embed:
        """Return a function from outputs of a generator to blocks of an embedding."""
        return row_embedding(self, device, rng, alone)

    def independent(
        self, tables: Sequence[NDArray[Any]], rng: Generator
    ) -> NDArray[np.float64]:
        """Return mean features of independent columns, (n_classes, n_features).

        ``tables`` has the cells of each column given the class. Without a closed form
        the mean is that of many drawn rows; it reads no private row.
        """
        embed = self.embedding(torch.device("cpu"), rng)
        outputs = [torch.as_tensor(table).float() for table in tables]
        n_classes = len(outputs[0])
        points = [torch.as_tensor(at).float() for at in self.points_at]
        if self.phi.expected(points) is not None:
            return embed(outputs, n_classes)[Key.FEATURES].double().numpy()
        rows = [output.repeat_interleave(DRAWN, dim=0) for output in outputs]
        rounds = [embed(rows, n_classes)[Key.FEATURES].double() for _ in range(ROUNDS)]
        return torch.stack(rounds).mean(dim=0).numpy()

    def learn(
        self,
        released: Release,
        cells: Mapping[Any, Cells],
        facts: Facts,
        *,
        n_classes: int,
        n_rows: float | None,
        seed: int,
    ) -> Denoised:
        """Return the denoised release."""
        return learn_table(
            released,
            self,
            cells,
            n_classes=n_classes,
            n_rows=n_rows,
            facts=facts,
            seed=seed,
        )

    def train(
        self, denoised: Denoised, settings: Any, **how: Any
    ) -> tuple[TableModel, list[float]]:
        """Return a generator trained on the denoised release, and its losses."""
        return train_table(denoised, self, settings, **how)

    def untrained(
        self,
        totals: NDArray[np.float64],
        settings: Any,
        cells: Mapping[Any, Cells],
        rng: Generator,
    ) -> TableModel:
        """Return a generator with random weights, and released class counts."""
        generator = new_table_generator(self, settings, len(totals), rng)
        marginals = {name: np.ones(column.n_cells) for name, column in cells.items()}
        return TableModel(generator, totals, marginals)

    def draw(
        self,
        model: TableModel,
        labels: NDArray[np.int64],
        cells: Mapping[Any, Cells],
        facts: Facts,
        *,
        denoised: Denoised | None,
        container: str | None,
        rng: np.random.Generator,
    ) -> Any:
        """Draw rows with the given labels, in the container of the fitted table."""
        del denoised  # the generator was trained on it
        codes = model.draw(labels, cells, rng=rng)
        return decode_rows(
            facts, cells, codes, model.marginals, rng=rng, container=container
        )

    def with_share(self, opening: Opening, n_classes: int) -> "RowKernel":
        """Choose the share, if it is None, from public quantities and releases only.

        On tables, what relations add to an embedding of norm 1 has had a squared norm
        of ``TYPICAL_RELATIONS``; where the noise of all features together exceeds that,
        little is lost by leaving nearly all of the norm to the one-hot part.
        """
        if self.share is not None:
            return self
        delta = sensitivity(
            Weighted(
                (Signed(), NonNegative()), (RICH_SHARE**0.5, (1 - RICH_SHARE) ** 0.5)
            ),
            opening.ledger.budget.adjacency,
        )
        std = opening.ledger.noise_std(
            share=opening.ledger.remaining, sensitivity=delta
        )
        noise = (std / opening.facts.n_rows) ** 2 / RICH_SHARE
        noise *= self.phi.n_features * n_classes
        return replace(
            self, share=RICH_SHARE if noise <= TYPICAL_RELATIONS else POOR_SHARE
        )


def share_by_length(sizes: Sequence[int]) -> float:
    r"""Return a² such that a row is that of DP-MERF's equation 13, divided by a number.

    The paper has :math:`[\phi(x) ; x_{1h} / \sqrt L]`, where L is the length of the
    one-hot vector: the number of cells of all m columns.

    *Sensitivity.* The second part has m entries of :math:`1 / \sqrt L`, so its norm is
    :math:`\sqrt{m / L}`, and a row's is :math:`\sqrt{1 + m / L}`. Divided by that, it
    is :math:`[a\,\phi(x) ; b\,x_{1h} / \sqrt m]` with
    :math:`a^2 = L / (L + m)` and :math:`b^2 = m / (L + m)`: a :class:`RowKernel` with
    equal scales. Replacing a row moves the sum by at most
    :math:`\sqrt{4 a^2 + 2 b^2}`, since the first part is signed with norm 1 and the
    second is not negative with norm 1; adding one, by 1. (The paper's bound for the
    undivided row, :math:`2 \sqrt 2`, is larger.)

    Examples
    --------
    >>> share_by_length([2, 4])
    0.75
    """
    length = sum(sizes)
    return length / (length + len(sizes)) if sizes else 1.0


# ----------------------------------------------------------------------------
# Fourier features of columns and of pixels, as DP-MERF and DP-Kernel draw them.


def waves_of_columns(
    settings: Waves, rng: Generator, n_together: int | None = None
) -> Draw:
    """Return a function that draws features of columns; of all together for None."""

    def draw(widths: Sequence[int], are_numbers: Sequence[bool]) -> FourierFeatures:
        return FourierFeatures.draw(
            widths,
            settings.n_features,
            length_scale=column_scales(settings.length_scale, len(are_numbers)),
            n_together=n_together,
            rng=rng,
        )

    return draw


def waves_of_pixels(n_pixels: int, settings: Waves, rng: Generator) -> FourierFeatures:
    """Draw features of all pixels together."""
    return FourierFeatures.draw(
        (n_pixels,),
        settings.n_features,
        length_scale=pixel_scales(settings.length_scale, n_pixels),
        rng=rng,
    )
