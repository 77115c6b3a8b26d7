"""Planted bugs by which public rows let private ones hear."""

from tests.planted.bug import Bug

PUBLIC = "tests/guards/test_public_rows.py::"
REPLAYED = PUBLIC + "test_a_table_is_known_by_its_releases_alone"

WHAT_PUBLIC_ROWS_DO = (
    Bug(
        "private-bins-from-private-rows",
        "what bins of numbers should hold is counted in private rows",
        "skdpgen.synthesizers.opening:_public_counts",
        "tables = count_public(public, {name: line.grid}, None)",
        """
            private = type(public)(opening.rows)
            tables = count_public(private, {name: line.grid}, None)
        """,
        (REPLAYED,),
    ),
    Bug(
        "public-columns-trusted-by-exact-counts",
        "whether values of a column are known is decided by counts without noise",
        "skdpgen.synthesizers.opening:accepted_columns",
        "counts = by_column(released, grids)",
        """
            codes = [batch.parts[Key.COLUMNS] for batch in rows.batches(grids)]
            tables = np.concatenate(codes).T
            counts = {
                name: np.bincount(mine, minlength=2)
                for name, mine in zip(grids, tables, strict=True)
            }
        """,
        (PUBLIC + "test_noisy_counts_alone_decide_which_columns_are_trusted",),
    ),
)
