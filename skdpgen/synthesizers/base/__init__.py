"""What all estimators share: parameters, the frame of `fit`, sampling, saving."""

from skdpgen.synthesizers.base._attributes import TrainedAttributes, require_fitted
from skdpgen.synthesizers.base._documented import documented
from skdpgen.synthesizers.base._embedding_synthesizer import EmbeddingSynthesizer
from skdpgen.synthesizers.base._files import (
    MIGRATIONS,
    Content,
    each_object,
    read_estimator,
)
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
from skdpgen.synthesizers.base._synthesizer import BaseSynthesizer

__all__ = [
    "MIGRATIONS",
    "AdjacencyName",
    "BaseSynthesizer",
    "ClassShares",
    "ClassWeight",
    "Content",
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
    "each_object",
    "read_estimator",
    "require_fitted",
]
