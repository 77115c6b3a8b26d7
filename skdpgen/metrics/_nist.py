"""NIST's scores, k-marginal and propensity, as SDNist defines them."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skdpgen.metrics._fidelity import column_sets, read_alike
from skdpgen.metrics._frames import (
    TableEncoder,
    align,
    is_numeric,
    joined,
    keys,
    numbers,
)
from skdpgen.utils import Rows

Codes = NDArray[np.int64]
Binned = Sequence[Hashable] | Mapping[Hashable, Sequence[object]]

# ----------------------------------------------------------------------------
# The k-marginal score.

N_BINS = 20
MOST_CELLS = 1 << 17  # that are counted in an array; of more, occupied ones are sorted


def k_marginal_score(
    real: Rows,
    synthetic: Rows,
    k: int = 2,
    *,
    stratum: Hashable | None = None,
    leave_out: Sequence[Hashable] = (),
    bins: int = N_BINS,
    binned: Binned | None = None,
) -> float:
    r"""NIST's k-marginal score: 1000 for equal marginals, 0 for disjoint ones.

    .. math:: 1000\,\Bigl(1 - \frac{1}{|S|} \sum_{s \in S}
              \frac12 \sum_c |p_{s,c} - q_{s,c}|\Bigr)

    over the sets :math:`s` of ``k`` columns and the cells :math:`c` of their joint
    table, with shares :math:`p` of real and :math:`q` of synthetic rows. With a
    ``stratum`` each set has that column too, and it is in no other place: pairs become
    "three-marginals". The shares are of all rows, so a stratum of another size counts.

    SDNist takes all pairs of columns, in some versions without ``INDP``, and ``PUMA``
    as the stratum if the rows have it. Cells are as there:

    * A number becomes one of ``bins`` bins: its percentile rank :math:`r` among the
      real numbers (ties share the mean rank) is in bin :math:`\lfloor 20 r \rfloor`,
      and a synthetic number is in the bin of the next real one that is not smaller.
    * Every other value is a cell of its own; so are missing, texts as ``"N"`` among
      numbers, and codes that ``binned`` names.

    This reads real rows, so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    k : {1, 2, 3}, default=2
        Columns of a set, without the stratum. Of more than 300 sets, a fixed sample
        is taken; SDNist takes all.
    stratum : column or None, default=None
        A column that every set has, such as a region.
    leave_out : sequence of columns, default=()
        Columns that are in no set.
    bins : int, default=20
        Bins of a column of numbers.
    binned : sequence or mapping of columns, or None, default=None
        Which columns are cut into bins. A mapping holds the codes of each that are no
        amounts and have cells of their own. None takes the columns with more than
        ``bins`` different numbers, as real rows have them, be they numbers or text.

    Returns
    -------
    float
        Two samples of one distribution do not reach 1000: NIST prints the scores of
        sub-samples of the real rows beside it.

    Examples
    --------
    >>> real = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": ["n", "s"]})
    >>> k_marginal_score(real, real, stratum="c")
    1000.0
    >>> k_marginal_score(real, real[:1])
    500.0
    """
    if k not in (1, 2, 3):
        raise ValueError(f"k must be 1, 2 or 3. Got {k!r} instead.")
    if bins < 2:
        raise ValueError(f"bins must be at least 2. Got {bins!r} instead.")
    real_frame = joined(real)
    synthetic_frame = align(joined(synthetic), real_frame)
    if not (len(real_frame) and len(synthetic_frame)):
        raise ValueError("Both tables must have rows. Got an empty one instead.")
    named = [*leave_out, *(binned or ()), *([] if stratum is None else [stratum])]
    _check_names(named, real_frame)
    places = [
        place
        for place, name in enumerate(real_frame.columns)
        if name != stratum and name not in set(leave_out)
    ]
    if len(places) < k:
        raise ValueError(
            f"k must be at most the number of columns, {len(places)} without the "
            f"stratum and those left out. Got {k} instead."
        )

    def cells_of(place: int) -> tuple[Codes, int]:
        name = real_frame.columns[place]
        codes: Sequence[object] = ()
        is_binned: bool | None = None
        if binned is not None:
            is_binned = name in binned
            codes = binned.get(name, ()) if isinstance(binned, Mapping) else ()
        sides = real_frame.iloc[:, place], synthetic_frame.iloc[:, place]
        return _cells(*sides, bins, is_binned, codes)

    cells = {place: cells_of(place) for place in places}
    fixed = (np.zeros(len(real_frame) + len(synthetic_frame), dtype=np.int64), 1)
    if stratum is not None:
        fixed = cells_of(list(real_frame.columns).index(stratum))
    distances = [
        _distance([fixed, *(cells[places[j]] for j in chosen)], len(real_frame))
        for chosen in column_sets(len(places), k)
    ]
    return 1000 * (1 - float(np.mean(distances)))


def _check_names(names: Sequence[Hashable], frame: pd.DataFrame) -> None:
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(
            "stratum, leave_out and binned must name columns of the table. Got "
            f"{', '.join(map(repr, absent))} instead."
        )


def _cells(
    real: pd.Series,
    synthetic: pd.Series,
    bins: int,
    is_binned: bool | None,
    codes: Sequence[object],
) -> tuple[Codes, int]:
    """Return the cell of each real and then each synthetic row, and their number."""
    values = _values(real, synthetic)
    n_real = len(real)
    if codes:
        is_code = np.concatenate(
            [
                np.isin(keys(side).astype(str), _texts(codes))
                for side in (real, synthetic)
            ]
        )
        values = np.where(is_code, np.nan, values)
    present = np.sort(values[:n_real][~np.isnan(values[:n_real])])
    if is_binned is None:
        is_binned = len(np.unique(present)) > bins
    if not is_binned or not len(present):
        return _levels(real, synthetic, np.ones(len(values), dtype=bool))
    edges = _edges(present, bins)
    own, n_own = _levels(real, synthetic, np.isnan(values))
    binned = n_own + np.searchsorted(edges, values, side="left")
    return np.where(np.isnan(values), own, binned), n_own + len(edges) + 1


def _values(real: pd.Series, synthetic: pd.Series) -> NDArray[np.float64]:
    """Return the numbers of real and then synthetic rows; NaN is any other value."""
    pair = read_alike(real, synthetic)
    sides = [pair.real, pair.synthetic]
    if pair.kind == "level":  # text: perhaps numbers with codes as "N" among them
        kinds = pd.api.types
        is_text = kinds.is_object_dtype(real) or kinds.is_string_dtype(real)
        if not is_text or isinstance(real.dtype, pd.CategoricalDtype):
            return np.full(len(real) + len(synthetic), np.nan)
        sides = [numbers(side) for side in (real, synthetic)]
    values = np.concatenate(sides)
    return np.where(np.isfinite(values), values, np.nan)


def _edges(present: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Return the largest real number of each bin but the last; ``present`` is sorted.

    Examples
    --------
    >>> _edges(np.array([1.0, 2.0, 2.0, 3.0]), 2)  # ranks .25, .625, .625, 1
    array([1.])
    """
    distinct, counts = np.unique(present, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2) / len(present)
    # a rank that is a bound, as 3/20, must not fall below it by rounding
    places = np.minimum(np.floor(ranks * bins + 1e-9), bins - 1)
    is_last = np.append(places[1:] > places[:-1], False)
    return distinct[is_last]


