"""Frequent mistakes in calls of `fit`, each with the line that mends it.

Everything here reads types and column names, which are public, and no value of X.
"""

import sys
from collections.abc import Iterator
from io import IOBase
from pathlib import Path
from types import FrameType
from typing import Any

import pandas as pd

from skdpgen.synthesizers.base._generator import PARTS
from skdpgen.tables import Schema, is_source


def check_call(estimator: Any, X: Any, y: Any) -> None:
    """Raise for arguments of another kind than `fit` takes, and show the right call.

    Parameters
    ----------
    estimator : BaseSynthesizer
    X, y : what `fit` got
    """
    _check_parameters(estimator)
    _check_scorers()
    _check_rows(X)
    if isinstance(y, str) and not is_source(X):
        names = list(getattr(X, "columns", ()))
        call = f"fit(X, X[{y!r}])"
        if y in names:
            call = f"fit(X.drop(columns=[{y!r}]), X[{y!r}])"
        raise TypeError(
            f"y must hold a label for each row. Got {y!r}, which is a name: call "
            f"`{call}`."
        )


def _check_parameters(estimator: Any) -> None:
    schema = estimator.schema
    if isinstance(schema, str) and schema == "infer":
        raise TypeError(
            "schema must be a Schema, a dict or None. Got 'infer': call "
            "`Schema.infer(X)` if bounds and categories of X are public, or leave "
            "schema=None, which discovers them privately."
        )
    if isinstance(schema, str | Path):
        raise TypeError(
            f"schema must be a Schema, a dict or None. Got {str(schema)!r}: call "
            f"`Schema.load({str(schema)!r})`."
        )
    if isinstance(schema, list | tuple):
        raise TypeError(
            "schema must be a Schema, a dict or None. Got a list: name the columns, "
            'as `{"age": Integer(0, 120)}`.'
        )
    for part, kind in PARTS.items():
        value, name = getattr(estimator, part, None), kind.__name__
        if isinstance(value, dict):
            given = ", ".join(f"{key}={one!r}" for key, one in value.items())
            raise TypeError(
                f"{part} must be a {name} or None. Got a dict: say "
                f"`{part}={name}({given})`."
            )
        if isinstance(value, type) and issubclass(value, kind):
            raise TypeError(
                f"{part} must be a {name} or None. Got the class: say "
                f"`{part}={name}()`."
            )


def _check_scorers() -> None:
    """Raise in a search or cross-validation whose scores need predictions.

    scikit-learn asks for them after the fit, and a failed score is NaN. So all fits
    would use their budget, the refit included, for no score. It tells the estimator
    nothing of the scorer before, so this reads it from the call that is running.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "_fit_and_score":
        frame = frame.f_back
    if frame is None:
        return
    scorer, model = frame.f_locals.get("scorer"), frame.f_locals.get("estimator")
    for one in getattr(scorer, "_scorers", {"": scorer}).values():
        methods = getattr(one, "_response_method", ())  # of a name, or `make_scorer`
        methods = (methods,) if isinstance(methods, str) else methods
        if methods and not any(hasattr(model, method) for method in methods):
            raise TypeError(
                "scoring must be a function of sampled rows, such as "
                "`SyntheticUtility()`: a synthesizer predicts nothing, so each score "
                f"would be NaN after a fit that costs epsilon. Got {one!r}."
            )


def _check_rows(X: Any) -> None:
    if isinstance(X, Schema):
        raise TypeError("X must be a table. Got a Schema: pass it as `schema=`.")
    if isinstance(X, str) or (isinstance(X, Path) and _is_other_file(X)):
        read = "pd.read_parquet" if str(X).endswith(".parquet") else "pd.read_csv"
        raise TypeError(
            f"X must be a table. Got {str(X)!r}: read it first, as `{read}({str(X)!r})`"
            f", or use the command line, as `skdpgen fit {X}`."
        )
    if hasattr(X, "toarray"):
        return  # a sparse matrix, of which some are dicts; reading it says so
    if isinstance(X, dict) or (isinstance(X, list) and X and isinstance(X[0], dict)):
        raise TypeError(
            f"X must be a table. Got a {type(X).__name__}: call `pd.DataFrame(X)`."
        )
    if isinstance(X, pd.Series):
        raise TypeError("X must be a table. Got a Series: call `X.to_frame()`.")
    first = X[0] if isinstance(X, list | tuple) and X else None
    if isinstance(X, tuple) and len(X) == 2 and getattr(first, "ndim", 0) > 1:
        raise TypeError("X must be a table. Got a pair: call `fit(*X)`, with X and y.")
    if isinstance(X, list) and getattr(first, "ndim", 0) > 1:
        raise TypeError(
            "X must be one array of images. Got a list: call `np.stack(X)`."
        )
    is_stream = isinstance(X, Iterator | IOBase) and not is_source(X)
    if X is None or is_stream:
        raise TypeError(
            f"X must be a table. Got a {type(X).__name__}: make a `pd.DataFrame` of it "
            "first. `Chunks` is for pieces of a table larger than memory."
        )


def _is_other_file(path: Path) -> bool:
    """Say whether a path is a file that is not of Parquet, by its name."""
    return path.is_file() and path.suffix not in (".parquet", ".pq")
