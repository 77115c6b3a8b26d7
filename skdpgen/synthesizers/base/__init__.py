"""What all estimators share: parameters, the frame of `fit`, sampling, saving."""

from skdpgen.synthesizers.base._attributes import TrainedAttributes, require_fitted
from skdpgen.synthesizers.base._embedding_synthesizer import EmbeddingSynthesizer
from skdpgen.synthesizers.base._files import (
    MIGRATIONS,
    Content,
    each_object,
    read_estimator,
)
from skdpgen.synthesizers.base._generator import (
    Discriminator,
    Generator,
    parameter_names,
    with_parts,
)
from skdpgen.synthesizers.base._parameters import (
    AdjacencyName,
    ClassShares,
    ClassWeight,
    Device,
    PrivateRows,
    Sample,
    SchemaLike,
    TaskName,
)
from skdpgen.synthesizers.base._presets import HasPresets
from skdpgen.synthesizers.base._synthesizer import BaseSynthesizer, check_retrained

__all__ = [
    "MIGRATIONS",
    "AdjacencyName",
    "BaseSynthesizer",
    "ClassShares",
    "ClassWeight",
    "Content",
    "Device",
    "Discriminator",
    "EmbeddingSynthesizer",
    "Generator",
    "HasPresets",
    "PrivateRows",
    "Sample",
    "SchemaLike",
    "TaskName",
    "TrainedAttributes",
    "check_retrained",
    "each_object",
    "parameter_names",
    "read_estimator",
    "require_fitted",
    "with_parts",
]
