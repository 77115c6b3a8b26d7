"""Parameters of estimators that are those of the papers, for tables and for images.

They are named as ``set_params`` takes them.
"""

from collections.abc import Mapping
from typing import Any

Papers = Mapping[str, Mapping[str, Any]]  # by the kind of data, then by name

# ----------------------------------------------------------------------------
# Of a generator.

GENERATOR: dict[str, Any] = {
    "generator__hidden_layer_sizes": "per_column",
    "generator__n_latent": 10,
    "generator__max_iter": 2000,
    "generator__batch_size": 500,
    "generator__learning_rate": 1e-2,
    "generator__batch_norm": True,
}
GENERATOR_IMAGES: dict[str, Any] = {
    "generator__hidden_layer_sizes": (200,),
    "generator__n_latent": 5,
    "generator__max_iter": 6000,  # 10 epochs of 60,000 in batches of 100, as in DP-MERF
    "generator__batch_size": 500,
    "generator__learning_rate": 1e-2,
    "generator__network": "upsample",
    "generator__models": "conditional",
    "generator__pooling": 1,
}

# ----------------------------------------------------------------------------
# Of the methods that match an embedding.

MERF: Papers = {
    "table": {
        "numeric_encoding": "fourier",
        "n_features": 2000,
        "length_scale": "public",
        "interaction_degree": "all",
        "feature_norm": 0.5,
        **GENERATOR,
        "generator__max_iter": 4000,
    },
    "images": {"n_features": 10_000, "length_scale": 10.24, **GENERATOR_IMAGES},
}
HP: Papers = {
    "table": {
        "order": (20, 9),
        "length_scale": 0.3,
        "product_weight": 1.0,
        **GENERATOR,
    },
    "images": {
        "order": (100, 20),
        "n_subsets": 10,
        "length_scale": 0.15,
        "product_weight": 5.0,
        **GENERATOR_IMAGES,
    },
}
NTK: Papers = {
    "table": {
        "architecture": "layer_norm",
        "width": 100,
        "feature_norm": 1.0,
        **GENERATOR,
    },
    "images": {"architecture": "layer_norm", "width": 800, **GENERATOR_IMAGES},
}
MEPF: Papers = {
    "images": {
        "pixel_norm": 0.0,
        "stopping_budget": 0.01,
        **GENERATOR_IMAGES,
        "generator__hidden_layer_sizes": (128,),
        "generator__n_latent": 100,
        "generator__loss": "moving_average",
        "generator__network": "residual",
    },
}
BANDWIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)  # the paper's 1 to 16, for pixels in [-1, 1]
ONCE: dict[str, Any] = {"length_scale": BANDWIDTHS, "n_features": 10_000}
STEPS: dict[str, Any] = {  # they take days on a CPU
    "length_scale": BANDWIDTHS,
    "sampling_rate": 1e-3,
    "generator__max_iter": 200_000,
    "generator__batch_size": 6,
}
DECODER = GENERATOR_IMAGES | {
    "generator__hidden_layer_sizes": (128,),
    "generator__network": "decoder",
}
KERNEL: Mapping[str, Papers] = {  # by the algorithm
    "one_shot": {
        "table": {**GENERATOR, **ONCE, "feature_norm": 1.0},
        "images": {**DECODER, **ONCE},
    },
    "per_step": {"table": {**GENERATOR, **STEPS}, "images": {**DECODER, **STEPS}},
}

# ----------------------------------------------------------------------------
# Of the others. DP-CGAN has one discriminator step for each of the generator.

GAME: dict[str, Any] = {
    "start": "nothing",
    "generator__hidden_layer_sizes": (128,),
    "generator__learning_rate": 1e-3,
    "discriminator__hidden_layer_sizes": (128,),
    "discriminator__max_iter": 10_000,
    "discriminator__learning_rate": 1e-3,
    "discriminator__sampling_rate": 0.01,
    "discriminator__max_grad_norm": 1.1,
    "discriminator__steps_per_generator_step": 1,
}


def _without_steps(generator: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a generator whose steps follow those of a discriminator."""
    return {k: v for k, v in generator.items() if k != "generator__max_iter"}


GAN: Papers = {
    "table": _without_steps(GENERATOR) | GAME,
    "images": _without_steps(GENERATOR_IMAGES) | GAME | {"generator__network": "full"},
}
MGE: Papers = {
    "images": {
        "algorithm": "one_shot",
        "n_prototypes": 1,
        "covariance": "diagonal",
        "augmentation": None,
    },
}
