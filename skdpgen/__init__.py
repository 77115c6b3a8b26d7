"""Differentially private synthetic data as scikit-learn estimators.

The import itself is quick: a name loads the package that it comes from, with torch,
pandas or scikit-learn where that package needs them, when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the names of ``_ORIGINS`` and ``_PACKAGES``, for readers of types
    from skdpgen import benchmark as benchmark
    from skdpgen import datasets as datasets
    from skdpgen import exceptions as exceptions
    from skdpgen import features as features
    from skdpgen import lenses as lenses
    from skdpgen import metrics as metrics
    from skdpgen import networks as networks
    from skdpgen import parties as parties
    from skdpgen import plotting as plotting
    from skdpgen import privacy as privacy
    from skdpgen import report as report
    from skdpgen import synthesizers as synthesizers
    from skdpgen import tables as tables
    from skdpgen import training as training
    from skdpgen import utils as utils
    from skdpgen.benchmark import compare
    from skdpgen.metrics import SyntheticUtility
    from skdpgen.privacy import PrivacyReport
    from skdpgen.synthesizers import (
        Discriminator,
        DPDRESynthesizer,
        DPGANSynthesizer,
        DPHPSynthesizer,
        DPIndependentSynthesizer,
        DPKernelSynthesizer,
        DPMEPFSynthesizer,
        DPMERFSynthesizer,
        DPMGESynthesizer,
        DPNTKSynthesizer,
        DPPairwiseSynthesizer,
        Generator,
        all_synthesizers,
        embedding_noise,
        load,
        plan,
        search_cost,
    )
    from skdpgen.tables import (
        Boolean,
        Categorical,
        Chunks,
        Datetime,
        Integer,
        Numeric,
        Ordinal,
        Schema,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "Boolean",
    "Categorical",
    "Chunks",
    "DPDRESynthesizer",
    "DPGANSynthesizer",
    "DPHPSynthesizer",
    "DPIndependentSynthesizer",
    "DPKernelSynthesizer",
    "DPMEPFSynthesizer",
    "DPMERFSynthesizer",
    "DPMGESynthesizer",
    "DPNTKSynthesizer",
    "DPPairwiseSynthesizer",
    "Datetime",
    "Discriminator",
    "Generator",
    "Integer",
    "Numeric",
    "Ordinal",
    "PrivacyReport",
    "Schema",
    "SyntheticUtility",
    "all_synthesizers",
    "compare",
    "embedding_noise",
    "load",
    "plan",
    "search_cost",
]

# ----------------------------------------------------------------------------
# Which package a name comes from; ``tests/test_lazy_names.py`` compares all lists.

_PACKAGES = (
    "benchmark",
    "datasets",
    "exceptions",
    "features",
    "lenses",
    "metrics",
    "networks",
    "parties",
    "plotting",
    "privacy",
    "report",
    "synthesizers",
    "tables",
    "training",
    "utils",
)

_ORIGINS = {
    "benchmark": ["compare"],
    "metrics": ["SyntheticUtility"],
    "privacy": ["PrivacyReport"],
    "synthesizers": [
        "DPDRESynthesizer",
        "DPGANSynthesizer",
        "DPHPSynthesizer",
        "DPIndependentSynthesizer",
        "DPKernelSynthesizer",
        "DPMEPFSynthesizer",
        "DPMERFSynthesizer",
        "DPMGESynthesizer",
        "DPNTKSynthesizer",
        "DPPairwiseSynthesizer",
        "Discriminator",
        "Generator",
        "all_synthesizers",
        "embedding_noise",
        "load",
        "plan",
        "search_cost",
    ],
    "tables": [
        "Boolean",
        "Categorical",
        "Chunks",
        "Datetime",
        "Integer",
        "Numeric",
        "Ordinal",
        "Schema",
    ],
}

# Type checkers must not see this function: they would take any name for one of ours.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Load a public name, or a package, and keep it."""
        origin = next((o for o, names in _ORIGINS.items() if name in names), None)
        if origin is None and name not in _PACKAGES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        try:
            package = import_module(f"{__name__}.{origin or name}")
        except AttributeError as error:
            # `from skdpgen import` would say no more than that there is no such name
            raise ImportError(f"{name} cannot be loaded: {error}") from error
        value = package if origin is None else getattr(package, name)
        globals()[name] = value
        return value

    def __dir__():
        """Return public names, loaded or not."""
        special = [name for name in globals() if name.startswith("__")]
        return sorted({*special, *__all__, *_PACKAGES})
