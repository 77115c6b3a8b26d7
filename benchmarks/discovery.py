"""How well columns are discovered, and whether statements about them are true.

Two commands write one JSON line a fit, ``show`` prints the mean of each table, and
``page`` writes these tables between the marks of a page::

    python benchmarks/discovery.py columns --data DIR --tables adult --repeats 200
    python benchmarks/discovery.py pairs --data DIR --tables adult --repeats 3
    python benchmarks/discovery.py show benchmarks/results/discovery.jsonl
    python benchmarks/discovery.py page benchmarks/benchmarks.md

``columns`` fits DPIndependentSynthesizer without a schema, and compares ``schema_``,
``columns_`` and the drawn rows with the table. ``pairs`` fits DPPairwiseSynthesizer
without a schema and with a schema of its rows, as if that were public. Noise has
fixed seeds, so that a line can be made again: nothing here is private.
"""

import argparse
import json
import math
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer, Schema
from skdpgen.metrics import total_variation
from skdpgen.privacy import insecure_noise_seed
from skdpgen.tables import NUMBERS, Categorical, Datetime, Integer, Numeric, bounds

RARE = 0.01  # values of fewer rows may be lost
MOST_ROWS = 100_000
SPIKE = 0.05  # of the rows share a number
MANY, SOME = 20, 0.2  # different numbers of a numeric column, and their share
ISSUE_SHARE, ISSUE_STDS = 0.03, 5.0  # a false statement is off by more than both
STDS = 4.0
RESULTS = Path(__file__).parent / "results"
MARKED = re.compile(r"(?ms)^<!-- fits:([\w.-]+) -->\n.*?^<!-- /fits -->")
SHARES = ("below", "above", "other", "missing")
EPOCH = pd.Timestamp("2000-01-01")


def load(folder: Path, name: str, rows: int | None) -> tuple[pd.DataFrame, pd.Series]:
    """Read a table; draw a number of its rows."""
    file = folder / f"{name}.csv.gz"
    if file.exists():
        table = pd.read_csv(file, keep_default_na=False, na_values=[""])
    else:
        table = pd.read_parquet(folder / f"{name}.parquet")
    table.columns = table.columns.map(str)
    n_rows = min(rows or MOST_ROWS, MOST_ROWS)
    if n_rows < len(table):
        table = table.sample(n_rows, random_state=1).reset_index(drop=True)
    return table.drop(columns="target"), table["target"]


@dataclass(frozen=True, eq=False)
class Distinct:
    """The different values of a column, and how many rows have each."""

    values: pd.Series
    counts: np.ndarray
    n_rows: int

    @classmethod
    def of(cls, values: pd.Series) -> "Distinct":
        """Count the values of a column; those that are missing are left out."""
        counts = values.value_counts()
        return cls(pd.Series(counts.index), counts.to_numpy(float), len(values))

    @cached_property
    def texts(self) -> pd.Series:
        """Every value as the categories of a schema name it."""

        def text(value: Any) -> str:
            is_whole = isinstance(value, float) and value.is_integer()
            return str(int(value)) if is_whole else str(value)

        return self.values.astype(object).map(text)

    @cached_property
    def is_common(self) -> np.ndarray:
        """Whether each value is one that 1 % of the rows have."""
        return self.counts >= RARE * self.n_rows

    @cached_property
    def numbers(self) -> np.ndarray:
        """Each value as a number, or the number in its text; NaN for other text."""
        if self.values.dtype.kind in "iufb":
            return self.values.to_numpy(float)
        plain = self.texts.str.replace(",", "")
        return pd.to_numeric(plain, errors="coerce").to_numpy(float)

    def times(self, form: str | None) -> np.ndarray:
        """Return the seconds of each value."""
        times = pd.to_datetime(
            self.values.astype(object),
            errors="coerce",
            format=(form and form.replace("%-", "%")) or "mixed",
        )
        return np.asarray((times - EPOCH).dt.total_seconds(), dtype=float)

    def share(self, chosen: Any) -> float:
        """Return the share of rows with some of the values."""
        return float(self.counts[np.asarray(chosen, dtype=bool)].sum() / self.n_rows)


