"""Expected noise and running time of a fit, before any data is read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral

from skdpgen.privacy import (
    Adjacency,
    Ledger,
    NonNegative,
    OneHot,
    PrivacyBudget,
    Signed,
    Weighted,
    default_delta,
    selection_threshold,
    sensitivity,
)
from skdpgen.synthesizers.embedding._row_kernel import RICH_SHARE, TYPICAL_RELATIONS
from skdpgen.synthesizers.opening._binning import BIN_SHARES
from skdpgen.synthesizers.opening._first_look import Unknown
from skdpgen.synthesizers.opening._known_columns import CLASS_SHARE
from skdpgen.synthesizers.opening._opening import SEARCHES
from skdpgen.synthesizers.opening._unknown_columns import (
    CERTAIN_STDS,
    COUNT_SHARE,
    FINER_PART,
    OCTAVES_PART,
    discovery_share,
)
from skdpgen.synthesizers.pairwise import (
    BY_CLASS,
    affordable_pairs,
    rows_for_pairs,
    usual_components,
    usual_pair_budget,
)
from skdpgen.synthesizers.tools._embedding_noise import EmbeddingNoise, count_noise
from skdpgen.synthesizers.tools._tools_html import plan_html

# ----------------------------------------------------------------------------
# Running time and memory of a fit, by rows and columns: measured once.
#
# Seconds are those of one core of a shared server of 2026; other machines differ by a
# factor of two or three. They include reading rows from files, and training.
# benchmarks/speed.md has the runs.

MIB = 2.0**20
BYTES_OF_CELL = 8  # once it is read, and of a number
OF_FEATURES = 16  # bytes of an exact sum of a number
ROW_CELL = 2e-7  # seconds for a row and column, in all passes
SECONDS_OF_COLUMN = 0.01  # its bounds and bins
ROW_PAIR, PAIR = 2.7e-8, 3e-3  # for a row and a pair of columns, and to train a pair
USUAL_COMPONENTS = 400  # of all classes, with which pairs were trained
GROUPS_OF_COLUMN = 12  # roughly
ROW_FEATURES, GENERATED = 1.35e-5, 0.07  # for a row's features, and to train a column
SECONDS_OF_TRAINING = 6.0, 10.0  # of a mixture, and of a generator
SPACE, COLUMN_SPACE = 500 * MIB, 0.5 * MIB  # Python and torch, and tables of a column
BITS, POINTS = 1.5 * MIB, 2.0 * MIB  # of a column: slots of its values, and points
ALL_POINTS = 256 * MIB  # of all columns
SLOTS_FROM = 2**16  # rows from which values are counted in slots
CELLS, PAIR_CELLS = 64, 36  # of a column, and of a pair


@dataclass(frozen=True)
class FitCost:
    """Estimated time and memory of a fit of one method, on one core.

    Parameters
    ----------
    n_passes : int
        Over the rows, at most.
    seconds : float
        Rows may be shared among machines, but for training.
    memory : float
        Bytes, in addition to the table itself.
    read : float
        Bytes that the table has at 8 a cell, in all passes.
    reduced : float
        Bytes of the largest sum that a part of the rows gives.
    """

    n_passes: int
    seconds: float
    memory: float
    read: float
    reduced: float

    @property
    def shown_time(self) -> str:
        """The time in words."""
        return _time(self.seconds)

    @property
    def shown_memory(self) -> str:
        """The memory in words."""
        return _size(self.memory)

    @property
    def shown_sum(self) -> str:
        """The size of the largest sum in words."""
        return _size(self.reduced)

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"{self.shown_time}, up to {self.n_passes} passes of "
            f"{_size(self.read / self.n_passes)}, {self.shown_memory} of memory "
            f"beside the table, sums of {self.shown_sum}"
        )


def fit_costs_of(
    n: int,
    columns: int,
    classes: int,
    *,
    n_pairs: int,
    n_features: int,
    is_trained: bool,
    n_passes: tuple[int, int],
) -> dict[str, FitCost]:
    """Return the cost of a fit, by the name of the method.

    Examples
    --------
    >>> how = {"n_pairs": 190, "n_features": 1000, "is_trained": True}
    >>> costs = fit_costs_of(10**7, 20, 2, n_passes=(4, 9), **how)
    >>> [round(cost.seconds) for cost in costs.values()]
    [40, 100, 187]
    """
    few_passes, many_passes = n_passes
    first = BITS * columns if n > SLOTS_FROM else BYTES_OF_CELL * n * columns
    first = max(first, min(POINTS * columns, ALL_POINTS))
    counted = BYTES_OF_CELL * CELLS * columns * classes
    by_class = classes if classes <= BY_CLASS else 1
    pairs = BYTES_OF_CELL * PAIR_CELLS * n_pairs * by_class
    features = OF_FEATURES * n_features * classes
    seconds = ROW_CELL * n * columns + SECONDS_OF_COLUMN * columns
    space = SPACE + COLUMN_SPACE * columns + first
    table = float(BYTES_OF_CELL) * n * columns
    n_components = usual_components(classes, GROUPS_OF_COLUMN * columns)
    trained = PAIR * n_pairs * n_components * classes / USUAL_COMPONENTS
    seconds_of_pairs = (
        ROW_PAIR * n * n_pairs + trained + SECONDS_OF_TRAINING[0] * bool(n_pairs)
    )
    seconds_of_features = ROW_FEATURES * n
    if is_trained:
        seconds_of_features += GENERATED * columns + SECONDS_OF_TRAINING[1]
    return {
        "DPIndependent": FitCost(
            few_passes,
            seconds,
            space + 6 * counted,
            few_passes * table,
            max(first, counted),
        ),
        "DPPairwise": FitCost(
            many_passes if n_pairs else few_passes,
            seconds + seconds_of_pairs,
            space + 6 * (counted + pairs),
            (many_passes if n_pairs else few_passes) * table,
            max(first, counted, pairs),
        ),
        "DPMERF": FitCost(
            few_passes,
            seconds + seconds_of_features,
            space + 6 * (counted + features),
            few_passes * table,
            max(first, counted + features),
        ),
    }


def _time(seconds: float) -> str:
    """Return a span of time in words.

    Examples
    --------
    >>> _time(41.2), _time(800.0), _time(15_000.0)
    ('41 s', '13 min', '4.2 h')
    """
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3600:.1f} h"


def _size(n_bytes: float) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> _size(3e6), _size(2.5e9)
    ('3 MB', '2.5 GB')
    """
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.3g} GB"


