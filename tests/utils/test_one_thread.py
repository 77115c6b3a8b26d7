"""BLAS on one thread while small matrices are worked on, and as before afterwards."""

import threading

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


def test_several_threads_of_python_leave_nothing_behind():
    """The first one to come is not the first one to go."""
    is_in, may_go = threading.Event(), threading.Event()

    def first():
        inside(lambda: (is_in.set(), may_go.wait(60)))

    one = threading.Thread(target=first, daemon=True)
    one.start()
    assert is_in.wait(60)
    assert inside() == {1}
    inside(lambda: (may_go.set(), one.join(60)))
    assert threads() == {3}