def true_shares(column: Any, real: Distinct) -> dict[str, float]:
    """Return the shares of rows that the line of a column in ``columns_`` states.

    ``lost`` are rows whose value cannot come back: beyond the range, or a word without
    a name that 1 % of the rows have.
    """
    shares = {"missing": 1.0 - float(real.counts.sum()) / real.n_rows, "lost": 0.0}
    if isinstance(column, Categorical):
        is_other = ~real.texts.isin(set(map(str, column.categories or ()))).to_numpy()
        lost = real.share(is_other & real.is_common)
        return shares | {"other": real.share(is_other), "lost": lost}
    if not isinstance(column, NUMBERS):
        return shares
    numbers = real.numbers
    if isinstance(column, Datetime):
        numbers = real.times(column.format)
    codes = set(map(str, getattr(column, "codes", None) or ()))
    is_code = real.texts.isin(codes).to_numpy()
    lower, upper = bounds(column)
    below = (numbers < lower - 1e-9 * abs(lower)) & ~is_code
    above = (numbers > upper + 1e-9 * abs(upper)) & ~is_code
    is_word = np.isnan(numbers) & ~is_code
    return shares | {
        "below": real.share(below),
        "above": real.share(above),
        "lost": real.share(below | above | (is_word & real.is_common)),
        "outside": real.share(below | above),
    }


def one_way(real: Distinct, drawn: Distinct) -> float:
    """Return the total variation of a column.

    Values that 1 % of the rows have are cells, and so are 20 quantile bins of the other
    numbers, missing, and all other words.
    """
    common = set(real.texts[real.is_common])
    rare = ~real.is_common & ~np.isnan(real.numbers)
    spread = np.repeat(real.numbers[rare], real.counts[rare].astype(int))
    edges = np.empty(0)
    if len(spread):
        edges = np.unique(np.quantile(spread, np.linspace(0, 1, 21)))
    shares = []
    for side in (real, drawn):
        bins = np.searchsorted(edges[1:-1], side.numbers).astype(str)
        cells = np.where(np.isnan(side.numbers), "word", np.char.add("bin ", bins))
        cells = np.where(side.texts.isin(common), side.texts, cells)
        side_shares = pd.Series(side.counts / side.n_rows).groupby(cells).sum()
        side_shares["missing"] = 1.0 - side_shares.sum()
        shares.append(side_shares)
    return float(0.5 * shares[0].sub(shares[1], fill_value=0).abs().sum())


def shared_values(real: Distinct, drawn: Distinct) -> list[float]:
    """Return drawn over real shares of frequent values among many numbers.

    These are numbers that 5 % of the rows share, as 501, and words, as "N".
    """
    is_number = ~np.isnan(real.numbers)
    if is_number.sum() <= MANY:
        return []
    least = np.where(is_number, SPIKE, 2 * RARE) * real.n_rows
    ratios = []
    for k in np.flatnonzero(real.counts >= least):
        same = drawn.texts == real.texts[k]
        if is_number[k]:
            same = drawn.numbers == real.numbers[k]
        ratios.append(drawn.share(same) * real.n_rows / real.counts[k])
    return ratios


