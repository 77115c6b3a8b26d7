"""The estimators, one method per file; `fit` reads like the algorithm in a paper."""

from pathlib import Path
from typing import Any

from skdpgen.synthesizers._dp_dre import DPDRESynthesizer
from skdpgen.synthesizers._dp_gan import DPGANSynthesizer
from skdpgen.synthesizers._dp_hp import DPHPSynthesizer
from skdpgen.synthesizers._dp_independent import DPIndependentSynthesizer
from skdpgen.synthesizers._dp_kernel import DPKernelSynthesizer
from skdpgen.synthesizers._dp_mepf import DPMEPFSynthesizer
from skdpgen.synthesizers._dp_merf import DPMERFSynthesizer
from skdpgen.synthesizers._dp_mge import DPMGESynthesizer
from skdpgen.synthesizers._dp_ntk import DPNTKSynthesizer
from skdpgen.synthesizers._dp_pairwise import DPPairwiseSynthesizer
from skdpgen.synthesizers.base import Discriminator, Generator, read_estimator
from skdpgen.synthesizers.models import Deformations
from skdpgen.synthesizers.tools import (
    EmbeddingNoise,
    GeneratorSearch,
    Plan,
    SearchCost,
    embedding_noise,
    plan,
    search_cost,
    search_generator,
)

SYNTHESIZERS: dict[str, Any] = {  # all that are imported above
    name: cls for name, cls in list(globals().items()) if name.startswith("DP")
}


def load(path: str | Path) -> Any:
    """Read a synthesizer that ``save`` wrote, with this version or an earlier one.

    Nothing in a file is run: it holds JSON, arrays and weights, each with a checksum,
    and only types that this package names itself are made of them.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    synthesizer : estimator
        Of the class that was saved; it gives the same samples.

    Raises
    ------
    FileFormatError
        If the file is damaged, empty, of a newer version of skdpgen, or none that
        ``save`` wrote.

    Examples
    --------
    >>> import tempfile
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(1000)
    >>> synth = DPIndependentSynthesizer(classes=["left", "stayed"]).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     synth.save(f"{folder}/synth.skdpgen")
    ...     copy = load(f"{folder}/synth.skdpgen")
    >>> copy.privacy_ == synth.privacy_
    True
    """
    return read_estimator(path)


def all_synthesizers(of: str = "anything") -> dict[str, Any]:
    """Return synthesizer classes by name; the common tests run on all of them.

    Parameters
    ----------
    of : {"anything", "tables", "images"}, default="anything"
        Kind of data that they can be fitted to, without public rows beside it.

    Examples
    --------
    >>> all_synthesizers("tables")["DPPairwiseSynthesizer"]()
    DPPairwiseSynthesizer()
    >>> "DPPairwiseSynthesizer" in all_synthesizers("images")
    False
    """
    if of not in ("anything", "tables", "images"):
        raise ValueError(f"of must be 'anything', 'tables' or 'images'. Got {of!r}.")
    return {
        name: cls
        for name, cls in SYNTHESIZERS.items()
        if of == "anything" or (of in cls._takes and not cls._needs_public_rows)
    }


__all__ = [
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
    "Deformations",
    "Discriminator",
    "EmbeddingNoise",
    "Generator",
    "GeneratorSearch",
    "Plan",
    "SearchCost",
    "all_synthesizers",
    "embedding_noise",
    "load",
    "plan",
    "search_cost",
    "search_generator",
]
