"""Every estimator, and every way of it to read rows, with little training."""

from skdpgen import (
    DPDRESynthesizer,
    DPGANSynthesizer,
    DPIndependentSynthesizer,
    DPKernelSynthesizer,
    DPMEPFSynthesizer,
    DPMERFSynthesizer,
    DPMGESynthesizer,
    DPNTKSynthesizer,
    DPPairwiseSynthesizer,
    all_synthesizers,
)
from skdpgen.datasets import load_example, load_example_regression
from skdpgen.lenses import ScatteringLens
from tests._made import made
from tests.synthesizers._tables import quick_settings, settings_of

STEPS = {"max_iter": 2, "batch_size": 2}
READ_PUBLIC_ROWS = (DPIndependentSynthesizer, DPPairwiseSynthesizer, DPDRESynthesizer)


def of_tables():
    """Return estimators by name, as functions of parameters."""
    found = {name: maker(cls) for name, cls in all_synthesizers("tables").items()}
    return found | {
        "DPGANSynthesizer, steps alone": maker(DPGANSynthesizer, start="nothing"),
        "DPKernelSynthesizer, steps": maker(
            DPKernelSynthesizer, algorithm="per_step", **STEPS
        ),
        "DPGANSynthesizer, critic": maker(
            DPGANSynthesizer, start="nothing", discriminator_loss="critic"
        ),
        "DPMERFSynthesizer, mini-batches": maker(DPMERFSynthesizer, n_minibatches=3),
        "DPMERFSynthesizer, length": maker(
            DPMERFSynthesizer, numeric_encoding="fourier", feature_norm="length"
        ),
        "DPNTKSynthesizer, convolution": maker(
            DPNTKSynthesizer, architecture="cnn_2l", width=(2, 3), feature_norm=1.0
        ),
    }


def public_rows():
    """Return public rows by the name of the table that they go with."""
    X, y = load_example(900)
    X, y = X.iloc[500:], y.iloc[500:]
    names = ["age", "job", "education", "income", "owns_home", "complaints"]
    same = X[names].assign(since=X["customer_since"])
    houses, prices = load_example_regression(900)
    return {
        "frame": (same, y),
        "frame, public": same,
        "frame without labels": same,
        "numbers as target": (houses[["area", "rooms", "balcony", "heating"]], prices),
    }


def with_public_rows():
    """Return estimators that read public rows, as functions of parameters."""
    return {f"{cls.__name__}, public rows": maker(cls) for cls in READ_PUBLIC_ROWS}


def of_images():
    """Return estimators that take images."""
    found = {
        name: maker(cls, **small_images(cls))
        for name, cls in all_synthesizers("images").items()
    }
    return found | {
        "DPGANSynthesizer, steps alone": maker(
            DPGANSynthesizer, start="nothing", **small_images(DPGANSynthesizer)
        ),
        "DPGANSynthesizer, codes": maker(
            DPGANSynthesizer,
            algorithm="latent",
            lens="cosine",
            **small_images(DPGANSynthesizer),
        ),
        "DPKernelSynthesizer, steps": maker(
            DPKernelSynthesizer, algorithm="per_step", **STEPS
        ),
        "DPMEPFSynthesizer, stopping": maker(
            DPMEPFSynthesizer,
            **small_images(DPMEPFSynthesizer)
            | {"stopping_budget": 0.1, "augmentation": None},
        ),
        "DPMEPFSynthesizer, private lens": maker(
            DPMEPFSynthesizer,
            **small_images(DPMEPFSynthesizer)
            | {"lens": "private", "augmentation": None},
        ),
        "DPMERFSynthesizer, encoder": maker(
            DPMERFSynthesizer,
            network="private",
            **small_images(DPMERFSynthesizer),
        ),
        "DPMGESynthesizer, paper": maker(DPMGESynthesizer, algorithm="one_shot"),
        "DPMGESynthesizer, variances": maker(
            DPMGESynthesizer, covariance="diagonal", augmentation=None
        ),
    }


def small_images(cls):
    """Return small maps and no training."""
    small = {
        "max_iter": 1,
        "n_features": 32,
        "order": (2, 2),
        "width": 4,
        "hidden_layer_sizes": (8,),
    }
    known = settings_of(cls)
    found = {name: value for name, value in small.items() if name in known}
    if cls is DPMEPFSynthesizer:
        found["lens"] = ScatteringLens(n_scales=1, n_angles=2, order=1)
    return found


def maker(cls, **fixed):
    """Return what makes an estimator that trains little."""
    few = quick_settings(cls, fixed.get("algorithm"))
    few |= {"max_iter": 2} if "max_iter" in few else {}

    def make(**params):
        return made(cls, **few | fixed | {"random_state": 0} | params)

    return make
