"""Whatever table comes in: a fit that works, and samples that look like it."""

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpgen import all_synthesizers, load
from skdpgen.exceptions import NothingLearnedWarning, NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed
from skdpgen.tables import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Numeric,
    Ordinal,
    Regenerate,
    as_numbers,
    read_values,
)
from skdpgen.tables._layout import Kind
from tests._messy_tables import TABLES, Messy, made
from tests.synthesizers._tables import as_pandas, quick

EPSILON = 8.0
SINGLE, PAIRWISE = "DPIndependentSynthesizer", "DPPairwiseSynthesizer"
QUICK = (SINGLE, PAIRWISE)
SLOW = [name for name in all_synthesizers(of="tables") if name not in QUICK]
FITS = [
    (name, table)
    for place, table in enumerate(TABLES)
    for name in (*QUICK, SLOW[place % len(SLOW)])
]
IN_QUICK = {
    (SLOW[place % len(SLOW)], table)
    for place, table in enumerate(TABLES)
    if place % (len(SLOW) - 1) == 0  # so that each of them has its turn
}
WORKING = [
    pytest.param(
        *fit,
        marks=() if fit[0] in QUICK or fit in IN_QUICK else pytest.mark.slow,
    )
    for fit in FITS
    if made(fit[1]).raises is None
]
NEAR = 0.06  # of the rows, in shares of missing values
FAR = 8.0  # times as far out as nearly all values
GARBAGE = 0.1  # of the cells, at most, that cannot be read and are missing

