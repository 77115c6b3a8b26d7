"""A program of a user passes `mypy --strict`, and mistakes in it are found."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPTIONS = ("--strict", "--follow-imports=silent", "--ignore-missing-imports")

RIGHT = """
from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV

import skdpgen
from skdpgen import (
    Boolean,
    Categorical,
    Datetime,
    DPDRESynthesizer,
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPPairwiseSynthesizer,
    Generator,
    Integer,
    Numeric,
    PrivacyReport,
    Schema,
    SyntheticUtility,
    compare,
    load,
    plan,
    search_cost,
)
from skdpgen.datasets import load_example
from skdpgen.exceptions import NothingLearnedWarning, SchemaError


def fitted(path: Path) -> DPMERFSynthesizer:
    X, y = load_example(2000)
    schema = Schema(
        {
            "age": Integer(0, 120),
            "balance": Numeric(-1000.0, 1000.0, decimals=2),
            "job": Categorical(["a", "b"]),
            "owns_home": Boolean(nullable=False),
            "customer_since": Datetime("2000-01-01", "2030-01-01"),
        },
        target=Categorical(["left", "stayed"]),
    )
    synth = DPMERFSynthesizer(
        epsilon=1.0,
        delta=1e-6,
        schema=schema,
        generator=Generator(max_iter=50, hidden_layer_sizes=(64, 64)),
        random_state=0,
    ).fit(X, y)
    synth.save(path)
    synth.report(path.with_suffix(".html"))
    again: DPMERFSynthesizer = load(path)
    return again.retrain(max_iter=20)


def used(synth: DPMERFSynthesizer) -> pd.DataFrame:
    certificate: PrivacyReport = synth.privacy_
    print(certificate.epsilon, certificate.spent, certificate.epsilon_at(1e-7))
    for release in certificate.releases:
        print(release.name, release.share + 1.0)
    names: list[str] = [str(name) for name in synth.schema_.columns]
    print(names, synth.n_samples_ + 1, synth.classes_.tolist(), synth.task_)
    print(synth.columns_["missing"], synth.lost_[0].upper(), synth.loss_curve_[-1])
    print(synth.relations_learned_.upper(), synth.n_iter_ + 1, synth.settings_)
    X_syn, y_syn = synth.sample(100, class_distribution={"left": 0.5, "stayed": 0.5})
    X_syn, y_syn = synth.sample(y=["left", "stayed"], random_state=0)
    for chunk in synth.iter_sample(1000, chunk_size=100):
        print(chunk)
    print(synth.sample_parquet("rows.parquet", 10) + 1)
    synth.set_output(transform="pandas").set_params(epsilon=2.0).fit(X_syn, y_syn)
    table: pd.DataFrame = X_syn
    return table


def scored(frame: pd.DataFrame, labels: "pd.Series[str]") -> None:
    search = GridSearchCV(DPPairwiseSynthesizer(), {"epsilon": [0.5, 1.0]})
    search.fit(frame, labels)
    print(search_cost(search))
    utility = SyntheticUtility(classifiers=["lda"])
    print(utility.evaluate((frame, labels), frame, labels))
    methods = {"independent": DPIndependentSynthesizer(1.0)}
    result = compare(methods, frame, labels, frame, labels, utility=utility)
    print(result)
    public = DPDRESynthesizer(2.0).fit(frame, labels, public_data=(frame, labels))
    print(public.privacy_)
    print(plan(len(frame), 12).n_pairs + 1, plan(100, 3))


def typed(frame: pd.DataFrame) -> None:
    synth = DPPairwiseSynthesizer().fit(frame)
    assert_type(synth, DPPairwiseSynthesizer)
    assert_type(synth.privacy_, PrivacyReport)
    assert_type(synth.privacy_.epsilon_at(1e-7), float)
    assert_type(synth.schema_, Schema)
    assert_type(synth.classes_, NDArray[Any])
    assert_type(synth.feature_names_in_, NDArray[Any])
    assert_type(synth.n_features_in_, int)
    assert_type(synth.n_samples_, int)
    assert_type(synth.n_iter_, int)
    assert_type(synth.loss_curve_, list[float])
    assert_type(synth.lost_, list[str])
    assert_type(synth.task_, str | None)
    assert_type(synth.relations_learned_, str)
    assert_type(synth.pixels_, Mapping[str, float])
    assert_type(synth.release_.noise_std, Mapping[str, float])
    assert_type(DPMERFSynthesizer().fit(frame).generator_, torch.nn.Module)
    assert_type(DPDRESynthesizer().fit(frame).weights_, NDArray[np.float64])
    assert_type(synth.retrain().privacy_, PrivacyReport)


def careful(path: str) -> Schema | None:
    try:
        return Schema.load(path).with_column("age", Integer(0, 120)).check()
    except SchemaError as error:
        print(error.args)
    return None


if __name__ == "__main__":
    print(used(fitted(Path("synth.npz"))), NothingLearnedWarning, skdpgen.__version__)
"""

WRONG = """
from skdpgen import DPMERFSynthesizer, Generator, Integer, Schema

DPMERFSynthesizer(epsilon="1")
DPMERFSynthesizer(adjacency="replaced")
DPMERFSynthesizer.from_preset("papers", data="table")
DPMERFSynthesizer(generator={"max_iter": 5})
DPMERFSynthesizer(max_iter=5)
Generator(network="fully")
Integer("0", 120)
Schema(columns=[Integer(0, 120)])
number: str = DPMERFSynthesizer().n_samples_
DPMERFSynthesizer().privacy_.epsilons
iterations: str = DPMERFSynthesizer().n_iter_
labels: list[int] = DPMERFSynthesizer().classes_
DPMERFSynthesizer().schema_.epsilon
"""


def checked(program, folder):
    """Return the lines that mypy finds wrong in a program, and what it says."""
    pytest.importorskip("mypy")
    (folder / "program.py").write_text(program, "utf-8")
    run = [sys.executable, "-m", "mypy", *OPTIONS, "--config-file=", "program.py"]
    done = subprocess.run(
        [*run, f"--cache-dir={folder / 'cache'}"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    return {int(line.split(":")[1]) for line in lines}, done.stdout + done.stderr


@pytest.mark.slow
def test_a_program_of_a_user_passes_and_mistakes_are_found(tmp_path):
    wrong, said = checked(RIGHT, tmp_path)
    assert not wrong, said
    assert "Success" in said
    wrong, said = checked(WRONG, tmp_path)  # reads what mypy kept of the first
    lines = WRONG.splitlines()
    expected = {n for n, line in enumerate(lines, 1) if line and "import" not in line}
    assert wrong == expected, said
