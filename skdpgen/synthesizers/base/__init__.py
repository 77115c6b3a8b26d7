"""What all estimators share: parameters, the frame of `fit`, sampling, saving."""

from skdpgen.synthesizers.base._attributes import TrainedAttributes, require_fitted
from skdpgen.synthesizers.base._documented import documented
from skdpgen.synthesizers.base._embedding_synthesizer import EmbeddingSynthesizer
from skdpgen.synthesizers.base._parameters import (
    AdjacencyName,
    ClassShares,
    ClassWeight,
    Device,
    GeneratorName,
    ModelsName,
    Pooling,
    Precision,
    PresetName,
    PrivateRows,
    Sample,
    SchemaLike,
    TaskName,
)
from skdpgen.synthesizers.base._synthesizer import BaseSynthesizer, read_estimator

__all__ = [
    "AdjacencyName",
    "BaseSynthesizer",
    "ClassShares",
    "ClassWeight",
    "Device",
    "EmbeddingSynthesizer",
    "GeneratorName",
    "ModelsName",
    "Pooling",
    "Precision",
    "PresetName",
    "PrivateRows",
    "Sample",
    "SchemaLike",
    "TaskName",
    "TrainedAttributes",
    "documented",
    "read_estimator",
    "require_fitted",
]
