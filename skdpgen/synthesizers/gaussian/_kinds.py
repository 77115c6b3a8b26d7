"""The two methods inside DP-MGE: a copula for tables, Gaussians of codes for images.

Both check their parameters before any budget is used, and then measure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from numpy.random import Generator

from skdpgen.lenses import Lens
from skdpgen.synthesizers.gaussian._copula import measure_copula
from skdpgen.synthesizers.gaussian._lens_map import choose_lens
from skdpgen.synthesizers.gaussian._measured import MeasuredMixture
from skdpgen.synthesizers.gaussian._pictures import measure_moments, measure_pictures
from skdpgen.synthesizers.opening import Fitting
from skdpgen.tables import Chunks, ImageLayout, image_size

DEFAULTS: Mapping[str, Any] = {
    "preset": "default",
    "lens": None,
    "n_prototypes": None,
    "covariance": None,
    "augmentation": "auto",
    "public_data": None,
}


class GaussianMethod(Protocol):
    """What DP-MGE needs of a method for tables or for images."""

    def check(self, X: Any) -> None:
        """Raise for parameters without effect, before any budget is used."""
        ...

    def measure(self, fitting: Fitting[MeasuredMixture], rng: Generator) -> None:
        """Release what the model needs; ``fitting.measured`` keeps it."""
        ...


@dataclass(frozen=True, eq=False)
class TableCopula:
    """Columns by class, then the correlations of their normal scores."""

    params: Mapping[str, Any]

    def check(self, X: Any) -> None:
        """Raise for parameters of images."""
        refuse_without_effect(self.params, DEFAULTS, "but for images", "a table")

    def measure(self, fitting: Fitting[MeasuredMixture], rng: Generator) -> None:
        """Release columns by class, then products of their scores."""
        measure_copula(fitting, fitting.measured.cells, fitting.measured.labels)


@dataclass(frozen=True, eq=False)
class ImageGaussians:
    """Means, prototypes and covariances of the codes of a public lens."""

    params: Mapping[str, Any]
    NOT_IN_PAPER: ClassVar[tuple[str, ...]] = (
        "n_prototypes",
        "covariance",
        "augmentation",
    )

    def check(self, X: Any) -> None:
        """Raise for parameters that the paper's method lacks; test the lens."""
        if self._is_paper:
            refuse_without_effect(
                self.params, self.NOT_IN_PAPER, "with preset='paper'", "images"
            )
        if not isinstance(X, Chunks):  # their shape is known when they are opened
            self._lens(image_size(X))

    def measure(self, fitting: Fitting[MeasuredMixture], rng: Generator) -> None:
        """Release means and covariances of codes; the paper has one release."""
        layout = fitting.facts.layout
        assert isinstance(layout, ImageLayout)
        labels, lens = fitting.measured.labels, self._lens(layout.size)
        if self._is_paper:
            measure_moments(fitting, labels, lens)
            return
        measure_pictures(
            fitting,
            labels,
            lens=lens,
            n_prototypes=self.params["n_prototypes"],
            augmentation=self.params["augmentation"],
            covariance=self.params["covariance"] or "full",
            rng=rng,
        )

    @property
    def _is_paper(self) -> bool:
        return bool(self.params["preset"] == "paper")

    def _lens(self, size: tuple[int, int, int]) -> Lens:
        lens, public_data = self.params["lens"], self.params["public_data"]
        return choose_lens(lens, public_data, size, is_plain=self._is_paper)


def refuse_without_effect(
    params: Mapping[str, Any], names: Iterable[str], where: str, rows: str
) -> None:
    """Raise for a parameter that is set but would have no effect."""
    for name in names:
        given, default = params[name], DEFAULTS[name]
        if given is default or (isinstance(given, str) and given == default):
            continue
        shown = repr(given) if name != "public_data" else type(given).__name__
        raise ValueError(
            f"{name} must be {default!r} {where}. Got {shown}, which would have no "
            f"effect on {rows}."
        )
