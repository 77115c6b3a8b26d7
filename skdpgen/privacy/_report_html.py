"""The certificate in a notebook: alarms and the promise first, then what was spent."""

from collections.abc import Sequence
from typing import Any

from skdpgen.utils import html

MOST_RELEASES = 20
TABLE_HEAD = ("share of the budget", "release", "mechanism", "sensitivity", "noise std")


def certificate_html(report: Any, alarms: Sequence[str], promise: str) -> html.Html:
    """Return a certificate as HTML, without the frame of an output.

    Parameters
    ----------
    report : PrivacyReport
    alarms : sequence of str
        Statements that come first, in red.
    promise : str
        In one line.
    """
    is_private = not promise.startswith("NOT PRIVATE")
    unit = f'unit: {report.unit}, adjacency "{report.adjacency}"'
    rest = [line for line in report.statements if line not in alarms]
    return html.joined(
        [
            *(html.tag("p", alarm, kind="alarm") for alarm in alarms),
            html.tag("p", html.tag("b", promise), kind=None if is_private else "alarm"),
            html.tag("p", unit, kind="faint"),
            html.tag("p", html.bar(report.spent), " of the budget spent"),
            *_releases(report),
            html.folded(f"Statements ({len(rest)})", html.bullets(rest)),
        ]
    )


def _releases(report: Any) -> list[html.Html]:
    """Return a table of the releases; of many those that cost most."""
    releases = sorted(report.releases, key=lambda one: -one.share)[:MOST_RELEASES]
    shown = [one for one in report.releases if any(one is kept for kept in releases)]
    if not shown:
        return []
    rows = [
        (
            html.bar(one.share),
            html.shortened(one.name, 100),
            html.shortened(one.mechanism),
            f"{one.sensitivity:.4g}",
            f"{one.noise_std:.4g}",
        )
        for one in shown
    ]
    return [html.table(TABLE_HEAD, rows, n_left=len(report.releases) - len(shown))]
