"""Planted bugs by which public rows are a second door to the private ones."""

from tests.planted.bug import PUBLIC_ROWS, Bug, S

WHAT_PUBLIC_ROWS_LET_IN = (
    Bug(
        "private-rows-counted-as-public",
        "private rows are among those that count as public",
        S + "_dp_independent.py",
        "count_public(opening.public, cells, labels)",
        "count_public(\n"
        "                opening.public and type(opening.public)(opening.rows),\n"
        "                cells,\n"
        "                labels,\n"
        "            )",
        (PUBLIC_ROWS,),
    ),
    Bug(
        "trust-by-exact-counts",
        "public pairs are trusted as far as their cells are exactly the private ones",
        S + "opening/_public_rows.py",
        "    return replace(tables, pairs=found)\n",
        "    mine = sum(\n"
        "        part.parts[Key.COLUMNS].sum(axis=0)\n"
        "        for part in opening.rows.batches(cells, labels)\n"
        "    )\n"
        "    read = public.codes(cells, labels)\n"
        "    theirs = sum(codes.sum(axis=0) for codes, _ in read)\n"
        "    trust = 1.0 / (1.0 + np.abs(mine - theirs).mean())\n"
        "    return replace(tables, pairs=np.float32(trust) * found)\n",
        (PUBLIC_ROWS,),
    ),
    Bug(
        "number-of-rows-as-of-public",
        "public counts are scaled to the exact number of private rows",
        S + "opening/_public_rows.py",
        "    return replace(tables, pairs=found)\n",
        "    factor = np.float32(opening.rows._open.n_rows / public.n_rows)\n"
        "    return replace(tables, pairs=factor * found)\n",
        (PUBLIC_ROWS,),
    ),
)
