"""The certificate states what a model was retrained with, as parameters do not."""

from skdpgen import (
    DPDRESynthesizer,
    DPMERFSynthesizer,
    DPPairwiseSynthesizer,
    Generator,
    load,
)
from skdpgen.datasets import load_example

X, Y = load_example(600)
START = "retrained, which used no more budget, with "


def retrained(synth):
    return [s for s in synth.privacy_.statements if s.startswith(START)]


def test_pairs_are_trained_anew_each_time(tmp_path):
    synth = DPPairwiseSynthesizer(3.0, max_iter=3).fit(X, Y)
    assert not retrained(synth)
    synth.retrain(max_iter=2, n_components=5)
    assert retrained(synth) == [START + "max_iter=2", START + "n_components=5"]
    synth.save(tmp_path / "fit.skdpgen")
    assert retrained(load(tmp_path / "fit.skdpgen")) == retrained(synth)
    assert not retrained(synth.retrain())


def test_settings_of_a_generator_stay():
    synth = DPMERFSynthesizer(3.0, generator=Generator(max_iter=2)).fit(X, Y)
    synth.retrain(max_iter=3).retrain(batch_size=50).retrain(max_iter=1)
    assert retrained(synth) == [START + "batch_size=50", START + "max_iter=1"]


def test_so_does_the_power_of_a_ratio():
    synth = DPDRESynthesizer(3.0).fit(X[300:], Y[300:], public_data=(X[:300], Y[:300]))
    assert retrained(synth.retrain(power=0.5)) == [START + "power=0.5"]
    assert not retrained(synth.retrain())
