import numpy as np
import pytest

from skdpgen import DPDRESynthesizer, DPIndependentSynthesizer
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_calibration

X, Y = load_example(1000)
HALF, PUBLIC = (X[500:], Y[500:]), (X[:500], Y[:500])
KNOWN = {"classes": ["left", "stayed"]}


def test_weighed_shares_are_drawn_against_released_ones():
    synth = DPDRESynthesizer(**KNOWN, random_state=0)
    synth.fit(*HALF, public_data=PUBLIC)
    axes = plot_calibration(synth).axes[0]
    before, after = axes.lines[:2]
    np.testing.assert_array_equal(after.get_ydata(), synth.calibration_["weighed"])
    np.testing.assert_array_equal(before.get_xdata(), synth.calibration_["released"])


def test_nothing_to_compare_with():
    other = DPIndependentSynthesizer(**KNOWN).fit(X, Y)
    steps = DPDRESynthesizer(**KNOWN, algorithm="sgd")
    steps.set_params(discriminator__max_iter=2)
    steps.fit(*HALF, public_data=PUBLIC)
    for synth in (other, steps):
        with pytest.raises(TypeError, match="algorithm='one_shot'"):
            plot_calibration(synth)
