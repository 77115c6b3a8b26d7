"""The fit of DP-MERF, DP-HP, DP-NTK and others: everything but the feature map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import torch
from numpy.random import Generator as RandomGenerator
from sklearn.utils.validation import check_is_fitted

from skdpgen.privacy import Release
from skdpgen.synthesizers.base._attributes import TrainedAttributes, require_fitted
from skdpgen.synthesizers.base._generator import Generator, with_parts
from skdpgen.synthesizers.base._parameters import ClassShares, PrivateRows, Sample
from skdpgen.synthesizers.base._presets import HasPresets
from skdpgen.synthesizers.base._synthesizer import BaseSynthesizer, check_retrained
from skdpgen.synthesizers.embedding import (
    Encoding,
    ImageKernel,
    MeasuredEmbedding,
    RowKernel,
    n_seen,
    pooling_of,
)
from skdpgen.synthesizers.models import Denoised, class_factors, mixing
from skdpgen.synthesizers.opening import Fitting, discover_bins, n_classes_of
from skdpgen.synthesizers.presets import GENERATOR, Settings, fill, is_default
from skdpgen.tables import Cells
from skdpgen.utils import (
    Labels,
    RandomState,
    StrOptions,
    pick_device,
    seed_of,
    split_generator,
    torch_generator,
)

OpenedEmbedding = Fitting[MeasuredEmbedding]
# Settings of a generator that not all estimators have.
OF_ONE_KIND = {
    "batch_norm": "tables",
    "early_stopping": "tables",
    "models": "images",
    "network": "images",
    "pooling": "images",
    "precision": "images",
    "loss": "DPMEPFSynthesizer",
    "moving_rate": "DPMEPFSynthesizer",
    "n_minibatches": "DPMERFSynthesizer",
}


class EmbeddingSynthesizer(TrainedAttributes, HasPresets, BaseSynthesizer):
    """One private mean embedding of rows, and a generator that is trained on it.

    An estimator of this family has settings of tables and of images, for parameters
    that are None, and two methods of its own: ``_map_columns`` draws its feature map
    for given cells, and ``_map_pixels`` for images. One that ``_takes`` either alone
    has half of that.
    """

    generator: Generator | None
    _table_settings: ClassVar[Settings]
    _image_settings: ClassVar[Settings]
    _parts: ClassVar[tuple[str, ...]] = ("generator",)
    _networks: ClassVar[tuple[str, ...]] = ("full", "upsample", "decoder", "residual")
    _takes: ClassVar[tuple[str, ...]] = ("tables", "images")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSynthesizer._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "generator": [Generator, None],
        "device": [str, torch.device],
    }

    @property
    def _n_minibatches(self) -> int:
        """Parts of the rows that are released one by one."""
        return 1 if self.generator is None else self.generator.n_minibatches

    def _map_columns(
        self, cells: Mapping[Any, Cells], settings: Any, rng: torch.Generator
    ) -> RowKernel:
        """Return a RowKernel for given cells; a share of None is chosen later."""
        raise NotImplementedError

    def _map_pixels(self, n_pixels: int, settings: Any, rng: torch.Generator) -> Any:
        """Return a map of images to bounded features, of ``n_pixels`` numbers each."""
        raise NotImplementedError

    def _draw_kernel(
        self,
        opening: OpenedEmbedding,
        cells: Mapping[Any, Cells],
        labels: Cells | None,
        settings: Any,
        rng: RandomGenerator,
    ) -> Any:
        """Return the kernel of an opened table, or of images."""
        is_image = opening.holds_images
        draw = self._kernel_of_images if is_image else self._kernel_of_rows
        return draw(opening, cells, labels, settings, torch_generator(rng))

    def _kernel_of_rows(
        self,
        opening: OpenedEmbedding,
        cells: Mapping[Any, Cells],
        labels: Cells | None,
        settings: Any,
        rng: torch.Generator,
    ) -> RowKernel:
        """Return the kernel of a table."""
        kernel = self._map_columns(cells, settings, rng)
        return kernel.with_share(opening, n_classes_of(labels))

    def _kernel_of_images(
        self,
        opening: OpenedEmbedding,
        cells: Mapping[Any, Cells],
        labels: Cells | None,
        settings: Any,
        rng: torch.Generator,
    ) -> ImageKernel:
        """Return the kernel of images; may use budget to adapt it to them."""
        del cells, labels
        layout: Any = opening.facts.layout
        pooling = pooling_of(layout.size, settings.pooling)
        phi = self._map_pixels(n_seen(layout.size, pooling), settings, rng)
        return ImageKernel.of(phi, layout, self.adjacency, pooling=pooling)

    def fit(
        self, X: PrivateRows, y: Labels | None = None, *, groups: Any = None
    ) -> Self:
        """Draw the feature map, release its mean per class, train a generator on it.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or images
            A pandas or other data frame, an array, or :class:`~skdpgen.tables.Chunks`.
            Arrays (n, height, width) and (n, channels, height, width) are images.
        y : array-like of shape (n_samples,) or None, default=None
            Labels, numbers, or nothing.
        groups : None
            Must be None: persons with several rows are not supported.

        Returns
        -------
        self : Self
            The estimator itself, of its own class.
        """
        self._check_call(X, y, groups)
        device, settings = pick_device(self.device), self._fill_settings(X)
        _, for_features, for_training = split_generator(self.random_state, 3)
        with self._opened(X, y, groups=groups) as opening:
            cells, labels = discover_bins(opening)
            opening.measured = MeasuredEmbedding(
                cells=cells, labels=labels, seed=seed_of(for_training)
            )
            kernel = self._draw_kernel(opening, cells, labels, settings, for_features)
            settings = settings.sharing(kernel.share)
            measured = replace(opening.measured, kernel=kernel, settings=settings)
            opening.measured = measured
            opening.release_main(
                opening.rows.batches(cells, labels).through(Encoding(kernel, device)),
                kernel.blocks,
                name=f"mean embedding of {kernel.certificate_name} by class",
                share=1.0 - self._kept_share(opening, labels),
                n_classes=n_classes_of(labels),
                n_minibatches=self._n_minibatches,
                weights=kernel.weights,
            )
            self._after_release(opening)
        del X, y, opening  # private data ends here; what follows is post-processing
        return self.retrain()

    def _kept_share(self, opening: OpenedEmbedding, labels: Cells | None) -> float:
        """Return the fraction of the remaining budget that later releases get."""
        del opening, labels
        return 0.0

    def _after_release(self, opening: OpenedEmbedding) -> None:
        """Make further releases after the embedding; none, unless overridden."""

    def retrain(self, **parameters: Any) -> Self:
        """Retrain the generator on the stored release; needs no budget and no data.

        ``fit`` ends with it. If ``fit`` was interrupted after the release, the budget
        is spent, ``privacy_`` states it, and this method completes the fit. The same
        settings give the same generator.

        Parameters
        ----------
        **parameters
            Any of ``max_iter``, ``batch_size``, ``learning_rate``, ``n_latent`` and
            ``hidden_layer_sizes``; they replace those of ``settings_``.

        Returns
        -------
        self : Self
            The estimator itself, of its own class.
        """
        check_is_fitted(self, "release_")
        check_retrained(parameters, sorted(GENERATOR))
        used = self.settings_.for_generator(parameters)
        denoised = self._learn(self.kernel_, self.release_)
        model, losses = self._train(denoised, self.kernel_, used)
        self._keep_model(
            model,
            denoised.totals.sum(),
            denoised.total_std,
            measured=replace(self._measured, settings=used),
            losses=losses,
        )
        self._stating_retrain(parameters, adds_up=True)
        return self._stating_relations(used.max_iter)

    @property
    def kernel_(self) -> Any:
        """The feature map, and the encoding of rows for it."""
        return require_fitted(self._measured.kernel, "kernel_")

    @property
    def settings_(self) -> Any:
        """The method's parameters as they were used."""
        return require_fitted(self._measured.settings, "settings_")

    @property
    def generator_(self) -> torch.nn.Module:
        """The trained torch module."""
        check_is_fitted(self)
        module: torch.nn.Module = self._model.generator
        return module

    def sample(
        self,
        n_samples: int | None = None,
        y: Labels | None = None,
        class_distribution: ClassShares = None,
        random_state: RandomState = None,
    ) -> Sample:
        """Draw synthetic rows; free, and as often as wanted.

        Parameters
        ----------
        n_samples : int or None, default=None
            Number of rows; None takes as many as were fitted.
        y : array-like or None, default=None
            Labels (or numbers) to draw rows for, one each.
        class_distribution : "balanced", dict or None, default=None
            How often each class is drawn: as in the data, all alike, or by their
            shares, ``{"yes": 0.2, "no": 0.8}``. Shares are from 0 to 1 and sum to 1; a
            class that is not listed is not drawn. What was learnt is the same.
        random_state : int, RandomState, Generator or None, default=None
            An int gives the same rows each time; None gives new ones.

        Returns
        -------
        X : table
            In the container of the fitted X, with its columns and dtypes.
        y : Series or ndarray
            Only if fitted with labels.
        """
        n_samples = self._sample_size(n_samples, y)
        rng = self._sampling_generator(random_state)
        shares = self._model.totals / self._model.totals.sum()
        labels = self._draw_labels(n_samples, y, class_distribution, shares, rng)
        X = self.kernel_.draw(
            self._model,
            labels,
            self.cells_,
            self._facts,
            denoised=self._denoised,
            container=getattr(self, "_container", None),
            rng=rng,
        )
        return self._with_target(X, labels, y, shares, rng)

    def _fill_settings(self, X: Any) -> Any:
        """Return the settings of this fit; parameters that are None filled in."""
        params = with_parts(self.get_params(deep=False))
        defaults = with_parts(type(self)().get_params(deep=False))
        of_tables, of_images = (
            getattr(self, settings) if kind in self._takes else None
            for kind, settings in (
                ("tables", "_table_settings"),
                ("images", "_image_settings"),
            )
        )
        any_settings: Any = of_tables or of_images
        any_settings.filled(params)  # raises for wrong values, before X is opened
        is_image = self._is_given_images(X)
        known = {name for one in (of_tables, of_images) if one for name in one.names()}
        unused = {name: of for name, of in OF_ONE_KIND.items() if name not in known}
        for name, purpose in (unused | self._without_effect(is_image)).items():
            if not is_default(params[name], defaults[name]):
                raise ValueError(
                    f"{name} must be {defaults[name]!r} but for {purpose}. Got "
                    f"{params[name]!r}, which would have no effect."
                )
        if is_image and params["network"] not in self._networks:
            raise ValueError(
                f"network must be one of {', '.join(map(repr, self._networks))} for "
                f"{type(self).__name__}. Got {params['network']!r} instead."
            )
        return fill(
            params,
            defaults,
            of_tables=of_tables,
            of_images=of_images,
            is_image=is_image,
        )

    def _counted(self) -> tuple[Mapping[Any, Cells], Sequence[float] | None]:
        """Return the columns whose cells were counted, and in which units."""
        counted = getattr(self.kernel_, "counted", ())
        names = list(self.cells_)
        cells = {names[j]: self.cells_[names[j]] for j in counted}
        return cells, self.kernel_.scales if counted else None

    def _without_effect(self, is_image: bool) -> dict[str, str]:
        """Return parameters without effect in this fit, and their purpose."""
        del is_image
        return {}

    def _learn(self, kernel: Any, released: Release) -> Denoised:
        """Denoise a release; the only public input is the number of rows."""
        return kernel.learn(
            released,
            self.cells_,
            self._facts,
            n_classes=n_classes_of(self._labels),
            n_rows=self._facts.public_total(released.adjacency, self._labels),
            seed=self._seed,
        )

    @property
    def _denoised(self) -> Denoised | None:
        """The denoised release of images, for sampling; None if it is not needed."""
        if self.kernel_.phi is None or self.cells_:
            return None
        return self._learn(self.kernel_, self.release_)

    def _train(
        self, denoised: Denoised, kernel: Any, settings: Any
    ) -> tuple[Any, list[float]]:
        """Return a generator and its losses; reads no fitted state but the seed."""
        mix = mixing(
            denoised.shares,
            factors=class_factors(
                self.class_weight, self._facts.classes or (), denoised.shares
            ),
            is_number=self.task_ == "regression",
        )
        return kernel.train(
            denoised,
            settings,
            mix=mix,
            device=pick_device(self.device),
            seed=self._seed,
            progress=self._progress,
        )
