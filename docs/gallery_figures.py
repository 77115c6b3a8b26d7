"""Figures of the gallery that pyplot does not know: those of `skdpgen.plotting`."""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def save_shown_figure(block: Any, variables: dict[str, Any], conf: Any) -> str:
    """Save the figure that the last line of a cell shows, as a notebook would.

    sphinx-gallery calls this after each cell. It keeps the value of the last line under
    the name ``___``.
    """
    names = variables["example_globals"]
    figure = names.get("___")
    if not isinstance(figure, Figure):
        return ""
    names["___"] = None  # not again as text, nor after the next cell
    path = next(variables["image_path_iterator"])
    figure.savefig(path)
    return figure_rst([path], conf["src_dir"])
