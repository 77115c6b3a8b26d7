"""Forms of numbers: said by a sample, read and written one text at a time, chosen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen import Integer, Numeric, Schema
from skdpgen.exceptions import SchemaError
from skdpgen.tables import form_of_column, numbers_of
from skdpgen.tables._text_forms import (
    BLANKS,
    N_FORMS,
    UNITS,
    NumberForm,
    number_form,
    place_of_number,
)

WRITTEN = {  # a sample, a number, and its text
    "2.859,76": (1234.5, "1.234,50"),
    "2,859.76": (-1234.5, "-1,234.50"),
    "1 234": (1234567, "1 234 567"),
    "1 234,5": (1234.5, "1 234,5"),
    "1'234.50": (1234.5, "1'234.50"),
    "€ 12": (7, "€ 7"),
    "€ 2.859,76": (-1234.5, "-€ 1.234,50"),
    "$3.10": (-3.1, "-$3.10"),
    "12,5 €": (0.5, "0,5 €"),
    "45 %": (45, "45 %"),
    "45%": (100, "100%"),
    "+5": (5, "+5"),
    " 12 ": (12, " 12 "),
    "1234,5…": (0.125, "0,125"),
    "CHF 1\u2019234.50": (1234.5, "CHF 1\u2019234.50"),
}


@pytest.mark.parametrize("sample", WRITTEN)
def test_a_sample_says_how_numbers_are_read_and_written(sample):
    value, text = WRITTEN[sample]
    form, decimals = number_form(sample)
    assert form.write(value, decimals) == text
    shown = value if decimals is None else round(value, decimals)
    assert form.read(text) == pytest.approx(
        shown, abs=0.05 if "5 €" in sample else 1e-9
    )
    assert form.read(str(int(abs(value)))) == int(
        abs(value)
    )  # the unit may be left out
    assert number_form(form.sample(2)) == (form, 2)


@pytest.mark.parametrize("sample", WRITTEN)
def test_another_unit_or_decimal_mark_is_no_number(sample):
    form, _ = number_form(sample)
    other = "1.5" if form.decimal == "," else "1,5"
    for text in (other, "£ 3", "3 kr", "(5)", "much", "", " ", "--1", "5 €€"):
        assert math.isnan(form.read(text))


@pytest.mark.parametrize(
    "sample", ["", "soon", "€", "1.2.3,", "$5 %", "-5", "007", "1,23,456", "1.234", 5]
)
def test_what_is_no_sample_is_refused_in_one_line(sample):
    with pytest.raises(SchemaError, match=r"format .*'1?\.?2?.*"):
        Numeric(0, 1, format=sample)


def test_one_mark_before_three_digits_must_be_told():
    with pytest.raises(SchemaError, match=r"'1\.234,5' for thousands, or '1234\.567'"):
        Numeric(format="1.234")
    assert form_of_column(Integer(format="1.234")).thousands == "."
    assert form_of_column(Numeric(decimals=0, format="1,234")).thousands == ","
    assert form_of_column(Numeric(format="1,234.5")).thousands == ","


def test_a_sample_says_the_decimals_unless_they_are_given():
    assert Numeric(0, 1, format="$3.10").decimals == 2
    assert Numeric(0, 1, format="45 %").decimals == 0
    assert Numeric(0, 1, decimals=1, format="$3.10").decimals == 1
    assert Numeric(0, 1, format="1234,5…").decimals is None


def test_a_format_is_kept_in_files_and_shown():
    columns = {
        "a": Numeric(0, 9000, format="€ 2.859,76"),
        "b": Integer(0, 9, format="5 %"),
    }
    schema = Schema({**columns, "c": Numeric(0, None, format="1234,5…")}).check()
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_json(schema.to_json()) == schema
    assert 'format = "€ 2.859,76"' in schema.to_toml()
    assert "format='5 %'" in repr(columns["b"])
    assert "format" not in repr(Numeric(0, 1))


@given(
    value=st.integers(-(10**9), 10**9),
    decimals=st.integers(0, 4),
    decimal=st.sampled_from(".,"),
    thousands=st.sampled_from(["", "'", *BLANKS]),
    unit=st.sampled_from([("", ""), (" ", ""), (" ", " "), *UNITS]),
    has_plus=st.booleans(),
)
def test_what_is_written_is_read_and_has_a_cell(
    value, decimals, decimal, thousands, unit, has_plus
):
    form = NumberForm(decimal, thousands, *unit, has_plus)
    number = value / 10**decimals
    text = form.write(number, decimals)
    assert form.read(text) == pytest.approx(number, rel=1e-12)
    assert place_of_number(text) is not None


@given(st.text(max_size=12), st.sampled_from([number_form(s)[0] for s in WRITTEN]))
def test_no_text_raises(text, form):
    assert isinstance(form.read(text), float)
    place_of_number(text)


SEEN = {  # texts of a column, and the sample of the form that is chosen
    "1,234.56": ["12.50", "1,234.56", "999.00"],
    "1.234,56": ["12,50", "1.234,56", "999,00"],
    "1 234.56": ["12", "1 234", "999"],
    "1 234,56": ["12,5", "1 234,5"],
    "€ 1.234,56": ["€ 12,50", "€ 1.234,56", "12"],
    "$1234.56": ["$3.10", "$1234.00"],
    "1234.56 %": ["45 %", "5 %", "100 %"],
    "1234,56": ["0,125", "12,5", "1234,5"],
    "+1234.56": ["+5", "-3", "+17"],
    " 1234.56 ": [" 12 ", " 5 "],
    "1234.56": ["0.125", "1.234", "12"],  # 1.234 may be a thousand, 0.125 says no
}


@pytest.mark.parametrize("sample", SEEN)
def test_counts_choose_the_form(sample):
    counts = np.zeros(N_FORMS)
    for text in SEEN[sample]:
        counts[place_of_number(text)] += 1000
    rng = np.random.default_rng(0)
    for _ in range(20):
        found = numbers_of(counts + rng.normal(0, 30, N_FORMS), 30.0)
        assert found.form.sample(2) == sample
        assert found.n_read == pytest.approx(1000 * len(SEEN[sample]), abs=300)


def test_points_before_three_digits_are_thousands_if_no_decimal_point_shows():
    counts = np.zeros(N_FORMS)
    for text in ("1.234", "12.500", "999", "7"):
        counts[place_of_number(text)] += 1000
    assert numbers_of(counts, 1.0).form.sample(0) == "1.234"
    counts[place_of_number("0.5")] += 1000
    assert numbers_of(counts, 1.0).form == NumberForm()
