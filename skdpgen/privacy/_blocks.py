"""What one pass over the rows sums up; each block knows the structure of its rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.privacy._exact_sum import ExactSum, below, cut_digits, power_of_two_from
from skdpgen.privacy._sensitivity import (
    HEAVIEST,
    LIGHTEST,
    NonNegative,
    OneHot,
    Signed,
    SignProducts,
    Structure,
    Weighted,
    check_accurate,
)
from skdpgen.utils import (
    asked,
    is_whole,
    refuse_unless,
    saved,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
RowVectors = torch.Tensor | NDArray[Any]  # (n, width)
WIDEST_BLOCK = 2**26  # numbers that a guarded party sums
NUMBERS_IN_CACHE = 2**18  # a block of rows: 2 MiB in float64


class Batch(Protocol):
    """Some rows, encoded by public knowledge; -1 in a code contributes nothing."""

    @property
    def labels(self) -> Integers:
        """Code of the class of each row, (n,)."""

    @property
    def parts(self) -> Mapping[str, Any]:
        """By block name: codes (n, d), vectors (n, D) or tokens."""


class Tokens(Protocol):
    """A column of text: row i holds ``values[codes[i]]``."""

    codes: Integers  # (n,)
    values: Sequence[str]


@asked("block")
@saved("block.histograms")
@dataclass(frozen=True)
class Histograms:
    """Histograms of columns, or of sets of columns, on cells fixed beforehand.

    Codes outside ``range(sizes[j])`` are ignored, so in each histogram a row is at
    most one-hot. With ``scales`` a row counts ``scales[i]`` in histogram i: it moves
    the histogram by that much, and the same noise, measured in rows, is
    ``1 / scales[i]`` times as large.

    *Exact.* Rows are counted in whole numbers, and scaled once. Scales are cut to 23
    bits, downwards (``shortened``), here and so in ``structure``: their products
    with counts of up to :math:`2^{30}` have 53 bits and are not rounded, so that a row
    moves them by the scale, and not by an error that grows with the count.

    *Pooled cells.* Rows in them count in the first class, whatever their class is. So
    the sum over the classes has the noise of one count. A row still adds to one cell
    of one class in each histogram, and which one depends on that row alone: it is
    one-hot as before.

    Parameters
    ----------
    sizes : tuple of int
        Cells of each column.
    scales : tuple of float or None, default=None
        One per histogram; None means 1.
    subsets : tuple of tuple of int or None, default=None
        The columns of each histogram, the last one varying fastest; None means each
        column by itself.
    pooled : tuple of tuple of int or None, default=None
        Cells of each column that are counted without classes. Not for subsets, and not
        for minibatches.
    """

    sizes: tuple[int, ...]
    scales: tuple[float, ...] | None = None
    subsets: tuple[tuple[int, ...], ...] | None = None
    pooled: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        """Check that every histogram has a scale, and cut it to few bits."""
        if self.pooled is not None and (
            self.subsets is not None or len(self.pooled) != len(self.sizes)
        ):
            raise ValueError("pooled must list cells of each column, without subsets.")
        if self.scales is None:
            return
        n = len(self.widths)
        if len(self.scales) != n:
            raise ValueError(f"scales must be {n} numbers. Got {len(self.scales)}.")
        for scale in self.scales:
            if scale != 0:
                check_accurate("scales", scale, LIGHTEST, HEAVIEST)
        object.__setattr__(self, "scales", tuple(map(shortened, self.scales)))

    def check_asked(self) -> None:
        """Check the assumptions of the proof, for a block from another process."""
        sizes, subsets = self.sizes, self.subsets
        refuse_unless(
            type(sizes) is tuple
            and all(is_whole(size, 1, WIDEST_BLOCK) for size in sizes),
            "sizes that are counts of cells",
        )
        refuse_unless(
            subsets is None
            or (
                type(subsets) is tuple
                and all(_are_columns(subset, len(sizes)) for subset in subsets)
            ),
            "subsets that are distinct columns",
        )
        refuse_unless(self.scales is None or type(self.scales) is tuple, "scales")
        refuse_unless(
            self.pooled is None
            or (
                type(self.pooled) is tuple
                and subsets is None
                and len(self.pooled) == len(sizes)
                and all(
                    type(cells) is tuple
                    and all(is_whole(k, 0, WIDEST_BLOCK) for k in cells)
                    for cells in self.pooled
                )
            ),
            "pooled cells of each column",
        )
        refuse_unless(self.width <= WIDEST_BLOCK, "histograms that are not too wide")

    @property
    def width(self) -> int:
        """Cells of all histograms."""
        return sum(self.widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """Cells of each histogram."""
        if self.subsets is None:
            return self.sizes
        sizes = self.sizes
        return tuple(math.prod(sizes[j] for j in subset) for subset in self.subsets)

    @property
    def structure(self) -> Structure:
        """One-hot blocks, scaled."""
        if self.scales is None:
            return OneHot(len(self.widths))
        return Weighted((OneHot(1),) * len(self.widths), self.scales)

    def start(self, n_classes: int) -> Integers:
        """Return the counts of no rows."""
        return np.zeros((n_classes, sum(self.widths)), dtype=np.int64)

    def add(self, total: Integers, codes: Integers, labels: Integers) -> Integers:
        """Add the rows of one batch."""
        check_shape(codes, labels, len(self.sizes))
        n_classes = len(total)
        subsets = self.subsets or tuple((j,) for j in range(len(self.sizes)))
        unlabelled = (labels < 0) | (labels >= n_classes)
        of_rows = np.where(unlabelled, n_classes, labels)
        # codes outside go to one more cell of their column, which is cut off below
        codes = codes.astype(np.int64, copy=False)  # smaller types may not hold it
        columns = [
            np.where((codes[:, j] < 0) | (codes[:, j] >= size), size, codes[:, j])
            for j, size in enumerate(self.sizes)
        ]
        before: dict[tuple[int, ...], Integers] = {(): of_rows}
        start = 0
        for subset, size in zip(subsets, self.widths, strict=True):
            shape = n_classes, *(self.sizes[j] + 1 for j in subset)
            first, last = subset[:-1], subset[-1]
            if first not in before:  # pairs of one column follow each other
                index = of_rows
                for j in first:
                    index = index * (self.sizes[j] + 1) + columns[j]
                before = {(): of_rows, first: index}
            index = before[first] * (self.sizes[last] + 1) + columns[last]
            pooled = self.pooled[subset[0]] if self.pooled else ()
            if pooled and n_classes > 1:
                column = columns[subset[0]]
                is_pooled = np.isin(column, pooled) & ~unlabelled
                index = np.where(is_pooled, column, index)
            n_bins = math.prod(shape)
            counts = np.bincount(index, minlength=n_bins)[:n_bins].reshape(shape)
            counts = counts[:, *(slice(-1) for _ in subset)]
            total[:, start : start + size] += counts.reshape(-1, size)
            start += size
        return total

    def merge(self, total: Integers, other: Integers) -> Integers:
        """Return the sum over the rows of two parts."""
        return np.asarray(total + other)

    def value(self, total: Integers) -> Floats:
        """Return the counts, scaled."""
        scales = self.scales or (1.0,) * len(self.widths)
        return np.asarray(total * np.repeat(scales, self.widths))


@asked("block")
@saved("block.vectors")
@dataclass(frozen=True)
class Vectors:
    r"""Sum of :math:`\phi(x) \otimes y` for vectors that are clipped here.

    For any map, a row with a non-finite entry becomes zero, entries are
    clamped at 0 if the structure says so, and the norm is cut to ``bound``, in
    float64: a guarantee must not rest on another package's rounding.

    *Exact.* The entries of a clipped row are rounded towards zero, to multiples of
    :math:`2^{-b}` times the bound (as a power of two), where b is 35 to 44 and depends
    on ``width`` alone. No entry grows and no sign changes, so the norm stays within
    ``bound``, truly (``below``) and not only up to rounding; and the sum has the
    same bits for rows in any order (``ExactSum``).
    """

    width: int
    bound: float = 1.0
    is_nonnegative: bool = False

    def __post_init__(self) -> None:
        """Check that the bound has a grid, in the precision of the proof."""
        object.__setattr__(self, "bound", float(self.bound))
        power_of_two_from(self.bound)

    def check_asked(self) -> None:
        """Check the assumptions of the proof, for a block from another process."""
        refuse_unless(
            is_whole(self.width, 1, WIDEST_BLOCK), "vectors that have a width"
        )
        refuse_unless(type(self.is_nonnegative) is bool, "whether vectors have signs")

    @property
    def structure(self) -> Structure:
        """Signed or non-negative, as declared."""
        kind = NonNegative if self.is_nonnegative else Signed
        return kind(self.bound)

    @property
    def _n_bits(self) -> int:
        """Bits of an entry; a block that fits a cache then adds without a carry."""
        return min(35 + self.width.bit_length() - 1, 44)

    def start(self, n_classes: int) -> ExactSum:
        """Return the sum over no rows."""
        shape = n_classes, self.width
        return ExactSum.of(shape, bound=self.bound, n_bits=self._n_bits)

    def add(self, total: ExactSum, vectors: Any, labels: Integers) -> ExactSum:
        """Add the rows of one batch."""
        is_tensor = isinstance(vectors, torch.Tensor)
        rows = vectors if is_tensor else torch.from_numpy(np.array(vectors, order="C"))
        check_shape(rows, labels, self.width)
        block = min(max(NUMBERS_IN_CACHE // self.width, 1), total.most, len(rows))
        shape = block, self.width
        buffer = torch.empty(shape, dtype=torch.float64, device=rows.device)
        for start in range(0, len(rows), max(block, 1)):
            batch = rows[start : start + block].detach()
            part = buffer[: len(batch)].copy_(batch)
            indicators = one_hot(labels[start : start + block], len(total.low))
            indicators *= total.step
            part *= self._clip(part, total.step)[:, None]
            cut_digits(part)
            weights = torch.as_tensor(indicators).to(part.device)
            target = total.room_for(len(part))
            target += (weights.T @ part).cpu().numpy()
        return total

    def merge(self, total: ExactSum, other: ExactSum) -> ExactSum:
        """Return the sum over the rows of two parts."""
        return total.merge(other)

    def value(self, total: ExactSum) -> Floats:
        """Return the sum."""
        return total.value()

    def _clip(self, rows: torch.Tensor, step: float) -> torch.Tensor:
        """Return the factor of each row, in steps; some rows are changed here.

        In this order no factor is so small that it loses digits. A number over a tensor
        is its reciprocal times the number, which may vanish for norms beyond 1e154: the
        squares of those are infinite, so they were cut before.
        """
        norms = torch.linalg.vector_norm(rows, dim=1)
        overflowed = norms.isfinite().logical_not_()
        if overflowed.any():
            clipped = clip_rows(
                rows[overflowed], self.bound, is_nonnegative=self.is_nonnegative
            )
            rows[overflowed] = torch.as_tensor(clipped).to(rows.device)
            norms[overflowed] = self.bound
        if self.is_nonnegative:
            rows.clamp_min_(0.0)
            norms = torch.linalg.vector_norm(rows, dim=1)
        return below(self.width) * self.bound / step / norms.clamp_min(self.bound)


@asked("block")
@saved("block.counts")
@dataclass(frozen=True)
class Counts:
    """The class counts; ``beta`` is the square of their weight."""

    beta: float = 1.0
    structure: Structure = field(default=NonNegative(1.0), init=False)

    def __post_init__(self) -> None:
        """Check that float64 is accurate with the weight and with its square."""
        check_accurate("beta", self.beta, LIGHTEST**2, HEAVIEST**2)

    width = 1

    def check_asked(self) -> None:
        """Accept it: the constructor checks the only parameter."""

    def start(self, n_classes: int) -> Floats:
        """Return the sum over no rows."""
        return np.zeros((n_classes, 1))

    def add(self, total: Floats, part: object, labels: Integers) -> Floats:
        """Add the rows of one batch."""
        del part  # the labels are all it needs
        return total + one_hot(labels, len(total)).sum(axis=0)[:, None]

    def merge(self, total: Floats, other: Floats) -> Floats:
        """Return the sum over the rows of two parts."""
        return np.asarray(total + other)

    def value(self, total: Floats) -> Floats:
        """Return the counts, whole numbers."""
        return total


class Block(Protocol):
    """What every block offers to :func:`release`."""

    @property
    def structure(self) -> Structure:
        """What a row contributes; decides the sensitivity."""

    def start(self, n_classes: int) -> Any:
        """Return the sum over no rows."""

    def add(self, total: Any, part: Any, labels: Integers) -> Any:
        """Add the rows of one batch."""

    def merge(self, total: Any, other: Any) -> Any:
        """Return the sum over the rows of two parts; exact, and changes neither."""

    def value(self, total: Any) -> Any:
        """Return the sum in its own unit, with the same bits for any order of rows."""


def clip_rows(
    vectors: RowVectors, bound: float, *, is_nonnegative: bool = False
) -> Floats:
    """Return the rows in float64, finite, and with norm at most ``bound``.

    Examples
    --------
    >>> clip_rows([[3.0, 4.0], [np.nan, 1.0]], 1.0).round(1).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if hasattr(vectors, "detach"):
        vectors = vectors.detach().cpu().double().numpy()
    rows = np.array(vectors, dtype=np.float64, order="C")  # one way to add up a row
    rows[~np.isfinite(rows).all(axis=1)] = 0.0
    if is_nonnegative:
        rows = np.maximum(rows, 0.0)
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    largest[largest == 0] = 1.0
    rows /= largest  # squares of 1e200 overflow otherwise, norms of 1e308 too
    norms = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    rows *= np.minimum(largest, bound / norms)
    return np.asarray(rows, dtype=np.float64)


