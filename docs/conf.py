"""Sphinx: builds offline, and every warning is an error (`make docs`)."""

import re
import sys
from pathlib import Path

from sphinx.util.nodes import make_refnode
from sphinx_gallery.sorting import ExplicitOrder

import skdpgen

sys.path.insert(0, str(Path(__file__).parents[1]))  # for `tests` and `docs`
from tests.planted.__main__ import table as table_of_bugs

project = "skdpgen"
author = "skdpgen developers"
copyright = author
release = skdpgen.__version__
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
suppress_warnings = ["ref.citation"]  # a module's list serves all its functions
nitpicky = True  # a name in a docstring that is linked must be documented
nitpick_ignore_regex = [
    ("py:obj", r"\w+_"),  # fitted attributes stand in the list of their class
    ("py:.*", r"(datetime|sklearn)\..*"),  # of other projects; no network is used
]

html_theme = "furo"
html_title = f"skdpgen {release}"

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# The scripts of `examples` run in each build that starts without docs/gallery.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "ignore_pattern": "train_lens",
    "within_subsection_order": ExplicitOrder(
        [
            "plot_csv.py",
            "plot_pipelines.py",
            "plot_grid_search.py",
            "plot_images.py",
            "plot_public_rows.py",
            "plot_parquet.py",
            "plot_dask.py",
            "plot_parties.py",
            "plot_own_method.py",
            "plot_certificate.py",
        ]
    ),
    "image_scrapers": ("matplotlib", "docs.gallery_figures.save_shown_figure"),
    "first_notebook_cell": "%matplotlib inline",
    "abort_on_example_error": True,
    "write_computation_times": False,
}

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types stand in the docstrings' Parameters
numpydoc_show_class_members = False  # autodoc lists them


def _unlink_references(app, what, name, obj, options, lines):
    """Leave ``[2]_`` as text where the list of references is its module's."""
    text = "\n".join(lines)
    for number in set(re.findall(r"\[(\d+)\]_", text)):
        if f".. [{number}]" not in text:
            text = text.replace(f"[{number}]_", rf"[{number}]")
    lines[:] = text.split("\n")


def _link_pages_of_the_laboratory(app, docname, source):
    """Make links to pages that are no part of this documentation downloads."""
    source[0] = re.sub(r"\]\(((?:\.\./)+benchmarks/)", r"](path:\1", source[0])


def _put_in_planted_bugs(app, docname, source):
    """Make the table of planted bugs: it is a list that builds itself."""
    if docname == "how_we_test":
        place = "<!-- table of planted bugs -->"
        source[0] = source[0].replace(place, table_of_bugs())


def _find_by_its_last_name(app, env, node, contnode):
    """Link what a docstring names by its own module, and a page by another one."""
    objects = env.get_domain("py").objects
    last = node["reftarget"].rpartition(".")[2]
    places = {
        (entry.docname, entry.node_id)
        for name, entry in objects.items()
        if name.rpartition(".")[2] == last
    }
    if node.get("refdomain") != "py" or len(places) != 1:
        return None
    (place,) = places
    return make_refnode(app.builder, node["refdoc"], *place, contnode)


def setup(app):
    app.connect("missing-reference", _find_by_its_last_name)
    app.connect("source-read", _put_in_planted_bugs)
    app.connect("source-read", _link_pages_of_the_laboratory)
    # before numpydoc, which gives each docstring's references a name of their own
    app.connect("autodoc-process-docstring", _unlink_references, priority=100)
