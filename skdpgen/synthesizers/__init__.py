"""The estimators, one method a file; `fit` reads as the algorithm box."""

from skdpgen.synthesizers._independent import DPIndependentSynthesizer

__all__ = ["DPIndependentSynthesizer"]
