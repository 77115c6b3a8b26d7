import pytest

from skdpgen.tables import (
    Boolean,
    Categorical,
    Datetime,
    Drop,
    Integer,
    LessEqual,
    Numeric,
    Regenerate,
    Schema,
)

WILD = "<img src=x onerror=alert(1)>"
SCHEMA = Schema(
    {
        "age": Integer(0, 120, nullable=False, codes=[-9]),
        "income": Numeric(0.0, 1e6, decimals=2),
        "price": Numeric(0, 10, format="€ 2.859,76"),
        "sex": Categorical(["f", "m"], other="x"),
        "town": Categorical([f"town {i}" for i in range(1000)]),
        "member": Boolean(nullable=False),
        "since": Datetime("2000-01-01", "2020-12-31", resolution="day"),
        "note": Drop(),
        "id": Regenerate("id-{i}"),
        WILD: Categorical([WILD]),
    },
    target=Categorical(["no", "yes"], nullable=False),
    rules=[LessEqual("age", "income")],
    origin="the registry of 2020",
)


def test_a_schema_has_a_line_for_each_column():
    assert repr(SCHEMA).splitlines() == [
        "Schema of 10 columns:",
        "  age: Integer 0 to 120, codes -9",
        "  income: Numeric 0 to 1000000, 2 decimals, may be missing",
        "  price: Numeric 0 to 10, 2 decimals, written '€ 2.859,76', may be missing",
        "  sex: Categorical f, m, other 'x', may be missing",
        "  town: Categorical town 0, town 1, town 2, town 3, town 4, town 5, … (1000), "
        "may be missing",
        "  member: Boolean",
        "  since: Datetime 2000-01-01 to 2020-12-31, whole days, may be missing",
        "  note: Drop",
        "  id: Regenerate 'id-{i}'",
        f"  {WILD}: Categorical {WILD}, may be missing",
        "  target: Categorical no, yes",
        "  rule: LessEqual(low='age', high='income')",
        "  origin: the registry of 2020",
    ]


def test_what_is_left_open_says_nothing():
    assert repr(Schema({"a": Integer(), "b": Categorical()})).splitlines()[1:] == [
        "  a: Integer, may be missing",
        "  b: Categorical, may be missing",
    ]
    assert "a: Integer ? to 5" in repr(Schema({"a": Integer(upper=5)}))


def test_wide_schemas_are_short():
    wide = Schema({f"column {i}": Integer(0, i) for i in range(5000)})
    assert "… and 4980 more columns" in repr(wide)
    assert len(repr(wide)) < 2000
    assert "and 4961 more" in wide._repr_html_()
    assert len(wide._repr_html_()) < 20_000


@pytest.mark.parametrize("text", ["Schema of 10 columns", "registry", "Rules (1)"])
def test_a_notebook_shows_a_table(text):
    assert text in SCHEMA._repr_html_()


def test_a_notebook_escapes_names_and_categories():
    assert "<img" not in SCHEMA._repr_html_()
    assert "&lt;img" in SCHEMA._repr_html_()
