"""DP-Pairwise: noise is what is claimed, and no row moves a release further."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPPairwiseSynthesizer
from skdpgen.datasets import load_example
from skdpgen.privacy import Adjacency, Histograms, Ledger, PrivacyBudget, release
from skdpgen.synthesizers.opening import cell_scales
from skdpgen.synthesizers.pairwise._pair_release import release_pairs
from skdpgen.tables import Rows, Schema
from tests.synthesizers._tables import CASES, build

INF = float("inf")
MIXED = CASES["mixed"]
KEPT = ["age", "job", "education", "income", "owns_home", "customer_since", "score"]
SMALL = {"max_iter": 2, "n_components": 5}


def exactly(synth, X, y, task=None):
    """Return what a fit released, anew from rows and without noise."""
    adjacency = Adjacency(synth.adjacency)

    def opened():
        return SimpleNamespace(
            rows=Rows.read(X, y, task=task or "auto"),
            ledger=Ledger(PrivacyBudget(INF, 1e-5, adjacency)),
        )

    cells, labels, start = synth.cells_, synth._labels, opened()
    sizes = tuple(column.n_cells for column in cells.values())
    singles = release(
        start.rows.batches(cells, labels),
        {"columns": Histograms(sizes, cell_scales(sizes))},
        name="again",
        ledger=start.ledger,
        share=1.0,
        n_classes=1 if labels is None else labels.n_cells,
    )
    found = [singles.values["columns"]]
    for one, by_class in zip(synth.pair_releases_, was_by_class(synth), strict=True):
        again = release_pairs(
            opened(),
            cells,
            labels,
            synth.groups_,
            one.pairs,
            by_class=by_class,
            share=1.0,
            levels=one.levels,
        )
        assert again.scales == one.scales
        found.append(again.released.values["pairs"])
    return found


def was_by_class(synth):
    entries = entries_of(synth)[-len(synth.pair_releases_) :]
    return [entry.name.endswith("by class") for entry in entries]


def claims(synth):
    """Return each main release with its noise and the ledger's entry."""
    found = [(synth.release_, "columns")]
    found += [(one.released, "pairs") for one in synth.pair_releases_]
    return list(zip(found, entries_of(synth)[-len(found) :], strict=True))


def entries_of(synth):
    """Return the ledger's entries; parities have tests of their own."""
    found = synth.privacy_.releases
    return [entry for entry in found if not entry.name.startswith("parities")]


def test_noise_is_as_large_as_is_said():
    case = replace(MIXED, X=MIXED.X[KEPT], schema=Schema.infer(MIXED.X[KEPT]))
    synth = build(DPPairwiseSynthesizer, case, epsilon=100.0, **SMALL)
    synth.fit(case.X, case.y)
    exact = exactly(synth, case.X, case.y)
    for ((one, key), _), truth in zip(claims(synth), exact, strict=True):
        noise = ((one.values[key] - truth) / one.noise_std[key]).ravel()
        assert (noise**2).mean() == pytest.approx(
            1.0, abs=6 * math.sqrt(2 / len(noise))
        )
        assert abs(noise.mean()) < 6 / math.sqrt(len(noise))


# ------------------------------------------------------------ how far one row goes

ODD = pd.DataFrame(
    {
        "age": [np.nan, np.inf, -1e300, 18.0, 92.0],
        "job": [None, "Zweitausendeins", "", "student", "retired"],
        "income": [-np.inf, np.nan, 1e300, 1.0, 2e5],
        "owns_home": [None, True, False, True, False],
        "n_products": [None, 2**62, -1, 1, 5],
    }
)


def plain_table(n=1500):
    X, y = load_example(n)
    X = X[list(ODD.columns)].astype({"age": float, "job": object})
    X = X.astype({"owns_home": "boolean", "n_products": "Int64"})
    return X, y.astype(object)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_row_moves_a_release_further_than_is_claimed(adjacency):
    X, y = plain_table()
    known = {"schema": Schema.infer(X), "classes": ["left", "stayed"], **SMALL}
    assert not known["schema"].columns["age"].nullable  # NaN has no cell: code -1
    synth = DPPairwiseSynthesizer(30.0, **known, random_state=0)
    synth.set_params(adjacency=adjacency).fit(X, y)
    assert len(synth.pair_releases_) == 2
    bound = [entry.sensitivity for _, entry in claims(synth)]
    largest = np.zeros(len(bound))
    whole = exactly(synth, X, y)
    rows = pd.concat([ODD, X.iloc[[1, 5, 700]]], ignore_index=True)
    for other in range(len(rows)):
        for label in ("left", "stayed", None, "Geheimnis"):
            near, labels = X.copy(), y.copy()
            near.iloc[0] = rows.iloc[other]
            labels.iloc[0] = label
            if adjacency == "add_remove":
                near = pd.concat([X, near.iloc[[0]]])
                labels = pd.concat([y, labels.iloc[[0]]])
            found = exactly(synth, near, labels)
            moved = [np.linalg.norm(a - b) for a, b in zip(found, whole, strict=True)]
            assert (moved <= np.array(bound) * (1 + 1e-9)).all()
            largest = np.maximum(largest, moved)
    assert (largest > 0.9 * np.array(bound)).all()  # the search is not blind


def test_a_label_that_changes_moves_pairs_by_class_alone():
    X, y = plain_table(800)
    known = {"schema": Schema.infer(X), "classes": ["left", "stayed"], **SMALL}
    synth = DPPairwiseSynthesizer(30.0, **known, random_state=0).fit(X, y)
    labels = y.copy()
    labels.iloc[0] = "left" if y.iloc[0] == "stayed" else "stayed"
    pairs = zip(exactly(synth, X, labels), exactly(synth, X, y), strict=True)
    singles, first, last = (np.linalg.norm(a - b) for a, b in pairs)
    assert first == 0
    assert singles == pytest.approx(math.sqrt(2))
    assert last == pytest.approx(math.sqrt(2))
