"""Numbers and distinct texts are what they were, one by one; only faster."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import Kind, as_numbers, read_values
from skdpgen.tables._values import TokenColumn

ODD = ["1e400", "-1e400", "inf", "nan", "1_000", " 5 ", "5.", "٣", "\ud800", "", "0x1"]


def alone(text):
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


@given(st.lists(st.text(max_size=9) | st.floats().map(str) | st.sampled_from(ODD)))
def test_each_text_is_read_alone(texts):
    column = TokenColumn(np.arange(-1, len(texts)), tuple(texts))
    wanted = [math.nan, *map(alone, texts)]
    np.testing.assert_array_equal(as_numbers(column), wanted)


def test_bytes_that_are_no_text_may_be_read_alike():
    """Three distinct cells of bytes, two of which are read as the same text."""
    pa = pytest.importorskip("pyarrow")
    stored = pa.array([b"a", b"\xff", b"\xfe", None, b"a"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(stored), stored.buffers())
    found = read_values(
        pd.Series(pd.array(text, pd.ArrowDtype(pa.string()))), Kind.TEXT
    )
    texts = [found.values[code] if code >= 0 else None for code in found.codes]
    assert texts == ["a", "\ufffd", "\ufffd", None, "a"]
    assert len(set(found.values)) == len(found.values)
