"""How near synthetic images are to real ones: FID, precision and recall, NDB."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from sklearn.cluster import KMeans
from torch import Tensor, nn

from skdpgen.tables import as_pixels, image_size
from skdpgen.utils import (
    Images,
    pick_device,
    require,
)

# ----------------------------------------------------------------------------
# Features to compare images by, from a network that was never trained on them.

IMAGES_AT_ONCE = 256
WIDTHS = (32, 64, 128)
INCEPTION_SIDE = 299


@dataclass(frozen=True)
class Extractor:
    """A named map of images to features; scores under different names do not compare.

    Parameters
    ----------
    name : str
        Identifies the features in results.
    module : callable
        From a Tensor (n, channels, height, width) in [0, 1] to one (n, d).

    Examples
    --------
    >>> mean = Extractor("mean colour", lambda images: images.mean(dim=(2, 3)))
    >>> mean(np.ones((2, 8, 8))).tolist()
    [[1.0], [1.0]]
    """

    name: str
    module: Callable[[Tensor], Tensor]

    def __call__(self, images: Images) -> NDArray[np.float64]:
        """Return the features of images, a few at a time."""
        size, features = image_size(images), []
        if not len(images):
            raise ValueError("There must be at least 1 image. Got none.")
        for start in range(0, len(images), IMAGES_AT_ONCE):
            pixels = as_pixels(images[start : start + IMAGES_AT_ONCE])
            with torch.no_grad():
                part = self.module(torch.from_numpy(pixels).unflatten(1, size))
            features.append(part.flatten(1).cpu().double().numpy())
        return np.concatenate(features)


def random_features(
    n_channels: int = 1, device: str | torch.device = "auto"
) -> Extractor:
    """Return an extractor that needs no file: three layers of fixed random filters.

    Each layer normalises its maps, so all images count alike; the features are the mean
    and the spread of every map of every layer, 448 numbers. They distinguish images by
    strokes and textures, not by what they show.

    Parameters
    ----------
    n_channels : int, default=1
    device : str or torch.device, default="auto"
        "auto" takes a GPU if there is one. Features differ by rounding alone: products
        are in full precision there, too.

    Examples
    --------
    >>> random_features()(np.zeros((2, 8, 8))).shape
    (2, 448)
    """
    where = pick_device(device)
    rng = torch.Generator().manual_seed(0)
    layers, before = [], n_channels
    for after in WIDTHS:
        layer = nn.utils.skip_init(nn.Conv2d, before, after, 3, padding=1, bias=False)
        nn.init.orthogonal_(layer.weight, generator=rng)
        layers.append(layer.to(where))
        before = after

    def features(images: Tensor) -> Tensor:
        statistics, maps = [], 2.0 * images.to(where) - 1.0
        for layer in layers:
            with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
                maps = layer(maps).relu()
            statistics += [maps.mean(dim=(2, 3)), maps.std(dim=(2, 3))]
            maps = nn.functional.avg_pool2d(maps, 2, ceil_mode=True)
            # to one size; .1 keeps empty images from being divided by zero
            size = maps.square().mean(dim=(1, 2, 3), keepdim=True).sqrt()
            maps = maps / size.add(0.1)
        return torch.cat(statistics, dim=1)

    return Extractor("random-convolutions-1", features)


def inception_features(weights: str | PathLike[str]) -> Extractor:
    """Return the extractor of published FIDs, from a file of torchvision's weights.

    Parameters
    ----------
    weights : str or path
        A state dict of ``torchvision.models.inception_v3``. Most published numbers rest
        on another set of weights, TensorFlow's: compare with care.
    """
    models = require("torchvision.models", extra="images")
    with torch.device("meta"):  # no weights are drawn, so the global random state stays
        network = models.inception_v3(weights=None, init_weights=False)
    state = torch.load(weights, weights_only=True, map_location="cpu")
    network.load_state_dict(state, assign=True)
    network.fc = nn.Identity()
    network.eval()

    def features(images: Tensor) -> Tensor:
        images = images.expand(-1, 3, -1, -1) if images.shape[1] == 1 else images
        side = (INCEPTION_SIDE, INCEPTION_SIDE)
        large = nn.functional.interpolate(images, side, mode="bilinear")
        pooled: Tensor = network(2.0 * large - 1.0)
        return pooled

    return Extractor("torchvision-inception-v3", features)


# ----------------------------------------------------------------------------
# How near synthetic images are to real ones: FID, precision and recall, NDB.

Floats = NDArray[np.float64]
CLUSTERS, BINS = 20, 50
ANGLES = 1001
BETA = 8.0
TEST_LEVEL = 0.05  # of the tests that NDB counts
NEAR_ZERO = 1e-12


@dataclass(frozen=True)
class ImageFidelity:
    """Scores of synthetic images; scores from different extractors do not compare.

    Parameters
    ----------
    fid : float
        Fréchet distance of features; 0 is best.
    precision, recall : float
        How much of what was drawn looks real, and how much of what is real was drawn;
        1 is best.
    ndb : float
        Share of 50 bins of real images that are drawn too often or too seldom; about
        .05 for real images.
    extractor : str
        Name of the extractor whose features ``fid``, ``precision`` and ``recall`` use.
    """

    fid: float
    precision: float
    recall: float
    ndb: float
    extractor: str

    def __str__(self) -> str:
        """Return one line."""
        return (
            f"FID {self.fid:.3g}, precision {self.precision:.3f}, recall "
            f"{self.recall:.3f}, NDB {self.ndb:.2f} (features: {self.extractor})"
        )


def image_fidelity(
    real: Images,
    synthetic: Images,
    extractor: Extractor | None = None,
    random_state: int | None = 0,
) -> ImageFidelity:
    r"""Compare synthetic images with real ones; a few thousand of each are enough.

    * FID [1]_: :math:`\|m - m'\|^2 + \mathrm{tr}(C + C' - 2(CC')^{1/2})` of means
      and covariances of features.
    * precision and recall [2]_: :math:`F_{1/8}` and :math:`F_8` of how 20 clusters of
      all features divide into real and synthetic.
    * NDB [3]_: 50 bins of real images, by nearest mean of pixels; the share whose
      frequency differs by a two-sided test of level .05. With fewer than a thousand
      images on a side the test has no power: NDB is small whatever was drawn.

    .. warning:: This reads real images and stands outside the privacy guarantee.

    Parameters
    ----------
    real, synthetic : array of images
        Of one size; uint8, or floats in [0, 1].
    extractor : Extractor or None, default=None
        None is :func:`random_features`, which needs no file;
        :func:`inception_features` is that of published FIDs.
    random_state : int or None, default=0
        Seed of the clustering.

    Returns
    -------
    ImageFidelity

    References
    ----------
    .. [1] Heusel et al., "GANs trained by a two time-scale update rule converge to a
       local Nash equilibrium", 2017.
    .. [2] Sajjadi et al., "Assessing generative models via precision and recall", 2018.
    .. [3] Richardson & Weiss, "On GANs and GMMs", 2018.

    Examples
    --------
    >>> images = np.random.default_rng(0).random((200, 8, 8))
    >>> round(image_fidelity(images, images).fid, 6)
    0.0
    """
    size = image_size(real, synthetic)
    if min(len(real), len(synthetic)) < 2:
        raise ValueError(
            "There must be at least 2 images on each side. Got "
            f"{len(real)} and {len(synthetic)}."
        )
    extractor = extractor or random_features(size[0])
    features = extractor(real), extractor(synthetic)
    precision, recall = precision_recall(*features, random_state=random_state)
    return ImageFidelity(
        frechet_distance(*features),
        precision,
        recall,
        different_bins(as_pixels(real), as_pixels(synthetic), random_state),
        extractor.name,
    )


def frechet_distance(real: Floats, synthetic: Floats) -> float:
    """Return the Fréchet distance of two normal distributions fitted to features.

    The trace of the root of a product is the sum of the roots of its eigenvalues, which
    stay real numbers.

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> round(frechet_distance(rows, rows + 2.0), 6)
    8.0
    """
    means = real.mean(axis=0) - synthetic.mean(axis=0)
    cov_real, cov_synthetic = (
        np.atleast_2d(np.cov(features, rowvar=False)) for features in (real, synthetic)
    )
    # C C' has the eigenvalues of the symmetric C^1/2 C' C^1/2
    values, vectors = np.linalg.eigh(cov_real)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    products = np.linalg.eigvalsh(root @ cov_synthetic @ root)
    overlap = np.sqrt(np.maximum(products, 0.0)).sum()
    traces = np.trace(cov_real) + np.trace(cov_synthetic)
    distance = means @ means + traces - 2.0 * overlap
    return max(float(distance), 0.0)  # rounding


def precision_recall(
    real: Floats, synthetic: Floats, *, random_state: int | None = 0
) -> tuple[float, float]:
    """Return F_{1/8} and F_8 of how clusters divide into real and synthetic."""
    n_clusters = min(CLUSTERS, len(real), len(synthetic))
    features = np.concatenate([real, synthetic])
    clusters = KMeans(n_clusters, n_init=1, random_state=random_state).fit_predict(
        features
    )
    p, q = (
        np.bincount(part, minlength=n_clusters) / len(part)
        for part in np.split(clusters, [len(real)])
    )
    # each slope is a trade of precision for recall: a point of their curve
    slopes = np.tan(np.linspace(1e-6, np.pi / 2 - 1e-6, ANGLES))[:, None]
    alpha = np.minimum(slopes * p, q).sum(axis=1)  # precision
    beta = np.minimum(p, q / slopes).sum(axis=1)  # recall

    def f_score(weight: float) -> float:
        below = weight**2 * alpha + beta
        scores = (1 + weight**2) * alpha * beta / np.maximum(below, NEAR_ZERO)
        return float(min(scores.max(), 1.0))

    return f_score(1 / BETA), f_score(BETA)


def different_bins(
    real: NDArray[np.float32],
    synthetic: NDArray[np.float32],
    random_state: int | None = 0,
) -> float:
    """Return the share of bins of real images that differ in frequency."""
    n_bins = min(BINS, len(real))
    clusters = KMeans(n_bins, n_init=1, random_state=random_state).fit(real)
    n, m = len(real), len(synthetic)
    a = np.bincount(clusters.labels_, minlength=n_bins)
    b = np.bincount(clusters.predict(synthetic), minlength=n_bins)
    # two-sided test of equal proportions, with the proportion of both sides together
    pooled = (a + b) / (n + m)
    std = np.sqrt(np.maximum(pooled * (1 - pooled) * (1 / n + 1 / m), NEAR_ZERO))
    p_values = 2.0 * stats.norm.sf(np.abs(a / n - b / m) / std)
    return float((p_values < TEST_LEVEL).mean())
