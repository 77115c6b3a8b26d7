"""One page about a fitted synthesizer: the guarantee first, then what it is good for.

:func:`report_content` gathers it as plain data, :func:`as_html` draws it as one file
that needs nothing from elsewhere, and :func:`write_page` writes both.
:func:`write_croissant` describes a synthetic file.
"""

from skdpgen.report._content import report_content
from skdpgen.report._croissant import croissant_path, write_croissant
from skdpgen.report._page import as_html, write_page
from skdpgen.report._real import beside_real, with_real

__all__ = [
    "as_html",
    "beside_real",
    "croissant_path",
    "report_content",
    "with_real",
    "write_croissant",
    "write_page",
]
