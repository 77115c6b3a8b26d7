"""What estimators learn about a table before the main release, and what it costs."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skdpgen.privacy import (
    Counts,
    Histograms,
    Ledger,
    OneHot,
    Selections,
    release,
    sensitivity,
)
from skdpgen.synthesizers.opening._column_kinds import Unknown, look_at_kinds
from skdpgen.synthesizers.opening._earlier import Seen
from skdpgen.synthesizers.opening._shares import by_column, share_for
from skdpgen.tables import (
    TARGET,
    Boolean,
    Categorical,
    Column,
    Datetime,
    Drop,
    Integer,
    Kind,
    MagnitudeCells,
    Numeric,
    Regenerate,
    Rows,
    discovered_column,
    leans_to_both_signs,
    with_hint,
)
from skdpgen.utils import Key, SchemaRequiredError

LEFT_OUT = (Drop, Regenerate)
COUNT_SHARE = 0.01  # add/remove only: how many rows there are
SCHEMA_SHARES = (0.05, 0.4)  # of mu², at least and at most
TEXT_SHARES = (0.2, 0.35)  # with columns of text: what is not found is lost
STANDS_OUT = 4.5  # noise stds at which a value surely shows
SCHEMA_STD = 1 / 64  # of the rows: the noise that discovery aims at
TEXT_STD = 1 / 280  # that finds nearly all values that 3 % of the rows have

ROWS_COUNTED = "number of rows"  # its line in the certificate


def count_rows(rows: Rows, ledger: Ledger) -> float:
    """Release the number of rows, where it is private."""
    sums = rows.beforehand
    released = release(
        rows.batches({}) if sums is None else (),
        {Key.ROWS: Counts() if sums is None else sums.counts(Key.ROWS)},
        name=ROWS_COUNTED,
        ledger=ledger,
        share=COUNT_SHARE,
    )
    return max(float(released.values[Key.ROWS][0, 0]), 2.0)


def discover_columns(
    rows: Rows,
    kinds: Mapping[Any, Kind],
    known: Mapping[Any, Column],
    ledger: Ledger,
    n_rows: float,
    other: str,
) -> tuple[dict[Any, Column], Unknown, dict[Any, Seen]]:
    """Describe every column; those not known share joint releases.

    Also returns what the columns turned out to hold, and counts of values by column.
    """
    seen: dict[Any, Seen] = {}
    unknown = Unknown.of(kinds, known)
    found: dict[Any, Column] = {
        name: Boolean() for name, kind in kinds.items() if kind is Kind.BOOLEAN
    }
    found |= known
    if len(unknown):
        check_feasible(unknown, n_rows, ledger)
        unknown = look_at_kinds(rows, unknown, ledger, n_rows)
        found |= {name: Boolean() for name in unknown.truths}
        if not _is_anything_left(kinds, known, unknown):
            texts = (*unknown.texts, *unknown.identifiers)
            unknown = replace(unknown, texts=texts, identifiers=())
        found |= {name: _written_anew(name) for name in unknown.identifiers}
        rows.read_as(unknown.written)
    if len(unknown):
        columns, seen, leaning = _release_columns(rows, unknown, ledger, n_rows, other)
        found |= columns
        unknown = replace(unknown, leaning=leaning)
    return {name: found[name] for name in kinds}, unknown, seen


def _is_anything_left(
    kinds: Mapping[Any, Kind], known: Mapping[Any, Column], unknown: Unknown
) -> bool:
    """Say whether a column is learnt if identifiers are not."""
    left_out = {*unknown.identifiers, TARGET}
    left_out |= {n for n, column in known.items() if isinstance(column, LEFT_OUT)}
    return not set(kinds) <= left_out


def _release_columns(
    rows: Rows, unknown: Unknown, ledger: Ledger, n_rows: float, other: str
) -> tuple[dict[Any, Column], dict[Any, Seen], tuple[Any, ...]]:
    """Release magnitudes of numbers and values of text at once.

    Values of text are worth a larger share than magnitudes, whose histograms weigh less
    then, so that numbers have no more noise than they would have by themselves.
    """
    grids = {name: MagnitudeCells(kind) for name, kind in unknown.numbers.items()}
    blocks: dict[str, Any] = {}
    if grids:
        blocks[Key.COLUMNS] = Histograms(tuple(g.n_cells for g in grids.values()))
    if unknown.texts:
        blocks[Key.TOKENS] = Selections(unknown.texts)
    share = schema_share(unknown, n_rows, ledger)
    weight = math.sqrt(_share_of_numbers(unknown, n_rows, ledger) / share)
    released = release(
        rows.batches(grids, tokens=unknown.texts),
        blocks,
        weights={Key.COLUMNS: weight} if grids else None,
        name=f"bounds and categories of {len(unknown)} columns",
        ledger=ledger,
        share=share,
    )
    found: dict[Any, Column] = {}
    leaning = []
    for name, counts in by_column(released, grids).items():
        std = released.noise_std[Key.COLUMNS]
        kind = grids[name].kind
        column = discovered_column(counts, std, kind, len(unknown), n_rows)
        if column is None:
            column = _without_size(kind, is_missing=counts[-1] > 0.5 * n_rows)
        if name in unknown.written:
            column = with_hint(column, unknown.written[name])
        elif name in unknown.parsed and isinstance(column, Integer | Numeric):
            column = replace(column, parse=True)
        found[name] = column
        if leans_to_both_signs(counts, std, kind):
            leaning.append(name)
    seen: dict[Any, Seen] = {}
    for name in unknown.texts:
        shown = released.values[Key.TOKENS][name]
        found[name] = Categorical(list(shown), other=other)
        seen[name] = shown, released.noise_std[Key.TOKENS]
    return found, seen, tuple(leaning)


def _without_size(kind: Kind, *, is_missing: bool) -> Column:
    """Return what is said of a column whose magnitudes were all lost in the noise."""
    if is_missing:
        return Categorical([])
    if kind is Kind.DATETIME:
        return Datetime("2000-01-01", "2000-01-01", whole_days=True)
    return Integer(0, 0)


def _written_anew(name: Any) -> Regenerate:
    """Return how identifiers are written: their column's name and a number."""
    text = str(name).replace("{", "{{").replace("}", "}}")
    return Regenerate(text + "-{i}")


