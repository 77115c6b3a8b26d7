"""After a fit nothing holds the rows, and what others see goes by no row."""

import gc
import warnings
import weakref
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdpgen import DPIndependentSynthesizer
from skdpgen.privacy import insecure_noise_seed
from tests.guards import _neighbours, _variants
from tests.guards._doors import Spy

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
OF_TABLES, OF_IMAGES = _variants.of_tables(), _variants.of_images()
ON_FRAMES = {  # the table that is read last is a private one
    **{
        name: (make, TABLES["frame"].beside(_variants.public_rows()["frame"]))
        for name, make in _variants.with_public_rows().items()
    },
    **{name: (make, TABLES["frame"]) for name, make in OF_TABLES.items()},
}
GENEROUS = 40.0
# Whether public rows seem to lack values hangs on noise, and nothing here on that.
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SupportWarning")
SENTINEL = 735.8291634509121  # a value of one row of the first fit, plus 1 for each
WORD = "Zweitausend", "undeins"  # of one row, when put together


def hold_sentinels(n):
    """Return what holds the values of n fits: arrays of floats, and texts."""
    gc.unfreeze()  # what was there before the tests may hold something, too
    gc.collect()
    held = gc.get_referents(*gc.get_objects())  # at once: a million of them
    kinds = {kind for kind in set(map(type, held)) if issubclass(kind, np.ndarray)}
    arrays = {id(value): value for value in held if type(value) in kinds}.values()
    wanted = SENTINEL + np.arange(n)
    floats = [a for a in arrays if a.dtype.kind == "f" and np.isin(wanted, a).any()]
    texts = [one for one in held if type(one) is str and one.startswith(WORD[0])]
    return [
        (
            [array for array in floats if (array == SENTINEL + fit).any()],
            [text for text in texts if is_the_word(text, fit)],
        )
        for fit in range(n)
    ]


def is_the_word(text, fit):
    return text.startswith(WORD[0]) and text[len(WORD[0]) :] == f"{WORD[1]}{fit}"


@pytest.fixture(scope="module")
def held_rows():
    """Return, for each fit, what still holds its rows: frames, arrays and texts.

    The search goes through all objects there are, so it is made once for all fits.
    """
    fits, frames = [], []
    for fit, (make, case) in enumerate(ON_FRAMES.values()):
        X, y = case.X.copy(), case.y.copy()
        X.loc[5, "income"] = SENTINEL + fit
        X.loc[5, "job"] = "".join(WORD) + str(fit)
        frames.append((weakref.ref(X), weakref.ref(y)))
        fits.append(replace(case, X=X, y=y).fit(make(epsilon=GENEROUS)))
        fits[-1].sample(5)
    texts = ["".join(WORD) + str(fit)]
    assert all(hold_sentinels(len(fits))[fit])  # of the last: the search finds it
    del X, y, texts
    arrays_and_texts = hold_sentinels(len(fits))
    alive = [[frame() for frame in of_fit] for of_fit in frames]
    return dict(zip(ON_FRAMES, zip(alive, arrays_and_texts, strict=True), strict=True))


@pytest.mark.parametrize("name", ON_FRAMES)
def test_the_rows_are_let_go_of(name, held_rows):
    frames, arrays_and_texts = held_rows[name]
    assert frames == [None, None]
    assert arrays_and_texts == ([], [])


@pytest.mark.parametrize("name", ON_FRAMES)
def test_a_clone_takes_nothing_along(name):
    make, case = ON_FRAMES[name]
    copy = clone(case.fit(make(epsilon=GENEROUS)))
    besides = set(vars(copy)) - set(copy.get_params())
    assert besides == {"_is_clone", "_cost_warnings"}
    assert copy._cost_warnings == []


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_fit_that_fails_leaves_its_certificate_alone(adjacency):
    case = TABLES["classes that are not found"]
    synth = DPIndependentSynthesizer(adjacency=adjacency)
    before = set(vars(synth))
    with pytest.raises(ValueError, match="No class label"):
        synth.fit(case.X, case.y)
    assert set(vars(synth)) - before == {"_fitted"}
    assert synth._fitted.certificate.releases  # what it has spent, and nothing else
    assert synth._fitted.facts is synth._fitted.measured is synth._fitted.model is None


IN_ORDER = [name for name in OF_TABLES if "," not in name]


@pytest.mark.parametrize("case", ["frame", "numbers as target"])
@pytest.mark.parametrize("name", IN_ORDER)
def test_the_order_of_the_rows_does_not_show(name, case, monkeypatch):
    rows = TABLES[case]
    found = []
    for order in (slice(None), slice(None, None, -1)):
        X, y = rows.X[order].reset_index(drop=True), rows.y[order]
        synth = OF_TABLES[name](epsilon=GENEROUS)
        with warnings.catch_warnings(), Spy().watching(monkeypatch) as spy:
            warnings.simplefilter("ignore")
            with insecure_noise_seed(0):
                synth.fit(X, y.reset_index(drop=True))
        found.append((synth, spy))
    (one, first), (two, second) = found
    assert one.schema_.to_json() == two.schema_.to_json()  # categories in one order
    for a, b in zip(first.releases, second.releases, strict=True):
        for key, noisy in a.noisy.items():
            if isinstance(noisy, dict):
                assert repr(noisy) == repr(b.noisy[key])
            else:
                np.testing.assert_allclose(noisy, b.noisy[key], atol=1e-5)


def test_dtypes_tell_no_categories(monkeypatch):
    """What a categorical dtype lists is private; only found categories come back."""
    X = TABLES["frame"].X.copy()
    X["education"] = X["education"].cat.add_categories(["Privatdozent"])
    synth = DPIndependentSynthesizer(epsilon=GENEROUS).fit(X)
    assert "Privatdozent" not in pd.unique(synth.sample()["education"].cat.categories)
