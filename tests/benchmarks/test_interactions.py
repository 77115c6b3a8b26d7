import numpy as np
import pytest

from benchmarks.interactions import make_interactions


def test_a_seed_decides_the_rows():
    X, y = make_interactions(50, random_state=3)
    again, labels = make_interactions(50, random_state=3)
    assert X.equals(again)
    assert y.equals(labels)
    assert not X.equals(make_interactions(50, random_state=1)[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_rows": 0}, "n_rows must be at least 1. Got 0"),
        ({"task": "cluster"}, "task must be"),
        ({"noise": -1.0}, "noise must be at least 0"),
    ],
)
def test_what_cannot_be_made_is_an_error(params, message):
    with pytest.raises(ValueError, match=message):
        make_interactions(**params)


def test_three_columns_together_tell_more_than_any_two():
    X, y = make_interactions(20_000, noise=0.0)
    good = np.where(y == "good", 1.0, -1.0)
    fed, watered, slope = (
        np.where(bits, 1.0, -1.0)
        for bits in (X["fertiliser"] > 60, X["watered"], X["slope"])
    )
    assert abs((good * fed * watered * slope).mean()) > 0.3
    for two in (fed * watered, fed * slope, watered * slope):
        assert abs((good * two).mean() - good.mean() * two.mean()) < 0.15
