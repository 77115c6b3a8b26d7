"""The report as one HTML file."""

import base64
import json
import math
import re
from collections.abc import Mapping
from datetime import datetime, time
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from skdpgen.utils import (
    Rows,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ----------------------------------------------------------------------------
# Figures as text that a page can hold.

MOST_CLASSES = 20


def picture_of(figure: "Figure") -> str:
    """Return a figure as the address of a picture that holds it."""
    file = BytesIO()
    figure.savefig(
        file,
        format="png",
        dpi=100,
        facecolor="white",
        bbox_inches="tight",
        pil_kwargs={"optimize": True},
    )
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def picture_of_images(rows: Rows) -> str:
    """Draw some images, a row for each of up to 20 classes."""
    from skdpgen.plotting import plot_images

    images: Any = rows[0] if isinstance(rows, tuple) else rows
    if not isinstance(rows, tuple):
        return picture_of(plot_images(images[:100]))
    y = np.asarray(rows[1])
    shown = np.isin(y, np.unique(y)[:MOST_CLASSES])
    return picture_of(plot_images(images[shown], y[shown]))


# ----------------------------------------------------------------------------
# The report as one HTML file.

TEMPLATE = "page.html.jinja"
PUNCTUATION = re.compile(r"(?<=\w[_/-])(?=\w)|(?<=\w\.)(?=[^\W\d])")
PERCENT = "\xa0%"  # lines do not break before the sign
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def as_html(content: Mapping[str, Any]) -> str:
    """Return the page of :func:`report_content`: no network, light, dark and print.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.report import report_content
    >>> from skdpgen.synthesizers import DPIndependentSynthesizer
    >>> synthesizer = DPIndependentSynthesizer(1.0).fit(load_example(2000)[0])
    >>> "://" in as_html(report_content(synthesizer))
    False
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,  # column names may hold HTML
        undefined=StrictUndefined,  # a misspelt entry raises, and is not left blank
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["percent"] = _percent
    templates.filters["range"] = _range
    templates.filters["breakable"] = breakable
    templates.filters["date"] = readable_date
    templates.filters["plain"] = _plain
    return templates.get_template(TEMPLATE).render(content)


def write_page(content: Mapping[str, Any], path: str | Path) -> None:
    """Write the page, and what it says as data beside it, without the pictures.

    Parameters
    ----------
    content : mapping
        Of :func:`report_content`.
    path : str or Path
        An ``.html`` file; the data are in a ``.json`` file of the same name.
    """
    path = Path(path)
    if path.suffix != ".html":
        raise ValueError(f"path must be an .html file. Got {str(path)!r}.")
    path.write_text(as_html(content), encoding="utf-8")
    real = content["real"]
    data = {**content, "real": None if real is None else _without_pictures(real)}
    text = json.dumps(_without_pictures(data), indent=2, default=str)
    path.with_suffix(".json").write_text(text, encoding="utf-8")


def _without_pictures(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != "figures"}


def readable_date(value: Any) -> str:
    """Write a date as people do; the time only where it is not midnight.

    Examples
    --------
    >>> readable_date("2026-11-25"), readable_date("2026-11-25T20:41:36.239282")
    ('25 November 2026', '25 November 2026, 20:41:36')
    """
    moment = datetime.fromisoformat(str(value))
    day = f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"
    zone = "" if moment.tzinfo is None else f" {moment.tzname()}"
    if moment.time().replace(microsecond=0) == time():
        return day + zone
    clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    return f"{day}, {clock}{zone}"


def breakable(name: str) -> Markup:
    """Return a name for the page that may break behind its punctuation.

    Examples
    --------
    >>> str(breakable("last_seen<b>"))
    'last_<wbr>seen&lt;b&gt;'
    """
    parts = [escape(part) for part in PUNCTUATION.split(str(name))]
    return Markup("<wbr>").join(parts)  # all parts are escaped


def _plain(value: float) -> str:
    """Write a small number without an exponent.

    Examples
    --------
    >>> _plain(1e-05), _plain(0.0)
    ('0.00001', '0')
    """
    return f"{value:.15f}".rstrip("0").rstrip(".")


def _range(share: Mapping[str, float] | None) -> str:
    r"""Write a range of shares in whole percent, rounded outwards.

    Examples
    --------
    >>> _range({"low": 0.081, "high": 0.109}), _range({"low": 0.0, "high": 0.02})
    ('8 to 11\xa0%', 'at most 2\xa0%')
    """
    if share is None:
        return ""
    low = math.floor(round(100 * share["low"], 6))
    high = math.ceil(round(100 * share["high"], 6))
    if not low:
        return f"at most {high}{PERCENT}"
    return f"{low if low == high else f'{low} to {high}'}{PERCENT}"


def _percent(share: float | None, digits: int = 0) -> str:
    r"""Return a share in percent; nothing where there is none.

    Examples
    --------
    >>> _percent(0.731), _percent(0.0004), _percent(None)
    ('73\xa0%', '<1\xa0%', '')
    """
    if share is None:
        return ""
    if 0 < share < 0.5 * 10.0 ** (-2 - digits):
        return f"<{10.0**-digits:.{digits}f}{PERCENT}"
    return f"{100 * share:.{digits}f}{PERCENT}"
