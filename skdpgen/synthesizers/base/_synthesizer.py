"""The base class of all estimators: parameters, opening rows, decoding, saving."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdpgen.exceptions import SchemaWarning, SearchCostWarning
from skdpgen.privacy import Subsampling
from skdpgen.synthesizers.base._files import write_estimator
from skdpgen.synthesizers.base._generator import PARTS
from skdpgen.synthesizers.base._mistakes import check_call
from skdpgen.synthesizers.base._notebook import ShowsFit
from skdpgen.synthesizers.base._parameters import ClassShares, PrivateRows, Sample
from skdpgen.synthesizers.base._reporting import ReportsColumns
from skdpgen.synthesizers.base._sampling import SamplesInChunks
from skdpgen.synthesizers.models import (
    decode_rows,
    decode_target,
    label_codes,
    systematic,
    target_codes,
)
from skdpgen.synthesizers.opening import (
    IS_CLONE,
    Fitted,
    Fitting,
    check_needs,
    open_rows,
    parameters_stated,
    shares_of,
)
from skdpgen.tables import (
    Schema,
    as_chunks,
    draw_values,
    holds_images,
)
from skdpgen.utils import (
    Amount,
    Interval,
    Labels,
    RandomState,
    StrOptions,
    check_count,
    clone_parametrized,
    split_generator,
    training_bar,
    warn_caller,
)

# ----------------------------------------------------------------------------
# The base class of all estimators.

SEARCH_COST = (
    "This estimator is a clone, as a search makes many: each one that is fitted on "
    "the same rows costs its own epsilon. `search_cost(search)` adds them up."
)
GROUPS = (
    "groups, with several rows of one person, are not supported: the guarantee is for "
    "single rows, and a person with k rows has k times epsilon. Keep one row of each "
    "person, or aggregate the rows first, and leave groups=None."
)


def check_retrained(parameters: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise for parameters that cannot change without private rows."""
    unknown = sorted(parameters.keys() - set(names))
    if unknown:
        allowed = f"takes {', '.join(names)} only" if names else "takes no parameters"
        raise TypeError(
            f"retrain {allowed}: all else needs private rows. Got "
            f"{', '.join(unknown)}; set parameters and use `fit`."
        )


RETRAINED = "retrained, which used no more budget, with"


