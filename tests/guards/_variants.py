"""Every estimator, and every way of it to read rows, with little training."""

from skdpgen import (
    DPIndependentSynthesizer,
    DPKernelSynthesizer,
    DPMEPFSynthesizer,
    DPMERFSynthesizer,
    DPMGESynthesizer,
    DPPairwiseSynthesizer,
    all_synthesizers,
)
from skdpgen.datasets import load_example
from skdpgen.lenses import ScatteringLens
from tests.synthesizers._tables import quick

STEPS = {"max_iter": 2, "n_points": 2}


def of_tables():
    """Return estimators by name, as functions of parameters."""
    found = {name: maker(cls) for name, cls in all_synthesizers("tables").items()}
    return found | {
        "DPKernelSynthesizer, steps": maker(
            DPKernelSynthesizer, release="per_step", **STEPS
        ),
        "DPMERFSynthesizer, mini-batches": maker(
            DPMERFSynthesizer, release="minibatch", n_minibatches=3
        ),
    }


def with_public_rows():
    """Return estimators that take public rows, with some for the case "frame"."""
    X, y = (part.iloc[500:] for part in load_example(900))
    columns = ["age", "job", "education", "income", "owns_home", "complaints"]
    public = X[columns].assign(since=X["customer_since"]), y
    return {
        f"{cls.__name__}, public rows": maker(cls, public_data=public)
        for cls in (DPIndependentSynthesizer, DPPairwiseSynthesizer)
    }


def of_images():
    """Return estimators that take images."""
    found = {
        name: maker(cls, **small_images(cls))
        for name, cls in all_synthesizers("images").items()
    }
    return found | {
        "DPKernelSynthesizer, steps": maker(
            DPKernelSynthesizer, release="per_step", **STEPS
        ),
        "DPMEPFSynthesizer, stopping": maker(
            DPMEPFSynthesizer,
            **small_images(DPMEPFSynthesizer) | {"stopping_budget": 0.1, "prior": None},
        ),
        "DPMEPFSynthesizer, private lens": maker(
            DPMEPFSynthesizer,
            **small_images(DPMEPFSynthesizer) | {"lens": "private", "prior": None},
        ),
        "DPMERFSynthesizer, encoder": maker(
            DPMERFSynthesizer,
            encoder="private",
            **small_images(DPMERFSynthesizer),
        ),
        "DPMGESynthesizer, paper": maker(DPMGESynthesizer, preset="paper"),
        "DPMGESynthesizer, variances": maker(
            DPMGESynthesizer, covariance="diagonal", prior=None
        ),
    }


def small_images(cls):
    """Return small maps and no training."""
    small = {
        "max_iter": 1,
        "n_features": 32,
        "order": 2,
        "width": 4,
        "hidden_layer_sizes": (8,),
    }
    known = cls().get_params()
    found = {name: value for name, value in small.items() if name in known}
    if cls is DPMEPFSynthesizer:
        found["lens"] = ScatteringLens(n_scales=1, n_angles=2, order=1)
    return found


def maker(cls, **fixed):
    """Return what makes an estimator that trains little."""
    few = quick(cls, fixed.get("release"))
    few |= {"max_iter": 2} if "max_iter" in few else {}

    def make(**params):
        return cls(**few | fixed | {"random_state": 0} | params)

    return make
