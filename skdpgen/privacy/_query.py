"""What is asked of private rows, wherever they stand: how to read them, what to sum."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from skdpgen.privacy._blocks import WIDEST, Batch, Block
from skdpgen.privacy._checked_sums import are_alike
from skdpgen.privacy._noise import random_groups
from skdpgen.utils import (
    RowsElsewhereError,
    asked,
    has_role,
    is_whole,
    refuse_unless,
    saved,
)


class Encoder(Protocol):
    """How rows become batches."""

    def batches(self, chunks: Iterable[Any]) -> Iterable[Batch]:
        """Encode rows, chunk by chunk."""


@asked("query")
@saved
@dataclass(frozen=True, eq=False)
class Query:
    """Sums over rows that are asked for: public, and answered wherever rows stand.

    *Sums of parts.* The blocks' sums are exact, so those of parts can be merged in any
    order and any tree, and have the bits of the sum over all rows at once
    (:class:`~skdpgen.privacy._exact_sum.ExactSum`). Sums carry no noise: they are as
    private as the rows.

    Parameters
    ----------
    encoder : Encoder
        From rows to batches; made of the schema and of earlier releases alone.
    blocks : mapping of str to Block
        What is summed, by the name of the part of a batch.
    n_classes : int
    """

    encoder: Encoder
    blocks: Mapping[str, Block]
    n_classes: int

    def check_asked(self) -> None:
        """Check that blocks have names of their own, and a size."""
        refuse_unless(has_role(self.encoder, "encoder"), "an encoder of tables")
        refuse_unless(is_whole(self.n_classes, 1, WIDEST), "a number of classes")
        blocks: Any = self.blocks
        refuse_unless(
            type(blocks) is dict
            and len(blocks) > 0
            and all(type(key) is str for key in blocks)
            and all(has_role(block, "block") for block in blocks.values())
            and sum(one.width for one in blocks.values()) * self.n_classes <= WIDEST,
            "blocks that parties can sum, each with a name",
        )

    def sums(self, chunks: Iterable[Any]) -> dict[str, Any]:
        """Return the sums over some rows, without noise."""
        return sum_rows(self.encoder.batches(chunks), self.blocks, self.n_classes)

    def try_out(self, chunk: Any, n_rows: int) -> None:
        """Sum public rows as private ones would be; raise for what must not happen.

        Each row is sent on once, whatever it holds: a row that came twice would count
        twice, and no block would know.
        """
        n_sent = 0

        def watched() -> Iterable[Batch]:
            nonlocal n_sent
            for batch in self.encoder.batches([chunk]):
                n_sent += len(batch.labels)
                yield batch

        totals = sum_rows(watched(), self.blocks, self.n_classes)
        if n_sent != n_rows or not are_alike(totals, self.sums(())):
            raise ValueError("A question must send each row on once.")

    def merge(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
        """Return the sums over the rows of two parts; changes neither."""
        return {
            key: block.merge(one[key], other[key]) for key, block in self.blocks.items()
        }


def totals_of(
    batches: Any, blocks: Mapping[str, Block], n_classes: int, n_minibatches: int
) -> dict[str, Any]:
    """Return sums over rows that are here, or over those that stand elsewhere."""
    elsewhere = getattr(batches, "elsewhere", None)
    if elsewhere is None:
        return sum_rows(batches, blocks, n_classes, n_minibatches)
    if n_minibatches > 1:
        raise RowsElsewhereError(
            "Rows that stand elsewhere are not cut into mini-batches. Release them as "
            "one."
        )
    return dict(elsewhere.totals(query_of(batches, blocks, n_classes)))


def query_of(batches: Any, blocks: Mapping[str, Block], n_classes: int) -> Query:
    """Return what is asked of rows that stand elsewhere."""
    return Query(batches.encoder, blocks, n_classes)


def sum_rows(
    batches: Iterable[Batch],
    blocks: Mapping[str, Block],
    n_classes: int,
    n_minibatches: int = 1,
) -> dict[str, Any]:
    """Return the sums of blocks over rows, read once; adds no noise.

    With ``n_minibatches`` those of group g start at row ``g * n_classes``.
    """
    totals = {
        key: block.start(n_classes * n_minibatches) for key, block in blocks.items()
    }
    for batch in batches:
        if batch.labels.ndim != 1:
            raise ValueError("labels must have one dimension. Got more.")
        labels = batch.labels
        if n_minibatches > 1:
            known = (labels >= 0) & (labels < n_classes)
            group = random_groups(len(labels), n_minibatches)
            labels = np.where(known, labels + n_classes * group, -1)
        for key, block in blocks.items():
            part = batch.parts.get(key)
            totals[key] = block.add(totals[key], part, labels)
    return totals