def statements(stated: pd.Series, truth: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Yield what ``columns_`` states of a column, beside the truth."""
    for what in SHARES:
        if what not in truth or math.isnan(stated[what]):
            continue
        noise = stated.get(f"{what}_noise", stated["noise"])
        noise = 0.0 if math.isnan(noise) else float(noise)
        off = abs(float(stated[what]) - truth[what])
        yield {
            "what": what,
            "stated": float(stated[what]),
            "truth": truth[what],
            "noise": noise,
            "is_false": off > ISSUE_SHARE and off > ISSUE_STDS * noise,
            "is_beyond": off > STDS * noise and off > 1e-9,
        }


def judge_columns(
    X: pd.DataFrame, y: pd.Series, real: dict[str, Distinct], epsilon: float, seed: int
) -> dict[str, Any]:
    """Fit single columns without a schema; compare every statement with the rows."""
    synthesizer = DPIndependentSynthesizer(epsilon, delta=1e-5, random_state=seed)
    start = time.perf_counter()
    with insecure_noise_seed(seed):
        synthesizer.fit(X, y)
    seconds = time.perf_counter() - start
    drawn, _ = synthesizer.sample(len(X))
    if synthesizer.task_ == "classification":  # shares are of the rows with a label
        has_label = y.isin(list(synthesizer.classes_)).to_numpy()
        if not has_label.all():
            real = {name: Distinct.of(X[name][has_label]) for name in X}
    distances, lost, in_range, wrong, types = [], [], [], [], ""
    ratios: list[float] = []
    n_statements, n_unknown = 0, 0
    for name, column in synthesizer.schema_.columns.items():
        truth = true_shares(column, real[name])
        stated = synthesizer.columns_.loc[name]
        kind = type(column).__name__
        types += "T" if kind == "Datetime" else kind[0]
        n_unknown += int(stated[["below", "above"]].isna().sum()) * ("below" in truth)
        for statement in statements(stated, truth):
            n_statements += 1
            if statement["is_false"] or statement["is_beyond"]:
                wrong.append({"column": name} | statement)
        lost.append(truth["lost"])
        in_range.append(1.0 - truth.get("outside", 0.0))
        if name in drawn:
            sides = real[name], Distinct.of(drawn[name])
            distances.append(one_way(*sides))
            ratios += shared_values(*sides)
    return {
        "lost": float(np.mean(lost)),
        "most_lost": float(np.max(lost)),
        "least_held": float(np.min(in_range)),
        "distance": float(np.mean(distances)),
        "n_statements": n_statements,
        "n_unknown": n_unknown,
        "n_shared": len(ratios),
        "n_shared_off": sum(abs(ratio - 1.0) > 0.2 for ratio in ratios),
        "n_false": sum(statement["is_false"] for statement in wrong),
        "n_beyond": sum(statement["is_beyond"] for statement in wrong),
        "budget": float(sum(r.share for r in synthesizer.privacy_.releases[:-1])),
        "seconds": seconds,
        "types": types,
        "wrong": wrong,
    }


def public_schema(X: pd.DataFrame) -> Schema:
    """Return the content of a data dictionary: types, bounds, categories and codes.

    It is computed from the rows, as if these were public. Text of which a fifth of the
    rows or more are numbers is a column of numbers, and its words are codes.
    """
    schema = Schema.infer(X)
    for name, column in schema.columns.items():
        real = Distinct.of(X[name])
        is_number = ~np.isnan(real.numbers)
        if not isinstance(column, Categorical) or real.values.dtype.kind in "iufb":
            continue
        if is_number.sum() > MANY and real.share(is_number) > SOME:
            numbers, words = real.numbers[is_number], list(real.texts[~is_number])
            is_whole = (numbers == np.round(numbers)).all()
            kind: Any = Integer if is_whole else Numeric
            column = kind(numbers.min(), numbers.max(), parse=True, codes=words)
            schema = schema.with_column(name, column)
    return schema


def coded(real: pd.Series, drawn: pd.Series) -> list[np.ndarray]:
    """Return cells of two columns: 20 quantile bins of many numbers, else values."""
    texts = [side.astype(object).map(str) for side in (real, drawn)]
    numbers = [pd.to_numeric(side, errors="coerce").to_numpy(float) for side in texts]
    present = numbers[0][~np.isnan(numbers[0])]
    if len(np.unique(present)) > MANY:
        edges = np.unique(np.quantile(present, np.linspace(0, 1, 21)))[1:-1]
        bins = [np.searchsorted(edges, side).astype(str) for side in numbers]
        texts = [
            text.where(np.isnan(side), place)
            for text, side, place in zip(texts, numbers, bins, strict=True)
        ]
    places = np.unique(np.concatenate(texts))
    return [np.searchsorted(places, text) for text in texts]


def k_marginal(real: pd.DataFrame, drawn: pd.DataFrame, stratum: str | None) -> float:
    """Return 1000 times one minus the mean distance of two columns in each stratum.

    This is the score of NIST's SDNist, with numbers in 20 quantile bins.
    """
    codes = {name: coded(real[name], drawn[name]) for name in real}
    names = [name for name in real if name != stratum]
    distances = []
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            used = [first, second, *([stratum] if stratum else [])]
            sizes = [1 + max(int(side.max()) for side in codes[name]) for name in used]
            marginals = []
            for side in (0, 1):
                cell = np.zeros(len(codes[first][side]), dtype=np.int64)
                for name, size in zip(used, sizes, strict=True):
                    cell = cell * size + codes[name][side]
                values, counts = np.unique(cell, return_counts=True)
                marginals.append(pd.Series(counts / counts.sum(), index=values))
            gap = marginals[0].sub(marginals[1], fill_value=0).abs().sum()
            distances.append(0.5 * float(gap))
    return 1000.0 * (1.0 - float(np.mean(distances)))


def judge_pairs(
    X: pd.DataFrame, y: pd.Series, real: dict[str, Distinct], epsilon: float, seed: int
) -> dict[str, Any]:
    """Fit pairs of columns without a schema, and with one that is public."""
    results: dict[str, Any] = {}
    table = X.assign(target=y)
    for how, schema in (("discovered", None), ("public", public_schema(X))):
        synthesizer = DPPairwiseSynthesizer(
            epsilon, delta=1e-5, random_state=seed, schema=schema
        )
        start = time.perf_counter()
        with insecure_noise_seed(seed):
            synthesizer.fit(X, y)
        results[f"seconds_{how}"] = time.perf_counter() - start
        drawn, labels = synthesizer.sample(len(X))
        fake = drawn.assign(target=labels)
        results[f"one_way_{how}"] = total_variation(table, fake, order=1)
        results[f"two_way_{how}"] = total_variation(table, fake, order=2)
        complete = [rows.notna().all(axis=1).mean() for rows in (X, drawn)]
        results[f"complete_{how}"] = float(abs(complete[1] - complete[0]))
        stratum = "PUMA" if "PUMA" in X else None
        if stratum:
            results[f"k_marginal_{how}"] = k_marginal(table, fake, stratum)
    results["ratio"] = results["two_way_discovered"] / results["two_way_public"]
    return results


def tabulate(file: Path) -> str:
    """Return a line a table in Markdown: means over fits, and the worst of them."""
    results = pd.DataFrame(map(json.loads, file.read_text().splitlines()))
    keys = ["table", "rows", "epsilon"]
    is_pairs = results.reindex(columns=["ratio"])["ratio"].notna()
    text = []
    for are_pairs, group in results.groupby(is_pairs):
        tables = group.groupby(keys, sort=False)
        lines = tables.apply(_of_pairs if are_pairs else _of_columns).reset_index()
        text.append("| " + " | ".join(lines.columns) + " |")
        text.append("|" + "---|" * len(lines.columns))
        for line in lines.itertuples(index=False):
            text.append("| " + " | ".join(map(_short, line)) + " |")
    return "\n".join(text) + "\n"


def filled(page: str) -> str:
    """Return a page with the tables of stored fits between its marks."""

    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        start, end = f"<!-- fits:{name} -->\n", "<!-- /fits -->"
        return start + tabulate(RESULTS / f"{name}.jsonl") + end

    return MARKED.sub(table, page)


def _of_columns(fits: pd.DataFrame) -> pd.Series:
    total = fits.sum(numeric_only=True)
    return pd.Series(
        {
            "fits": len(fits),
            "budget": fits["budget"].mean(),
            "distance": fits["distance"].mean(),
            "lost": fits["lost"].mean(),
            "most lost": fits["most_lost"].max(),
            "least in range": fits["least_held"].min(),
            "usual type": _least_usual(fits["types"]),
            "statements": total["n_statements"],
            "unknown": total["n_unknown"],
            "false": total["n_false"],
            "beyond 4 SE": total["n_beyond"],
            "shared off": f"{total['n_shared_off']:.0f} of {total['n_shared']:.0f}",
            "seconds": fits["seconds"].median(),
        },
        dtype=object,
    )


def _of_pairs(fits: pd.DataFrame) -> pd.Series:
    means = fits.mean(numeric_only=True)
    cells = {"fits": len(fits), "ratio": means["ratio"]}
    for what in ("two_way", "one_way", "complete", "k_marginal"):
        for how in ("discovered", "public"):
            cells[f"{what}, {how}"] = means.get(f"{what}_{how}", math.nan)
    return pd.Series(cells, dtype=object)


def _short(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return ""
    return (
        f"{value:.0f}" if value.is_integer() else f"{value:.3g}".replace("0.", ".", 1)
    )


def _least_usual(types: pd.Series) -> float:
    table = pd.DataFrame([list(letters) for letters in types.dropna()])
    if table.empty:
        return math.nan
    return float(min(table[c].value_counts(normalize=True).max() for c in table))


def main() -> None:
    """Read the command line, and run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["columns", "pairs", "show", "page"])
    parser.add_argument("file", type=Path, nargs="?", help="for show and page")
    parser.add_argument("--data", type=Path, help="folder of public tables")
    parser.add_argument("--tables", help="names, with commas between")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, help="rows to draw from the table first")
    parser.add_argument("--output", type=Path, help="JSON lines are added to it")
    given = parser.parse_args()
    if given.command == "show":
        print(tabulate(given.file), end="")
        return
    if given.command == "page":
        page = given.file.read_text("utf-8")
        given.file.write_text(filled(page), "utf-8")
        return
    warnings.filterwarnings("ignore")
    judge = judge_columns if given.command == "columns" else judge_pairs
    for name in given.tables.split(","):
        X, y = load(given.data, name, given.rows)
        real = {column: Distinct.of(X[column]) for column in X}
        for seed in range(given.repeats):
            line = {"table": name, "rows": len(X), "epsilon": given.epsilon}
            line |= {"seed": seed} | judge(X, y, real, given.epsilon, seed)
            with given.output.open("a") as file:
                file.write(json.dumps(line, default=float) + "\n")
    print(tabulate(given.output), end="")


if __name__ == "__main__":
    main()
