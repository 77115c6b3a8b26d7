"""Write one small file of each estimator, in the format of today: a promise for later.

``python -m tests.format.make`` writes what is missing of `version_N/*.skdpgen`, of
`version_N/samples.json` and of `version_N.json`, where N is the format: so a new method
has a file, and its types are listed. What is there stays.

``python -m tests.format.make --again`` replaces all of format N. Never do that once a
version of skdpgen that writes format N is released. Then a change of what is listed
raises `FORMAT` (`skdpgen/utils/_container.py`) and adds a step to `MIGRATIONS`
(`skdpgen/synthesizers/base/_files.py`), and new files stand beside the old ones.
"""

import json
import sys
import warnings
from enum import Enum
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from skdpgen import (
    DPDRESynthesizer,
    DPIndependentSynthesizer,
    DPMGESynthesizer,
    DPPairwiseSynthesizer,
)
from skdpgen.datasets import load_example
from skdpgen.lenses import CosineLens, RandomLens
from skdpgen.privacy import insecure_noise_seed
from skdpgen.tables import (
    Boolean,
    Categorical,
    Datetime,
    Determines,
    Drop,
    Integer,
    LessEqual,
    MissingIf,
    Numeric,
    Ordinal,
    Regenerate,
    Schema,
    SumOf,
)
from skdpgen.tables._columns import TYPES
from skdpgen.tables._rules import RULES
from skdpgen.utils import FORMAT, SAVED, fields_of
from tests.format._samples import MACHINE, plain_sample
from tests.guards import _neighbours, _variants

HERE = Path(__file__).parent
CHANGED = (
    "What files hold has changed. Once the format is released: raise FORMAT, add a "
    "step to MIGRATIONS, and store files of the new format. Before: remake the files "
    "by `python -m tests.format.make --again`."
)


# ----------------------------------------------------------------------------
# Fits that are stored: all ways to read rows, and all that a schema can say.


