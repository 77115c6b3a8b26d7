import re

import pytest

from skdpgen import DPPairwiseSynthesizer
from skdpgen.datasets import load_example
from skdpgen.utils import progress_bar, training_bar


def test_a_bar_says_what_is_done_how_far_and_how_long(capsys):
    bar = progress_bar("rows", 4, unit="rows", is_shown=True, mininterval=0)
    for _ in range(4):
        bar.update()
    bar.close()
    shown = capsys.readouterr().err
    assert re.search(r"rows: +\|.*\| 1 of 4 rows, \d\d:\d\d passed, .* left", shown)
    assert "4 of 4 rows" in shown


def test_a_bar_of_stages_says_no_time_that_is_left(capsys):
    bar = progress_bar("opening", 3, unit="stages", is_shown=True, is_timed=False)
    bar.set_description("bins")
    bar.close()
    shown = capsys.readouterr().err
    assert re.search(r"bins: +\|.*\| 0 of 3 stages, \d\d:\d\d passed", shown)
    assert "left" not in shown


def test_no_bar_unless_asked(capsys):
    assert list(training_bar(range(3), is_shown=False)) == [0, 1, 2]
    progress_bar("rows", 4, unit="rows", is_shown=False).update()
    assert capsys.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_shows_stages_then_training(capsys):
    synth = DPPairwiseSynthesizer(50, max_iter=2, verbose=1)
    X, y = load_example(2000)
    synth.fit(X[["age", "job", "balance"]], y)
    shown = capsys.readouterr().err
    assert re.search(r"opening: .*bins: .*histograms: .*training: ", shown, re.DOTALL)
    assert re.search(r"2 of 2 steps, \d\d:\d\d passed, 00:00 left", shown)
