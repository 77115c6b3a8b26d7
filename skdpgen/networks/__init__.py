"""Generators, discriminators and encoders; torch modules only."""

from skdpgen.networks._autoencoder import AutoEncoder, PublicAutoEncoder
from skdpgen.networks._classifier_training import (
    TEMPERATURE,
    drawn_layer,
    train_classifier,
)
from skdpgen.networks._convolutional import (
    VGG,
    ImageClassifier,
    ResNet,
    ResNet20,
    SmallCNN,
)
from skdpgen.networks._image import (
    Discriminator,
    ImageDiscriminator,
    ImageGenerator,
    ImageShape,
    Maps,
)
from skdpgen.networks._table import (
    CellsHead,
    PositionHead,
    TableGenerator,
    TableShape,
)

__all__ = [
    "TEMPERATURE",
    "VGG",
    "AutoEncoder",
    "CellsHead",
    "Discriminator",
    "ImageClassifier",
    "ImageDiscriminator",
    "ImageGenerator",
    "ImageShape",
    "Maps",
    "PositionHead",
    "PublicAutoEncoder",
    "ResNet",
    "ResNet20",
    "SmallCNN",
    "TableGenerator",
    "TableShape",
    "drawn_layer",
    "train_classifier",
]
