"""Parameters of estimators that are those of the papers, for tables and for images.

They are named as ``set_params`` takes them.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

# By the kind of data or the name of a paper's data set; values may follow from
# parameters that are given beside them, such as epsilon.
Values = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]
Papers = Mapping[str, Values]


def epsilon_of(given: Mapping[str, Any]) -> float:
    """Return the epsilon that is given, or that of estimators."""
    return float(given.get("epsilon", 1.0))


# ----------------------------------------------------------------------------
# Of a generator.

GENERATOR: dict[str, Any] = {
    "generator__hidden_layer_sizes": "per_column",
    "generator__n_latent": 10,
    "generator__max_iter": 2000,
    "generator__batch_size": 500,
    "generator__learning_rate": 1e-2,
    "generator__batch_norm": True,
    "generator__schedule": "constant",
}
TO_THE_END = {"generator__early_stopping": False}  # of tables; images have no other way
GENERATOR_IMAGES: dict[str, Any] = {
    "generator__hidden_layer_sizes": (200,),
    "generator__n_latent": 5,
    "generator__max_iter": 6000,
    "generator__batch_size": 500,
    "generator__learning_rate": 1e-2,
    "generator__schedule": "constant",
    "generator__network": "upsample",
    "generator__models": "conditional",
    "generator__pooling": 1,
}

# ----------------------------------------------------------------------------
# Of the methods that match an embedding.

# DP-MERF, table 4 of the supplement: epochs, batch as a part of the rows, and features,
# of the columns "private" and "non-private". An epoch is one step of their code. The
# table also lists which part of the largest class was kept: .4, .4, 1, .005, 1, 1, .03
# and .1 of it; rows are thinned before `fit`.
MERF_TABLE_4 = {
    "adult": ((8000, 0.1, 1000), (8000, 0.1, 50_000)),
    "census": ((2000, 0.5, 10_000), (200, 0.5, 10_000)),
    "cervical": ((200, 0.5, 2000), (2000, 0.6, 2000)),
    "credit": ((4000, 0.5, 5000), (4000, 0.6, 50_000)),
    "epileptic": ((6000, 0.5, 80_000), (6000, 0.5, 100_000)),
    "isolet": ((4000, 0.5, 500), (4000, 0.6, 100_000)),
    "covtype": ((6000, 0.05, 1000), (6000, 0.05, 1000)),
    "intrusion": ((10_000, 0.03, 2000), (10_000, 0.03, 2000)),
}
MERF_TABLE: dict[str, Any] = {
    "numeric_encoding": "fourier",
    "n_features": 2000,
    "length_scale": "public",  # theirs is the median of raw distances
    "interaction_degree": "all",
    "feature_norm": "length",  # equation 13
    **GENERATOR,
    **TO_THE_END,
    "generator__max_iter": 4000,
}
# Section 5.2 and the code for digits: 5 epochs of 120 minibatches, each released.
MERF_DIGITS: dict[str, Any] = {
    "n_features": 1000,
    "length_scale": math.sqrt(127.0),
    **GENERATOR_IMAGES,
    "generator__hidden_layer_sizes": (200, 100),
    "generator__max_iter": 600,
    "generator__network": "full",
    "generator__n_minibatches": 120,
}
# The code of the published version: 5 epochs of 60,000 in batches of 100.
MERF_IMAGES: dict[str, Any] = {
    "n_features": 10_000,
    "length_scale": 10.24,
    **GENERATOR_IMAGES,
    "generator__max_iter": 3000,
    "generator__batch_size": 100,
}


def _merf(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of table 4, of its non-private columns without noise."""
    steps, batch, n_features = MERF_TABLE_4[name][epsilon_of(given) == math.inf]
    return MERF_TABLE | {
        "class_weight": "balanced",  # equation 9, with released shares
        "n_features": n_features,
        "generator__max_iter": steps,
        "generator__batch_size": batch,
    }


