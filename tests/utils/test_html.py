import pytest

from skdpgen.utils import html

WILD = "<script>alert('&\"')</script>"


@pytest.mark.parametrize(
    "made",
    [
        html.tag("p", WILD),
        html.tag("p", "x", kind=WILD, style=WILD),
        html.bar(0.5, WILD),
        html.folded(WILD, WILD),
        html.bullets([WILD]),
        html.joined([WILD]),
        html.block(WILD),
        html.table([WILD], [[WILD]]),
        html.tag("p", html.shortened(WILD, 20)),
        html.tag("p", html.listed([WILD, WILD], 90)),
    ],
)
def test_text_is_never_a_tag(made):
    assert "<script" not in made
    assert "'&\"" not in made


def test_html_is_not_escaped_twice():
    assert html.tag("p", html.tag("b", "&")) == "<p><b>&amp;</b></p>"


def test_long_tables_and_lists_say_how_much_is_left():
    assert "and 960 more" in html.table(["i"], [[i] for i in range(1000)])
    assert "and 960 more" in html.bullets(range(1000))
    assert "more" not in html.table(["i"], [[i] for i in range(html.MOST_ROWS)])


def test_a_bar_stays_within_its_frame():
    assert "width:100.0%" in html.bar(1.3)
    assert "width:0.0%" in html.bar(-0.2)
    assert html.bar(-0.2).endswith("-20.0%</span>")


def test_values_are_in_one_line():
    assert html.shortened("a\n b\t\tc") == "a b c"
    assert html.listed([]) == ""
