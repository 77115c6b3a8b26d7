"""What a notebook shows of a fit: promise, spent, discovered, lost, learned."""

import math
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from skdpgen.utils import (
    html,
)

# ----------------------------------------------------------------------------
# Columns: shares in percent, each with its standard error.

NOISE_OF_SHARE = {
    "missing": "missing_noise",
    "other": "other_noise",
    "no_cell": "no_cell_noise",
    "below": "below_noise",
    "above": "above_noise",
    "unread": "unread_noise",
    "dropped": "dropped_noise",
}


class ColumnsFrame(pd.DataFrame):  # type: ignore[misc]
    """A data frame that a notebook shows in percent; what is cut of it is a plain one.

    Numbers are as they are: only what a notebook shows differs.

    Examples
    --------
    >>> frame = ColumnsFrame({"missing": [0.25], "missing_noise": [0.01]})
    >>> type(frame.round(1)).__name__, "25.0% ± 1.0%" in frame._repr_html_()
    ('DataFrame', True)
    """

    def _repr_html_(self) -> str:
        """Return shares in percent, each with its standard error."""
        return html.block(columns_html(self))


def columns_html(table: Any) -> html.Html:
    """Return a table of columns; those that say nothing of any column are left out."""
    of_noise = {*NOISE_OF_SHARE.values(), "noise"}
    is_share = {
        name: name in NOISE_OF_SHARE for name in table.columns if name not in of_noise
    }
    shown = [name for name in is_share if not table[name].isna().all()]
    rows = []
    for name, line in table.head(html.MOST_ROWS).iterrows():
        cells = [
            html.tag(
                "span", percent(line[key], line.get(NOISE_OF_SHARE[key])), kind="whole"
            )
            if is_share[key]
            else cell(line[key])
            for key in shown
        ]
        rows.append([html.tag("b", html.shortened(name)), *cells])
    head = ["", *(name.replace("_", " ") for name in shown)]
    return html.table(head, rows, n_left=len(table) - len(rows))


def percent(share: Any, noise: Any = None) -> str:
    """Return a share in percent, with its standard error.

    Examples
    --------
    >>> percent(0.123, 0.004), percent(0.5), percent(float("nan"), 0.1)
    ('12.3% ± 0.4%', '50.0%', '')
    """
    if share is None or math.isnan(share):
        return ""
    if noise is None or math.isnan(noise) or not noise:
        return f"{share:.1%}"
    return f"{share:.1%} ± {noise:.1%}"


def cell(value: Any) -> str:
    """Return a value of a table as a person reads it.

    Examples
    --------
    >>> cell(True), cell(float("nan")), cell(73.0), cell(0.12345678)
    ('yes', '', '73', '0.123457')
    """
    if isinstance(value, bool):
        return "yes" if value else ""
    if value is None or value != value:
        return ""
    return f"{value:g}" if isinstance(value, float) else html.shortened(value)


# ----------------------------------------------------------------------------
# The estimator: the diagram of scikit-learn, and below it what a fit left.


class ShowsFit(BaseEstimator):  # type: ignore[misc]
    """Adds what a fit left to the diagram of scikit-learn.

    Inside a pipeline scikit-learn draws its own diagram, as for any estimator.
    """

    _fitted: Any

    @property
    def _repr_html_(self) -> Any:
        """What shows the diagram; absent where scikit-learn is set to show text."""
        diagram = super()._repr_html_
        return lambda: diagram() + fit_html(self)

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        """Return what a notebook shows, as text and as HTML."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**how)
        if "text/html" in bundle:
            bundle["text/html"] += fit_html(self)
        return bundle


def fit_html(estimator: Any) -> str:
    """Return what a fit promised, spent, discovered, lost and learned.

    Nothing before a fit, and the certificate alone if a fit was interrupted.
    """
    if estimator._fitted is None:
        return ""
    # HTML by itself, in a frame of its own
    parts: list[object] = [html.Html(estimator.privacy_._repr_html_())]
    if not estimator.__sklearn_is_fitted__():
        text = "The fit did not end. What it spent counts; it has nothing to sample."
        return html.block(*parts, html.tag("p", text, kind="alarm"))
    parts += [_discovered(estimator), _lost(estimator), _learned(estimator)]
    return html.block(*parts)


def _discovered(estimator: Any) -> html.Html:
    if not estimator.cells_:
        return html.tag("p", "Images: shape and range of the pixels were public.")
    table = estimator.columns_
    n_found = int(table["is_discovered"].sum())
    title = (
        f"Columns ({len(table)}): {n_found} discovered, {len(table) - n_found} given"
    )
    return html.folded(title, columns_html(table))


def _lost(estimator: Any) -> html.Html:
    lines = estimator.lost_
    if not lines:
        return html.tag(
            "p", "Lost: no share of rows above 3% that noise cannot explain."
        )
    return html.joined([html.tag("p", html.tag("b", "Lost")), html.bullets(lines)])


def _learned(estimator: Any) -> html.Html:
    return html.tag("p", "Learned: ", html.tag("b", estimator.relations_learned_))
