"""Steps on as many threads as are quick, and nothing left behind."""

from collections import Counter

import pytest
import torch

from skdpgen.training import _steps
from skdpgen.training._steps import paced


@pytest.fixture(autouse=True)
def _four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    assert torch.get_num_threads() == 4
    torch.set_num_threads(before)


class Clock:
    """Tells how long steps take, by the number of threads that they have."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(_steps.time, "perf_counter", lambda: self.now)

    def run(self, steps, seconds):
        used = []
        for step in paced(steps):
            used.append(torch.get_num_threads())
            self.now += seconds(step, used[-1])
        return used


def test_a_busy_machine_takes_one_thread(monkeypatch):
    used = Clock(monkeypatch).run(range(200), lambda _, n: 100.0 if n > 1 else 1.0)
    assert Counter(used)[4] <= 6  # two at first, then one now and then


def test_a_quiet_machine_takes_all(monkeypatch):
    used = Clock(monkeypatch).run(range(200), lambda _, n: 1.0 / n)
    assert Counter(used)[1] <= 6


def test_the_first_steps_may_be_slow_for_other_reasons(monkeypatch):
    def seconds(step, n):
        return 1.0 / n + (50.0 if step < 2 else 0.0)

    assert Counter(Clock(monkeypatch).run(range(200), seconds))[1] <= 6


@pytest.mark.parametrize("is_busy_first", [True, False])
def test_what_changes_on_the_way_is_noticed(monkeypatch, is_busy_first):
    def seconds(step, n):
        is_busy = (step < 300) == is_busy_first
        return (100.0 if is_busy else 0.5) if n > 1 else 1.0

    used = Clock(monkeypatch).run(range(900), seconds)
    for part, is_busy in ((used[:300], is_busy_first), (used[600:], not is_busy_first)):
        assert (Counter(part)[1] > 280) == is_busy


def test_threads_come_back_when_a_loop_is_left(monkeypatch):
    clock = Clock(monkeypatch)

    def fails(step, n):
        if step == 7:
            raise KeyboardInterrupt
        return float(n)

    with pytest.raises(KeyboardInterrupt):
        clock.run(range(9), fails)
    assert torch.get_num_threads() == 4
    for step in paced(range(9)):
        if step == 2:
            break
    assert torch.get_num_threads() == 4
    assert list(paced(range(9))) == list(range(9))  # nobody is left in charge


def test_only_one_loop_is_in_charge(monkeypatch):
    monkeypatch.setattr(_steps.time, "perf_counter", lambda: 0.0)
    for _ in paced(range(3)):
        outer = torch.get_num_threads()
        inner = [torch.get_num_threads() for _ in paced(range(6))]
        assert set(inner) == {outer}


def test_with_one_thread_nothing_is_timed(monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.delattr(_steps.time, "perf_counter")
    assert list(paced(range(3))) == [0, 1, 2]
    torch.set_num_threads(4)
