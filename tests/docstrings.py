"""Keeps docstrings of estimators in step with the texts that they share.

`python -m tests.docstrings` says which differ, and `--write` puts them right. A new
estimator may write `{verbose}` for one shared text, and `{device ... verbose}` for all
from one to another, each in a line of its own; `--write` puts the texts there.
"""

import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path

from skdpgen import all_synthesizers
from skdpgen.synthesizers.base import EmbeddingSynthesizer
from skdpgen.synthesizers.base import _documented as texts

PLACE = re.compile(r"\{(\w+)(?: \.\.\. (\w+))?\}$")
ENTRY = re.compile(r"(\w+)(?:, \w+)* : ")
CLASSES = [*all_synthesizers().values(), EmbeddingSynthesizer]


def shared_by(cls, method=None):
    """Return the shared texts of a docstring: by section, then by name."""
    if method == "fit":
        is_of_images = "images" in cls._takes
        return {"Parameters": texts.OF_FIT_OF_IMAGES if is_of_images else texts.OF_FIT}
    if method == "sample":
        return {"Parameters": texts.OF_SAMPLE, "Returns": texts.SAMPLED_ROWS}
    own = texts.OWN.get(cls.__name__, ())
    shared = {
        name: "\n".join([text, *more_of(cls, name)])
        for name, text in texts.OF_CLASS.items()
        if name not in own
    }
    return {"Parameters": shared, "Attributes": shared}


def more_of(cls, name):
    """Return what an estimator says beside a shared text, as lines; often none."""
    more = texts.BESIDES.get((cls.__name__, name))
    return [] if more is None else [textwrap.indent(more, "    ")]


def in_step(lines, shared):
    """Return the lines of a docstring with shared texts as they are now."""
    section, indent, found, position = None, "", [], 0
    while position < len(lines):
        line = lines[position]
        title = line.strip()
        below = lines[position + 1].strip() if position + 1 < len(lines) else ""
        if title and below and set(below) == {"-"}:
            section, indent = title, line[: len(line) - len(line.lstrip())]
            found += lines[position : position + 2]
            position += 2
            continue
        known = shared.get(section, {})
        here = line[len(indent) :] if line.startswith(indent) else ""
        place, entry = PLACE.match(here), ENTRY.match(here)
        end = position + 1
        if title and section:
            while end < len(lines) and lines[end].startswith(indent + " "):
                end += 1
        if known and place:
            if end > position + 1:
                raise ValueError(
                    f"What follows {here} belongs into BESIDES: {lines[end]}"
                )
            names = list(known)
            first, last = place[1], place[2] or place[1]
            chosen = names[names.index(first) : names.index(last) + 1]
            found += indented([known[name] for name in chosen], indent)
        elif entry and entry[1] in known:
            found += indented([known[entry[1]]], indent)
        else:
            found += lines[position:end]
        position = end
    return found


def indented(parts, indent):
    return textwrap.indent("\n".join(parts), indent).split("\n")


def docstrings_of(cls):
    """Return the line numbers of docstrings of a class, and what they share."""
    tree = ast.parse(Path(inspect.getsourcefile(cls)).read_text("utf-8"))
    (node,) = [n for n in tree.body if getattr(n, "name", "") == cls.__name__]
    methods = [n for n in node.body if getattr(n, "name", "") in ("fit", "sample")]
    for part in (node, *methods):
        text = part.body[0].value
        shared = shared_by(cls, None if part is node else part.name)
        yield part.name, text.lineno - 1, text.end_lineno, shared


def source_in_step(cls):
    """Return the lines of a file as they are and as they should be."""
    lines = Path(inspect.getsourcefile(cls)).read_text("utf-8").split("\n")
    right = list(lines)
    for _, start, end, shared in reversed(list(docstrings_of(cls))):
        right[start:end] = in_step(lines[start:end], shared)
    return lines, right


def main(*options):
    """Say which files differ from the shared texts, or write them; return how many."""
    wrong = 0
    for cls in CLASSES:
        lines, right = source_in_step(cls)
        if lines == right:
            continue
        wrong += 1
        path = inspect.getsourcefile(cls)
        if "--write" in options:
            Path(path).write_text("\n".join(right), "utf-8")
        print("Wrote" if "--write" in options else "Differs:", path)
    return 0 if "--write" in options else wrong


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
