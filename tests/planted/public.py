"""Planted bugs by which public rows let private ones hear."""

from tests.planted.bug import Bug, S

PUBLIC = "tests/guards/test_public_rows.py::"
REPLAYED = PUBLIC + "test_a_table_is_known_by_its_releases_alone"

WHAT_PUBLIC_ROWS_DO = (
    Bug(
        "private-bins-from-private-rows",
        "what bins of numbers should hold is counted in private rows",
        S + "opening/_binning.py",
        "    counted = count_public(public, {name: line.grid}, None)\n",
        "    private = type(public)(opening.rows)\n"
        "    counted = count_public(private, {name: line.grid}, None)\n",
        (REPLAYED,),
    ),
    Bug(
        "public-columns-trusted-by-exact-counts",
        "whether values of a column are known is decided by counts without noise",
        S + "opening/_public_schema.py",
        "    counts = by_column(released, grids)\n",
        "    codes = [batch.parts[Key.COLUMNS] for batch in rows.batches(grids)]\n"
        "    tables = np.concatenate(codes).T\n"
        "    counts = {\n"
        "        name: np.bincount(mine, minlength=2)\n"
        "        for name, mine in zip(grids, tables, strict=True)\n"
        "    }\n",
        (PUBLIC + "test_noisy_counts_alone_decide_which_columns_are_trusted",),
    ),
)