# ----------------------------------------------------------------------------
# Expected noise of a fit, before any data is read.

N_FEATURES = 1000  # the default of DPMERFSynthesizer
# Passes over the rows: types, text of a target, octaves, parts, finer parts, and
# the release.
PASSES = 6
OF_BOUNDS = 2  # which are not needed with a schema
MORE_FOR_PAIRS = 6  # groups, products, parities, all pairs, columns again, pairs

TOO_FEW = "TOO FEW: give a Schema"
LEAST_DIFFERENCE = 1e-3  # of numbers of rows
STILL_OPEN = 1 / 3  # of the columns, on average, when words are searched again


@dataclass(frozen=True)
class Plan:
    """Expected noise of a fit; text when printed."""

    epsilon: float
    delta: float
    adjacency: str
    mu: float
    n: int
    columns: int
    discovery_share: float
    discovery_noise: float
    smallest_category: float
    smallest_class: float
    is_discovery_possible: bool
    histogram_noise: float
    n_pairs: int
    """Pairs of columns that DPPairwiseSynthesizer can release."""
    relations: float
    """Noise of an embedding relative to usual relationships; below 1 it learns them."""
    n_passes: int = PASSES
    """Most passes over the rows of a method with one release; public rows add one."""
    n_passes_pairwise: int = PASSES + MORE_FOR_PAIRS
    """Most passes of DPPairwiseSynthesizer; public rows add one."""
    rows_for_pairs: float = 0.0
    """Approximate number of rows from which the budget suffices for pairs."""
    costs: Mapping[str, FitCost] = field(default_factory=dict)
    """Seconds and bytes of a fit, by method, on a machine like ours."""
    embedding: EmbeddingNoise | None = None
    """How far noise moves the mean of DPMERFSynthesizer's features, of norm 1."""
    pair_budget: float = 0.5
    """Part of the budget that pairs of DPPairwiseSynthesizer get, after discovery."""

    @property
    def _title(self) -> str:
        return (
            f"Plan for {self.n} rows x {self.columns} columns at "
            f"({self.epsilon:g}, {self.delta:g}), {self.adjacency!r}, "
            f"mu = {self.mu:.4g}"
        )

    @property
    def _alarms(self) -> list[str]:
        """What a notebook shows in red."""
        is_hopeless = self.discovery_share and not self.is_discovery_possible
        return [TOO_FEW] * bool(is_hopeless)

    def _expectations(self) -> list[str]:
        """Return the expected noise, a line each."""
        lines = []
        if self.discovery_share:
            verdict = "".join(f" - {alarm}" for alarm in self._alarms)
            lines += [
                f"schema discovery takes {self.discovery_share:.1%} of mu^2: noise "
                f"std {self.discovery_noise:.0f} rows{verdict}",
                f"a category of about {self.smallest_category:.0f} rows "
                f"({self.smallest_category / self.n:.1%}) is nearly always found; "
                'a rarer one may become "other"',
                f"a class of about {self.smallest_class:.0f} rows is found in about "
                "half of the fits, unless `classes` is given",
            ]
        else:
            lines.append("the schema is public: bounds and categories cost nothing")
        # columns share with pairs what single columns have alone
        by_pairs = self.histogram_noise / math.sqrt(1 - self.pair_budget)
        with_pairs = f", about {by_pairs:.1f} with DPPairwiseSynthesizer"
        more = "; discovery of text and of classes adds to it"
        lines.append(
            "each cell of a class histogram has noise std "
            f"{self.histogram_noise:.1f} rows ({self.histogram_noise / self.n:.2%}) "
            f"with DPIndependentSynthesizer{with_pairs * bool(self.n_pairs)}"
            f"{more * bool(self.discovery_share)}"
        )
        n_possible = self.columns * (self.columns - 1) // 2
        pairs = f"releases {self.n_pairs} of {n_possible} pairs of columns"
        if not self.n_pairs:
            pairs = "can afford no pairs, and counts single columns only"
            if n_possible:
                least = float(f"{self.rows_for_pairs:.2g}")
                pairs += f": pairs take about {least:.0f} rows, or fewer columns"
        lines.append(f"DPPairwiseSynthesizer {pairs}")
        chance = "a chance" if self.relations < 1 else "hardly a chance"
        lines.append(
            f"embeddings (DPMERF, DPHP, DPNTK, DPKernel) have {chance} to learn "
            f"relationships: the noise is {self.relations:.1g} times a usual one"
        )
        if self.embedding is not None:
            lines.append(str(self.embedding))
        return lines

    def __str__(self) -> str:
        """Return the plan in words."""
        expected = [f"  {line}" for line in self._expectations()]
        costs = [f"    {name}: {cost}" for name, cost in self.costs.items()]
        introduction = "  a fit takes, on one core of a machine like ours, about"
        return "\n".join([self._title, *expected, introduction, *costs])

    def _repr_html_(self) -> str:
        """Return the plan for a notebook."""
        return plan_html(self)

    __repr__ = __str__


