import numpy as np
import pandas as pd
import pytest

from skdpgen.metrics import rule_violations
from skdpgen.tables import (
    Categorical,
    Determines,
    Integer,
    LessEqual,
    MissingIf,
    Schema,
    SumOf,
)

ROWS = pd.DataFrame(
    {
        "start": [1.0, 5.0, np.nan, 2.0],
        "end": [2.0, 3.0, 4.0, 2.0],
        "total": [3.0, 8.0, 9.0, 4.5],
        "city": ["Rome", "Bari", "Oslo", None],
        "country": ["IT", "FR", "NO", "IT"],
        "my job": ["N", "1", "2", "N"],
    }
)


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        (LessEqual("start", "end"), 1),
        (SumOf("total", ["start", "end"]), 1),
        (MissingIf("city", "country", "FR"), 1),
        (MissingIf("start", "end", 4), 0),
        (Determines("city", "country", {"Rome": "IT", "Bari": "IT"}), 1),
        ("start <= end", 2),  # a comparison with a missing number does not hold
        ("`my job` == 'N' or end > 3", 1),
        (lambda frame: frame["total"] > 3, 1),
        (lambda frame: [True, False, True, pd.NA], 2),
    ],
)
def test_rules_by_hand(rule, broken):
    assert rule_violations(ROWS, {"rule": rule})["rule"] == broken


def test_a_row_counts_once_in_any():
    rules = {"one": "start <= 4", "other": "end != 3", "third": "total < 100"}
    counts = rule_violations(ROWS, rules)
    assert counts.to_dict() == {"one": 2, "other": 1, "third": 0, "any": 2}


def test_rules_of_a_schema_and_lists():
    columns = {"start": Integer(0, 9), "end": Integer(0, 9)}
    rule = LessEqual("start", "end")
    schema = Schema(columns, Categorical(["no", "yes"]), rules=[rule])
    expected = {repr(rule): 1, "any": 1}
    assert rule_violations(ROWS, schema).to_dict() == expected
    assert rule_violations(ROWS, [rule]).to_dict() == expected
    assert rule_violations(ROWS, ["start < 5"]).to_dict() == {"start < 5": 2, "any": 2}
    assert rule_violations(ROWS, ()).to_dict() == {"any": 0}


def test_the_target_is_a_column():
    X, y = ROWS[["start"]], ["yes", "no", "no", "no"]
    assert rule_violations((X, y), {"y": "`(target)` == 'no'"})["y"] == 1


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"r": "absent > 3"}, "'r', 'absent > 3', cannot be evaluated"),
        ({"r": "start >"}, "cannot be evaluated"),
        ({"r": "start + end"}, "must be True or False for each of 4 rows"),
        ({"r": lambda frame: True}, "must be True or False"),
        ({"r": "start > @np.inf"}, "without @"),
        ({"r": LessEqual("start", "absent")}, "needs the columns 'absent'"),
        ({"any": "start > 0"}, "is no name of a rule"),
    ],
)
def test_wrong_rules(rules, message):
    with pytest.raises(ValueError, match=message):
        rule_violations(ROWS, rules)


@pytest.mark.parametrize("rules", ["start > 0", 3, {"r": 3}])
def test_rules_of_wrong_types(rules):
    with pytest.raises(TypeError, match="must be a"):
        rule_violations(ROWS, rules)