each_fit = pytest.mark.parametrize(("name", "table"), WORKING)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What came of a fit, all of it as data frames."""

    synth: Any
    case: Messy
    drawn: Any  # as it came back
    X: pd.DataFrame
    real: pd.DataFrame
    y: Any
    warned: tuple[Any, ...]

    @property
    def columns(self):
        """Yield name, description, real and sampled values of each column."""
        described = self.synth.schema_.columns.items()
        for place, (name, column) in enumerate(described):
            yield name, column, self.real.iloc[:, place], self.X.iloc[:, place]


@cache
def fitted(name, table):
    """Fit and sample, with noise that is the same each time."""
    case = made(table)
    cls = all_synthesizers()[name]
    few = {"max_iter": 60} if name == PAIRWISE else quick(cls)
    synth = cls(**{"epsilon": EPSILON, "random_state": 0} | few | case.params)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with insecure_noise_seed(1 + sum(map(ord, table))):
            synth.fit(case.X, case.y)
    drawn = synth.sample(random_state=0)
    drawn, y = drawn if synth.task_ else (drawn, None)
    frames = [as_pandas(part, synth.schema_) for part in (drawn, case.X)]
    told = tuple(w for w in said if w.category is not NotPrivateWarning)
    return Fitted(synth, case, drawn, *frames, y, told)


def numbers(values):
    """Return what is a number, whatever it was written as."""
    kind = Kind.TEXT if values.dtype.kind == "O" else Kind.FLOAT
    if not isinstance(values.dtype, np.dtype):
        kind = Kind.TEXT if pd.api.types.is_string_dtype(values.dtype) else Kind.FLOAT
    read = as_numbers(read_values(values.reset_index(drop=True), kind))
    return read[np.isfinite(read)]


def missing(values):
    """Return the share that is missing; infinite is, too."""
    gone = values.isna().to_numpy()
    if values.dtype.kind == "f":
        gone = gone | ~np.isfinite(values.to_numpy(dtype=float, na_value=np.nan))
    return gone.mean()


def text(value):
    try:
        return str(value).encode("utf-8", "replace").decode("utf-8")
    except Exception:
        return "?"


# ------------------------------------------------------------------------ the form


@each_fit
def test_rows_come_back_in_their_original_form(name, table):
    found = fitted(name, table)
    X, drawn = found.case.X, found.drawn
    assert type(drawn) is type(X)
    if isinstance(X, pl.DataFrame):
        assert drawn.schema == X.schema
        return
    if isinstance(X, np.ndarray):
        assert (drawn.dtype, drawn.shape) == (X.dtype, X.shape)
        return
    assert drawn.columns.equals(X.columns)
    assert len(drawn) == len(X)
    for column in range(X.shape[1]):
        label, dtype = X.columns[column], X.dtypes.iloc[column]
        if label in found.case.lost:
            continue  # a schema may say more than a dtype can hold
        if isinstance(dtype, pd.CategoricalDtype):
            assert isinstance(drawn.dtypes.iloc[column], pd.CategoricalDtype)
        else:
            assert drawn.dtypes.iloc[column] == dtype, label


@each_fit
def test_labels_come_back_in_their_original_form(name, table):
    found = fitted(name, table)
    y, drawn = found.case.y, found.y
    if y is None:
        assert drawn is None
        return
    real = pd.Series(y).dropna()
    if found.synth.task_ == "classification":
        assert set(drawn) <= set(found.synth.classes_)
        known = set(found.case.params.get("classes", ())) | set(real)
        assert "y" in found.case.lost or set(drawn) <= known
    else:
        assert np.min(drawn) >= 0 or real.min() < 0
        spread = max(abs(np.quantile(real, [0.001, 0.999])))
        assert max(abs(np.asarray(drawn))) <= FAR * spread
    wanted = y.dtype if isinstance(y, pd.Series) else np.asarray(y).dtype
    if wanted.kind in "iufb":
        assert drawn.dtype == wanted


# ------------------------------------------------------------------- what is missing


@each_fit
def test_as_many_cells_are_missing(name, table):
    found = fitted(name, table)
    for label, column, real, drawn in found.columns:
        if label in found.case.lost:
            continue
        slack = NEAR
        if isinstance(column, Datetime | Integer | Numeric | Boolean):
            slack += GARBAGE * (real.dtype.kind not in "iufbM")  # text, or objects
        share = missing(real)
        if isinstance(column, Regenerate):
            assert missing(drawn) == 0.0
        else:
            assert share - NEAR <= missing(drawn) <= share + slack, label
        assert missing(drawn) < 0.9 or share > 0.9, label


@pytest.mark.parametrize("table", TABLES)
def test_as_many_rows_are_complete(table):
    """Of the estimator that learns from pairs of columns; eight of 60 may be less."""
    if made(table).raises or made(table).lost:
        return
    found = fitted(PAIRWISE, table)
    real = pd.concat(
        [pd.Series(missing_cells(real)) for *_, real, _ in found.columns], axis=1
    )
    drawn = found.X.notna().all(axis=1).mean()
    assert drawn == pytest.approx(1.0 - real.any(axis=1).mean(), abs=0.1)


def missing_cells(values):
    gone = values.isna().to_numpy()
    if values.dtype.kind == "f":
        gone = gone | ~np.isfinite(values.to_numpy(dtype=float, na_value=np.nan))
    return gone


# ------------------------------------------------------------------------- the values


@each_fit
def test_numbers_keep_their_sign_size_and_lattice(name, table):
    found = fitted(name, table)
    for label, column, real, drawn in found.columns:
        if not isinstance(column, Integer | Numeric | Ordinal):
            continue
        if label in found.case.lost:
            continue
        before, after = numbers(real), numbers(drawn)
        if not len(before) or not len(after):
            continue
        other = getattr(column, "other", None)
        after = after[after != other] if other is not None else after
        size = np.quantile(np.abs(before), 0.999)
        assert np.abs(after).max() <= FAR * max(size, 1e-300), label
        assert after.min() >= 0 or before.min() < 0, label
        assert after.max() <= 0 or before.max() > 0, label
        if (before == np.round(before)).all():
            assert (after == np.round(after)).all(), label
        if isinstance(column, Ordinal):
            assert set(after) <= set(before), label
            continue
        for digits in (1, 2):
            if (before == np.round(before, digits)).all():
                assert column.decimals is not None, label
                assert column.decimals <= digits, label


@each_fit
def test_categories_are_real_ones_or_other(name, table):
    found = fitted(name, table)
    for label, column, real, drawn in found.columns:
        if not isinstance(column, Categorical) or isinstance(column, Ordinal):
            continue
        known = {text(value) for value in real}
        strange = {text(value) for value in drawn.dropna()} - known - {"other"}
        assert not strange or label in found.case.lost


@each_fit
def test_times_are_within_what_was_found_and_near_the_truth(name, table):
    found = fitted(name, table)
    for _, column, real, drawn in found.columns:
        if not isinstance(column, Datetime):
            continue
        form = {} if real.dtype.kind == "M" else {"format": "ISO8601"}
        stamps = [
            pd.to_datetime(values.dropna(), utc=True, errors="coerce", **form)
            for values in (real, drawn)
        ]
        before, after = (part.dt.tz_localize(None) for part in stamps)
        before = before.dropna()
        assert after.notna().all()  # dates that can be read
        slack = pd.Timedelta("1s")  # text has none of its parts
        assert after.min() >= pd.Timestamp(column.lower) - slack
        assert after.max() <= pd.Timestamp(column.upper) + slack
        span = before.max() - before.min()
        assert after.quantile(0.03) >= before.min() - 2 * span  # ends may have a tail
        assert after.quantile(0.97) <= before.max() + 2 * span
        assert abs(after.mean() - before.mean()) < 0.15 * span
        if real.dtype.kind == "O" or pd.api.types.is_string_dtype(real.dtype):
            assert drawn.dropna().map(type).eq(str).all()


@each_fit
def test_identifiers_are_written_anew(name, table):
    found = fitted(name, table)
    for label, column, real, drawn in found.columns:
        if isinstance(column, Regenerate):
            assert drawn.tolist() == [f"{label}-{i}" for i in range(len(drawn))]
            assert not set(drawn) & set(real)


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_what_they_look_like(table):
    case = made(table)
    if case.raises:
        return
    found = fitted(SINGLE, table)
    for key, kind in case.kinds.items():
        names = list(found.synth.schema_.columns)
        label = names[key] if isinstance(key, int) else key
        assert type(found.synth.schema_.columns[label]).__name__ == kind, label


# ------------------------------------------------------------------ what is said of it


@each_fit
def test_a_warning_is_raised_where_it_should_be_and_nowhere_else(name, table):
    found = fitted(name, table)
    said = {w.category for w in found.warned}
    alone = (
        found.synth.relations_learned_.endswith("only") and len(found.synth.cells_) > 1
    )
    can_relate = hasattr(found.synth, "n_iter_")  # columns to each other
    can_relate |= hasattr(found.synth._model, "has_relations")
    assert (NothingLearnedWarning in said) == (alone and can_relate)
    may = {NothingLearnedWarning} | found.case.may_warn
    assert said - may == found.case.warns
    for category in found.case.warns:
        told = [str(w.message) for w in found.warned if w.category is category]
        assert any(found.case.says in line for line in told)


@pytest.mark.parametrize("name", all_synthesizers(of="tables"))
@pytest.mark.parametrize("table", [t for t in TABLES if made(t).raises])
def test_errors_come_before_anything_is_spent(name, table):
    case = made(table)
    synth = all_synthesizers()[name](**case.params)
    with pytest.raises(case.raises, match=case.says):
        synth.fit(case.X, case.y)
    assert not hasattr(synth, "privacy_")


@pytest.mark.parametrize("table", [t for t in TABLES if made(t).raises is None])
def test_all_of_it_is_saved(table, tmp_path):
    found = fitted(SINGLE, table)
    found.synth.save(tmp_path / "saved.npz")
    again = load(tmp_path / "saved.npz").sample(200, random_state=1)
    wanted = found.synth.sample(200, random_state=1)
    for one, two in zip(*map(parts, (again, wanted)), strict=True):
        assert type(one) is type(two)
        if isinstance(one, pl.DataFrame):
            assert one.equals(two)
            continue
        left, right = pd.DataFrame(one), pd.DataFrame(two)
        if table == "names_that_are_not_text":  # a time comes back as text
            left.columns = right.columns
        assert left.equals(right)


def parts(sample):
    """Return X and y of a sample, or X alone."""
    return sample if isinstance(sample, tuple) else (sample,)


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("table", ["dates_as_text", "a_shop", "a_clinic"])
def test_what_was_found_is_told_by_column(name, table):
    found = fitted(name, table)
    told = found.synth.columns_
    assert list(told.index) == list(found.synth.schema_.columns)
    assert told["is_discovered"].all()
    for label, column, real, _ in found.columns:
        assert told.loc[label, "type"] == type(column).__name__
        if not isinstance(column, Regenerate) and label != "day":
            assert told.loc[label, "missing"] == pytest.approx(missing(real), abs=NEAR)
