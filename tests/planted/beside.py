"""Planted bugs by which public rows are a second door to the private ones."""

from tests.planted.bug import PUBLIC_ROWS, Bug

WHAT_PUBLIC_ROWS_LET_IN = (
    Bug(
        "private-rows-counted-as-public",
        "private rows are among those that count as public",
        "skdpgen.synthesizers:DPIndependentSynthesizer.fit",
        "count_public(opening.public, cells, labels)",
        """
            count_public(
                            opening.public and type(opening.public)(opening.rows),
                            cells,
                            labels,
                        )
        """,
        (PUBLIC_ROWS,),
    ),
    Bug(
        "trust-by-exact-counts",
        "public pairs are trusted as far as their cells are exactly the private ones",
        "skdpgen.synthesizers.opening:count_public_pairs",
        "return replace(tables, pairs=counts)",
        """
            column_codes = sum(
                part.parts[Key.COLUMNS].sum(axis=0)
                for part in opening.rows.batches(cells, labels)
            )
            read = public.codes(cells, labels)
            theirs = sum(codes.sum(axis=0) for codes, _ in read)
            trust = 1.0 / (1.0 + np.abs(column_codes - theirs).mean())
            return replace(tables, pairs=np.float32(trust) * counts)
        """,
        (PUBLIC_ROWS,),
    ),
    Bug(
        "number-of-rows-as-of-public",
        "public counts are scaled to the exact number of private rows",
        "skdpgen.synthesizers.opening:count_public_pairs",
        "return replace(tables, pairs=counts)",
        """
            factor = np.float32(opening.rows._open.n_rows / public.n_rows)
            return replace(tables, pairs=factor * counts)
        """,
        (PUBLIC_ROWS,),
    ),
)