MERF: Papers = {
    "table": MERF_TABLE,  # without weights: it may have no classes
    "images": MERF_IMAGES,
    **{name: partial(_merf, name) for name in MERF_TABLE_4},
    "mnist": MERF_DIGITS,
    "fashion_mnist": MERF_DIGITS,
}
# DP-HP, from its code: the highest function of single columns, steps, batch as a part
# of the rows, and weight of products. Its products of an epoch have 64 to 540,000
# features, of 2 to 7 columns; here they are of pairs, of order 9.
HP_TABLES = {
    "adult": (100, 200, 0.1, 0.1),
    "census": (100, 100, 0.4, 0.1),
    "cervical": (20, 200, 0.1, 1.0),
    "credit": (20, 400, 0.5, 1e-5),
    "epileptic": (10, 200, 0.1, 0.1),
    "isolet": (10, 40, 0.5, 1.0),
    "covtype": (10, 20_000, 0.01, 1.0),
    "intrusion": (7, 20_000, 0.01, 1.0),
}
HP_TABLE: dict[str, Any] = {
    "order": (20, 9),
    "length_scale": 0.3,
    "product_weight": 1.0,
    **GENERATOR,
    **TO_THE_END,
}
# Its README, for images: squared length scale, what the sum kernel is multiplied by in
# the loss with and without noise, and the generator. A subset for each of 10 epochs.
HP_IMAGES = {
    "mnist": (0.005, 20.0, 5.0, "full"),
    "fashion_mnist": (0.15, 10.0, 20.0, "upsample"),
}


