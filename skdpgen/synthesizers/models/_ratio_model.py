"""Public items with weights, drawn again as synthetic rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.synthesizers.models._decoding import (
    decode_target,
    ordered_categories,
    systematic,
)
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import (
    Categorical,
    Drop,
    Regenerate,
    in_zone,
    regenerate,
    restore_table,
    zone_of,
)
from skdpgen.utils import saved

# ----------------------------------------------------------------------------
# Public rows in the form in which they are kept and drawn again.


@saved("public.items")
@dataclass(frozen=True, eq=False)
class PublicItems:
    """Public rows of a table, or public images, in their own order.

    Parameters
    ----------
    columns : mapping of name to (ndarray, ndarray)
        Which of its different values each row has, -1 for a missing one; and these.
        Empty for images.
    pixels : ndarray of shape (n, n_pixels) or None
    target : ndarray of shape (n,) or None
        Numbers of a regression, where public rows have them; times of a zone in UTC.
    """

    columns: Mapping[Any, tuple[NDArray[np.int32], Any]]
    pixels: Any = None
    target: Any = None

    @classmethod
    def of_table(cls, frame: pd.DataFrame, target: Any = None) -> "PublicItems":
        """Keep a table; times with a zone in UTC."""
        columns = {}
        for name in frame.columns:
            column = frame[name]
            column = in_zone(column, None)
            if isinstance(column.dtype, pd.DatetimeTZDtype):
                column = column.dt.tz_convert(None)
            places, values = pd.factorize(column)
            columns[name] = places.astype(np.int32), np.asarray(values)
        return cls(columns, target=target)

    def take(self, rows: NDArray[np.intp], facts: Facts, container: str | None) -> Any:
        """Return some rows in the container and dtypes of X; rows may repeat."""
        layout: Any = facts.layout
        if self.pixels is not None:
            return layout.restore(self.pixels[rows])
        columns, categories = {}, {}
        dtypes = dict(zip(layout.names, layout.dtypes, strict=True))
        for name, column in facts.schema.columns.items():
            if isinstance(column, Regenerate):
                columns[name] = regenerate(column, len(rows))
            elif not isinstance(column, Drop):
                places, values = self.columns[name]
                values = pd.Series(values).reindex([*range(len(values)), -1])
                values = values.iloc[places[rows]].reset_index(drop=True)
                if zone_of(dtypes[name]) is not None and values.dtype.kind == "M":
                    values = values.dt.tz_localize("UTC")
                columns[name] = values
            if isinstance(column, Categorical):
                listed = ordered_categories(facts, name, column.categories or ())
                categories[name] = _with_public(listed, self.columns[name][1])
        return restore_table(layout, columns, categories, container)

    def take_target(self, rows: NDArray[np.intp], facts: Facts) -> Any:
        """Return numbers of some rows in the container and dtype of y."""
        values = pd.Series(self.target[rows])
        assert facts.target_layout is not None
        if zone_of(facts.target_layout.dtypes[0]) is not None:
            values = values.dt.tz_localize("UTC")
        return decode_target(facts, values)


def _with_public(listed: Sequence[Any], public: Any) -> tuple[Any, ...]:
    """Return categories as public rows have them (10 instead of "10"), then others."""
    by_text = {str(value): value for value in pd.Series(public)}
    known = [by_text.pop(str(category), category) for category in listed]
    return (*known, *by_text.values())


# ----------------------------------------------------------------------------
# Public items with a weight for each class.

Floats = NDArray[np.float64]


@saved("model.ratio")
@dataclass(frozen=True, eq=False)
class RatioModel:
    """Draws public items as often as private rows are like them.

    Parameters
    ----------
    items : PublicItems
    weights : ndarray of shape (n_items, n_classes)
        Sum to 1.
    shares : ndarray of shape (n_classes,)
        Share of each class in samples, independently of the weights.
    """

    items: PublicItems
    weights: Floats
    shares: Floats

    has_relations = True

    def draw(
        self,
        labels: NDArray[np.integer[Any]],
        *,
        is_replacing: bool,
        rng: Generator,
        names: Sequence[str],
    ) -> NDArray[np.intp]:
        """Return the item for each label.

        With replacement, the number of draws of an item differs from its expectation by
        less than one. Without, heavy items are more likely to be drawn. Errors name a
        label by ``names``.
        """
        rows = np.empty(len(labels), dtype=np.intp)
        is_unused = np.ones(len(self.weights), dtype=bool)
        for label in np.unique(labels):
            of_label = np.flatnonzero(labels == label)
            weights = self.weights[:, label] * (1.0 if is_replacing else is_unused)
            n_available = int((weights > 0).sum())
            if not self.weights[:, label].any():
                raise ValueError(
                    f"Asked for {len(of_label)} rows with {names[label]}, and no "
                    "public row has it. Draw rows of labels that public rows have, or "
                    "add public rows."
                )
            if not is_replacing and len(of_label) > n_available:
                raise ValueError(
                    f"Asked for {len(of_label)} rows with {names[label]}, and public "
                    f"rows have {n_available} that are not drawn yet. Draw fewer, or "
                    "with `replace=True`."
                )
            if is_replacing:
                chosen = systematic(weights, len(of_label), rng=rng)
            else:  # weighted sampling without replacement: the smallest times win
                with np.errstate(divide="ignore"):
                    times = rng.exponential(size=len(weights)) / weights
                chosen = np.argpartition(times, len(of_label) - 1)[: len(of_label)]
                is_unused[chosen] = False
            rows[of_label] = rng.permutation(chosen)
        return rows