def _levels(
    real: pd.Series, synthetic: pd.Series, wanted: NDArray[np.bool_]
) -> tuple[Codes, int]:
    """Code the texts of the wanted rows of both sides; missing is one, too."""
    n_real = len(real)
    sides = keys(real[wanted[:n_real]]), keys(synthetic[wanted[n_real:]])
    codes, distinct = pd.factorize(np.concatenate(sides), sort=True)
    codes = np.where(codes < 0, len(distinct), codes)  # missing is the last one
    result = np.zeros(len(wanted), dtype=np.int64)
    result[wanted] = codes
    return result, len(distinct) + 1


def _texts(codes: Sequence[object]) -> list[str]:
    return [str(key) for key in keys(pd.Series(list(codes), dtype=object))]


def _distance(columns: Sequence[tuple[Codes, int]], n_real: int) -> float:
    """Total variation distance of the joint cells of some columns."""
    cells, n_cells = columns[0]
    for codes, n_codes in columns[1:]:
        cells, n_cells = cells * n_codes + codes, n_cells * n_codes
        if n_cells > MOST_CELLS:
            occupied, cells = np.unique(cells, return_inverse=True)
            n_cells = len(occupied)
    sides = cells[:n_real], cells[n_real:]
    p, q = (np.bincount(side, minlength=n_cells) / len(side) for side in sides)
    return float(np.abs(p - q).sum() / 2)


# ----------------------------------------------------------------------------
# The propensity mean squared error.

TREE_DEPTH = 5
LABEL_STREAM = 2018  # of random numbers
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)  # trees read 32 bits


def pmse(
    real: Rows,
    synthetic: Rows,
    *,
    model: Literal["tree", "logistic"] = "tree",
    max_depth: int = TREE_DEPTH,
) -> float:
    r"""Propensity mean squared error: how well a model tells synthetic from real rows.

    .. math:: \frac1N \sum_{i=1}^{N} (p_i - c)^2

    with :math:`p_i` the probability, by a model fitted on all :math:`N` rows of both
    tables, that row :math:`i` is synthetic, and :math:`c` the share of synthetic rows.
    SDNist's model is a decision tree of depth 5 (6 in some versions) on codes, and it
    is judged on the rows that it was fitted on. This reads real rows, so it is outside
    the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    model : {"tree", "logistic"}, default="tree"
        ``DecisionTreeClassifier`` on one code for each cell, or
        ``LogisticRegression`` on standardised numbers and indicators of categories.
    max_depth : int, default=5
        Of the tree.

    Returns
    -------
    float
        0 for equal tables, at most :math:`c(1-c)`, which is .25 for equally many rows.
        Other real rows do not have 0, since the model fits noise; :func:`pmse_ratio`
        compares with that.

    Examples
    --------
    >>> real = pd.DataFrame({"a": [1, 2, 3, 4]})
    >>> pmse(real, real), pmse(real, real + 10)
    (0.0, 0.25)
    """
    rows, labels = _stacked(real, synthetic, model)
    return _mean_square(rows, labels, _classifier(model, max_depth))


