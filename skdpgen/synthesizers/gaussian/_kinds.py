"""The two methods inside DP-MGE: a copula for tables, Gaussians of codes for images.

Both check their parameters before any budget is used, and then measure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Protocol

from numpy.random import Generator

from skdpgen.lenses import Lens
from skdpgen.synthesizers.gaussian._copula import measure_copula
from skdpgen.synthesizers.gaussian._lens_map import choose_lens
from skdpgen.synthesizers.gaussian._measured import MeasuredMixture
from skdpgen.synthesizers.gaussian._pictures import measure_moments, measure_pictures
from skdpgen.synthesizers.opening import Fitting
from skdpgen.tables import Chunks, ImageLayout, image_size

DEFAULTS: Mapping[str, Any] = {  # of the parameters that are for images only
    "algorithm": "adaptive",
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
        refuse_parameters_of_images(self.params)

    def measure(self, fitting: Fitting[MeasuredMixture], rng: Generator) -> None:
        """Release columns by class, then products of their scores."""
        measured = fitting.measured
        weights = self.params["class_weight"]
        measure_copula(fitting, measured.cells, measured.labels, weights)


@dataclass(frozen=True, eq=False)
class ImageGaussians:
    """Means, prototypes and covariances of the codes of a public lens."""

    params: Mapping[str, Any]
    OF_ONE_SHOT: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "n_prototypes": (None, 1),
        "covariance": (None, "diagonal"),
        "augmentation": (None, "auto"),
    }

    def check(self, X: Any) -> None:
        """Raise for parameters that one release does not allow; test the lens."""
        for name, allowed in self.OF_ONE_SHOT.items():
            given = self.params[name]
            is_allowed = given is None or (
                isinstance(given, str | Integral) and given in allowed
            )
            if self._is_one_shot and not is_allowed:
                raise ValueError(
                    f"{name} must be {' or '.join(map(repr, allowed))} with "
                    f"algorithm='one_shot'. Got {given!r}, which would have no effect."
                )
        shares_nothing = self._is_one_shot or self.params["covariance"] == "pooled"
        if shares_nothing and self.params["class_weight"] is not None:
            raise ValueError(
                "class_weight must be None with algorithm='one_shot', where classes "
                "share no covariance, and with covariance='pooled', which is released "
                f"without classes. Got {self.params['class_weight']!r}, which would "
                "have no effect."
            )
        if not isinstance(X, Chunks):  # their shape is known when they are opened
            self._lens(image_size(X))

    def measure(self, fitting: Fitting[MeasuredMixture], rng: Generator) -> None:
        """Release means and covariances of codes, one by one or at once."""
        layout = fitting.facts.layout
        assert isinstance(layout, ImageLayout)
        labels, lens = fitting.measured.labels, self._lens(layout.size)
        if self._is_one_shot:
            measure_moments(fitting, labels, lens, self.params["device"])
            return
        measure_pictures(
            fitting,
            labels,
            lens=lens,
            n_prototypes=self.params["n_prototypes"],
            augmentation=self.params["augmentation"],
            covariance=self.params["covariance"] or "full",
            class_weight=self.params["class_weight"],
            device=self.params["device"],
            rng=rng,
        )

    @property
    def _is_one_shot(self) -> bool:
        return bool(self.params["algorithm"] == "one_shot")

    def _lens(self, size: tuple[int, int, int]) -> Lens:
        lens, public_data = self.params["lens"], self.params["public_data"]
        return choose_lens(lens, public_data, size, is_plain=self._is_one_shot)


def refuse_parameters_of_images(params: Mapping[str, Any]) -> None:
    """Raise for a parameter that is set but would have no effect on a table."""
    for name, default in DEFAULTS.items():
        given = params[name]
        if given is default or (isinstance(given, str) and given == default):
            continue
        shown = repr(given) if name != "public_data" else type(given).__name__
        raise ValueError(
            f"{name} must be {default!r} but for images. Got {shown}, which would have "
            "no effect on a table."
        )