def check_shape(
    rows: torch.Tensor | NDArray[Any], labels: Integers, width: int
) -> None:
    """Check shapes: those that broadcast would count a row many times."""
    if labels.ndim != 1 or rows.shape != (len(labels), width):
        raise ValueError(
            f"A batch must hold one label and {width} values per row. "
            "Got another shape."
        )


def _are_columns(columns: Any, n: int) -> bool:
    """Return whether these are positions of at least one column of n, all distinct."""
    is_tuple = type(columns) is tuple and len(columns) > 0
    return (
        is_tuple
        and all(is_whole(j, 0, n - 1) for j in columns)
        and len(set(columns)) == len(columns)
    )


def shortened(scale: float) -> float:
    """Cut a scale to its leading 23 bits: never more than it was.

    Examples
    --------
    >>> shortened(0.5), 0 < 0.3 - shortened(0.3) < 1e-7
    (0.5, True)
    """
    mantissa, exponent = math.frexp(scale)
    return math.ldexp(math.floor(math.ldexp(mantissa, 23)), exponent - 23)


def one_hot(labels: Integers, n_classes: int) -> Floats:
    """Return one-hot labels (n, n_classes); unknown labels are rows of zeros."""
    return (labels[:, None] == np.arange(n_classes)).astype(np.float64)


