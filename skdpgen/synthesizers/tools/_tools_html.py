"""Plans and searches in a notebook: alarms first, then what they print as text."""

from typing import Any

from skdpgen.utils import html

COSTS = (
    "on one core, about",
    "time",
    "passes over the rows",
    "memory beside the table",
    "largest sum",
)


def plan_html(plan: Any) -> str:
    """Return a plan: its budget, the expected noise, and a table of costs."""
    parts = [
        *(html.tag("p", alarm, kind="alarm") for alarm in plan._alarms),
        html.tag("p", html.tag("b", plan._title)),
        html.bullets(plan._expectations()),
    ]
    rows = [
        (name, cost.shown_time, cost.n_passes, cost.shown_memory, cost.shown_sum)
        for name, cost in plan.costs.items()
    ]
    if rows:
        parts.append(html.table(COSTS, rows))
    return html.block(*parts)


def search_cost_html(cost: Any) -> str:
    """Return what a search cost: alarms, the guarantee of all fits, and the rest."""
    parts = [html.tag("p", alarm, kind="alarm") for alarm in cost._alarms]
    if cost._guarantee:
        before, promise, after = cost._guarantee
        parts += [
            html.tag("p", before, html.tag("b", promise), after),
            html.tag("p", cost._not_covered, kind="faint"),
        ]
    return html.block(*parts)


def generator_search_html(search: Any) -> str:
    """Return the table of a search, best first and in bold."""
    names = list(search.results.columns)
    head = [html.shortened(name).replace("_", " ") for name in names]
    rows = [
        [_shown(value) for value in line]
        for line in search.results.head(html.MOST_ROWS).itertuples(index=False)
    ]
    if rows:
        rows[0] = [html.tag("b", value) for value in rows[0]]
    n_left = len(search.results) - len(rows)
    note = "Best first. No private row was read."
    return html.block(
        html.table(head, rows, n_left=n_left), html.tag("p", note, kind="faint")
    )


def _shown(value: Any) -> str:
    """Return a setting or a score as the table in text shows it."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return html.shortened(value)
