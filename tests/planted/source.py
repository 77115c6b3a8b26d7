"""Find what a planted bug changes, wherever it is in its package, and change it.

A bug names a function, a class or a constant as ``package:qualified.name``. The file of
that package, or of a package in it, that defines the name is the one that is changed:
so a bug survives when code moves to another file. What is replaced is one expression or
a run of statements, compared as syntax trees: line breaks, indentation and comments do
not matter.
"""

import ast
import builtins
import symtable
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def planted_text(where: str, old: str, new: str) -> tuple[Path, str]:
    """Return the file that defines ``where``, and its text with ``new`` for ``old``.

    Parameters
    ----------
    where : str
        ``package:name``. The name is qualified by the classes and functions around it,
        for example ``skdpgen.privacy:Ledger.charge``.
    old, new : str
        Both are expressions, or both are statements. ``old`` must occur exactly once.

    Returns
    -------
    tuple of Path and str
        The path is relative to the root of the repository.
    """
    definitions = defined_as(where)
    before, after = fragment(old), fragment(new)
    if isinstance(before, list) or isinstance(after, list):
        before, after = statements(old), statements(new)
    places = [
        (file, run) for file, node in definitions for run in occurrences(node, before)
    ]
    if len(places) != 1:
        code = "\n\n".join(ast.unparse(node) for _, node in definitions)
        raise ValueError(
            f"This must occur once in {where}, and does {len(places)} times:\n"
            f"{textwrap.dedent(old)}\n{code or 'The package does not define the name.'}"
        )
    ((file, run),) = places
    column = run[0].col_offset
    text = textwrap.dedent(new).strip()
    text = textwrap.indent(text, " " * column).lstrip()
    if not isinstance(after, list):
        text = f"({text})"
    source = (ROOT / file).read_bytes()
    lines = source.splitlines(keepends=True)
    start = sum(map(len, lines[: first_line(run[0]) - 1])) + column
    end = sum(map(len, lines[: run[-1].end_lineno - 1])) + run[-1].end_col_offset
    return file, (source[:start] + text.encode() + source[end:]).decode()


def unknown_names(text: str) -> set[str]:
    """Return names that functions use and neither the module nor Python defines."""
    module = symtable.symtable(text, "planted", "exec")
    known = set(dir(builtins)) | {
        symbol.get_name()
        for symbol in module.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }
    used, tables = set(), module.get_children()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {s.get_name() for s in table.get_symbols() if s.is_global()}
    return used - known - {"__file__", "__name__"}


# ----------------------------------------------------------------- names and fragments


def defined_as(where: str) -> list[tuple[Path, Any]]:
    """Return the definitions of a name in its package; several for a property."""
    package, _, name = where.partition(":")
    return index(package).get(name, [])


@cache
def index(package: str) -> dict[str, list[tuple[Path, Any]]]:
    """Return by qualified name what the files of a package define, and where."""
    named: dict[str, list[tuple[Path, Any]]] = {}
    for file in sorted((ROOT / package.replace(".", "/")).rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for name, node in qualified(tree, ""):
            named.setdefault(name, []).append((file.relative_to(ROOT), node))
    return named


def qualified(node: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield functions, classes and assigned names inside a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINED):
            yield prefix + child.name, child
            yield from qualified(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield prefix + target.id, child
        elif isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from qualified(child, prefix)


def fragment(text: str) -> Any:
    """Return an expression, or else a list of statements."""
    try:
        body = statements(text)
    except SyntaxError:  # an expression with line breaks
        return ast.parse(f"({text})", mode="eval").body
    is_one = len(body) == 1 and isinstance(body[0], ast.Expr)
    return body[0].value if is_one else body


def statements(text: str) -> list[ast.stmt]:
    """Return the statements of a text, whatever its indentation."""
    return ast.parse(textwrap.dedent(text).strip()).body


def occurrences(node: Any, wanted: Any) -> Iterator[Sequence[Any]]:
    """Yield expressions or runs of statements in a node that are like those wanted."""
    if not isinstance(wanted, list):
        for one in ast.walk(node):
            if is_same(one, wanted):
                yield [one]
        return
    bodies = [[node]]
    for one in ast.walk(node):
        bodies += [part for _, part in ast.iter_fields(one) if isinstance(part, list)]
    for body in bodies:
        for start in range(len(body) - len(wanted) + 1):
            run = body[start : start + len(wanted)]
            if all(map(is_same, run, wanted)):
                yield run


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two nodes are the same code."""
    return type(one) is type(other) and ast.dump(one) == ast.dump(other)


def first_line(node: Any) -> int:
    """Return the line where a node begins, decorators included."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
