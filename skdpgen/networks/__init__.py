"""Networks that generate, and some that look; torch modules only."""

from skdpgen.networks._autoencoder import AutoEncoder
from skdpgen.networks._discriminator import Discriminator
from skdpgen.networks._image import ImageGenerator, ImageShape
from skdpgen.networks._public_autoencoder import PublicAutoEncoder
from skdpgen.networks._resnet import ResNet
from skdpgen.networks._small_cnn import SmallCNN
from skdpgen.networks._table import (
    CellsHead,
    PositionHead,
    TableGenerator,
    TableShape,
)
from skdpgen.networks._vgg import VGG

__all__ = [
    "VGG",
    "AutoEncoder",
    "CellsHead",
    "Discriminator",
    "ImageGenerator",
    "ImageShape",
    "PositionHead",
    "PublicAutoEncoder",
    "ResNet",
    "SmallCNN",
    "TableGenerator",
    "TableShape",
]
