"""NIST's table national2019: our releases beside those of its research cycle.

All 27,253 rows are fitted, and releases are compared with the same rows, as the cycle
does. ``results/nist`` has our rows and what NIST prints; the page is ``nist.md``. Peers
fit the same columns, coded, with the target as one more column.
"""

import json
import multiprocessing
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.discovery import public_schema
from benchmarks.peers import METHODS as PEERS
from benchmarks.peers import Other, Peer, python_of
from skdpgen.benchmark._measure_cell import peak_mib, versions
from skdpgen.benchmark._result_tables import markdown
from skdpgen.metrics import (
    detection_auc,
    k_marginal_score,
    pmse,
    rule_violations,
    total_variation,
)
from skdpgen.synthesizers import all_synthesizers

PLACE = Path(__file__).parent / "results" / "nist"
PAGE = Path(__file__).parent / "nist.md"
FILE, DECILE, STRATUM = "acs_nist_national2019.csv.gz", "PINCP_DECILE", "PUMA"
FOCUS = "none, focus PUMA"  # no column; rows are counted by PUMA
ALONE = "none"  # no column, no focus
TARGETS = (DECILE, STRATUM, FOCUS, ALONE)  # which column is fitted as y
# of SDNist: numbers in 20 bins, and codes among them. A code of 264 industries is in no
# pair, in the version that printed the scores of sub-samples of 24 columns.
BINNED = {"AGEP": (), "PINCP": (), "POVPIP": ("501",), "PWGTP": (), "WGTP": ()}
LEFT_OUT = "INDP"
# the columns that the cycle recommends
COLUMNS = {
    "all, 24": "PUMA AGEP SEX MSP HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT DENSITY "
    "INDP INDP_CAT EDU PINCP POVPIP DVET DREM DPHY DEYE DEAR PWGTP WGTP PINCP_DECILE",
    "simple, 21": "PUMA AGEP SEX MSP HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT "
    "DENSITY INDP_CAT EDU PINCP POVPIP DVET DREM DPHY DEYE DEAR PINCP_DECILE",
    "demographic, 10": "AGEP SEX MSP RAC1P HOUSING_TYPE OWN_RENT EDU DVET DEYE "
    "PINCP_DECILE",
}
WITH_INDUSTRY = "all, 24, INDP in pairs"  # as SDNist 2.5 scores them
METHODS = ("DPIndependentSynthesizer", "DPPairwiseSynthesizer")
SCHEMAS = ("public", "discovered")
N_RELEASES, EPSILON, DELTA = 3, 1.0, 1e-5
SHARES, N_DRAWS = (0.01, 0.05, 0.2, 0.4), 10
# Beside peers: what is run, the column that is fitted as y, and releases. Peers treat y
# as any other column, so one is enough for them.
BESIDE_PEERS = {
    "mst": ((STRATUM,), 1),
    "DPIndependentSynthesizer": ((STRATUM, DECILE), N_RELEASES),
    "DPPairwiseSynthesizer": ((STRATUM, DECILE), N_RELEASES),
    "aim": ((STRATUM,), 1),
}
LIMIT = 1200.0  # seconds of a release beside peers, with its scores
# SDNist's inconsistencies, each as what holds in a right row. Left out are child_NOC,
# which 2,721 real rows break, and those that compare numbers written beside "N".
RULES = {
    "child_DVET": "AGEP >= 15 or DVET == 'N'",
    "child_MSP": "AGEP >= 15 or MSP == 'N'",
    "child_PINCP": "AGEP >= 15 or PINCP == 'N'",
    "child_PINCP_DECILE": "AGEP >= 15 or PINCP_DECILE == 'N'",
    "child_INDP": "AGEP >= 15 or INDP == 'N'",
    "child_INDP_CAT": "AGEP >= 15 or INDP_CAT == 'N'",
    "child_phd": "AGEP >= 15 or EDU != '12'",
    "toddler_DPHY": "AGEP >= 5 or DPHY == 'N'",
    "toddler_DREM": "AGEP >= 5 or DREM == 'N'",
    "toddler_diploma": "AGEP >= 5 or EDU in ('N', '1', '2', '3', '4')",
    "infant_EDU": "AGEP >= 3 or EDU == 'N'",
    "invalid_INDP_CAT": "(INDP == 'N') == (INDP_CAT == 'N')",
    "gq_h_family_NOC": "HOUSING_TYPE == 1 or NOC == 'N'",
    "gq_h_family_NPF": "HOUSING_TYPE == 1 or NPF == 'N'",
    "gq_own_jail": "HOUSING_TYPE != 2 or OWN_RENT == 0",
    "gq_own_dorm": "HOUSING_TYPE != 3 or OWN_RENT == 0",
    "house_OWN_RENT": "HOUSING_TYPE != 1 or OWN_RENT != 0",
    "house_NOC": "HOUSING_TYPE != 1 or NOC != 'N'",
}
MARKED = re.compile(r"(?ms)^<!-- nist:([\w.-]+) -->\n.*?^<!-- /nist -->")


