r"""How far one row moves a sum of :math:`\phi(x) \otimes y`; proved case by case.

A row contributes a block :math:`\phi(x) \otimes e_y`. Two neighbours under
``"replace"`` differ in one row, :math:`(x, y)` against :math:`(x', y')`; under
``"add_remove"`` the row is there or not, so the sum moves by its norm.

*A changed label never costs more than a changed value*, for every structure here but
``Distinct``, whose counts have no labels: with :math:`y \ne y'` the two contributions
are orthogonal, so the sum moves by :math:`\sqrt{\|\phi\|^2 + \|\phi'\|^2} \le
\sqrt 2 B`, and each same-label value below is at least :math:`\sqrt 2 B`.
"""

import math
from dataclasses import dataclass
from numbers import Real

from skdpgen.privacy._budget import Adjacency

SMALLEST, LARGEST = 2.0**-500, 2.0**500  # of a sensitivity, a norm bound, a noise std
LIGHTEST, HEAVIEST = 2.0**-100, 2.0**100  # of a weight of a block, a scale in one


@dataclass(frozen=True)
class Signed:
    r"""Any vector of norm at most ``bound``.

    *Proof.* :math:`\|\phi - \phi'\| \le 2B`, reached by :math:`\phi' = -\phi`.
    """

    bound: float = 1.0

    def replace(self) -> float:
        return 2.0 * self.bound


@dataclass(frozen=True)
class NonNegative:
    r"""A vector of norm at most ``bound`` without negative entries, or x xᵀ.

    Or any vector of that norm from a set where no inner product is negative.

    *Proof.* :math:`\|\phi - \phi'\|^2 = \|\phi\|^2 + \|\phi'\|^2 - 2 \phi^\top \phi'
    \le 2B^2`, because the inner product is not negative; for
    :math:`x x^\top` it is :math:`(x^\top x')^2`.
    """

    bound: float = 1.0

    def replace(self) -> float:
        return math.sqrt(2.0) * self.bound


@dataclass(frozen=True)
class OneHot:
    r"""``n_columns`` one-hot blocks, unscaled; a block may be empty.

    *Proof.* Non-negative with norm at most :math:`\sqrt d`.
    """

    n_columns: int

    @property
    def bound(self) -> float:
        """Norm of a row."""
        return math.sqrt(self.n_columns)

    def replace(self) -> float:
        return math.sqrt(2.0 * self.n_columns)


@dataclass(frozen=True)
class Distinct:
    r"""How many different values each of ``n_columns`` columns has; no sum over rows.

    *Proof.* A row that goes takes at most one value of a column with it, and one that
    comes brings at most one. So adding or removing a row moves each number by at most
    1, and so does replacing one: it moves it by -1, 0 or 1, never by 2, because one
    that takes a value away and one that brings a value cancel. All columns together
    move by at most :math:`\sqrt d` either way.
    """

    n_columns: int

    @property
    def bound(self) -> float:
        """How far a row that is added moves the numbers."""
        return math.sqrt(self.n_columns)

    def replace(self) -> float:
        return math.sqrt(self.n_columns)


@dataclass(frozen=True)
class WithSquares:
    r"""``[v ; b vec(v vᵀ)]`` or ``[v ; b v∘v]`` with :math:`\|v\| \le 1`.

    *Proof.* With :math:`p = v^\top v'` the squared move is at most
    :math:`\|v\|^2 + \|v'\|^2 + b^2(\|v\|^4 + \|v'\|^4) - 2p - 2b^2p^2` (equal for the
    outer product, of which the squares are a part). For any p,
    :math:`-2p - 2b^2p^2 \le 1/(2b^2)`, so it is at most :math:`2 + 2b^2 + 1/(2b^2)`.
    For :math:`b^2 \le 1/2` the last two terms decrease in p on [-1, 1], so with lengths
    x, y the worst p is -xy and the squared move is :math:`(x+y)^2 (1 + b^2(x-y)^2)`,
    which grows in x and y up to 4: second moments are free at :math:`b^2 = 1/2`.
    """

    b: float = math.sqrt(0.5)

    @property
    def bound(self) -> float:
        """Norm of a row."""
        return math.hypot(1.0, self.b)

    def replace(self) -> float:
        square = self.b**2
        if square <= 0.5:
            return 2.0
        return math.sqrt(2.0 + 2.0 * square + 1.0 / (2.0 * square))


