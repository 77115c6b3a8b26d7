"""The first screen of a report: four questions, answered from released quantities.

Is it private, how good is it, what was lost, may I share it. An answer is plain data:
a verdict, sentences, and numbers that the page draws as bars.
"""

import math
from collections.abc import Mapping
from typing import Any

STRONG, WEAK = 1.0, 10.0  # epsilon: the usual reading, see docs/read_a_certificate.md
MOST_BARS = 4  # in an answer; the table of columns has all
STANDARD_ERRORS = 2.0  # around a released share: right in 19 of 20 cases
DROWNED = 0.5  # of the rows: a share that noise may move that far shows nothing
ONLY_NOISE = "noise may move shares by 50"  # a statement of the certificate
LARGE_LOSS = 0.1  # of the rows, if there is one
LARGE_DELTA = "delta exceeds"  # the certificate's statement
UNTESTED = "relations that were not tested against the noise"
RELATED = ("columns and relations", UNTESTED, "images")  # of `relations_learned_`


def answers(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers to four questions about a report.

    Parameters
    ----------
    content : mapping
        Of ``report_content``; only released quantities are read from it.

    Returns
    -------
    dict
        ``private``, ``quality``, ``lost`` and ``share``, each with a ``verdict``.
    """
    return {
        "private": _private(content),
        "quality": _quality(content),
        "lost": _lost(content),
        "share": _share(content),
    }


# ----------------------------------------------------------------------------
# Is it private?


def _private(content: Mapping[str, Any]) -> dict[str, Any]:
    guarantee = content["guarantee"]
    if not guarantee["is_private"]:
        return {"verdict": "No. No noise was added.", "strength": "none"}
    epsilon = guarantee["epsilon"]
    strength = (
        "strong" if epsilon <= STRONG else "moderate" if epsilon <= WEAK else "weak"
    )
    if _faults(content):
        verdict = "No. Something voids the guarantee: see the alarm."
    else:
        verdict = f"Yes. The guarantee is {strength} (epsilon {epsilon:g})."
    return {"verdict": verdict, "strength": strength}


def _faults(content: Mapping[str, Any]) -> list[str]:
    """Return the alarms of the fit; that of the part on real rows is none of them."""
    real = content["real"]
    return [
        alarm
        for alarm in content["alarms"]
        if real is None or alarm != real.get("alarm")
    ]


# ----------------------------------------------------------------------------
# How good is it?


def _quality(content: Mapping[str, Any]) -> dict[str, Any]:
    learned = content["learned"]
    bars = [
        {
            "name": column["name"],
            "share": min(STANDARD_ERRORS * column["noise"], 1.0),
        }
        for column in content["columns"]
        if column["noise"] and math.isfinite(column["noise"])  # 0: nothing was added
    ]
    bars.sort(key=lambda bar: -bar["share"])
    if learned == "images":
        verdict = "Look at the images below."
        if not content["figures"]:
            verdict = "This report has no pictures, so it cannot show the quality."
    elif learned == UNTESTED:
        verdict = "Unknown: no test showed that relationships exceed the noise."
    elif learned in RELATED:
        verdict = "Columns and some relationships between them were learned."
    elif learned is None:
        verdict = "This report cannot say which relationships were learned."
    else:
        verdict = f"Limited: {learned}, no other relationships."
    n_drowned = sum(bar["share"] >= DROWNED for bar in bars)
    is_stated = any(line.startswith(ONLY_NOISE) for line in content["public"])
    if (n_drowned or is_stated) and n_drowned in (0, len(bars)):
        verdict = "Do not use these rows: their columns are noise."
    elif n_drowned:
        verdict += f" {n_drowned} of {len(bars)} columns are noise."
    return {
        "verdict": verdict,
        "bars": bars[:MOST_BARS],
        "n_columns": len(bars),
        # the page draws bars on a scale that all of them fit
        "scale": _scale([bar["share"] for bar in bars]),
    }


# ----------------------------------------------------------------------------
# What was lost?


def _lost(content: Mapping[str, Any]) -> dict[str, Any]:
    lines = content["lost"]
    bars = [
        {"name": column["name"], "what": loss["what"], **loss["range"]}
        for column in content["columns"]
        for loss in column["losses"]
    ]
    bars.sort(key=lambda bar: (-bar["low"], -bar["high"]))
    if lines:
        verdict = f"{len(lines)} large losses were detected."
        if len(lines) == 1:
            verdict = "One large loss was detected."
    elif any(bar["high"] > LARGE_LOSS for bar in bars):
        most = max(bar["high"] for bar in bars)
        verdict = (
            f"No large loss was detected, but noise may hide one of {most:.0%} of the "
            "rows."
        )
    elif bars or content["learned"] == "images":
        verdict = "No large loss was detected."
    else:
        verdict = "No loss was measured for single columns."
    learned = content["learned"]
    if learned not in (None, *RELATED) and len(content["columns"]) > 1:
        others = "other " if "by" in learned.split() else ""  # "columns by class only"
        verdict += f" No {others}relationships between columns are kept."
    return {
        "verdict": verdict,
        "bars": bars[:MOST_BARS],
        "n_bars": len(bars),
        "scale": _scale([bar["high"] for bar in bars]),
        "n_lines": len(lines),
        "made_up": [
            column["name"]
            for column in content["columns"]
            if column["type"] == "Regenerate"
        ],
    }


def _scale(shares: list[float]) -> float:
    """Return the share at the right end of the bars: 5, 10, 20, 50 or 100 %."""
    largest = max(shares, default=0.0)
    scales = (0.05, 0.1, 0.2, 0.5, 1.0)
    return next((scale for scale in scales if largest <= scale), largest)


# ----------------------------------------------------------------------------
# May I share it?

TO_CONFIRM = (
    "One person has one row. For a person with k rows, multiply epsilon by k; delta "
    "grows as well.",
    "Nothing else was computed from these private rows and released, or the epsilons "
    "were added up.",
    "What the fit took as public is public: column names, data types, and the list "
    "under “What the guarantee assumes”.",
)


def _share(content: Mapping[str, Any]) -> dict[str, Any]:
    guarantee = content["guarantee"]
    faults = _faults(content)
    is_private = guarantee["is_private"]
    is_weak = is_private and guarantee["epsilon"] > WEAK
    is_large = any(LARGE_DELTA in line for line in content["public"])
    is_unprotected = bool(faults) or not is_private
    if is_unprotected:
        verdict = "No. The synthetic rows are not protected."
    elif is_weak or is_large:
        verdict = "Only with care. The guarantee is weak, so ask an expert first."
    elif guarantee["epsilon"] > STRONG:
        verdict = (
            f"Yes, if your organisation accepts epsilon {guarantee['epsilon']:g} and "
            "you can confirm the three points below."
        )
    else:
        verdict = "Yes, if you can confirm the three points below."
    if content["real"] is not None:
        verdict = "Not this report: part 2 reads private rows. The synthetic rows: " + (
            verdict[0].lower() + verdict[1:]
        )
    passed = [{"text": "Noise was added to every release.", "passed": is_private}]
    passed.append(
        {"text": "The certificate has no alarm.", "passed": is_private and not faults}
    )
    if is_private:
        text = f"Epsilon is at most {WEAK:g} (a larger one promises little)."
        passed.append({"text": text, "passed": not is_weak})
        text = "Delta is not above 1 / rows."
        passed.append({"text": text, "passed": not is_large})
    to_confirm = [] if is_unprotected else list(TO_CONFIRM)
    return {"verdict": verdict, "checked": passed, "to_confirm": to_confirm}
