"""What all estimators are made of: parameters, the frame of `fit`, saving."""

from skdpgen.synthesizers.base._attributes import TrainedAttributes, there
from skdpgen.synthesizers.base._documented import documented
from skdpgen.synthesizers.base._embedding_synthesizer import EmbeddingSynthesizer
from skdpgen.synthesizers.base._synthesizer import BaseSynthesizer, read_estimator

__all__ = [
    "BaseSynthesizer",
    "EmbeddingSynthesizer",
    "TrainedAttributes",
    "documented",
    "read_estimator",
    "there",
]
