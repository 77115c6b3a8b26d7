"""A table or images, whole or a chunk of them, as they came in."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from skdpgen.tables._containers import read_table
from skdpgen.tables._images import ImageLayout, is_image, read_images
from skdpgen.tables._layout import Kind, Layout
from skdpgen.tables._role import PIXELS
from skdpgen.tables._values import read_values


@dataclass(frozen=True, eq=False)
class Part:
    """A table or images, as they came in."""

    source: Any
    layout: Layout | ImageLayout

    @classmethod
    def of(cls, X: Any) -> "Part":
        """Read what its dtypes are."""
        return cls(*(read_images(X) if is_image(X) else read_table(X)))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.source)

    def columns(self, layout: Layout | ImageLayout) -> dict[Any, Any]:
        """Return what can be cut into rows, read as a layout says."""
        if isinstance(layout, ImageLayout):
            return {PIXELS: self.source}
        pairs = zip(layout.names, layout.kinds, strict=True)
        return {name: read_values(self.source[name], kind) for name, kind in pairs}


def only(layout: Any, names: Collection[Any] | None) -> Any:
    """Return a layout with some columns; with the first if none is there; None: all."""
    if names is None or isinstance(layout, ImageLayout):
        return layout
    each = list(zip(layout.names, layout.kinds, layout.dtypes, strict=True))
    kept = [one for one in each if one[0] in names] or each[:1]
    names, kinds, dtypes = zip(*kept, strict=True)
    return replace(layout, names=names, kinds=kinds, dtypes=dtypes)


def check_part(here: Any, first: Any) -> None:
    """Numbers read alike whatever their dtype; text and times must not change."""
    if isinstance(here, ImageLayout) or isinstance(first, ImageLayout):
        if here != first:
            raise ValueError(
                "Every chunk of images must have the shape and dtype of the first, and "
                "its container."
            )
        return
    if here.names != first.names:
        raise ValueError("Every chunk must have the columns of the first, in order.")
    for name, kind, expected in zip(first.names, here.kinds, first.kinds, strict=True):
        if kind is not expected and {kind, expected} & {Kind.TEXT, Kind.DATETIME}:
            raise ValueError(
                f"Column {name!r} must have the kind of the first chunk, "
                f"{expected.value}. Got {kind.value}; read chunks with explicit dtypes."
            )


def are_lists(X: Any, y: Any) -> bool:
    """Say whether a dtype must be guessed, as a plain list has none."""
    return isinstance(X, list | tuple) or isinstance(y, list | tuple)
