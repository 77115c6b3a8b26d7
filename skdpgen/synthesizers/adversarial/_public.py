"""Public rows as a discriminator sees them, to begin the game with (DP-GAN-FT)."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from skdpgen.lenses import lens_of
from skdpgen.synthesizers.embedding import ImageKernel
from skdpgen.synthesizers.opening import Opening
from skdpgen.tables import Chunks, as_pixels, holds_images, image_size

Game = tuple[Tensor, Tensor]  # points, one-hot labels


def public_points(
    opening: Opening, given: Any, shares: Any, rng: torch.Generator
) -> Game:
    """Return public rows, and their labels as one-hot numbers.

    Rows without labels get some at random, as often as classes were released: the game
    then begins with what rows look like, and nothing of how classes differ.
    """
    kept = opening.kept
    kernel, n_classes = kept["kernel_"], len(shares)
    if isinstance(kernel, ImageKernel):
        x, labels = _images(given, kernel, opening.facts.classes)
    else:
        assert opening.public is not None
        batches = list(opening.public.codes(kept["cells_"], kept["_labels"]))
        x = np.concatenate([kernel.inputs(codes) for codes, _ in batches])
        labels = np.concatenate([known for _, known in batches])
        labels = labels if opening.public.has_labels else None
    if labels is None:
        weights = torch.as_tensor(shares, dtype=torch.float64)
        drawn = torch.multinomial(weights, len(x), replacement=True, generator=rng)
        labels = drawn.numpy()
    known = np.arange(n_classes) == np.asarray(labels)[:, None]
    return torch.from_numpy(x).float(), torch.from_numpy(known).float()


def check_public(given: Any, X: Any, *, mode: str) -> None:
    """Raise, before anything is paid, for public rows that are of no use.

    Of private rows only what is public is looked at: whether they are images, and
    their size.
    """
    if (mode == "finetune") != (given is not None):
        raise ValueError(
            "public_data must be given for mode='finetune', and only there. Got "
            f"mode={mode!r} and public_data of {type(given).__name__}."
        )
    if mode == "latent" and not holds_images(X):
        raise ValueError(
            "mode='latent' plays among codes of images. Got a table; use 'scratch', or "
            "'finetune' with public rows."
        )
    if given is None:
        return
    if has_images(given) != holds_images(X):
        raise ValueError(
            "public_data must hold images if X does, and a table if X is one. Got "
            f"{type(public_pair(given)[0]).__name__}."
        )
    if has_images(given) and not isinstance(X, Chunks):
        image_size(X, public_pair(given)[0])


def has_images(given: Any) -> bool:
    """Say whether public rows are images."""
    return given is not None and holds_images(public_pair(given)[0])


def images_stated(given: Any, lens: Any) -> list[str]:
    """Return what a certificate says of public images, and of a lens."""
    stated = []
    if has_images(given):
        n_images = len(public_pair(given)[0])
        stated.append(f"{n_images} public images: taken as public")
    return stated + ([] if lens is None else [f"lens: {lens.name}"])


def lens_of_game(mode: str, given: Any) -> Any:
    """Return the lens that is played through; None if there is none."""
    if mode != "latent":
        return None
    return lens_of("shipped" if given is None else given, needs_decoder=True)


def without_game(mode: str, start: str | None, *, is_image: bool) -> dict[str, str]:
    """Return parameters that a mode has no use for, and who has."""
    unused = {} if mode == "latent" else {"lens": "mode='latent'"}
    if mode != "finetune":
        unused["public_iter"] = "mode='finetune'"
    if mode == "latent":
        unused |= dict.fromkeys(("pooling", "generator"), "mode='scratch'")
    if start == ("columns" if is_image else "means"):
        unused["start"] = "images" if start == "means" else "tables"
    return unused


def _images(given: Any, kernel: ImageKernel, classes: Any) -> tuple[Any, Any]:
    """Return public images as points, and the places of their labels."""
    pixels, labels = public_pair(given)
    x = kernel.inputs(as_pixels(pixels))
    if labels is None or classes is None:
        return x, None
    places = {str(one): place for place, one in enumerate(classes)}
    found = np.array([places.get(str(one), -1) for one in np.asarray(labels)])
    return x, found


def public_pair(given: Any) -> tuple[Any, Any]:
    """Return public rows and labels; None for no labels.

    Examples
    --------
    >>> public_pair([1, 2])
    ([1, 2], None)
    """
    is_pair = isinstance(given, tuple) and len(given) == 2
    return given if is_pair else (given, None)
