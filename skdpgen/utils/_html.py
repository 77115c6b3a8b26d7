"""HTML for notebooks: all text is escaped; no scripts, nothing from elsewhere.

Column names and categories may hold anything, so the only way to a tag is :func:`tag`,
and anything that is not :class:`Html` is text. Colors are those of the notebook, light
or dark: text inherits its color, lines and fills are half transparent.
"""

import html
from collections.abc import Iterable, Sequence

MOST_CHARACTERS = 60  # of a text in a cell
MOST_ROWS = 40  # of a table

STYLE = """
.skdpgen{font-size:13px;line-height:1.5;max-width:70em;margin:.5em 0}
.skdpgen p{margin:.2em 0}
.skdpgen table{border-collapse:collapse;margin:.4em 0;color:inherit}
.skdpgen th,.skdpgen td{text-align:left;padding:.1em .8em .1em 0;
background:none;border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top}
.skdpgen th{font-weight:600}
.skdpgen .whole{white-space:nowrap}
.skdpgen summary{cursor:pointer}
.skdpgen .alarm{color:#e5484d;font-weight:600}
.skdpgen .faint{opacity:.7}
.skdpgen .bar{display:inline-block;width:8em;height:.7em;margin-right:.5em;
background:rgba(128,128,128,.2)}
.skdpgen .bar span{display:block;height:100%;background:rgba(66,133,244,.75)}
"""


class Html(str):
    """Text that is HTML already; everything else is escaped."""

    __slots__ = ()


def tag(
    name: str, *content: object, kind: str | None = None, style: str | None = None
) -> Html:
    """Return an element; content that is not :class:`Html` is escaped.

    Parameters
    ----------
    name : str
        Of the element.
    *content : object
        What is in it; ``str`` of it.
    kind, style : str or None, default=None
        Its attributes ``class`` and ``style``.

    Examples
    --------
    >>> tag("b", "a < b", tag("i", "c"))
    '<b>a &lt; b<i>c</i></b>'
    """
    attributes = "".join(
        f' {key}="{html.escape(value)}"'
        for key, value in (("class", kind), ("style", style))
        if value is not None
    )
    inside = "".join(map(_escaped, content))
    return Html(f"<{name}{attributes}>{inside}</{name}>")


def _escaped(part: object) -> str:
    return part if isinstance(part, Html) else html.escape(str(part))


def joined(parts: Iterable[object]) -> Html:
    """Return several parts as one.

    Examples
    --------
    >>> joined([tag("b", 1), "<"])
    '<b>1</b>&lt;'
    """
    return Html("".join(map(_escaped, parts)))


def block(*content: object) -> Html:
    """Return a whole output of a notebook, with its style."""
    style = Html(STYLE.replace("\n", ""))
    return tag("div", tag("style", style), *content, kind="skdpgen")


def table(
    head: Sequence[object],
    rows: Sequence[Sequence[object]],
    *,
    n_left: int | None = None,
) -> Html:
    """Return a table; of many rows the first ones, and how many more there are.

    Parameters
    ----------
    head : sequence
        Titles of the columns.
    rows : sequence of sequences
    n_left : int or None, default=None
        Rows that are not shown; None is those beyond the first 40.
    """
    shown = rows[:MOST_ROWS]
    n_left = len(rows) - len(shown) if n_left is None else n_left
    titles = tag("tr", *(tag("th", title) for title in head))
    lines = [tag("tr", *(tag("td", cell) for cell in row)) for row in shown]
    found = tag("table", tag("thead", titles), tag("tbody", *lines))
    if not n_left:
        return found
    return joined([found, tag("p", f"and {n_left} more", kind="faint")])


def bar(share: float, text: str | None = None) -> Html:
    """Return a share between 0 and 1 as a bar, and in percent.

    Examples
    --------
    >>> "25.0%" in bar(0.25)
    True
    """
    width = 100.0 * min(max(share, 0.0), 1.0)
    filled = tag("span", style=f"width:{width:.1f}%")
    shown = f"{share:.1%}" if text is None else text
    return tag("span", tag("span", filled, kind="bar"), shown, kind="whole")


def folded(title: object, *content: object) -> Html:
    """Return content that opens with a click on its title."""
    return tag("details", tag("summary", title), *content)


def bullets(lines: Sequence[object]) -> Html:
    """Return a list; of many lines the first ones."""
    shown = [tag("li", line) for line in lines[:MOST_ROWS]]
    if len(lines) > MOST_ROWS:
        shown.append(tag("li", f"and {len(lines) - MOST_ROWS} more"))
    return tag("ul", *shown)


def shortened(value: object, most: int = MOST_CHARACTERS) -> str:
    """Return a value as text in one line, cut where it is long.

    Examples
    --------
    >>> shortened("a" * 100, 5)
    'aaaa…'
    """
    text = " ".join(str(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(values: Sequence[object], most: int = MOST_CHARACTERS) -> str:
    """Return the first values of a list, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b"]), listed(range(100), 12)
    ('a, b', '0, … (100)')
    """
    texts = [shortened(value, most) for value in values[:most]]
    whole = ", ".join(texts)
    if len(texts) == len(values) and len(whole) <= most:
        return whole
    ending = f", … ({len(values)})"
    shown: list[str] = []
    length = len(ending)
    for text in texts:
        length += len(text) + 2
        if shown and length > most + 2:
            break
        shown.append(text)
    return ", ".join(shown) + ending
