"""Networks that judge images, as scikit-learn estimators: train, predict."""

import math
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import Tensor, nn

from skdpgen.networks import TEMPERATURE, Maps, drawn_layer, train_classifier
from skdpgen.utils import pick_device

Shape = tuple[int, int, int]  # channels, height and width
BATCH = 128
IMAGES_AT_ONCE = 1024  # that are predicted

# ----------------------------------------------------------------------------
# What all of them share.


class ImageNetwork(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A network on images; rows come flat, and ``shape`` states what they were.

    Weights, batches and augmentation are drawn from ``random_state`` alone: the global
    state of torch stays as it is. A GPU rounds otherwise than a processor, so scores of
    one device repeat, and those of two differ a little.
    """

    shape: Shape
    max_iter: int
    random_state: int | None
    device: str

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on flat images in [0, 1]."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        device, rng = pick_device(self.device), np.random.default_rng(self.random_state)
        pixels = torch.from_numpy(np.asarray(X, np.float32)).to(device)
        network = self._network(len(self.classes_), rng, device).to(device).train()
        self._train(network, pixels, torch.tensor(codes).to(device), rng)
        self.network_ = network.eval()
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class."""
        rows, device = torch.from_numpy(np.asarray(X, np.float32)), self._device()
        with torch.no_grad():
            parts = [
                self._scores(part.to(device)).softmax(dim=1).cpu()
                for part in rows.split(IMAGES_AT_ONCE)
            ]
        return np.asarray(torch.cat(parts).double().numpy())

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most likely class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def _device(self) -> torch.device:
        return next(self.network_.parameters()).device

    def _scores(self, rows: Tensor) -> Tensor:
        """Return a score of each class, before the softmax."""
        scores: Tensor = self.network_(rows)
        return scores

    def _network(
        self, n_classes: int, rng: np.random.Generator, device: torch.device
    ) -> nn.Module:
        """Return the untrained network, which takes flat images."""
        raise NotImplementedError

    def _train(
        self,
        network: nn.Module,
        pixels: Tensor,
        targets: Tensor,
        rng: np.random.Generator,
    ) -> None:
        """Train by Adam on batches that are drawn with replacement."""
        optimiser = torch.optim.Adam(network.parameters())
        n_batch = min(BATCH, len(pixels))
        for step in range(self.max_iter):
            for group in optimiser.param_groups:
                group["lr"] = self._rate(step)
            batch = torch.from_numpy(rng.integers(len(pixels), size=n_batch))
            batch = batch.to(pixels.device)
            scores = network(pixels[batch])
            loss = nn.functional.cross_entropy(scores, targets[batch])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()

    def _rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        del step
        return 1e-3  # Adam's default


# ----------------------------------------------------------------------------
# "cnn": this package's own.

PEAK_RATE = 3e-3


class ImageCNN(ImageNetwork):
    """Two convolutions and a dense layer, trained for a fixed number of steps.

    Parameters
    ----------
    shape : tuple of int
        Channels, height and width; rows come flat.
    max_iter : int, default=1000
        Steps of 128 images.
    random_state : int or None, default=None
        Seed of the first weights and of the order of the images.
    device : str, default="auto"
        "auto" takes a GPU if there is one.

    Examples
    --------
    >>> X = np.repeat(np.eye(2, dtype=np.float32), 64, axis=1)
    >>> cnn = ImageCNN((2, 8, 8), max_iter=5, random_state=0).fit(X, [0, 1])
    >>> cnn.predict(X).tolist()
    [0, 1]
    """

    def __init__(
        self,
        shape: Shape,
        max_iter: int = 1000,
        random_state: int | None = None,
        device: str = "auto",
    ) -> None:
        self.shape = shape
        self.max_iter = max_iter
        self.random_state = random_state
        self.device = device

    def _network(
        self, n_classes: int, rng: np.random.Generator, device: torch.device
    ) -> nn.Module:
        del device
        channels, height, width = self.shape
        n_places = math.ceil(height / 4) * math.ceil(width / 4)  # after two poolings
        return nn.Sequential(
            Maps(1, (channels, height, width)),
            drawn_layer(nn.Conv2d, channels, 16, 3, padding=1, rng=rng),
            nn.ReLU(),
            nn.MaxPool2d(2, ceil_mode=True),
            drawn_layer(nn.Conv2d, 16, 32, 3, padding=1, rng=rng),
            nn.ReLU(),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.Flatten(),
            drawn_layer(nn.Linear, 32 * n_places, 128, rng=rng),
            nn.ReLU(),
            drawn_layer(nn.Linear, 128, n_classes, rng=rng),
        )

    def _rate(self, step: int) -> float:
        """Rise over a tenth of the steps, then fall to zero."""
        return PEAK_RATE * min(10 * (step + 1), self.max_iter - step) / self.max_iter


# ----------------------------------------------------------------------------
# "small_cnn": that of Cao et al., "Don't generate me", 2021, and of functional RDP.


class Dropout(nn.Module):
    """Half of the values of a map set to zero in training, by a generator of its own.

    Parameters
    ----------
    rng : torch.Generator
        On the device of the maps.
    """

    def __init__(self, rng: torch.Generator) -> None:
        super().__init__()
        self._rng = rng

    def forward(self, maps: Tensor) -> Tensor:
        """Return the maps, doubled where they are kept."""
        if not self.training:
            return maps
        kept = torch.rand(maps.shape, generator=self._rng, device=maps.device) < 0.5
        return 2.0 * maps * kept


class StridedCNN(ImageNetwork):
    """Two convolutions with strides and dropout, and a linear layer; Adam's defaults.

    The papers state no number of epochs; 5,000 steps are about ten of 60,000 images.

    Parameters
    ----------
    shape : tuple of int
        Channels, height and width; rows come flat.
    max_iter : int, default=5000
        Steps of 128 images.
    random_state : int or None, default=None
        Seed of the first weights, of dropout and of the order of the images.
    device : str, default="auto"
        "auto" takes a GPU if there is one.

    Examples
    --------
    >>> X = np.repeat(np.eye(2, dtype=np.float32), 64, axis=1)
    >>> cnn = StridedCNN((2, 8, 8), max_iter=20, random_state=0).fit(X, [0, 1])
    >>> cnn.predict(X).tolist()
    [0, 1]
    """

    def __init__(
        self,
        shape: Shape,
        max_iter: int = 5000,
        random_state: int | None = None,
        device: str = "auto",
    ) -> None:
        self.shape = shape
        self.max_iter = max_iter
        self.random_state = random_state
        self.device = device

    def _network(
        self, n_classes: int, rng: np.random.Generator, device: torch.device
    ) -> nn.Module:
        channels, height, width = self.shape
        n_places = math.ceil(height / 4) * math.ceil(width / 4)  # after two strides
        seed = int(rng.integers(2**62))
        dropped = torch.Generator(device=device).manual_seed(seed)
        return nn.Sequential(
            nn.Unflatten(1, (channels, height, width)),
            drawn_layer(nn.Conv2d, channels, 32, 3, stride=2, padding=1, rng=rng),
            Dropout(dropped),
            nn.ReLU(),
            drawn_layer(nn.Conv2d, 32, 64, 3, stride=2, padding=1, rng=rng),
            Dropout(dropped),
            nn.ReLU(),
            nn.Flatten(),
            drawn_layer(nn.Linear, 64 * n_places, n_classes, rng=rng),
        )


# ----------------------------------------------------------------------------
# "resnet9": that of DP-MEPF, which is an example of FFCV.


class ResNet9(ImageNetwork):
    """Nine layers with residual blocks, for colour photographs of about 32 x 32 pixels.

    Images are mirrored, shifted by up to 2 pixels and a square is cut out at random, so
    it is no judge of digits or letters. SGD with momentum; the learning rate rises and
    falls once. A prediction is that of an image and of its mirror image.

    A step of 512 images is 10 to 20 milliseconds of a GPU, and ten seconds of a
    single core: on a processor take ``width=16``, which costs a twelfth.

    Parameters
    ----------
    shape : tuple of int
        Channels, height and width; rows come flat.
    max_iter : int or None, default=None
        Steps; None is 24 epochs.
    width : int, default=64
        Channels of the first layer; all others follow from it.
    batch_size : int, default=512
    random_state : int or None, default=None
        Seed of the first weights, of the order of the images and of their augmentation.
    device : str, default="auto"
        "auto" takes a GPU if there is one.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((8, 3 * 16 * 16)).astype(np.float32)
    >>> judge = ResNet9((3, 16, 16), max_iter=2, width=8, random_state=0)
    >>> judge.fit(X, [0, 1] * 4).predict_proba(X).shape
    (8, 2)
    """

    def __init__(
        self,
        shape: Shape,
        max_iter: int | None = None,
        width: int = 64,
        batch_size: int = 512,
        random_state: int | None = None,
        device: str = "auto",
    ) -> None:
        self.shape = shape
        self.max_iter = max_iter  # type: ignore[assignment]
        self.width = width
        self.batch_size = batch_size
        self.random_state = random_state
        self.device = device

    def _network(
        self, n_classes: int, rng: np.random.Generator, device: torch.device
    ) -> nn.Module:
        del device
        n = self.width
        return nn.Sequential(
            Maps(1, self.shape),
            _block(self.shape[0], n, rng=rng, kernel_size=3, padding=1),
            _block(n, 2 * n, rng=rng, kernel_size=5, stride=2, padding=2),
            Added(
                *(
                    _block(2 * n, 2 * n, rng=rng, kernel_size=3, padding=1)
                    for _ in range(2)
                )
            ),
            _block(2 * n, 4 * n, rng=rng, kernel_size=3, padding=1),
            nn.MaxPool2d(2),
            Added(
                *(
                    _block(4 * n, 4 * n, rng=rng, kernel_size=3, padding=1)
                    for _ in range(2)
                )
            ),
            _block(4 * n, 2 * n, rng=rng, kernel_size=3),
            nn.AdaptiveMaxPool2d(1),
            nn.Flatten(),
            drawn_layer(nn.Linear, 2 * n, n_classes, rng=rng, bias=False),
        )

    def _train(
        self,
        network: nn.Module,
        pixels: Tensor,
        targets: Tensor,
        rng: np.random.Generator,
    ) -> None:
        n_batch = min(self.batch_size, len(pixels))
        self._centre = pixels.mean()
        self._spread = pixels.std().clamp_min(1e-3)
        images = self._levelled(pixels).unflatten(1, self.shape)
        n_steps = self.max_iter or 24 * (len(pixels) // n_batch)
        train_classifier(
            lambda part: network(part.flatten(1)),
            list(network.parameters()),
            (images, targets),
            n_steps,
            n_batch,
            rng=rng,
        )

    def _levelled(self, rows: Tensor) -> Tensor:
        """Return pixels with the training images' mean at 0 and deviation at 1."""
        return (rows - self._centre) / self._spread

    def _scores(self, rows: Tensor) -> Tensor:
        images = self._levelled(rows).unflatten(1, self.shape)
        both = torch.cat([images, images.flip(3)]).flatten(1)
        with torch.autocast(
            rows.device.type, torch.bfloat16, rows.device.type == "cuda"
        ):
            scores = self.network_(both).float()
        return TEMPERATURE * scores.unflatten(0, (2, -1)).sum(dim=0)


class Added(nn.Sequential):
    """Layers whose output is added to their input."""

    def forward(self, maps: Tensor) -> Tensor:
        """Return the sum."""
        change = maps
        for part in self:
            change = part(change)
        return maps + change


def _block(
    n_inputs: int, n_outputs: int, *, rng: np.random.Generator, **settings: int
) -> nn.Module:
    """Return a convolution, its batch norm, and a ReLU."""
    convolution = drawn_layer(
        nn.Conv2d, n_inputs, n_outputs, rng=rng, bias=False, **settings
    )
    return nn.Sequential(convolution, nn.BatchNorm2d(n_outputs), nn.ReLU(inplace=True))
