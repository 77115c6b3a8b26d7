"""Estimators with the settings of a paper."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

PRESETS = ("paper",)
DataName = Literal["table", "images"]


class HasPresets:
    """An estimator whose parameters can be those of the paper it comes from."""

    _papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # by the kind of data

    @classmethod
    def from_preset(
        cls, preset: Literal["paper"], *, data: DataName, **parameters: Any
    ) -> Self:
        """Return an estimator with the parameters of a preset.

        They are ordinary parameters: ``get_params`` and ``repr`` show them, a search
        can change them, and nothing else depends on the preset.

        Parameters
        ----------
        preset : {"paper"}
            "paper" has the settings of the paper that the method comes from.
        data : {"table", "images"}
            What the estimator will be fitted to.
        **parameters
            Parameters with other values than in the preset, ``generator__<name>`` of
            its generator among them.

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
        del parameters
        return dict(cls._papers[data])
