"""Generator settings compared on ONE release: free, since no row is read."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from skdpgen.features import Part
from skdpgen.privacy import Release
from skdpgen.synthesizers.models import Denoised
from skdpgen.synthesizers.tools._tools_html import generator_search_html
from skdpgen.training import Latents
from skdpgen.utils import Key

LATENTS_OF_CLASS = 4096  # to judge a generator by


@dataclass(frozen=True, eq=False)
class GeneratorSearch:
    """The result of :func:`search_generator`; prints as a table.

    Parameters
    ----------
    results : DataFrame
        A row for each setting, best first. ``score`` is the squared error on held-out
        features: 1 is their noise alone (without noise: the unexplained share).
    best_params : dict
        The settings of the first row.
    """

    results: pd.DataFrame
    best_params: dict[str, Any]

    def __repr__(self) -> str:
        """Return the table."""
        return self.results.round(3).to_string(index=False)

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return generator_search_html(self)


def search_generator(
    synthesizer: Any, param_grid: Any, *, held_out: float = 0.2
) -> GeneratorSearch:
    """Choose settings of the generator with a stored release, at no cost.

    Part of the features is held out, generators are trained on the rest and
    judged by their distance to the released values of the held-out ones. Noise of
    different features is independent, so a generator that learns noise does worse.
    Then ``synthesizer`` is retrained with the best settings on all features. Only the
    release is read, and no row: **the guarantee does not change.**

    Parameters
    ----------
    synthesizer : DPMERFSynthesizer, DPHPSynthesizer or DPNTKSynthesizer
        Fitted; retrained in place.
    param_grid : dict or list of dict
        As for ``GridSearchCV``, of settings that ``retrain`` takes: ``max_iter``,
        ``batch_size``, ``learning_rate``, ``hidden_layer_sizes``, ``n_latent``.
    held_out : float, default=0.2
        Share of the features to judge by.

    Returns
    -------
    GeneratorSearch

    Examples
    --------
    >>> from skdpgen import DPMERFSynthesizer, Generator
    >>> from skdpgen.datasets import load_example
    >>> X, y = load_example(2000)
    >>> synth = DPMERFSynthesizer(generator=Generator(max_iter=0)).fit(X, y)
    >>> search = search_generator(synth, {"max_iter": [0, 20]})
    >>> search.results.columns.tolist()
    ['max_iter', 'score', 'seconds']
    """
    check_is_fitted(synthesizer)
    if not hasattr(synthesizer, "kernel_"):
        raise TypeError(
            "search_generator needs a method that trains a generator on one release, "
            f"such as DPMERFSynthesizer. Got {type(synthesizer).__name__}."
        )
    kernel, released = synthesizer.kernel_, synthesizer.release_
    n_features = 0 if kernel.phi is None else kernel.phi.n_features
    if getattr(synthesizer, "algorithm", None) == "per_step":
        raise ValueError(
            "search_generator needs a release to train on. Got algorithm='per_step', "
            "which trains while it reads rows, at a cost."
        )
    if n_features < 2 or not 0 < held_out < 1:
        raise ValueError(
            "held_out must be in (0, 1), and there must be features to hold out. "
            f"Got {held_out!r} and {n_features} features."
        )
    rng = torch.Generator().manual_seed(synthesizer._seed)
    order = torch.randperm(n_features, generator=rng)
    n_judges = min(max(round(held_out * n_features), 1), n_features - 1)
    judges, rest = order[:n_judges], order[n_judges:]
    train_kernel, judge_kernel = (
        replace(kernel, phi=Part(kernel.phi, indices)) for indices in (rest, judges)
    )
    train_release = synthesizer._learn(train_kernel, _with_features(released, rest))
    judge_release = synthesizer._learn(judge_kernel, _with_features(released, judges))
    rows = []
    for params in ParameterGrid(param_grid):
        settings = synthesizer.settings_.for_generator(params)
        start = time.perf_counter()
        model, _ = synthesizer._train(train_release, train_kernel, settings)
        score = _distance(model, judge_kernel, judge_release, rng)
        rows.append({**params, "score": score, "seconds": time.perf_counter() - start})
    results = pd.DataFrame(rows).sort_values("score", ignore_index=True)
    best = min(zip(rows, ParameterGrid(param_grid), strict=True), key=_score)[1]
    synthesizer.retrain(**best)
    return GeneratorSearch(results, dict(best))


def _score(pair: tuple[dict[str, Any], dict[str, Any]]) -> float:
    return float(pair[0]["score"])


def _with_features(released: Release, indices: torch.Tensor) -> Release:
    """Return a release with the features at ``indices`` only."""
    features = released.values[Key.FEATURES][:, np.asarray(indices)]
    return replace(released, values={**released.values, Key.FEATURES: features})


def _distance(model: Any, kernel: Any, judged: Denoised, rng: torch.Generator) -> float:
    """Return how far a generator is from released values it was not trained on."""
    shape = model.generator.shape
    latents = Latents(
        LATENTS_OF_CLASS, shape.n_latent, n_classes=shape.n_classes, rng=rng
    )
    embed = kernel.embedding(torch.device("cpu"), rng)
    means: list[NDArray[np.float64]] = []
    with torch.no_grad():
        for rows in latents.draw().split(LATENTS_OF_CLASS):  # class by class
            labels = torch.full((LATENTS_OF_CLASS,), len(means))
            outputs = model.generator(rows, labels)
            means.append(embed(outputs)[Key.FEATURES][0].double().numpy())
    assert judged.noisy is not None  # there are features
    error = judged.noisy - judged.shares[:, None] * np.array(means)
    noise = judged.noise_std**2 * error.size
    return float((error**2).sum() / (noise or (judged.noisy**2).sum()))
