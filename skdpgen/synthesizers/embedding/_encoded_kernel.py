"""Features of the codes of a privately trained auto-encoder."""

from typing import Any

from torch import Generator

from skdpgen.features import EncodedFeatures, FourierFeatures
from skdpgen.networks import AutoEncoder
from skdpgen.synthesizers.embedding._image_kernel import ImageKernel, pooling_of
from skdpgen.synthesizers.embedding._point_rows import PointRows
from skdpgen.synthesizers.embedding._private_encoder import (
    code_scale,
    train_autoencoder,
)
from skdpgen.synthesizers.opening import Opening
from skdpgen.synthesizers.presets import pixel_scales
from skdpgen.tables import Cells


def encoded_kernel(
    opening: Opening,
    labels: Cells | None,
    settings: Any,
    *,
    share: float,
    rng: Generator,
) -> ImageKernel:
    """Pay ``share`` for an encoder; return the kernel of Fourier features of codes."""
    layout: Any = opening.facts.layout
    bare = ImageKernel(None, layout, pooling_of(layout.size, settings.pooling))
    network = encoder_of(opening, labels, bare, share=share, rng=rng)
    first, _, second, _ = network.encoder
    weights = first.weight, first.bias, second.weight, second.bias
    scales = pixel_scales(settings.length_scale, bare.width)
    phi = FourierFeatures.draw(
        (len(second.bias),),
        settings.n_features,
        length_scale=[code_scale(scale, bare.width) for scale in scales],
        rng=rng,
    )
    encoded = EncodedFeatures(phi, tuple(weight.detach() for weight in weights))
    decoder = {k: v.detach() for k, v in network.decoder.state_dict().items()}
    return ImageKernel.of(
        encoded,
        layout,
        opening.ledger.budget.adjacency,
        pooling=bare.pooling,
        decoder=decoder,
    )


def encoder_of(
    opening: Opening,
    labels: Cells | None,
    bare: ImageKernel,
    *,
    share: float,
    rng: Generator,
) -> AutoEncoder:
    """Pay ``share`` for an auto-encoder of what a kernel without features shows."""
    points = PointRows(bare, opening.rows.batches({}, labels))
    network = train_autoencoder(
        points,
        opening.ledger,
        share=share,
        n_pixels=bare.width,
        n_rows=opening.facts.n_rows,
        adjacency=opening.ledger.budget.adjacency,
        rng=rng,
    )
    points.close()
    return network