# ----------------------------------------------------------------------------
# Sums of products of signs: relationships of three and more columns.

Words = NDArray[np.uint64]
MOST_COLUMNS, MOST_TOGETHER = 4096, 8  # limits of a question from another process


@asked("block")
@saved("block.parities")
@dataclass(frozen=True)
class Parities:
    r"""Sum of :math:`\prod_{j \in A} s_j \otimes y` over sets A of columns.

    A row comes as codes, one a column, fixed beforehand: code 1 is the sign -1, **any
    other code is 1**. So for any row each product is 1 or -1, as the proof of
    :class:`SignProducts` wants. The products are formed here.

    Parameters
    ----------
    n_columns : int
    orders : tuple of int
        Sizes of the sets; all sets of these sizes, in the order of ``combinations``.
    """

    n_columns: int
    orders: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check orders: one that comes twice would count a row twice."""
        if len(set(self.orders)) < len(self.orders):
            raise ValueError("orders must be distinct. Got one twice.")

    def check_asked(self) -> None:
        """Check the assumptions of the proof, for a block from another process."""
        n, orders = self.n_columns, self.orders
        refuse_unless(is_whole(n, 1, MOST_COLUMNS), "a number of columns")
        refuse_unless(
            type(orders) is tuple
            and len(orders) > 0
            and all(is_whole(k, 1, min(n, MOST_TOGETHER)) for k in orders)
            and self.width <= WIDEST_BLOCK,
            "sizes of sets of columns",
        )

    @property
    def width(self) -> int:
        """How many sets there are."""
        return SignProducts(self.n_columns, self.orders).width

    @property
    def structure(self) -> Structure:
        """Products of signs."""
        return SignProducts(self.n_columns, self.orders)

    def start(self, n_classes: int) -> Floats:
        """Return the sum over no rows."""
        return np.zeros((n_classes, self.width))

    def add(self, total: Floats, codes: Integers, labels: Integers) -> Floats:
        """Add the rows of one batch."""
        if labels.ndim != 1 or codes.shape != (len(labels), self.n_columns):
            raise ValueError(
                f"A batch must hold one label and {self.n_columns} codes per row. "
                "Got another shape."
            )
        total = total.copy()
        for label in range(len(total)):
            signs = codes[labels == label] == 1
            if len(signs):
                total[label] += len(signs) - 2.0 * self._n_negative(_packed(signs))
        return total

    def merge(self, total: Floats, other: Floats) -> Floats:
        """Return the sum over the rows of two parts."""
        return np.asarray(total + other)

    def _n_negative(self, words: Words) -> Integers:
        """Return the number of rows whose product of signs is -1, for each set.

        64 rows at a time: a bit is a sign, a product is "exclusive or".
        """
        counts = [
            np.bitwise_count(part).sum(axis=1, dtype=np.int64)
            for order in self.orders
            for part in _products(words, order)
        ]
        return np.concatenate([*counts, np.empty(0, dtype=np.int64)])

    def value(self, total: Floats) -> Floats:
        """Return the sums, whole numbers."""
        return total


def _packed(bits: NDArray[np.bool_]) -> Words:
    """Return the columns of a table of bits, 64 rows to a word; words end in zeros."""
    packed = np.packbits(bits.T, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return words.view(np.uint64)


def _products(words: Words, order: int, first: int = 0) -> Iterator[Words]:
    """Yield "exclusive or" of all sets of columns, as ``combinations`` orders them."""
    if order == 1:
        yield words[first:]
        return
    for j in range(first, len(words) - order + 1):
        for part in _products(words, order - 1, j + 1):
            yield part ^ words[j]
