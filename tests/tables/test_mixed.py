"""Words and codes beside numbers: how they are encoded, each row independently."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from skdpgen.tables import (
    TARGET,
    Asked,
    CategoryCells,
    Datetime,
    DigitCells,
    Encoder,
    Integer,
    Kind,
    MixedCells,
    NumberCells,
    Numeric,
    OpenWords,
    as_seconds,
    asked_cells,
    cell_points,
    divided_again,
    draw_values,
    group_cells,
    line_between,
    read_column,
    read_values,
    with_codes,
    with_named,
)
from skdpgen.tables._line import AskedCells
from skdpgen.tables._text_columns import CODES, Says, plausible_codes, type_of_text
from skdpgen.tables._values import Numbers, TokenColumn
from skdpgen.utils import Key

TENS = NumberCells(np.array([0.0, 10.0, 20.0, 30.0]), False)
DAYS = NumberCells(
    as_seconds(TokenColumn(np.arange(3), ("2020-01-01", "2021-01-01", "2022-01-01"))),
    False,
    is_time=True,
)
WITH_OTHER = MixedCells(TENS, ("N", "unknown", "other"), True, other=5)
WITHOUT = MixedCells(TENS, ("N",), True)
NEVER_MISSING = MixedCells(TENS, ("N",), False)
WRITTEN = MixedCells(TENS, ("N",), True, written=Numeric(parse=True))
TIMES = MixedCells(DAYS, ("never",), True, written=Datetime())
GERMAN_TIMES = MixedCells(DAYS, ("nie",), True, written=Datetime(format="%d.%m.%Y"))
NUMERIC_CODES = MixedCells(TENS, (-9, -8.5, 25), True)


def text(values):
    return read_values(pd.Series(values, dtype=object), Kind.TEXT)


def numeric(values):
    return read_values(pd.Series(values, dtype=float), Kind.FLOAT)


# ----------------------------------------------------------------- MixedCells


@pytest.mark.parametrize(
    ("cells", "values", "expected"),
    [
        (
            WITH_OTHER,
            ["N", "5", "15.5", "unknown", "soon", None, "other", "-4", "99", "n"],
            [3, 0, 1, 4, 5, 6, 5, 0, 2, 5],
        ),
        (WITHOUT, ["N", "5", "soon", None, "", "nan", "inf"], [3, 0, 4, 4, 4, 4, 4]),
        (NEVER_MISSING, ["N", "5", "soon", None], [3, 0, -1, -1]),
        (WRITTEN, ["N", "12 x", "+12", " 15", "1,000", "x"], [3, 4, 1, 1, 2, 4]),
        (WITHOUT, ["+12", "1,000"], [1, 4]),  # as a computer reads them
        (TIMES, ["2020-05-01", "never", "2021-05-01T08:00", "x"], [0, 2, 1, 3]),
        (GERMAN_TIMES, ["01.05.2020", "nie", "2021-05-01", None], [0, 2, 3, 3]),
        (NUMERIC_CODES, ["-9", "-8.5", "25", "-7", "25.5"], [3, 4, 5, 0, 2]),
    ],
)
def test_text_is_a_number_a_named_value_or_something_else(cells, values, expected):
    assert cells.encode(text(values)).tolist() == expected
    assert cells.encode(text([])).tolist() == []
    assert cells.encode(text([None])).tolist() == [
        cells.n_cells - 1 if cells.nullable else -1
    ]


def test_codes_of_a_numeric_column_are_cells_of_their_own():
    values = [-9.0, -8.5, 25.0, 24.9, -8.0, 1e300, np.nan, np.inf, -0.0]
    assert NUMERIC_CODES.encode(numeric(values)).tolist() == [3, 4, 5, 2, 0, 2, 6, 6, 0]
    assert WITHOUT.encode(numeric([5.0, np.nan])).tolist() == [0, 4]  # "N" is none
    assert NEVER_MISSING.encode(numeric([5.0, np.nan])).tolist() == [0, -1]


def test_codes_of_a_schema_become_named_values():
    column = Integer(300, 850, codes=[-9, -8], nullable=True)
    cells = NumberCells(np.array([299.5, 600.5, 850.5]), True, 1.0)
    mixed = with_codes(column, cells)
    assert mixed.named == (-9, -8)
    assert mixed.encode(numeric([-9, -8, -7, 700, np.nan])).tolist() == [2, 3, 0, 1, 4]
    assert mixed.encode(text(["-9", "700", "x"])).tolist() == [2, 1, 4]
    assert with_codes(Integer(300, 850), cells) is cells
    words = CategoryCells(("a",), True)
    assert with_codes(column, words) is words


def test_codes_are_no_numbers_where_a_column_is_read():
    column = Integer(300, 850, codes=[-9, "N"])
    read = read_column(numeric([-9.0, 400.0, np.nan]), column).values
    np.testing.assert_array_equal(read, [np.nan, 400.0, np.nan])
    read = read_column(text(["-9", "N", "400", None, "x"]), column).values
    np.testing.assert_array_equal(read, [np.nan, np.nan, 400.0, np.nan, np.nan])


def test_what_is_drawn_of_a_cell_is_encoded_as_that_cell():
    cells = MixedCells(TENS, ("N", "unknown"), True)
    codes = np.repeat(np.arange(cells.n_cells), 20)
    marginal, rng = np.full(cells.n_cells, 1 / 6), np.random.default_rng(0)
    drawn = draw_values(Numeric(0, 30), cells, codes, marginal, rng=rng)
    mixed = with_named(drawn, cells, codes)
    assert mixed[codes == 3].tolist() == ["N"] * 20
    assert mixed[codes == 5].isna().all()
    as_text = mixed.map(lambda value: value if value is None else str(value))
    assert cells.encode(text(as_text)).tolist() == codes.tolist()


CELLS = [
    WITH_OTHER,
    WITHOUT,
    NEVER_MISSING,
    WRITTEN,
    TIMES,
    GERMAN_TIMES,
    NUMERIC_CODES,
]
some_text = st.one_of(
    st.none(),
    st.sampled_from(["N", "unknown", "never", "nie", "-9", "25", "other", "", "NaN"]),
    st.sampled_from(["5", "5.0", "+5", "1,000", "2020-05-01", "01.05.2020", "1e400"]),
    st.text(max_size=4),
    st.integers(-30, 40),
    st.floats(),
    st.booleans(),
)


@given(st.lists(some_text, max_size=12), st.integers(0, 12), st.randoms())
@settings(deadline=None)
def test_the_cell_of_a_row_does_not_depend_on_other_rows(values, cut, random):
    order = list(range(len(values)))
    random.shuffle(order)
    shuffled = [values[k] for k in order]
    for cells in CELLS:
        whole = cells.encode(text(values)).tolist()
        assert [cells.encode(text([one])).tolist()[0] for one in values] == whole
        parts = [cells.encode(text(some)) for some in (values[:cut], values[cut:])]
        assert np.concatenate(parts).tolist() == whole
        assert cells.encode(text(shuffled)).tolist() == [whole[k] for k in order]
        assert all(-1 <= code < cells.n_cells for code in whole)


@given(st.lists(st.floats(), max_size=12))
@settings(deadline=None)
def test_the_cell_of_a_number_does_not_depend_on_other_rows(values):
    for cells in (WITH_OTHER, NUMERIC_CODES, NEVER_MISSING):
        whole = cells.encode(numeric(values)).tolist()
        assert [cells.encode(numeric([one])).tolist()[0] for one in values] == whole
        assert all(-1 <= code < cells.n_cells for code in whole)


def test_gaps_and_lattices_are_those_of_the_numbers():
    lattice = NumberCells(np.array([-0.5, 0.5, 1.5]), False, 1.0, gaps=(1,))
    cells = MixedCells(lattice, ("N",), True)
    assert cells.is_lattice
    assert cells.gaps == (1,)
    assert (cells.n_known, cells.n_cells) == (2, 4)
    assert not WITHOUT.is_lattice


# ---------------------------------------------------- OpenWords, and plausible codes


def open_of(words, values):
    tokens = words.of(values)
    return [None if code < 0 else tokens.values[code] for code in tokens.codes]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (OpenWords(), ["a", "b", "5", "1,000", "2020-05-01", None]),
        (OpenWords(("a", "5")), [None, "b", None, "1,000", "2020-05-01", None]),
        (OpenWords((), True), ["a", "b", None, "1,000", "2020-05-01", None]),
        (
            OpenWords((), True, Numeric(parse=True)),
            ["a", "b", None, None, "2020-05-01", None],
        ),
        (OpenWords(("a",), True, Datetime()), [None, "b", "5", "1,000", None, None]),
        (
            OpenWords((), True, Datetime(format="%Y-%m-%d")),
            ["a", "b", "5", "1,000", None, None],
        ),
    ],
)
def test_words_are_open_if_they_have_no_name_and_are_no_numbers(words, expected):
    values = ["a", "b", "5", "1,000", "2020-05-01", None]
    assert open_of(words, text(values)) == expected
    assert open_of(words, text([])) == []
    alone = [open_of(words, text([one]))[0] for one in values]
    assert alone == expected
    assert open_of(words, text(values[::-1])) == expected[::-1]


def test_numbers_are_words_where_a_column_holds_them():
    assert open_of(OpenWords(("5",)), numeric([5.0, 2.5, np.nan])) == [
        None,
        "2.5",
        None,
    ]


@given(st.lists(some_text, max_size=12), st.booleans())
@settings(deadline=None)
def test_what_is_open_in_a_row_does_not_depend_on_other_rows(values, has_numbers):
    for written in (None, Numeric(parse=True), Datetime()):
        words = OpenWords(("N", "5"), has_numbers, written)
        whole = open_of(words, text(values))
        assert [open_of(words, text([one]))[0] for one in values] == whole


def test_plausible_codes_are_distinct_text():
    codes = plausible_codes()
    assert len(set(codes)) == len(codes)
    assert all(isinstance(code, str) and code for code in codes)
    assert codes == plausible_codes()
    assert {"N", "0", "99", "-9", "unknown", "yes"} <= set(codes)


@pytest.mark.parametrize("word", [*sorted(CODES), "N", "NA", " unknown ", "N/A"])
def test_words_that_stand_for_a_missing_number_are_codes(word):
    assert type_of_text(word) == Says.CODE


@pytest.mark.parametrize("word", ["male", "Nancy", "no", "5", "-9", "2020-05-01"])
def test_other_text_is_no_code(word):
    assert type_of_text(word) != Says.CODE


# ------------------------------------------------------------------- the encoder


def asked_of(column, some):
    line = line_between(column)
    asked = np.isin(np.arange(line.n_cells), some)
    return asked_cells(line, divided_again(line, asked), asked)


def an_encoder():
    asked = Asked(
        {
            "age": asked_of(Integer(0, 5000), [3, 4]),
            TARGET: asked_of(Numeric(0, 1), [9]),
        },
        {"job": OpenWords(("nurse",)), "pay": OpenWords((), True)},
    )
    digits = {"age": DigitCells(), "born": DigitCells(is_time=True)}
    written = {"pay": Numeric(parse=True)}
    return Encoder({"pay": WRITTEN}, digits=digits, asked=asked, written=written)


def chunk_of(rows):
    age, job, pay, born, target = zip(*rows, strict=True) if rows else ((),) * 5
    columns = {
        "age": numeric(age),
        "job": text(job),
        "pay": text(pay),
        "born": Numbers(np.array(born, dtype=float)),
    }
    return columns, numeric(target)


def encoded(rows, *cuts):
    """Return what the privacy package would see of each row, as plain values."""
    found = []
    for start, stop in zip((0, *cuts), (*cuts, len(rows)), strict=True):
        (batch,) = an_encoder().batches([chunk_of(rows[start:stop])])
        part = batch.parts[Key.OPEN]
        words = [
            [None if c < 0 else tokens.values[c] for c in tokens.codes]
            for tokens in (part.tokens["job"], part.tokens["pay"])
        ]
        cells = batch.parts[Key.COLUMNS].tolist()
        digits = batch.parts[Key.DIGITS].tolist()
        found += list(zip(cells, digits, part.codes.tolist(), *words, strict=True))
    return found


ROWS = [
    (40.0, "nurse", "1,000", 0.0, 0.5),
    (np.nan, "judge", "N", 86_400.0, 0.05),
    (250.5, None, "soon", 5.0, np.nan),
    (120.0, "judge", "12", np.nan, 1e9),
    (0.1, "", None, 1e9, -0.0),
]


def test_the_encoder_reads_open_cells_words_and_digits():
    found = encoded(ROWS)
    grid = an_encoder().asked.cells["age"]
    assert isinstance(grid, AskedCells)
    assert [row[0] for row in found] == [[2], [3], [4], [1], [4]]
    assert [row[1] for row in found] == [[0, 0], [-1, 0], [1, 3], [0, -1], [1, 3]]
    known = [(row[0], row[-1]) for row in ROWS]
    ages, targets = (numeric(column) for column in zip(*known, strict=True))
    target_grid = an_encoder().asked.cells[TARGET]
    assert [row[2] for row in found] == [
        list(pair)
        for pair in zip(grid.encode(ages), target_grid.encode(targets), strict=True)
    ]
    assert [row[3] for row in found] == [None, "judge", None, "judge", ""]
    assert [row[4] for row in found] == ["1,000", "N", "soon", None, None]


def test_cells_that_are_not_asked_for_have_no_code():
    """Each asked cell is a number from 0 on; all other values, and NaN, are -1."""
    for column, some in ((Integer(0, 5000), [3, 4, 9]), (Numeric(-1.0, 1.0), [7])):
        line = line_between(column)
        grid = asked_of(column, some)
        values = np.linspace(-2, 6000, 20_001)
        inside = np.isin(line.grid.encode(Numbers(values)), some)
        codes = grid.encode(Numbers(values))
        assert ((codes >= 0) == inside).all()
        assert codes.max() < grid.n_cells
        assert grid.encode(numeric([np.nan])).tolist() == [-1]


@pytest.mark.parametrize("cut", range(len(ROWS) + 1))
def test_batches_have_of_each_row_what_it_has_alone(cut):
    whole = encoded(ROWS)
    assert encoded(ROWS, cut) == whole
    alone = [encoded([row])[0] for row in ROWS]
    assert alone == whole
    order = np.random.default_rng(cut).permutation(len(ROWS))
    assert encoded([ROWS[k] for k in order]) == [whole[k] for k in order]


def test_the_encoder_names_the_columns_that_it_reads():
    assert an_encoder().names == {"pay", "age", "born", "job", TARGET}
    assert Encoder({}).names == set()


# ------------------------------------------------------------- points and groups


@pytest.mark.parametrize("cells", CELLS)
def test_named_values_stand_beside_the_numbers(cells):
    points = cell_points(cells)
    known = cells.n_known
    beside = cells.n_cells - known
    assert points.shape == (cells.n_cells, 1 + beside)
    ranks = cell_points(cells.numbers)
    np.testing.assert_array_equal(points[:known, :1], ranks)
    np.testing.assert_array_equal(points[:known, 1:], 0.0)
    away = np.linalg.norm(points[known:, None] - points[:known], axis=2)
    np.testing.assert_allclose(away, away[:1].repeat(beside, 0))  # all alike
    assert away.min() >= 0.5
    if beside > 1:
        np.testing.assert_allclose(pdist(points[known:]), 0.5**0.5)


@pytest.mark.parametrize("n_groups", range(2, 12))
@pytest.mark.parametrize("nullable", [True, False])
def test_groups_of_mixed_cells_part_numbers_from_named_values(n_groups, nullable):
    numbers = NumberCells(np.arange(21.0), False)
    cells = MixedCells(numbers, ("N", "unknown", "other"), nullable)
    rng = np.random.default_rng(n_groups)
    for marginal in (rng.dirichlet(np.ones(cells.n_cells)), np.ones(cells.n_cells)):
        groups = group_cells(cells, marginal, n_groups)
        assert set(groups.of_cell.tolist()) == set(range(groups.n_groups))
        assert groups.n_groups <= n_groups
        known, named = groups.of_cell[:20], groups.of_cell[20:]
        assert set(np.diff(known).tolist()) <= {0, 1}  # runs, in order
        assert groups.n_ordered == known[-1] + 1
        assert not set(known.tolist()) & set(named.tolist())
        if n_groups >= 2 * len(named):  # room for each
            assert len(set(named.tolist())) == len(named)
        assert groups.add_up(marginal).sum() == pytest.approx(marginal.sum())