class BaseSynthesizer(ReportsColumns, SamplesInChunks, ShowsFit):
    """Parameters, private opening, decoding and saving of every synthesizer."""

    _reads_public_rows: ClassVar[bool] = False  # of `fit(public_data=...)`
    _needs_public_rows: ClassVar[bool] = False
    _takes: ClassVar[tuple[str, ...]] = ("tables",)  # or "images", or both
    _parts: ClassVar[tuple[str, ...]] = ()  # parameters that are objects, of `PARTS`

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [Amount(Real, 0, None, closed="right")],
        "delta": [Amount(Real, 0, 1, closed="neither"), None],
        "schema": [Schema, dict, None],
        "classes": ["array-like", None],
        "adjacency": [StrOptions({"replace", "add_remove"})],
        "task": [StrOptions({"auto", "classification", "regression"})],
        "random_state": ["random_state", Generator],
        "verbose": [Interval(Integral, 0, None, closed="left"), bool],
    }

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``generator__max_iter`` sets that of the generator.

        Parameters
        ----------
        **params
            Parameters of the estimator, and ``generator__<name>`` of its generator.

        Returns
        -------
        self : Self
            The estimator itself, of its own class.
        """
        for part in self._parts:
            is_nested = any(name.startswith(f"{part}__") for name in params)
            if is_nested and getattr(self, part) is None and part not in params:
                setattr(self, part, PARTS[part]())
        super().set_params(**params)
        return self

    def _validate_params(self) -> None:
        """Raise if a parameter, or one of a generator, has no such value."""
        super()._validate_params()
        for part in self._parts:
            if getattr(self, part) is not None:
                getattr(self, part)._validate_params()

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to one file; :func:`load` reads it back.

        The file holds parameters, schema, releases, the certificate and weights: no
        private row and no code. Its format has a version and is described in "The file
        format" of the documentation; later versions of skdpgen read it, too.

        A generator as ``random_state`` is written as None, and so are public rows: what
        was made of them is part of the fit. Code of yours, as a module for a lens,
        cannot be written.

        Parameters
        ----------
        path : str or Path
            The file; the usual ending is ``.skdpgen``.

        Raises
        ------
        TypeError
            If a parameter is code, such as a function or a torch module.
        """
        check_is_fitted(self)
        write_estimator(self, path)

    def report(self, path: str | Path) -> None:
        """Write a page about the fit: the guarantee, and what was found and lost.

        It is what the command ``skdpgen report`` writes without ``--real``. No private
        row is read, so the page may be published as synthetic rows may.

        Parameters
        ----------
        path : str or Path
            An ``.html`` file. What the page says is beside it as data, in a ``.json``
            file of the same name.
        """
        from skdpgen.report import report_content, write_page  # scoring is slow to load

        check_is_fitted(self)
        write_page(report_content(self), path)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what :meth:`sample` returns for X.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            "default" is the container that was fitted; None changes nothing.
        """
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(
                "transform must be None, 'default', 'pandas' or 'polars'. "
                f"Got {transform!r} instead."
            )
        if transform is not None:
            self._container = None if transform == "default" else transform
        return self

    def __sklearn_clone__(self) -> Self:
        """Clone, and mark the clone: each one fitted on the same rows costs again."""
        copy: Self = clone_parametrized(self)
        copy._is_clone = True
        # All clones share one list, so that a search warns once of what it costs.
        if getattr(self, "_cost_warnings", None) is None:
            self._cost_warnings: list[str] = []
        copy._cost_warnings = self._cost_warnings
        if hasattr(self, "_container"):
            copy._container = self._container
        return copy

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted means that there is a release and a model."""
        return self._fitted is not None and self._fitted.model is not None

    def __sklearn_tags__(self) -> Any:
        """Accepts missing values, text and numbers; results are random."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = True
        tags.target_tags.required = False
        return tags

    def _subsampling(self) -> Subsampling | None:
        """Return how ``fit`` sub-samples, from parameters only; None if it does not."""
        return None

    def _progress(self, steps: Iterable[int]) -> Iterable[int]:
        """Return steps of a training, with a progress bar if one was asked for."""
        return training_bar(steps, is_shown=bool(self.verbose))

    def _check_call(self, X: PrivateRows, y: Labels | None, groups: Any) -> None:
        """Raise for parameters and arguments that `fit` does not take."""
        check_call(self, X, y)
        self._validate_params()
        if groups is not None:
            raise NotImplementedError(GROUPS)

    @contextmanager
    def _opened(
        self,
        X: PrivateRows,
        y: Labels | None,
        public_data: Any = None,
        groups: Any = None,
    ) -> Iterator[Fitting[Any]]:
        """Open private rows, and close them also after errors; ``fit`` runs in it.

        Entering releases the part of the schema that is not public. Leaving, also by an
        error or an interrupt, forgets the rows. If any budget was used, the estimator
        keeps the releases with the certificate, and nothing of an earlier fit.
        """
        self._check_call(X, y, groups)
        check_needs(self, X)
        X, y = as_chunks(X, y)
        opening = open_rows(
            X,
            y,
            epsilon=self.epsilon,
            delta=self.delta,
            schema=self._public_schema(X),
            classes=self.classes,
            adjacency=self.adjacency,
            task=self.task,
            class_weight=getattr(self, "class_weight", None),
            verbose=self.verbose,
            public_data=self._public_table(public_data),
        )
        opening.statements += self._stated(public_data)
        try:
            self._check_columns(opening.rows.layout)
            opening.learn_schema()
            self._check_weighted_classes(opening.facts.classes)
            yield opening
        finally:
            fitted = opening.close()
            if fitted.certificate.releases:
                self._keep(fitted)

    def _check_columns(self, layout: Any) -> None:
        """Raise for parameters that name unknown columns, before any release."""

    def _check_weighted_classes(self, classes: Sequence[Any] | None) -> None:
        """Warn if a weight is of a class that was not discovered; reads releases."""
        weights = getattr(self, "class_weight", None)
        if not isinstance(weights, dict):
            return
        unknown = [label for label in weights if label not in set(classes or ())]
        if unknown:
            warn_caller(
                f"class_weight names {', '.join(map(repr, unknown))}, which is not "
                "among the discovered classes and has no effect. Check the spelling, "
                "or give `classes`.",
                SchemaWarning,
            )

    def _public_table(self, public_data: Any) -> Any:
        """Return public rows with the columns of X; None where there are none."""
        return public_data

    def _public_schema(self, X: Any) -> Schema:
        """Return what was given as a schema; warn of a clone, whose fit costs again."""
        if getattr(self, "_is_clone", False) and not self._cost_warnings:
            warn_caller(SEARCH_COST, SearchCostWarning, through=("sklearn", "joblib"))
            self._cost_warnings.append(SEARCH_COST)  # not if the warning is an error
        self._is_given_images(X)  # raises for what the method does not take
        return Schema() if self.schema is None else Schema.of(self.schema)

    def _is_given_images(self, X: Any) -> bool:
        """Return whether rows are images; raise unless the method takes them."""
        is_image = holds_images(X)
        data_kind = "images" if is_image else "tables"
        if data_kind not in self._takes:
            n_dimensions = {"tables": "two", "images": "three or four"}[self._takes[0]]
            alternatives = {
                "tables": "DPPairwiseSynthesizer",
                "images": "DPMGESynthesizer",
            }
            raise ValueError(
                f"{type(self).__name__} takes {self._takes[0]} of {n_dimensions} "
                f"dimensions. Got {data_kind}; use {alternatives[data_kind]} for them."
            )
        return is_image

    def _stated(self, public_data: Any) -> list[str]:
        """Return statements of what the guarantee assumes besides the rows."""
        del public_data
        lines = [parameters_stated(self)]
        return lines + [IS_CLONE] * getattr(self, "_is_clone", False)

    def _keep(self, fitted: Fitted[Any]) -> None:
        """Keep the result of a fit in place of any earlier one."""
        self._fitted = fitted
        if fitted.facts is not None:  # else rows cannot be drawn
            (self._sampler,) = split_generator(self.random_state, 1)

    def _sampling_generator(self, random_state: RandomState) -> Generator:
        """Return the generator of a sample: None continues that of the last sample."""
        if random_state is None:
            return self._sampler
        return split_generator(random_state, 1)[0]

    def _sample_size(self, n_samples: int | None, y: Any) -> int:
        """Return the number of rows to draw, after checks."""
        check_is_fitted(self)
        if y is not None:
            if self.task_ is None:
                raise ValueError(
                    "y needs a synthesizer that was fitted with labels. Got one fitted "
                    "without; call `sample(n_samples)`."
                )
            if np.asarray(y, dtype=object).shape not in ((len(y),), (len(y), 1)):
                raise ValueError(
                    "y must hold one label a row. Got "
                    f"{type(y).__name__} instead; give a list, as `y=['a', 'b']`."
                )
            if n_samples is not None and n_samples != len(y):
                raise ValueError(
                    f"n_samples must be None or len(y)={len(y)} when y is given. "
                    f"Got {n_samples!r} instead."
                )
            return check_count(len(y), "len(y)")
        n_samples = self.n_samples_ if n_samples is None else n_samples
        return check_count(n_samples, "n_samples")

    def _requested_shares(
        self, y: Any, class_distribution: ClassShares
    ) -> NDArray[np.float64] | None:
        """Return the requested share of each class, after checks."""
        if class_distribution is None:
            return None
        if y is not None or self.task_ != "classification":
            raise ValueError(
                "class_distribution must be None unless classes were fitted, and "
                f"when y has the label of each row. Got {class_distribution!r}."
            )
        return shares_of(class_distribution, self.classes_.tolist())

    def _draw_labels(
        self,
        n_samples: int,
        y: Any,
        class_distribution: ClassShares,
        shares: NDArray[np.float64],
        rng: Generator,
    ) -> NDArray[np.int64]:
        """Return the class of each row to draw: as requested, or by released shares."""
        requested = self._requested_shares(y, class_distribution)
        if requested is not None:
            shares = requested
        if y is None:
            return rng.permutation(systematic(shares, n_samples, rng=rng))
        if self.task_ == "regression":
            assert self._facts.target_layout is not None
            assert self._labels is not None
            return target_codes(self._facts.target_layout, self._labels, y)
        return label_codes(self.classes_, y)

    def _decoded(
        self,
        codes: Mapping[Any, NDArray[np.int64]],
        marginals: Mapping[Any, NDArray[np.float64]],
        rng: Generator,
        given: Mapping[Any, Any] | None = None,
    ) -> Any:
        """Return drawn cells in the container of X, or of :meth:`set_output`."""
        return decode_rows(
            self._facts,
            self.cells_,
            codes,
            marginals,
            rng=rng,
            container=getattr(self, "_container", None),
            given=given,
        )

    def _stating_retrain(
        self, parameters: Mapping[str, Any], *, adds_up: bool = False
    ) -> Self:
        """State what a model was retrained with: the estimator's parameters may differ.

        ``adds_up`` keeps earlier lines of other parameters, where a setting stays.
        """
        starts = {f"{RETRAINED} {name}=" for name in parameters}
        for line in self._state.certificate.statements:
            if line.startswith(tuple(starts) if adds_up else RETRAINED):
                self._fitted = self._state.without(line)
        lines = [f"{RETRAINED} {k}={v!r}" for k, v in sorted(parameters.items())]
        self._fitted = self._state.stating(*lines)
        return self

    def _with_target(
        self,
        X: Any,
        labels: NDArray[np.int64],
        y: Any,
        shares: NDArray[np.float64],
        rng: Generator,
    ) -> Sample:
        """Return X, or a pair of X and y if there was a target."""
        if self.task_ is None:
            return X
        if self.task_ == "classification":
            return X, decode_target(self._facts, self.classes_[labels])
        if y is None:
            target: Any = self.schema_.target
            assert self._labels is not None
            y = draw_values(target, self._labels, labels, shares, rng=rng)
        return X, decode_target(self._facts, y)
