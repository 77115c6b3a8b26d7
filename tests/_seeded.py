"""Noise that is the same each time, for tests of quality: none may fail by luck."""

import warnings
from contextlib import contextmanager

from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed


@contextmanager
def same_noise(seed=0):
    """Seed the noise of fits, and leave out the warning that it is not private."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        with insecure_noise_seed(seed):
            yield
