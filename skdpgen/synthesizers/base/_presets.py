"""Estimators with the settings of a paper."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from skdpgen.synthesizers.presets import Papers

PRESETS = ("paper",)


class HasPresets:
    """An estimator whose parameters can be those of the paper it comes from."""

    _papers: ClassVar[Papers] = {}

    @classmethod
    def from_preset(
        cls, preset: Literal["paper"], *, data: str, **parameters: Any
    ) -> Self:
        """Return an estimator with the parameters of a preset.

        They are ordinary parameters: ``get_params`` and ``repr`` show them, a search
        can change them, and nothing else depends on the preset.

        Parameters
        ----------
        preset : {"paper"}
            "paper" has the settings of the paper that the method comes from.
        data : str
            "table" or "images", or a data set of the paper, as "adult" or "mnist":
            papers have settings for each. The pages of the papers in the documentation
            list names and settings.
        **parameters
            Parameters with other values than in the preset, ``generator__<name>`` of
            its generator among them. Settings of some papers follow from ``epsilon``.

        Returns
        -------
        synthesizer : Self
            Not fitted.
        """
        if preset not in PRESETS:
            raise ValueError(
                f"preset must be one of {', '.join(map(repr, PRESETS))}. Got "
                f"{preset!r} instead."
            )
        if data not in cls._papers:
            kinds = " or ".join(map(repr, cls._papers))
            raise ValueError(
                f"data must be {kinds} for presets of {cls.__name__}. Got {data!r} "
                "instead."
            )
        values = {
            name: value
            for name, value in cls._values_of(data, parameters).items()
            if name.partition("__")[0] not in parameters  # a whole generator was given
        }
        synthesizer: Self = cls()
        synthesizer.set_params(**values | parameters)  # type: ignore[attr-defined]
        return synthesizer

    @classmethod
    def _values_of(cls, data: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return values of the preset; given parameters may choose among them."""
        values = cls._papers[data]
        return dict(values(parameters) if callable(values) else values)
