"""Two fits with the same noise, to be compared to the bit."""

import warnings

import numpy as np
import pandas as pd

from skdpgen import (
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPMGESynthesizer,
    DPPairwiseSynthesizer,
    Generator,
)
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed

SYNTHESIZERS = (
    DPIndependentSynthesizer(random_state=0),
    DPPairwiseSynthesizer(random_state=0, max_iter=3),
    DPMGESynthesizer(random_state=0),
    DPMERFSynthesizer(random_state=0, generator=Generator(max_iter=2), n_features=50),
)


def fitted(synth, X, y, **params):
    """Fit with noise that can be had again."""
    params = {"epsilon": 3.0, **params}
    synth = synth.__class__(**{**synth.get_params(deep=False), **params})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        with insecure_noise_seed(7):
            return synth.fit(X, y)


def releases(synth):
    """Every array that was released, as bytes, by the attribute that has it."""
    found = {"release_": synth.release_}
    pairs = getattr(synth, "pair_releases_", ())
    found |= {f"pairs {i}": one.released for i, one in enumerate(pairs)}
    return {
        (name, key): np.asarray(block).tobytes()
        for name, one in found.items()
        for key, block in one.values.items()
    }


def assert_alike(one, other):
    """Compare releases, certificates' entries and samples."""
    assert releases(one) == releases(other)
    samples = one.sample(200, random_state=1), other.sample(200, random_state=1)
    pairs = zip(*(s if isinstance(s, tuple) else (s,) for s in samples), strict=True)
    for mine, theirs in pairs:
        pd.testing.assert_frame_equal(pd.DataFrame(mine), pd.DataFrame(theirs))
    assert one.privacy_.releases == other.privacy_.releases