@dataclass(frozen=True)
class Weighted:
    r"""Several blocks side by side, block i scaled by ``weights[i]``.

    *Proof.* Squared moves of disjoint coordinates add up:
    :math:`\Delta^2 \le \sum_i w_i^2 \Delta_i^2`, and so do squared norms.
    """

    blocks: tuple["Structure", ...]
    weights: tuple[float, ...]

    @property
    def bound(self) -> float:
        """Norm of a row."""
        return math.hypot(*(w * block.bound for w, block in self._pairs()))

    def replace(self) -> float:
        return math.hypot(*(w * block.replace() for w, block in self._pairs()))

    def _pairs(self) -> list[tuple[float, "Structure"]]:
        return list(zip(self.weights, self.blocks, strict=True))


@dataclass(frozen=True)
class SignProducts:
    r"""Products of ``n_columns`` signs, over all sets of columns of these ``orders``.

    *Proof.* Each of the m entries is 1 or -1, so rows have norm :math:`\sqrt m`. Of two
    rows that differ in d signs, the products over a set with j of those d columns have
    the ratio :math:`(-1)^j`, so the inner product depends on d alone:
    :math:`I(d) = \sum_k \sum_j (-1)^j \binom{d}{j} \binom{n-d}{k-j}`, and the squared
    move is :math:`2m - 2 I(d)`, for the worst d. It counts as 2m at least, the move of
    rows whose labels differ; a row without a known label is all 0, and moves by m.
    """

    n_columns: int
    orders: tuple[int, ...]

    @property
    def width(self) -> int:
        """How many sets there are."""
        return sum(math.comb(self.n_columns, k) for k in self.orders)

    @property
    def bound(self) -> float:
        """Norm of a row."""
        return math.sqrt(self.width)

    def replace(self) -> float:
        least = min(self._inner(d) for d in range(self.n_columns + 1))
        return math.sqrt(2.0 * self.width - 2.0 * min(least, 0))

    def _inner(self, d: int) -> int:
        """Return the inner product of rows that differ in d signs."""
        return sum(
            (-1) ** j * math.comb(d, j) * math.comb(self.n_columns - d, k - j)
            for k in self.orders
            for j in range(min(d, k) + 1)
        )


@dataclass(frozen=True)
class WithCounts:
    r"""A block with the class counts appended, scaled by :math:`\sqrt\beta`.

    *Proof.* With equal labels the counts do not move. With different labels both parts
    are orthogonal, so the squared move is at most :math:`2B^2 + 2\beta`. The larger of
    the two moves decides; the counts are free iff :math:`\beta \le \Delta^2/2 - B^2`.
    """

    block: "Structure"
    beta: float = 1.0

    @property
    def bound(self) -> float:
        """Norm of a row."""
        return math.sqrt(self.block.bound**2 + self.beta)

    def replace(self) -> float:
        flipped = math.sqrt(2.0 * (self.block.bound**2 + self.beta))
        return max(self.block.replace(), flipped)


Structure = (
    Signed
    | NonNegative
    | OneHot
    | Distinct
    | WithSquares
    | SignProducts
    | Weighted
    | WithCounts
)


def sensitivity(structure: Structure, adjacency: Adjacency) -> float:
    """Return how far one row moves the sum of ``structure`` blocks, in L2.

    Under ``"add_remove"`` it is the norm bound of a row. Proofs stand with the
    structures; brute-force searches over neighbours are in the tests.

    Examples
    --------
    >>> sensitivity(OneHot(2), Adjacency.REPLACE), sensitivity(Signed(), "add_remove")
    (2.0, 1.0)
    """
    if Adjacency.parse(adjacency) is Adjacency.ADD_REMOVE:
        return structure.bound
    return structure.replace()


def check_accurate(
    name: str, value: float, smallest: float = SMALLEST, largest: float = LARGEST
) -> float:
    r"""Return a number as a float; raise unless float64 computes with it accurately.

    A product that underflows is 0, and noise that is calibrated to it is none; in a
    subnormal number few digits are left. *Why the ranges suffice.* Weights and scales
    are in :math:`2^{\pm 100}`, bounds of rows in :math:`10^{\pm 100}`, widths below
    :math:`2^{64}`. So a product of a weight, a scale and a bound is in
    :math:`2^{\pm 533}` and its square is normal; what is charged is in
    :math:`2^{\pm 500}`, so its square is, too, and noise over a weight is in
    :math:`2^{\pm 600}`. Each operation on normal numbers is off by a relative
    :math:`2^{-53}` at most.

    Examples
    --------
    >>> check_accurate("sensitivity", 2)
    2.0
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not smallest <= value <= largest:
        raise ValueError(
            f"{name} must be in [{smallest:.3g}, {largest:.3g}], where float64 is "
            f"accurate. Got {value!r} instead."
        )
    return float(value)
