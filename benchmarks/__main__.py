"""``python -m skdpgen.benchmark``: what `skdpgen bench` has no cells for."""

import argparse
import json
from functools import partial
from pathlib import Path

import pandas as pd

from skdpgen.benchmark._fit_costs import AXES, fit_costs, tabulate_costs
from skdpgen.benchmark._markdown import markdown
from skdpgen.benchmark._measure import measure_discovery
from skdpgen.benchmark._measure_images import N_SAMPLES, QUICK, measure_images
from skdpgen.benchmark._private_steps import step_costs
from skdpgen.benchmark._reading import TABLES, read_split
from skdpgen.benchmark._speed import (
    chunked_peak,
    embedding_ratio,
    fit_seconds,
    many_features_peak,
    pairwise_seconds,
    release_ratio,
    tangent_release,
    wide_table,
)
from skdpgen.metrics import CLASSIFIERS, SyntheticUtility
from skdpgen.synthesizers import (
    DPHPSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
    DPPairwiseSynthesizer,
    all_synthesizers,
)

WHAT = ("discovery", "images", "speed", "fits", "steps")
SIZES = (1_000, 3_000, 10_000)
TABLE_METHODS = (
    "DPIndependentSynthesizer",
    "DPPairwiseSynthesizer",
    "DPMERFSynthesizer",
    "DPHPSynthesizer",
    "DPNTKSynthesizer",
    "DPMGESynthesizer",
)


def _parser():
    """Return the options of the command."""
    parser = argparse.ArgumentParser(prog="python -m skdpgen.benchmark", description=main.__doc__)  # fmt: skip  # noqa: E501
    parser.add_argument("what", choices=WHAT)
    parser.add_argument(
        "tables",
        nargs="*",
        help=f"names among {', '.join(TABLES)}; for `fits`, methods",
    )
    parser.add_argument("--data", default=".", help="folder of the tables")
    parser.add_argument("--synthesizer", default="DPIndependentSynthesizer")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0])
    parser.add_argument("--adjacency", default="replace")
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE",
                        help="parameters, as JSON or a word")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=1200.0,
                        help="for `fits`: seconds that one may take")  # fmt: skip
    parser.add_argument("--models", choices=["quick", "all"], default="quick",
                        help="for `images`: three, or twelve and a CNN")  # fmt: skip
    parser.add_argument("--axes", choices=AXES, nargs="+", default=AXES,
                        help="for `fits`: what to vary")  # fmt: skip
    parser.add_argument("--pictures", type=Path, help="a folder for grids of images")
    parser.add_argument("--output", type=Path, help="a .jsonl file to append to")
    return parser


def main() -> None:
    """Measure discovery on tables, models on images with pictures, or speed."""
    parser = _parser()
    options = parser.parse_intermixed_args()
    if options.what == "speed":
        print(markdown(_speed(options.data)))
        return
    if options.what == "fits":
        print(tabulate_costs(list(_fits(options))))
        return
    if options.what == "steps":
        print(markdown(pd.DataFrame(step_costs())))
        return
    if options.what == "discovery":
        print(markdown(_discovery(options)))
        return
    if options.what == "images" and not options.tables:
        parser.error("images needs the names of .npz files in --data, such as `mnist`")
    runs = []
    for run in _images(options):
        runs.append(run)
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in run.items()})
        _keep(options, run)
    keys = ["set", "method", "epsilon", "adjacency"]
    numbers = pd.DataFrame(runs).drop(columns="release")
    means = numbers.groupby(keys, dropna=False, sort=False).mean()
    print(markdown(means.reset_index()))


def _keep(options, run):
    if options.output:
        with options.output.open("a") as file:
            file.write(json.dumps(run) + "\n")


def _fits(options):
    """What a fit of all table methods costs, or of the tables' one that is named."""
    for run in fit_costs(
        options.tables or TABLE_METHODS, options.axes, options.timeout
    ):
        print(run, flush=True)
        _keep(options, run)
        yield run


def _images(options):
    settings = _settings(options)
    make = partial(all_synthesizers()[options.synthesizer], **settings)
    every = [*CLASSIFIERS["images"], "cnn"]
    models = QUICK if options.models == "quick" else every
    utility = SyntheticUtility(
        classifiers=models, n_samples=N_SAMPLES, n_jobs=options.jobs
    )
    for name in options.tables:
        yield from measure_images(
            Path(options.data) / f"{name}.npz",
            {options.synthesizer: make},
            utility,
            epsilons=options.epsilon,
            n_releases=options.releases,
            adjacency=options.adjacency,
            picture=options.pictures,
        )


def _settings(options):
    pairs = (pair.split("=", 1) for pair in options.set)
    return {name: _value(text) for name, text in pairs}


def _value(text):
    """Read JSON; what is not JSON is a string, as in `release=per_step`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _discovery(options):
    """Judge discovery by number of rows and epsilon, with the columns of the table."""
    make = all_synthesizers()[options.synthesizer]
    found = []
    for name in options.tables or ["adult"]:
        split = read_split(name, options.data)
        n = len(split.X_train)
        for n_rows in [size for size in SIZES if size < n] + [n]:
            for epsilon in options.epsilon:
                rows = measure_discovery(
                    split, make, n_rows, epsilon=epsilon, n_releases=options.releases
                )
                found.append({"set": name, "rows": n_rows, "epsilon": epsilon, **rows})
    return pd.DataFrame(found)


def _speed(folder: str) -> pd.DataFrame:
    rows = []
    if (Path(folder) / "adult.csv.gz").exists():
        split = read_split("adult", folder)
        seconds = fit_seconds(split.X_train, split.y_train, split.classes)
        rows.append({"what": "fit adult, median of 5, s", "value": seconds})
        for make in (
            DPHPSynthesizer,
            DPMERFSynthesizer,
            DPNTKSynthesizer,
            DPPairwiseSynthesizer,
        ):
            seconds = fit_seconds(
                split.X_train, split.y_train, split.classes, make, repeats=3
            )
            what = f"{make.__name__}: fit adult, median of 3, s"
            rows.append({"what": what, "value": seconds})
    X = wide_table(100_000, 50)
    y = (X["number0"] > 20).astype(int)
    seconds, peak = tangent_release()
    what = "DP-NTK: release of width-800 gradients, 60,000 x 784, 10 classes"
    rows += [
        {"what": f"{what}, s", "value": seconds},
        {"what": f"{what}, peak MiB", "value": peak},
        {
            "what": "fit 100,000 x 50, median of 5, s",
            "value": fit_seconds(X, y, [0, 1]),
        },
        {
            "what": "DPPairwiseSynthesizer: fit 20,000 x 600, s",
            "value": pairwise_seconds(20_000, 600),
        },
        {"what": "release / bare one-hot pass", "value": release_ratio()},
        {
            "what": "DP-MERF: release of 2,000 features / bare product and sin, cos",
            "value": embedding_ratio(),
        },
        {
            "what": "DP-MERF: peak, 80,000 features, 2 classes, 178 columns, MiB",
            "value": many_features_peak(),
        },
        {"what": "peak, 100,000 chunked rows, MiB", "value": chunked_peak(100_000)},
        {"what": "peak, 1,000,000 chunked rows, MiB", "value": chunked_peak(1_000_000)},
    ]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main()