def plan(
    n: int,
    columns: int,
    epsilon: float = 1.0,
    delta: float | None = None,
    *,
    adjacency: str = "replace",
    is_schema_public: bool = False,
    classes: int = 2,
) -> Plan:
    """Return the expected noise of a fit, computed from public quantities only.

    Parameters
    ----------
    n, columns : int
        Size of the table; a guess will do.
    epsilon : float, default=1.0
        The budget.
    delta : float or None, default=None
        Its delta; None is what a fit of ``n`` rows would choose.
    adjacency : {"replace", "add_remove"}, default="replace"
        Which tables are neighbours.
    is_schema_public : bool, default=False
        Whether a complete schema will be given.
    classes : int, default=2
        Number of classes; 1 without labels. With a ``focus`` instead of labels, the
        number of cells of that column.

    Examples
    --------
    >>> plan(32_561, 14)
    Plan for 32561 rows x 14 columns at (1, 1e-06), 'replace', mu = 0.2355
      schema discovery takes 10.7% of mu^2: noise std 69 rows
      a category of about 347 rows (1.1%) is nearly always found; a rarer one may
      become "other"
      a class of about 158 rows is found in about half of the fits, unless ...
      each cell of a class histogram has noise std 23.8 rows (0.07%) with
      DPIndependentSynthesizer, about 33.6 with DPPairwiseSynthesizer; discovery ...
      DPPairwiseSynthesizer releases 91 of 91 pairs of columns
      embeddings (DPMERF, DPHP, DPNTK, DPKernel) have a chance to learn
      relationships: the noise is 0.2 times a usual one
      noise moves a mean embedding of 1000 features x 2 classes by about 0.029
      (of norm 1 at most), sampling by up to 0.0055; noise is the smaller one from ...
      a fit takes, on one core of a machine like ours, about
        ...
    """
    if not (isinstance(n, Integral) and isinstance(columns, Integral)):
        raise TypeError(f"n and columns must be integers. Got {n!r} and {columns!r}.")
    if n < 2 or columns < 1:
        raise ValueError(
            f"n must be at least 2 and columns at least 1. Got {n!r} and {columns!r}."
        )
    if not isinstance(classes, Integral) or classes < 1:
        raise ValueError(f"classes must be a number of at least 1. Got {classes!r}.")
    neighbours = Adjacency.parse(adjacency)
    if delta is None:
        delta = default_delta(n if neighbours is Adjacency.REPLACE else None)
    n_selections = 0 if is_schema_public else SEARCHES * columns
    budget = PrivacyBudget.reserving(epsilon, delta, neighbours, n_selections)
    ledger = Ledger(budget)
    label_sensitivity = sensitivity(OneHot(1), neighbours)
    row_sensitivity = sensitivity(OneHot(columns), neighbours)
    share, noise, category_threshold, class_threshold = 0.0, 0.0, 0.0, 0.0
    if not is_schema_public:
        share = discovery_share(Unknown({}, tuple(range(columns))), n, ledger)
        noise = ledger.noise_std(share=share, sensitivity=row_sensitivity)
        open_columns = NonNegative(math.sqrt(max(columns * STILL_OPEN, 1.0)))
        third_std = ledger.noise_std(
            share=FINER_PART * share, sensitivity=sensitivity(open_columns, neighbours)
        )
        failure = budget.delta_selection
        category_threshold = selection_threshold(third_std, failure, n_selections)
        std = ledger.noise_std(share=CLASS_SHARE, sensitivity=label_sensitivity)
        class_threshold = selection_threshold(std, failure, n_selections)
    count = COUNT_SHARE if neighbours is Adjacency.ADD_REMOVE else 0.0
    main_share = (1.0 - share - count) * (1.0 - BIN_SHARES[0] * is_schema_public)
    main_std = ledger.noise_std(share=main_share, sensitivity=row_sensitivity)
    n_passes = PASSES - OF_BOUNDS * is_schema_public
    n_unknown = 0 if is_schema_public else columns
    before_pairs = _before_pairs(budget, n, n_unknown)
    pair_budget = usual_pair_budget(before_pairs, float(n), columns)
    n_pairs = affordable_pairs(before_pairs, float(n), columns, pair_budget)
    passes = n_passes, n_passes + MORE_FOR_PAIRS
    embedding = _noise_of_features(ledger, n, classes, main_share)
    # relations have a squared norm; a noisy number of rows hides none of them
    relations = replace(embedding, count_std=0.0).mean_square / TYPICAL_RELATIONS
    costs = fit_costs_of(
        n,
        columns,
        classes,
        n_pairs=n_pairs,
        n_features=N_FEATURES,
        is_trained=relations < 1,
        n_passes=passes,
    )
    return Plan(
        epsilon,
        delta,
        neighbours.value,
        ledger.mu,
        n,
        columns,
        share,
        noise,
        category_threshold,
        class_threshold,
        CERTAIN_STDS * noise <= n / 2,
        main_std,
        n_pairs,
        relations,
        *passes,
        _least_rows_for_pairs(budget, columns, n_unknown),
        costs,
        embedding,
        pair_budget,
    )


