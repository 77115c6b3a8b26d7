"""After a fit nothing holds the rows, and what others see goes by no row."""

import gc
import warnings
import weakref

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdpgen import DPIndependentSynthesizer, insecure_noise_seed
from tests.guards import _neighbours, _variants
from tests.guards._doors import Spy

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
OF_TABLES, OF_IMAGES = _variants.of_tables(), _variants.of_images()
ON_FRAMES = OF_TABLES | _variants.with_public_rows("frame")
GENEROUS = 40.0
# Whether public rows seem to lack values hangs on noise, and nothing here on that.
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.utils.SupportWarning")
SENTINEL = 735.8291634509121  # a value of one row, told by its bytes
WORD = "Zweitausend", "undeins"  # of one row, when put together


def hold_the_sentinel():
    """Return arrays of floats that hold the one value, and texts that are the word."""
    gc.collect()
    held = gc.get_referents(*gc.get_objects())  # at once: a million of them
    kinds = {kind for kind in set(map(type, held)) if issubclass(kind, np.ndarray)}
    arrays = {id(value): value for value in held if type(value) in kinds}.values()
    found = [
        array
        for array in arrays
        if array.dtype.kind == "f" and array.size and (array == SENTINEL).any()
    ]
    return found, [one for one in held if type(one) is str and is_the_word(one)]


def is_the_word(text):
    return text.startswith(WORD[0]) and text[len(WORD[0]) :] == WORD[1]


@pytest.mark.parametrize("name", ON_FRAMES)
def test_the_rows_are_let_go_of(name):
    case = TABLES["frame"]
    X, y = case.X.copy(), case.y.copy()
    X.loc[5, "income"] = SENTINEL
    X.loc[5, "job"] = "".join(WORD)
    frames = weakref.ref(X), weakref.ref(y)
    synth = ON_FRAMES[name](epsilon=GENEROUS).fit(X, y)
    synth.sample(5)
    texts = ["".join(WORD)]
    assert all(hold_the_sentinel())  # the search finds what is there
    del X, y, texts
    gc.collect()
    assert [frame() for frame in frames] == [None, None]
    assert hold_the_sentinel() == ([], [])


@pytest.mark.parametrize("name", ON_FRAMES)
def test_a_clone_takes_nothing_along(name):
    case = TABLES["frame"]
    synth = ON_FRAMES[name](epsilon=GENEROUS).fit(case.X, case.y)
    copy = clone(synth)
    assert set(vars(copy)) - set(copy.get_params()) == {"_is_clone"}


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
    assert repr(one.schema_) == repr(two.schema_)  # categories in one order
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
