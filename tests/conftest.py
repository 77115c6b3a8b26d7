"""Settings of all tests."""

import gc
import os
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from skdpgen.metrics import CLASSIFIERS, REGRESSORS
from skdpgen.privacy import _noise, _noisy_share
from skdpgen.synthesizers.gaussian import _pictures
from tests.benchmark._small_run import EITHER, cells_computed

# a busy machine is no failure, and examples are the same in each run
settings.register_profile("any machine", deadline=None, derandomize=True)
settings.load_profile("any machine")

# Collecting makes a million objects that stay. To search them for garbage takes a
# quarter of that time, and seconds at the end.
gc.disable()

FRESH = "SKDPGEN_TEST_ENTROPY"  # set it to "fresh" for other noise in each run


class SameEntropy:
    """Bytes in place of the system's entropy: the same ones at the start of each test.

    So a test that passes once passes again, whatever noise it draws. Within a test the
    bytes go on, and two fits get different noise. A fit that tests share gets the same
    noise whichever of them comes first, if it is the first thing that they do.
    """

    def __init__(self):
        self.start()

    def start(self):
        self._rng = np.random.Generator(np.random.PCG64(20261125))

    def urandom(self, n):
        return self._rng.bytes(n)


_entropy = SameEntropy()
_fresh_generator = np.random.default_rng


def _generator(seed=None):
    """Return numpy's generator; without a seed, one that is the same in each run."""
    if seed is None:
        seed = int.from_bytes(_entropy.urandom(8), "little")
    return _fresh_generator(seed)


@pytest.fixture(scope="session", autouse=True)
def _same_entropy():
    """Let privacy noise and unseeded generators be the same in each run."""
    if os.environ.get(FRESH) == "fresh":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        source = SimpleNamespace(urandom=lambda n: _entropy.urandom(n))
        patch.setattr(_noise, "os", source)
        patch.setattr(_noisy_share, "os", source)
        patch.setattr(np.random, "default_rng", _generator)
        yield


def pytest_collection_finish():
    """Let Python look for garbage again, among what the tests make."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup():
    """Start from the same bytes."""
    _entropy.start()


@pytest.fixture
def fresh_entropy(monkeypatch):
    """Let one test draw from the system's entropy."""
    monkeypatch.setattr(_noise, "os", os)
    monkeypatch.setattr(_noisy_share, "os", os)


@pytest.fixture
def hardly_taught(monkeypatch):
    """Let networks that rows vote on learn for three steps, from free pictures."""
    monkeypatch.setattr(_pictures, "N_DRAWN", (60, 60))


@pytest.fixture
def few_models(monkeypatch):
    """Score by four models of each kind; a report trains twelve."""
    train_few_models(monkeypatch)


def train_few_models(patch):
    """Leave four models of each kind."""
    for table in (CLASSIFIERS, REGRESSORS):
        for kind, models in list(table.items()):
            names = {*list(models)[:2], "lda", "xgboost"}
            few = {name: model for name, model in models.items() if name in names}
            patch.setitem(table, kind, few)


@pytest.fixture(params=EITHER)
def computed(request):
    """Let this process compute the cells of runs; ``make slow`` does it apart, too."""
    with cells_computed(request.param):
        yield request.param
