"""Whatever interrupts a fit, and wherever: what was paid for is kept, and told."""

from copy import deepcopy
from functools import lru_cache

import pytest
from sklearn.exceptions import NotFittedError

from skdpgen.privacy import Ledger
from skdpgen.synthesizers.embedding import _private_encoder
from skdpgen.tables import Encoder
from tests._covering import parametrize_pairs
from tests.guards import _neighbours, _variants

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
OF_TABLES, OF_IMAGES = _variants.of_tables(), _variants.of_images()
EPSILON, BEFORE = 40.0, 30.0
CASES = {
    **{name: (OF_TABLES[name], TABLES["frame"]) for name in OF_TABLES},
    **{
        name: (make, TABLES["frame"].beside(_variants.public_rows()["frame"]))
        for name, make in _variants.with_public_rows().items()
    },
    **{f"{name}, images": (OF_IMAGES[name], IMAGES["images"]) for name in OF_IMAGES},
}


class Fault:
    """Raises at the k-th charge of a ledger, or at the k-th batch that is read."""

    def __init__(self, where, k):
        self.where, self.left, self.n_charges = where, k, 0

    def count(self, where):
        self.left -= where == self.where
        if where == self.where and self.left == 0:
            raise KeyboardInterrupt

    def plant(self, patch):
        enter, encode = Ledger._enter, Encoder._batch

        def entered(ledger, entry):
            enter(ledger, entry)
            self.n_charges += 1
            self.count("charge")

        def read(encoder, *given):
            self.count("batch")
            return encode(encoder, *given)

        patch.setattr(Ledger, "_enter", entered)
        patch.setattr(Encoder, "_batch", read)
        patch.setattr(_private_encoder, "STEPS", 2)


def interrupted(synth, case, fault, monkeypatch):
    """Fit, and return whether the fault struck."""
    with monkeypatch.context() as patch:
        fault.plant(patch)
        try:
            case.fit(synth)
        except KeyboardInterrupt:
            return True
    return False


@lru_cache
def undisturbed(name, epsilon):
    """Return a fit that nothing interrupts; who changes it takes a copy."""
    make, case = CASES[name]
    synth = make(epsilon=epsilon, **case.params)
    with pytest.MonkeyPatch.context() as patch:
        assert not interrupted(synth, case, Fault("charge", -1), patch)
    return synth


def n_entries(name):
    """Return how many releases an undisturbed fit pays for."""
    return len(undisturbed(name, EPSILON).privacy_.releases)


def begun(name, is_second):
    """Return an estimator that has the budget of before, and was fitted with it."""
    if is_second:
        return deepcopy(undisturbed(name, BEFORE))
    make, case = CASES[name]
    return make(epsilon=BEFORE, **case.params)


@parametrize_pairs("name, is_second", CASES, [False, True], strength=1)
def test_each_charge_is_in_the_certificate(name, is_second, monkeypatch):
    case = CASES[name][1]
    for k in range(1, n_entries(name) + 1):
        synth = begun(name, is_second).set_params(epsilon=EPSILON)
        assert hasattr(synth, "privacy_") == is_second
        assert interrupted(synth, case, Fault("charge", k), monkeypatch)
        assert hasattr(synth, "privacy_")
        assert synth.privacy_.epsilon == EPSILON
        assert len(synth.privacy_.releases) == k
        assert not hasattr(synth, "_model")
        with pytest.raises(NotFittedError):
            synth.sample(3)
        if k == 1:  # nothing was released yet, so nothing else is there
            assert not hasattr(synth, "release_")


@parametrize_pairs("name, is_second", CASES, [True, False], strength=1)
def test_an_interrupt_while_rows_are_read(name, is_second, monkeypatch):
    case, k = CASES[name][1], 0
    while True:
        k += 1
        synth = begun(name, is_second).set_params(epsilon=EPSILON)
        assert hasattr(synth, "privacy_") == is_second
        before, fault = getattr(synth, "privacy_", None), Fault("batch", k)
        if not interrupted(synth, case, fault, monkeypatch):
            break
        if not fault.n_charges:  # nothing is paid, so all is as it was
            assert getattr(synth, "privacy_", None) is before
            continue
        assert synth.privacy_.epsilon == EPSILON
        assert len(synth.privacy_.releases) == fault.n_charges
        with pytest.raises(NotFittedError):
            synth.sample(3)
    assert k > 1


@pytest.mark.parametrize("name", ["DPMERFSynthesizer", "DPPairwiseSynthesizer"])
def test_what_was_released_is_kept_and_can_be_trained_on(name, monkeypatch):
    make, case = CASES[name]
    synth = make(epsilon=EPSILON, **case.params)
    last = Fault("charge", n_entries(name))
    assert interrupted(synth, case, last, monkeypatch)
    if name == "DPPairwiseSynthesizer":  # all but the last look at pairs
        assert len(synth.pair_releases_) == 1
        assert len(synth.retrain().sample(5)[0]) == 5
    else:
        with pytest.raises(NotFittedError):
            synth.retrain()


def test_what_is_wrong_before_anything_is_paid_changes_nothing():
    case = TABLES["frame"]
    synth = OF_TABLES["DPMERFSynthesizer"](epsilon=BEFORE).fit(case.X, case.y)
    before = str(synth.privacy_)
    for name, wrong in (
        ("epsilon", -1.0),
        ("classes", ["a", "a"]),
        ("generator__hidden_layer_sizes", (0,)),
    ):
        kept = synth.get_params()[name]
        with pytest.raises(ValueError, match=name.removeprefix("generator__")):
            synth.set_params(**{name: wrong}).fit(case.X, case.y)
        synth.set_params(**{name: kept})
        assert str(synth.privacy_) == before
        assert len(synth.sample(3)[0]) == 3