def cases():
    """Return functions that fit an estimator, by the name of its file."""
    tables, images = _neighbours.tables(), _neighbours.images()
    people = tables["frame"]
    X, y = people.X[["age", "job"]], people.y
    public, public_y = _variants.public_rows()["frame"]
    public = public[["age", "job"]]
    pixels, labels = images["images"].X, images["images"].y
    houses = tables["numbers as target"]
    text = tables["text that says more"]
    found = {
        f"{name}, table": (make(**few_components(name)), X, y)
        for name, make in _variants.of_tables().items()
    }
    for name, make in _variants.with_public_rows().items():
        found[name] = make(**few_components(name)), X, y, (public, public_y)
    for name, make in _variants.of_images().items():
        small = {"classes": [0, 1, 2]} | few_numbers(name)
        found[f"{name}, images"] = make(**small), pixels, labels
    of_columns = _variants.maker(DPIndependentSynthesizer)
    of_pairs = partial(_variants.maker(DPPairwiseSynthesizer), n_components=50)
    found |= {
        "numbers as target": (of_columns(), houses.X, houses.y),
        "dates": (of_columns(), people.X[["since", "owns_home"]], None),
        "text": (of_columns(), text.X, text.y),
        "schema and rules": (of_columns(**everything()), *load_everything()),
        "array": (of_columns(), tables["array"].X, tables["array"].y),
        "pairs without labels": (of_pairs(), X, None),
        "numbers that agree": (
            of_pairs(epsilon=30.0),
            *two_numbers(),
        ),
        "public images": (
            _variants.maker(DPMGESynthesizer)(lens=CosineLens(9), classes=[0, 1]),
            pixels,
            labels,
        ),
        "DPDRE public images": (
            _variants.maker(DPDRESynthesizer)(lens=CosineLens(9), classes=[0, 1, 2]),
            pixels,
            labels,
            (pixels[::3] // 2, labels[::3]),
        ),
    }
    return {file_name(name): case for name, case in found.items()}


def two_numbers():
    """Return rows of two numbers that nearly agree, and labels."""
    rng, n = np.random.default_rng(0), 600
    length = rng.normal(10, 2, n).round(1)
    width = (length + rng.normal(0, 0.2, n)).round(1)
    y = pd.Series(np.where(rng.random(n) < 0.5, "a", "b"), name="kind")
    return pd.DataFrame({"length": length, "width": width}), y


def few_components(name):
    """Return parameters of an estimator of tables that make its file small."""
    return {"n_components": 50} if name.startswith("DPPairwise") else {}


def few_numbers(name):
    """Return parameters of an estimator of images that make its file small."""
    if name.startswith("DPMGE"):
        return {"lens": CosineLens(16)}
    if name.startswith(("DPMEPF", "DPMERF")):
        small = {"pooling": 2}
        if "private lens" in name or "stopping" in name:
            small["pixel_norm"] = 0.0
        if name.startswith("DPMEPF") and "private lens" not in name:
            small["lens"] = RandomLens((1,))
        return small
    return {}


def file_name(name):
    text = name.replace("Synthesizer", "").replace(",", "").replace(" ", "_")
    return f"{text.lower()}.skdpgen"


def everything():
    """Return parameters with a column of each type, rules and a target."""
    columns = {
        "low": Integer(0, 20),
        "high": Numeric(0, 40.5, 1),
        "total": Numeric(0, 60.5, 1, nullable=True),
        "size": Ordinal(["small", "large"], other=None),
        "place": Categorical(["Bari", "Rome"], other="elsewhere"),
        "country": Categorical(["IT"]),
        "day": Datetime("2020-01-01", "2021-01-01", resolution="day"),
        "flag": Boolean(nullable=True),
        "gap": Integer(1, 3, nullable=True),
        "note": Drop(),
        "id": Regenerate("row {i}"),
    }
    rules = [
        LessEqual("low", "high"),
        SumOf("total", ["low", "high"]),
        MissingIf("gap", "size", "small"),
        Determines("place", "country", {"Bari": "IT", "Rome": "IT"}),
    ]
    return {"schema": Schema(columns, Categorical(["no", "yes"]), rules=rules)}


def load_everything():
    """Return a table that this schema describes."""
    rng, n = np.random.default_rng(0), 200
    low, high = rng.integers(0, 9, n), rng.integers(9, 20, n) + 0.5
    size = rng.choice(["small", "large"], n)
    X = pd.DataFrame(
        {
            "low": low,
            "high": high,
            "total": low + high,
            "size": size,
            "place": rng.choice(["Bari", "Rome", "Pisa"], n),
            "country": "IT",
            "day": pd.Timestamp("2020-03-01") + pd.to_timedelta(low, "D"),
            "flag": rng.random(n) < 0.3,
            "gap": np.where(size == "small", np.nan, rng.integers(1, 4, n)),
            "note": "a",
            "id": [f"row {i}" for i in range(n)],
        }
    )
    return X, load_example(n)[1].map({"left": "no", "stayed": "yes"}).astype(str)


# ----------------------------------------------------------------------------
# What is promised of each type.


def promised():
    """Return the names of types, fields and values that files of this format have."""
    own = {
        name: kind
        for name, kind in SAVED.items()
        if kind.__module__.startswith("skdpgen.")
    }
    types = {}
    for name, kind in sorted(own.items()):
        if issubclass(kind, Enum):
            types[name] = {"values": [one.value for one in kind]}
        else:
            types[name] = {"fields": sorted(fields_of(kind))}
    forms = {
        name: sorted(fields_of(kind)) for name, kind in sorted((TYPES | RULES).items())
    }
    return {"types": types, "columns and rules in schema.json": forms}


# ----------------------------------------------------------------------------
# The files.


def main(arguments):
    folder, listed = HERE / f"version_{FORMAT}", HERE / f"version_{FORMAT}.json"
    folder.mkdir(exist_ok=True)
    if arguments == ["--again"]:
        for old in (*folder.iterdir(), listed):
            old.unlink(missing_ok=True)
    write_list(listed)
    write_files(folder)


def write_list(path):
    """Add new names to the list; what it has stays."""
    old = json.loads(path.read_text("utf-8")) if path.exists() else {}
    new = promised()
    for part, names in old.items():
        changed = [name for name in names if new[part].get(name) != names[name]]
        if changed:
            sys.exit(f"{path.name} promises otherwise: {', '.join(changed)}. {CHANGED}")
    text = json.dumps(new, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def write_files(folder):
    """Write files that are not there, and samples of them."""
    warnings.simplefilter("ignore")  # few rows: nothing is learnt of relations
    path = folder / "samples.json"
    samples = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, (synth, X, y, *public) in cases().items():
        if (folder / name).exists():
            continue
        with insecure_noise_seed(0):
            given = {"public_data": public[0]} if public else {}
            synth.set_params(epsilon=10.0).fit(X, y, **given)
            synth.save(folder / name)
            samples[name] = {"made on": MACHINE, "sample": plain_sample(synth)}
        print(name, (folder / name).stat().st_size)
    lines = [f" {json.dumps(name)}: {json.dumps(samples[name])}" for name in samples]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