def pmse_ratio(
    real: Rows,
    synthetic: Rows,
    *,
    model: Literal["tree", "logistic"] = "tree",
    max_depth: int = TREE_DEPTH,
    n_permutations: int = 10,
    random_state: int | None = 0,
) -> float:
    """:func:`pmse` over its mean when rows are called real and synthetic at random.

    It is the standardised ratio of Snoke et al. [1]_, with permutations in place of a
    formula; SDNist does not print it. 1 is what other rows of the same distribution
    have, 0 a copy. This reads real rows, so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic, model, max_depth : as in :func:`pmse`
    n_permutations : int, default=10
        Random labellings; each is a fit of the model.
    random_state : int or None, default=0
        Seed of the labellings.

    References
    ----------
    .. [1] J. Snoke, G. Raab, B. Nowok, C. Dibben, A. Slavkovic, "General and specific
       utility measures for synthetic data", JRSS A 181, 2018.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> tables = [pd.DataFrame(rng.normal(size=(500, 2))) for _ in range(2)]
    >>> 0.5 < pmse_ratio(*tables) < 2, pmse_ratio(tables[0], tables[1] + 3) > 10
    (True, True)
    """
    if n_permutations < 1:
        raise ValueError(
            f"n_permutations must be at least 1. Got {n_permutations!r} instead."
        )
    rows, labels = _stacked(real, synthetic, model)
    classifier = _classifier(model, max_depth)
    # a stream of its own: rows that default_rng(0) has split would meet the same order
    seed = None if random_state is None else (random_state, LABEL_STREAM)
    rng = np.random.default_rng(seed)
    by_chance = [
        _mean_square(rows, rng.permutation(labels), classifier)
        for _ in range(n_permutations)
    ]
    observed, mean = _mean_square(rows, labels, classifier), float(np.mean(by_chance))
    return observed / mean if mean else float(np.where(observed, np.inf, 1.0))


def _stacked(
    real: Rows, synthetic: Rows, model: str
) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64]]:
    """Return both tables as numbers, and which rows are synthetic."""
    if model not in ("tree", "logistic"):
        raise ValueError(f"model must be 'tree' or 'logistic'. Got {model!r} instead.")
    first = joined(real)
    second = align(joined(synthetic), first)
    if not (len(first) and len(second)):
        raise ValueError("Both tables must have rows. Got an empty one instead.")
    n_columns = first.shape[1]
    labels = np.repeat([0, 1], [len(first), len(second)])
    if model == "logistic":
        # texts where the real column has numbers would be of mixed types
        second = second.copy()
        for j, name in enumerate(first.columns):
            if is_numeric(first.iloc[:, j]) and not is_numeric(second.iloc[:, j]):
                second[name] = numbers(second.iloc[:, j])
        both = pd.concat([first, second], ignore_index=True)
        return TableEncoder.fit(both)(both), labels
    columns = [_numbered(first.iloc[:, j], second.iloc[:, j]) for j in range(n_columns)]
    return np.column_stack(columns), labels


def _numbered(real: pd.Series, synthetic: pd.Series) -> NDArray[np.float64]:
    """Return a number for each cell; texts and missing are below all numbers.

    Examples
    --------
    >>> _numbered(pd.Series(["7", "N"]), pd.Series(["8", None])).tolist()
    [7.0, 6.0, 8.0, 5.0]
    """
    values = _values(real, synthetic)
    is_other = np.isnan(values)
    codes, _ = _levels(real, synthetic, is_other)
    lowest = 0.0 if is_other.all() else values[~is_other].min()
    return np.clip(
        np.where(is_other, lowest - 1 - codes, values),
        -LARGEST_FLOAT32,
        LARGEST_FLOAT32,
    )


def _classifier(model: str, max_depth: int) -> Any:
    if max_depth < 1:
        raise ValueError(f"max_depth must be at least 1. Got {max_depth!r} instead.")
    if model == "logistic":
        return LogisticRegression(max_iter=1000)
    return DecisionTreeClassifier(max_depth=max_depth, random_state=0)


def _mean_square(
    rows: NDArray[np.floating[Any]], labels: NDArray[np.int64], classifier: Any
) -> float:
    chance = classifier.fit(rows, labels).predict_proba(rows)[:, 1]
    return float(np.mean((chance - labels.mean()) ** 2))