def _hp(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a table in the code."""
    del given
    order, steps, batch, product_weight = HP_TABLES[name]
    return HP_TABLE | {
        "class_weight": "balanced",
        "order": (order, 9),
        "product_weight": product_weight,
        "generator__max_iter": steps,
        "generator__batch_size": batch,
    }


def _hp_images(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of images in the README."""
    squared, noisy, exact, network = HP_IMAGES[name]
    sum_weight = exact if epsilon_of(given) == math.inf else noisy
    return {
        "order": (100, 20),
        "n_subsets": 10,
        "length_scale": math.sqrt(squared),
        "product_weight": 1.0 / sum_weight,
        **GENERATOR_IMAGES,
        "generator__hidden_layer_sizes": (500, 500),
        "generator__max_iter": 3000,
        "generator__batch_size": 200,
        "generator__network": network,
    }


HP: Papers = {
    "table": HP_TABLE,  # without weights: it may have no classes
    "images": partial(_hp_images, "mnist"),
    **{name: partial(_hp, name) for name in HP_TABLES},
    **{name: partial(_hp_images, name) for name in HP_IMAGES},
}
# DP-NTK, table 5: iterations, d_code, widths, batch and network. The learning rate is
# .01 in all rows. In their code d_code of tables counts the label, which is one number
# there; here it is one-hot beside the latent vector. Section 3 has class weights and
# cells of categories; the code, of which the printed numbers are, has neither.
NTK_TABLE_5 = {
    "mnist": (2000, 5, 800, 5000, "fc_1l"),
    "fashion_mnist": (2000, 5, 800, 5000, "fc_1l"),
    "celeba": (20_000, 141, (3000, 200), 1000, "fc_2l"),
    "cifar10": (40_000, 201, (3000, 200), 1000, "fc_2l"),
    "adult": (50, 11, (30, 200), 200, "cnn_2l"),
    "census": (2000, 21, (30, 20), 200, "cnn_2l"),
    "cervical": (500, 11, (800, 1000), 200, "cnn_2l"),
    "credit": (500, 11, 1500, 200, "fc_1l"),
    "epileptic": (2000, 101, (50, 20), 200, "cnn_2l"),
    "isolet": (1000, 21, (10, 20), 200, "cnn_2l"),
    "covtype": (1000, 101, (100, 20), 200, "cnn_2l"),
    "intrusion": (1000, 21, (30, 1000), 200, "fc_2l"),
}
NTK_CIFAR10_EXACT = (20_000, 31, (800, 1000), 200, "fc_2l")  # its row without noise
NTK_TABLE: dict[str, Any] = {
    "architecture": "fc_1l",
    "width": 100,
    "feature_norm": 1.0,
    **GENERATOR,
    **TO_THE_END,
}
NTK_IMAGES: dict[str, Any] = {
    "architecture": "fc_1l",
    "width": 800,
    **GENERATOR_IMAGES,
    "generator__max_iter": 2000,
    "generator__batch_size": 5000,
}
RESIDUAL = {"generator__hidden_layer_sizes": (128,), "generator__network": "residual"}


def _ntk(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of table 5."""
    is_exact = epsilon_of(given) == math.inf
    row = NTK_CIFAR10_EXACT if name == "cifar10" and is_exact else NTK_TABLE_5[name]
    steps, d_code, widths, batch, architecture = row
    is_table = name in MERF_TABLE_4
    base = NTK_TABLE if is_table else NTK_IMAGES
    base = base | (RESIDUAL if name in ("celeba", "cifar10") else {})
    return base | {
        "architecture": architecture,
        "width": widths,
        "generator__max_iter": steps,
        "generator__n_latent": d_code - is_table,
        "generator__batch_size": batch,
    }


NTK: Papers = {
    "table": NTK_TABLE,
    "images": NTK_IMAGES,
    **{name: partial(_ntk, name) for name in NTK_TABLE_5},
}
# DP-MEPF, table 7: rates of the generator and of the moving average, for both moments
# and for the first alone. Each line holds from an epsilon on, down to the next line.
Rates = tuple[float, float]
MEPF_TABLE_7: dict[str, dict[float, tuple[Rates, Rates]]] = {
    "mnist": {math.inf: ((1e-5, 1e-3), (1e-5, 1e-3)), 0: ((1e-5, 1e-4), (1e-5, 1e-4))},
    "fashion_mnist": {
        math.inf: ((1e-5, 1e-3), (1e-5, 1e-3)),
        0: ((1e-4, 1e-3), (1e-4, 1e-3)),
    },
    "celeba32": {
        5: ((3e-4, 1e-4), (3e-4, 1e-4)),
        1: ((3e-4, 3e-4), (3e-4, 3e-4)),
        0: ((1e-3, 3e-4), (1e-3, 3e-4)),
    },
    "celeba64": {
        5: ((3e-4, 1e-4), (3e-4, 3e-4)),
        1: ((3e-4, 1e-3), (3e-4, 3e-4)),
        0: ((1e-3, 1e-3), (1e-3, 1e-3)),
    },
    "cifar10": {5: ((1e-3, 3e-4), (1e-3, 1e-4)), 0: ((1e-3, 1e-2), (1e-3, 1e-2))},
    "cifar10_unlabelled": {0: ((1e-3, 1e-3), (1e-3, 1e-3))},
}
DIGITS = ("mnist", "fashion_mnist")
# Table 8: iterations and batch size, of digits and of the others.
MEPF_TABLE_8 = {True: (100_000, 100), False: (200_000, 128)}
# Section 6: digits have the generator of DP-MERF, photographs one of residual blocks.
# The code has 500 units of the one, and maps from 512 to 64 of the other, from 1024 at
# 64 pixels. Its 100 latent numbers include those of the label.
MEPF_WIDTHS = {"mnist": 500, "fashion_mnist": 500, "celeba64": 1024}
MEPF_WIDTH = 512
MEPF_LATENT = 100
# Section 3.2: both moments again with ten times the noise. Squared mu sum up.
MEPF_STOPPING = 2 * 0.1**2


def _mepf(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return rows of tables 7 and 8, for an epsilon and for one or both moments."""
    by_epsilon = MEPF_TABLE_7[name]
    lowest = max(least for least in by_epsilon if least <= epsilon_of(given))
    is_first_alone = given.get("second_norm", 0.5) == 0
    rate, moving_rate = by_epsilon[lowest][is_first_alone]
    is_digits, n_moments = name in DIGITS, 1 if is_first_alone else 2
    steps, batch = MEPF_TABLE_8[is_digits]
    n_labels = 10 if is_digits or name == "cifar10" else 0
    stopping = MEPF_STOPPING / (n_moments + MEPF_STOPPING)
    return {
        "pixel_norm": 0.0,
        "stopping_budget": 0.0 if is_digits else stopping,
        "augmentation": None,
        **GENERATOR_IMAGES,
        "generator__network": "upsample" if is_digits else "residual",
        "generator__hidden_layer_sizes": (MEPF_WIDTHS.get(name, MEPF_WIDTH),),
        "generator__n_latent": MEPF_LATENT - n_labels,
        "generator__loss": "moving_average",
        "generator__learning_rate": rate,
        "generator__moving_rate": moving_rate,
        "generator__max_iter": steps,
        "generator__batch_size": batch,
    }


def _mepf_alone(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of appendix F, where a classifier by DP-SGD is the lens."""
    return _mepf("cifar10", given) | {"lens": "private_classifier"}


MEPF: Papers = {
    "images": partial(_mepf, "mnist"),
    **{name: partial(_mepf, name) for name in MEPF_TABLE_7},
    "cifar10_private_lens": _mepf_alone,
}
# Functional RDP: bandwidths 1 to 16 for pixels in [-1, 1], RMSprop (appendix F), and
# table 2: rate of sampling and iterations, conditional and parallel. Its noise
# multipliers follow from epsilon here. Maps and latent numbers are those of the code.
# A fit takes an hour of a core (parallel), or six hours.
BANDWIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)
KERNEL_TABLE_2 = {"conditional": (1e-3, 200_000), "parallel": (1e-2, 20_000)}
KERNEL_IMAGES: dict[str, Any] = {
    "length_scale": BANDWIDTHS,
    **GENERATOR_IMAGES,
    "generator__hidden_layer_sizes": (256,),
    "generator__n_latent": 10,
    "generator__network": "decoder",
    "generator__optimizer": "rmsprop",
    "generator__learning_rate": 5e-5,
}
KERNEL_TABLE: dict[str, Any] = {
    "length_scale": BANDWIDTHS,
    **GENERATOR,
    "generator__optimizer": "rmsprop",
    "generator__learning_rate": 5e-5,
}


def _kernel(
    base: Mapping[str, Any], given: Mapping[str, Any], models: str | None = None
) -> dict[str, Any]:
    """Return the settings of an algorithm: of a release, or of table 2."""
    models = models or given.get("generator__models", "conditional")
    sampling_rate, steps = KERNEL_TABLE_2.get(models, KERNEL_TABLE_2["conditional"])
    values = {**base, "generator__max_iter": steps}
    if given.get("algorithm", "one_shot") == "per_step":
        return values | {"sampling_rate": sampling_rate, "generator__batch_size": 6}
    values |= {"n_features": 10_000}
    return (
        values
        if base is KERNEL_IMAGES
        else {**values, **TO_THE_END, "feature_norm": 1.0}
    )


KERNEL: Papers = {
    "table": partial(_kernel, KERNEL_TABLE),
    "images": partial(_kernel, KERNEL_IMAGES),
    **{name: partial(_kernel, KERNEL_IMAGES) for name in ("mnist", "fashion_mnist")},
    # "Both variants on CelebA use parameters in the row of Conditional."
    "celeba": partial(_kernel, KERNEL_IMAGES, models="conditional"),
}

# ----------------------------------------------------------------------------
# Of the others. DP-CGAN has one discriminator step for each of the generator. Its code,
# which DP-MERF's repository has, is for digits: a discriminator that moves along noisy
# gradients, at a rate that falls from .1 to .052 in 10,000 steps, and 100 latent
# numbers. It goes on until its account is 9.6, some 30,000 steps; more steps have more
# noise here. Of tables steps are those of Adam: that of the published script was not
# taken over, which takes the same first rows in each step.

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


# ----------------------------------------------------------------------------
# DP-MGE, DP-DRE, DP-GAN-FT and DP-GAN-MI, table 4 of the appendix. By epsilon: width,
# iterations, batch and rate of DP-DRE; rate, iterations and batch of DP-GAN-FT; width,
# iterations, batch and rate of DP-GAN-MI. The norm of gradients is 1.

RowOfTable4 = tuple[
    tuple[int, int, int, float], tuple[float, int, int], tuple[int, int, int, float]
]
TABLE_4: dict[str, dict[float, RowOfTable4]] = {
    "cifar10": {
        math.inf: ((16, 3000, 64, 1e-4), (1e-7, 30_000, 4), (128, 100_000, 64, 1e-3)),
        10: ((1, 3000, 64, 1e-3), (1e-6, 3000, 16), (128, 100_000, 64, 1e-4)),
        3: ((1, 3000, 64, 1e-3), (1e-6, 30_000, 4), (32, 10_000, 64, 1e-3)),
        1: ((1, 3000, 64, 1e-3), (1e-6, 3000, 4), (32, 3000, 64, 1e-3)),
        0.1: ((16, 3000, 64, 1e-3), (1e-6, 30_000, 4), (128, 10_000, 64, 1e-3)),
    },
    "pet": {
        math.inf: (
            (4, 10_000, 256, 1e-4),
            (1e-6, 30_000, 16),
            (128, 100_000, 64, 1e-4),
        ),
        10: ((16, 3000, 64, 1e-3), (1e-7, 30_000, 4), (32, 3000, 64, 1e-3)),
        3: ((16, 3000, 64, 1e-3), (1e-6, 30_000, 4), (128, 3000, 4, 1e-3)),
        1: ((4, 10_000, 64, 1e-3), (1e-6, 30_000, 4), (128, 10_000, 16, 1e-3)),
        0.1: ((16, 10_000, 64, 1e-3), (1e-7, 30_000, 4), (128, 10_000, 16, 1e-3)),
    },
    "car": {
        math.inf: ((1, 10_000, 64, 1e-3), (1e-6, 30_000, 16), (128, 100_000, 4, 1e-4)),
        10: ((1, 30_000, 256, 1e-3), (1e-7, 3000, 16), (32, 10_000, 64, 1e-3)),
        3: ((4, 10_000, 64, 1e-3), (1e-7, 30_000, 4), (32, 3000, 64, 1e-3)),
        1: ((4, 30_000, 64, 1e-3), (1e-6, 30_000, 16), (128, 10_000, 64, 1e-3)),
        0.1: ((16, 10_000, 64, 1e-3), (1e-6, 30_000, 4), (128, 3000, 16, 1e-3)),
    },
    "bird": {
        math.inf: ((1, 10_000, 64, 1e-3), (1e-6, 30_000, 4), (32, 100_000, 64, 1e-4)),
        10: ((1, 30_000, 64, 1e-3), (1e-5, 3000, 16), (32, 10_000, 64, 1e-3)),
        3: ((1, 30_000, 64, 1e-3), (1e-7, 30_000, 4), (32, 3000, 64, 1e-3)),
        1: ((1, 30_000, 64, 1e-3), (1e-7, 30_000, 4), (32, 3000, 16, 1e-3)),
        0.1: ((16, 10_000, 64, 1e-3), (1e-7, 30_000, 4), (128, 3000, 16, 1e-3)),
    },
    "objects_grass": {
        math.inf: ((1, 3000, 64, 1e-3), (1e-6, 30_000, 16), (128, 100_000, 64, 1e-4)),
        10: ((1, 3000, 256, 1e-3), (1e-6, 30_000, 16), (32, 3000, 16, 1e-3)),
        3: ((1, 3000, 256, 1e-3), (1e-7, 3000, 4), (32, 3000, 64, 1e-3)),
        1: ((1, 3000, 64, 1e-3), (1e-7, 3000, 4), (32, 3000, 64, 1e-3)),
        0.1: ((4, 10_000, 64, 1e-3), (1e-7, 30_000, 16), (128, 3000, 16, 1e-3)),
    },
    "objects_autumn": {
        math.inf: ((1, 30_000, 64, 1e-4), (1e-7, 30_000, 16), (128, 100_000, 64, 1e-4)),
        10: ((1, 3000, 64, 1e-3), (1e-6, 30_000, 16), (32, 3000, 64, 1e-3)),
        3: ((1, 3000, 256, 1e-3), (1e-7, 3000, 4), (128, 100_000, 4, 1e-4)),
        1: ((1, 3000, 256, 1e-3), (1e-7, 30_000, 16), (32, 3000, 64, 1e-3)),
        0.1: ((16, 10_000, 64, 1e-3), (1e-7, 3000, 4), (32, 100_000, 64, 1e-4)),
    },
}
SIZES = {  # of the private sets (section 4.1): a step samples a batch over a size
    "cifar10": 50_000,
    "pet": 3680,
    "car": 5992,
    "bird": 8144,
    "objects_grass": 16_256,
    "objects_autumn": 7272,
}


def _of_table_4(name: str, given: Mapping[str, Any]) -> RowOfTable4:
    """Return the row of the least epsilon that is not smaller; infinity is its own."""
    rows, epsilon = TABLE_4[name], epsilon_of(given)
    larger = [key for key in rows if key >= epsilon and key < math.inf]
    return rows[math.inf if epsilon == math.inf else min(larger, default=10)]


def _dre(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return algorithm 1 with a row of table 4: the ratio is D / (1 - D) itself."""
    (width, steps, batch, rate), _, _ = _of_table_4(name, given)
    return {
        "algorithm": "sgd",
        "power": 1.0,
        "discriminator__hidden_layer_sizes": (width,),
        "discriminator__max_iter": steps,
        "discriminator__learning_rate": rate,
        "discriminator__schedule": "constant",
        "discriminator__sampling_rate": batch / SIZES[name],
        "discriminator__max_grad_norm": 1.0,
    }


def _gan(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return algorithm 2 with a row of table 4, for "finetune" or "latent".

    An iteration has five steps of the critic.
    """
    algorithm = given.get("algorithm", "finetune")
    if algorithm == "scratch":
        return dict(CGAN_IMAGES)
    _, tuned, inverted = _of_table_4(name, given)
    more: dict[str, Any] = {}
    if algorithm == "finetune":
        (rate, steps, batch), width, n_latent = tuned, 1024, 128
        more = {"generator__pooling": 1}  # "latent" sees codes
    else:
        (width, steps, batch, rate), n_latent = inverted, 25
        if name == "cifar10":  # on which the shipped network for colour was trained
            more = {"lens": "cosine"}
    return more | {
        "algorithm": algorithm,
        "start": "nothing",
        "generator__hidden_layer_sizes": (width,) * 3,
        "generator__n_latent": n_latent,
        "generator__batch_size": batch,
        "generator__learning_rate": rate,
        "generator__schedule": "constant",
        "discriminator__hidden_layer_sizes": (width,) * 3,
        "discriminator__loss": "critic",
        "discriminator__max_iter": 5 * steps,
        "discriminator__steps_per_generator_step": 5,
        "discriminator__learning_rate": rate,
        "discriminator__schedule": "constant",
        "discriminator__sampling_rate": batch / SIZES[name],
        "discriminator__max_grad_norm": 1.0,
    }


def _dre_of_any(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of CIFAR-10, with a rate of sampling for some thousand rows."""
    return _dre("cifar10", given) | {"discriminator__sampling_rate": 0.01}


DRE: Papers = {
    "table": _dre_of_any,
    "images": _dre_of_any,
    **{name: partial(_dre, name) for name in TABLE_4},
}
MGE_IMAGES: dict[str, Any] = {
    "algorithm": "one_shot",
    "n_prototypes": 1,
    "covariance": "diagonal",
    "augmentation": None,
}
MGE: Papers = {"images": MGE_IMAGES, **dict.fromkeys(TABLE_4, MGE_IMAGES)}
CGAN_IMAGES: dict[str, Any] = (
    _without_steps(GENERATOR_IMAGES)
    | GAME
    | {
        "generator__network": "full",
        "generator__n_latent": 100,
        "generator__batch_size": 600,
        "discriminator__optimizer": "sgd",
        "discriminator__learning_rate": 0.075,
        "discriminator__schedule": "constant",
        "discriminator__spectral_norm": math.inf,
    }
)
GAN: Papers = {
    "table": _without_steps(GENERATOR) | GAME,
    "images": CGAN_IMAGES,
    **{name: partial(_gan, name) for name in TABLE_4},
}