def _before_pairs(budget: PrivacyBudget, n: float, n_unknown: int) -> Ledger:
    """Return a ledger as it is where a fit decides how many pairs to measure.

    The octaves of unknown columns are released by then, and the number of rows.
    """
    ledger = Ledger(budget)
    share = 0.0
    if n_unknown:
        unknown = Unknown({}, tuple(range(n_unknown)))
        share = OCTAVES_PART * discovery_share(unknown, n, ledger)
    if budget.adjacency is Adjacency.ADD_REMOVE:
        share += COUNT_SHARE
    if share:
        ledger.charge("before pairs", share=share, sensitivity=1.0)
    return ledger


def _least_rows_for_pairs(budget: PrivacyBudget, columns: int, n_unknown: int) -> float:
    """Return about how many rows any pair takes; more rows need less for discovery."""

    def is_enough(n: float) -> bool:
        ledger = _before_pairs(budget, n, n_unknown)
        pair_budget = usual_pair_budget(ledger, n, columns)
        return rows_for_pairs(ledger, columns, pair_budget) <= n

    most = 2.0
    while not is_enough(most):
        most *= 2
    least = most / 2
    while most - least > LEAST_DIFFERENCE * most:
        middle = (least + most) / 2
        least, most = (least, middle) if is_enough(middle) else (middle, most)
    return most


def _noise_of_features(
    ledger: Ledger, n: int, classes: int, share: float
) -> EmbeddingNoise:
    """Return the noise of DP-MERF's features, which share a release with cells.

    Features have the norm fraction ``RICH_SHARE`` of a row there. In units of features
    alone, of norm 1, noise is larger by one over its root
    (:func:`~skdpgen.privacy.noise_of_blocks`).
    """
    delta = sensitivity(
        Weighted((Signed(), NonNegative()), (RICH_SHARE**0.5, (1 - RICH_SHARE) ** 0.5)),
        ledger.budget.adjacency,
    )
    std = ledger.noise_std(share=share, sensitivity=delta)
    features = Signed()
    return EmbeddingNoise(
        n,
        N_FEATURES,
        classes,
        std / RICH_SHARE**0.5,
        features.bound,
        features.replace(),
        count_noise(ledger),
    )
