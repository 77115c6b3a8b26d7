"""BLAS on one thread while small matrices are worked on, and as before afterwards."""

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from skdpgen.utils import on_one_thread


@pytest.fixture(autouse=True)
def _three_threads():
    with threadpool_limits(3, user_api="blas"):
        yield
        assert threads() == {3}


def threads():
    found = ThreadpoolController().select(user_api="blas").info()
    return {one["num_threads"] for one in found}


@on_one_thread
def inside(then=threads):
    return then()


def test_one_inside_and_all_outside():
    assert threads() == {3}
    assert inside() == {1}
    assert inside(inside) == {1}
    assert threads() == {3}


def test_errors_leave_nothing_behind():
    def fails():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        inside(fails)
    assert threads() == {3}