def schema_share(unknown: Unknown, n_rows: float, ledger: Ledger) -> float:
    """Return the share of mu² that bounds and categories get; by public quantities."""
    share = _share_of_numbers(unknown, n_rows, ledger)
    if not unknown.texts:
        return share
    structure = OneHot(len(unknown))
    return max(share, share_for(structure, n_rows * TEXT_STD, ledger, TEXT_SHARES))


def _share_of_numbers(unknown: Unknown, n_rows: float, ledger: Ledger) -> float:
    """Return the share of mu² that bounds of as many columns of numbers would get."""
    structure = OneHot(len(unknown))
    return share_for(structure, n_rows * SCHEMA_STD, ledger, SCHEMA_SHARES)


def check_feasible(unknown: Unknown, n_rows: float, ledger: Ledger) -> None:
    """Raise where public quantities show that discovery cannot work."""
    if not len(unknown):
        return
    share = schema_share(unknown, n_rows, ledger)
    delta = sensitivity(OneHot(len(unknown)), ledger.budget.adjacency)
    needed = STANDS_OUT * ledger.noise_std(share=share, sensitivity=delta)
    if needed > n_rows / 2:
        raise SchemaRequiredError(
            f"Private discovery of {len(unknown)} columns needs values that "
            f"{math.ceil(needed)} of the rows share, which is more than half of "
            f"{math.floor(n_rows)} rows at epsilon={ledger.budget.epsilon:g}. Give a "
            "schema of public knowledge: start from `Schema.template(X)` and fill in "
            "bounds and categories."
        )
