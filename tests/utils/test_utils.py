import numpy as np
import pytest

from skdpgen import exceptions
from skdpgen.utils import require, split_generator


def test_a_module_that_is_not_there_names_its_extra():
    with pytest.raises(ImportError, match=r"'no_such' is needed.*'skdpgen\[plot\]'"):
        require("no_such.module", extra="plot")
    assert require("json", extra="plot").dumps(1) == "1"


@pytest.mark.parametrize("make", [lambda: 0, lambda: np.random.RandomState(0)])
def test_equal_states_split_into_equal_and_independent_generators(make):
    one, two = split_generator(make(), 3), split_generator(make(), 3)
    draws = [[rng.random() for rng in generators] for generators in (one, two)]
    assert draws[0] == draws[1]
    assert len(set(draws[0])) == 3


def test_a_shared_state_moves_on():
    shared = np.random.RandomState(0)
    one, two = split_generator(shared, 1), split_generator(shared, 1)
    assert one[0].random() != two[0].random()
    shared = np.random.default_rng(0)
    assert (
        split_generator(shared, 1)[0].random() != split_generator(shared, 1)[0].random()
    )


def test_no_state_is_fresh_and_leaves_the_global_one():
    np.random.seed(0)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    draws = {split_generator(None, 1)[0].random() for _ in range(3)}
    assert len(draws) == 3
    del expected


def test_errors_and_warnings_are_of_the_kinds_that_callers_catch():
    assert issubclass(exceptions.SchemaError, ValueError)
    assert issubclass(exceptions.SchemaRequiredError, exceptions.SchemaError)
    assert issubclass(exceptions.BudgetExceededError, RuntimeError)
    for warning in (
        exceptions.NotPrivateWarning,
        exceptions.SearchCostWarning,
    ):
        assert issubclass(warning, UserWarning)