def read_table(folder: Path) -> pd.DataFrame:
    """Read the rows, with "N" as the text that it is."""
    table = pd.read_csv(folder / FILE, keep_default_na=False)
    return table.rename(columns={"target": DECILE})


def nist_score(
    real: pd.DataFrame, synthetic: pd.DataFrame, *, with_industry: bool = False
) -> float:
    """Return the k-marginal score of SDNist for columns of this table."""
    is_left_out = LEFT_OUT in real and not with_industry
    return k_marginal_score(
        real,
        synthetic,
        stratum=STRATUM if STRATUM in real else None,
        leave_out=[LEFT_OUT] if is_left_out else [],
        binned={name: codes for name, codes in BINNED.items() if name in real},
    )


def rules_of(columns: Sequence[str]) -> dict[str, str]:
    """Return SDNist's rules about some columns.

    Examples
    --------
    >>> list(rules_of(["AGEP", "MSP", "SEX"]))
    ['child_MSP']
    """
    named = {name: set(re.findall(r"[A-Z_]{3,}", RULES[name])) for name in RULES}
    return {name: RULES[name] for name in RULES if named[name] <= set(columns)}


def sub_samples(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Score sub-samples of the rows, which NIST prints beside every score."""
    names = {**COLUMNS, WITH_INDUSTRY: COLUMNS["all, 24"]}
    for columns, share in product(names, SHARES):
        real = table[names[columns].split()]
        for draw in range(N_DRAWS):
            rows = np.random.default_rng(draw).permutation(len(real))
            drawn = real.iloc[rows[: round(share * len(real))]]
            with_industry = columns == WITH_INDUSTRY
            score = nist_score(real, drawn, with_industry=with_industry)
            yield {"columns": columns, "share": share, "draw": draw, "score": score}


def releases(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Fit and score each release: noise of the operating system, ε = 1, add_remove."""
    settings = product(TARGETS, reversed(COLUMNS), SCHEMAS, METHODS, range(N_RELEASES))
    for target, columns, schema, method, release in settings:
        names = COLUMNS[columns].split()
        has_no_y = target in (FOCUS, ALONE)
        if target in names or (has_no_y and method == METHODS[1] and STRATUM in names):
            run = {"columns": columns, "y": target, "schema": schema, "method": method}
            yield run | _release(table[names], target, schema, method, release)


def peer_releases(
    table: pd.DataFrame, methods: Sequence[str], limit: float = LIMIT
) -> Iterator[dict[str, Any]]:
    """Fit and score releases beside those of peers, each in a process of its own."""
    for method in methods:
        targets, n_releases = BESIDE_PEERS[method]
        for target, release in product(targets, range(n_releases)):
            run = {"columns": "all, 24", "y": target, "schema": "public"}
            args = (table, target, "public", method, release, True)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                try:
                    row = pool.apply_async(_release, args).get(limit)
                except multiprocessing.TimeoutError:
                    row = {"release": release, "given_up": limit}
            yield run | {"method": method} | row


def _release(
    real: pd.DataFrame,
    target: str,
    schema: str,
    method: str,
    release: int,
    is_beside_peers: bool = False,
) -> dict[str, Any]:
    X, y, given = real, None, {"focus": [STRATUM]} if target == FOCUS else {}
    if target not in (FOCUS, ALONE):
        X, y = real.drop(columns=target), real[target]
        given = {"classes": sorted(y.unique())}
    synthesizer = _maker(method, len(X))(
        epsilon=EPSILON,
        delta=DELTA,
        adjacency="add_remove",
        schema=public_schema(X) if schema == "public" else None,
        random_state=release,
        **given,
    )
    start = time.perf_counter()
    synthesizer.fit(X, y)
    seconds = time.perf_counter() - start
    drawn = synthesizer.sample(len(X))
    costs = {"fit_seconds": seconds, "peak_mib": peak_mib()}
    if y is not None:
        drawn, labels = drawn
        drawn = pd.DataFrame(drawn).assign(**{target: np.asarray(labels)})
    synthetic = pd.DataFrame(drawn)[real.columns]
    broken = rule_violations(synthetic, rules_of(list(real)))
    row = {
        "release": release,
        "epsilon": EPSILON,
        "delta": DELTA,
        "adjacency": "add_remove",
        "score": nist_score(real, synthetic),
        "pmse": pmse(real, synthetic),
        "broken": {name: int(count) for name, count in broken.items()},
        "rows": len(synthetic),
        "fit_seconds": seconds,
        **versions(),
    }
    if not is_beside_peers:
        return row
    distances = {
        "two_way_tv": total_variation(real, synthetic, order=2),
        "three_way_tv": total_variation(real, synthetic, order=3),
        "detection_auc": detection_auc(real, synthetic),
    }
    # a peer has a process of its own, and tells what that took
    return row | distances | costs | getattr(synthesizer, "costs_", {})


def _maker(method: str, n_rows: int) -> Any:
    """Return the class of a method of ours, or what makes a peer."""
    if method in PEERS:
        return partial(Peer, method, Other(python_of(method), {}), n_rows)
    return all_synthesizers()[method]


def store(name: str, rows: Iterator[Mapping[str, Any]]) -> None:
    """Write rows as they come, so that a stopped run keeps what it has."""
    path = PLACE / f"{name}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
            file.flush()


def stored(name: str) -> pd.DataFrame:
    """Return the rows of a name."""
    lines = (PLACE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return pd.DataFrame([json.loads(line) for line in lines])


# ----------------------------------------------------------------------------
# The page.


def table_of_scores() -> str:
    """Return what NIST prints and what our releases have, best first by columns."""
    printed = pd.read_csv(PLACE / "printed.csv", dtype=str)
    theirs = pd.DataFrame(
        {
            "columns": printed["columns"],
            "score": printed["score"].astype(float),
            "method": printed["method"],
            "ε": printed["epsilon"],
            "k-marginal": printed["score"],
        }
    )
    keys = ["columns", "method", "y", "schema"]
    ours = [
        _line(key, group)
        for key, group in stored("national2019").groupby(keys, sort=False)
    ]
    frame = pd.concat([theirs, pd.DataFrame(ours)]).fillna("")
    frame["place"] = frame["columns"].map(list(COLUMNS).index)
    frame = frame.sort_values(["place", "score"], ascending=[True, False])
    return markdown(frame.drop(columns=["place", "score"]).set_index("columns"))


def _line(key: tuple[str, str, str, str], group: pd.DataFrame) -> dict[str, Any]:
    columns, method, y, schema = key
    score, spread = group["score"].mean(), group["score"].std()
    broken = np.array([row["any"] for row in group["broken"]]) / group["rows"]
    return {
        "columns": columns,
        "score": score,
        "method": f"**{method}**, {schema} schema, y = {y}",
        "ε": f"{EPSILON:g}",
        "k-marginal": f"{score:.0f} ± {spread:.1f}",
        "pMSE": f"{group['pmse'].mean():.4f}",
        "rows against a rule": f"{100 * broken.mean():.1f} %",
        "fit, s": f"{group['fit_seconds'].mean():.0f}",
        "n": f"{len(group)}",
    }


def table_of_peers() -> str:
    """Return what peers and ours have of all columns, in the order of the run."""
    lines = []
    for (method, y), group in stored("peers").groupby(["method", "y"], sort=False):
        line = {"method": method if method in PEERS else f"**{method}**, y = {y}"}
        scored = group[group["score"].notna()]
        if scored.empty:
            line["k-marginal"] = f"given up after {group['given_up'].max():.0f} s"
        else:
            means = scored.select_dtypes("number").mean()
            spread = f" ± {scored['score'].std():.1f}" if len(scored) > 1 else ""
            broken = np.array([row["any"] for row in scored["broken"]]) / scored["rows"]
            line |= {
                "k-marginal": f"{means['score']:.0f}{spread}",
                "pMSE": f"{means['pmse']:.4f}",
                "two-way": f"{means['two_way_tv']:.3f}",
                "three-way": f"{means['three_way_tv']:.3f}",
                "detection": f"{means['detection_auc']:.3f}",
                "rows against a rule": f"{100 * broken.mean():.1f} %",
                "fit, s": f"{means['fit_seconds']:.1f}",
                "peak, MiB": f"{means['peak_mib']:.0f}",
            }
        lines.append(line | {"n": f"{len(scored)}"})
    return markdown(pd.DataFrame(lines).fillna("").set_index("method"))


def table_of_samples() -> str:
    """Return scores of sub-samples: the mean over draws, the range, and NIST's."""
    ours, printed = stored("subsamples"), pd.read_csv(PLACE / "printed_samples.csv")
    lines = []
    for (columns, share), group in ours.groupby(["columns", "share"], sort=False):
        at = (printed["columns"] == columns) & (printed["share"] == share)
        theirs = printed.loc[at, "score"]
        scores = group["score"]
        lines.append(
            {
                "columns": columns,
                "sub-sample": f"{100 * share:.0f} %",
                "ours": f"{scores.mean():.1f}",
                "least to most": f"{scores.min():.1f} to {scores.max():.1f}",
                "draws": f"{len(group)}",
                "printed": "" if theirs.empty else f"{theirs.iloc[0]:.0f}",
            }
        )
    return markdown(pd.DataFrame(lines).set_index("columns"))


def table_of_rules() -> str:
    """Return how many rows of a release break each of NIST's rules, in the mean."""
    ours = stored("national2019")
    ours = ours[ours["columns"] == "all, 24"]
    counts = {
        f"{method}, {schema}, y = {y}": pd.DataFrame(list(group["broken"])).mean()
        for (method, schema, y), group in ours.groupby(
            ["method", "schema", "y"], sort=False
        )
    }
    frame = pd.DataFrame(counts).round().astype(int)
    return markdown(frame.rename_axis("rule"))


TABLES = {
    "scores": table_of_scores,
    "peers": table_of_peers,
    "samples": table_of_samples,
    "rules": table_of_rules,
}


def filled(page: str) -> str:
    """Return the page with its tables between their marks."""

    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"<!-- nist:{name} -->\n{TABLES[name]()}\n<!-- /nist -->"

    return MARKED.sub(table, page)
