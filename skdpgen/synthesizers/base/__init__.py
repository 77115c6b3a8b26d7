"""What all estimators share: parameters, the frame of `fit`, sampling, saving."""

from skdpgen.synthesizers.base._attributes import TrainedAttributes, require_fitted
from skdpgen.synthesizers.base._embedding_synthesizer import EmbeddingSynthesizer
from skdpgen.synthesizers.base._generator import Generator, with_generator
from skdpgen.synthesizers.base._parameters import (
    AdjacencyName,
    ClassShares,
    ClassWeight,
    Device,
    Pooling,
    PresetName,
    PrivateRows,
    Sample,
    SchemaLike,
    TaskName,
)
from skdpgen.synthesizers.base._synthesizer import (
    BaseSynthesizer,
    check_retrained,
    read_estimator,
)

__all__ = [
    "AdjacencyName",
    "BaseSynthesizer",
    "ClassShares",
    "ClassWeight",
    "Device",
    "EmbeddingSynthesizer",
    "Generator",
    "Pooling",
    "PresetName",
    "PrivateRows",
    "Sample",
    "SchemaLike",
    "TaskName",
    "TrainedAttributes",
    "check_retrained",
    "read_estimator",
    "require_fitted",
    "with_generator",
]
