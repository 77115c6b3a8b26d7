"""The report as one HTML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

TEMPLATE = "page.html.jinja"


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

    room = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    room.filters["percent"] = _percent
    return room.get_template(TEMPLATE).render(content)


def _percent(share: float | None, digits: int = 0) -> str:
    """Return a share in percent; nothing where there is none.

    Examples
    --------
    >>> _percent(0.731), _percent(0.0004), _percent(None)
    ('73 %', '<1 %', '')
    """
    if share is None:
        return ""
    if 0 < share < 0.5 * 10.0 ** (-2 - digits):
        return f"<{10.0**-digits:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"
