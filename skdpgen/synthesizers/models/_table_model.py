"""A table generator that is trained on a released embedding, and its rows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor

from skdpgen.networks import CellsHead, TableGenerator, TableShape
from skdpgen.privacy import Release
from skdpgen.synthesizers.models._denoised import Denoised, summed_groups
from skdpgen.synthesizers.opening import Facts
from skdpgen.synthesizers.presets._settings import TableSettings
from skdpgen.tables import Cells
from skdpgen.training import (
    Goal,
    LossWeight,
    Steps,
    class_conditional_model,
    match_embedding,
    normal,
    project_to_total,
    shrink_embedding,
    sobol,
    strata,
)
from skdpgen.utils import (
    Key,
    saved,
    torch_generator,
)

Floats = NDArray[np.float64]
MARGINALS_FIRST, MARGINALS_LAST = 0.05, 2.0  # weights of columns against features
ROWS_AT_ONCE, CELLS_AT_ONCE = 16_384, 2**25  # of drawn rows, and of all their cells
ERROR_PART = 0.25  # of the targets' error; below, training is not worthwhile
LEAST_PROBABILITY = 1e-6  # of a cell, even if it is empty in the release


@saved("model.table")
@dataclass(frozen=True, eq=False)
class TableModel:
    """A generator of rows, with class totals and marginals of columns."""

    generator: TableGenerator
    totals: Floats
    marginals: Mapping[Any, Floats]

    def draw(
        self,
        labels: NDArray[np.integer[Any]],
        cells: Mapping[Any, Cells],
        *,
        rng: Generator,
    ) -> dict[Any, Any]:
        """Draw the cells of rows with the given labels, column by column."""
        heads = self.generator.shape.heads
        columns = list(cells.values())
        codes = [np.empty(len(labels), dtype=np.int64) for _ in heads]
        public = torch_generator(rng)
        n_latent = self.generator.shape.n_latent
        device = self.generator.start.device
        n_cells = sum(column.n_cells for column in columns)
        at_once = max(min(CELLS_AT_ONCE // n_cells, ROWS_AT_ONCE), 1)
        for label in np.unique(labels):
            rows = rng.permutation(np.flatnonzero(labels == label))
            latent_places = sobol(len(rows), n_latent, public)
            places = strata(len(rows), len(heads), public)
            for first in range(0, len(rows), at_once):
                batch = slice(first, first + at_once)
                latents = normal(latent_places[batch]).to(device)
                label_codes = torch.full((len(latents),), int(label), device=device)
                with torch.no_grad():
                    outputs = self.generator(latents, label_codes)
                for j, (head, output) in enumerate(zip(heads, outputs, strict=True)):
                    place = places[batch, j, None].to(device)
                    cell_codes = draw_cells(head, output, place, columns[j].n_known)
                    codes[j][rows[batch]] = cell_codes.cpu().numpy()
        return dict(zip(cells, codes, strict=True))


def draw_cells(head: Any, output: Tensor, place: Tensor, n_known: int) -> Tensor:
    """Draw a cell for each row from a head's output and a uniform number.

    A position falls in one of the ``n_known`` cells; the next one is "missing".
    """
    if isinstance(head, CellsHead):
        below = output.double().cumsum(dim=1)
        below = below / below[:, -1:]
        return (place >= below).sum(dim=1).clamp(max=output.shape[1] - 1)
    position = output[:, 0]
    missing = torch.zeros_like(position)
    if head.is_nullable:
        missing = (2.0 * output[:, 1]).clamp(0.0, 1.0)
        position = (position - 0.5 * missing) / (1.0 - missing).clamp_min(
            LEAST_PROBABILITY
        )
    cell = (position * n_known).long().clamp(0, n_known - 1)
    return torch.where(place[:, 0] < missing, n_known, cell)


def learn_table(
    released: Release,
    kernel: Any,
    cells: Mapping[Any, Cells],
    *,
    n_classes: int,
    n_rows: float | None,
    facts: Facts,
    seed: int,
) -> Denoised:
    """Denoise a release: class counts, marginals, and the embedding to match."""
    joined_groups = summed_groups(released, n_classes)
    counted = {list(cells)[j]: list(cells.values())[j] for j in kernel.counted}
    marginals = {name: np.ones(column.n_cells) for name, column in cells.items()}
    first: dict[str, Floats] = {}
    start = alone = None
    if counted:
        model = class_conditional_model(
            joined_groups,
            counted,
            n_rows,
            facts.discovered,
            kernel.scales,
            facts.earlier,
            facts.n_rows,
        )
        totals, total_std = model.totals, model.total_std
        conditionals = [np.asarray(model.conditionals[name]) for name in counted]
        joined = np.concatenate(conditionals, axis=1)
        first[Key.COLUMNS] = (totals / totals.sum())[:, None] * joined
        marginals |= model.marginals
        if kernel.is_binned:
            start = np.log(np.maximum(joined, LEAST_PROBABILITY))
    else:
        counts = joined_groups.values[Key.CLASSES][:, 0]
        total_std = joined_groups.noise_std[Key.CLASSES] * np.sqrt(n_classes)
        totals = project_to_total(counts, n_rows or max(float(counts.sum()), 1.0))
    n, shares = totals.sum(), totals / totals.sum()
    if kernel.phi is None:
        return Denoised(totals, total_std, marginals, start, (first,), {})
    noisy = joined_groups.values[Key.FEATURES] / n
    std = joined_groups.noise_std[Key.FEATURES] / n
    if start is not None:
        rng = torch.Generator().manual_seed(seed)
        alone = (tuple(conditionals), kernel.independent(conditionals, rng))
        guess = shares[:, None] * alone[1]
        matched, error = shrink_embedding(noisy, guess, shares, std)
        groups = [matched]
    else:  # raw, part by part
        guess = np.zeros_like(noisy)
        groups = list(released.values[Key.FEATURES].reshape(-1, *noisy.shape))
        groups = [len(groups) * group / n for group in groups]
        error = noisy.size * std**2 * len(groups)
    return Denoised(
        totals,
        total_std,
        marginals,
        start,
        tuple({**first, Key.FEATURES: group} for group in groups),
        {Key.FEATURES: ERROR_PART * error},
        energy=float(((np.mean(groups, axis=0) - guess) ** 2).sum()),
        noisy=noisy,
        noise_std=std,
        alone=alone,
    )


def train_table(
    denoised: Denoised,
    kernel: Any,
    settings: TableSettings,
    *,
    mix: Floats | None,
    device: torch.device,
    seed: int,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> tuple[TableModel, list[float]]:
    """Train a generator on a denoised release; the same seed gives the same one."""
    rng = torch.Generator().manual_seed(seed)
    generator = new_table_generator(
        kernel, settings, len(denoised.totals), rng, denoised.start
    )
    model = TableModel(generator, denoised.totals, denoised.marginals)
    is_stopping = settings.early_stopping
    noise_energy = denoised.noise_energy if is_stopping else {}
    exceeds_noise = denoised.energy > noise_energy.get(Key.FEATURES, 0.0)
    is_trained = settings.max_iter > 0 and (exceeds_noise or not is_stopping)
    if denoised.start is not None and not is_trained:
        with torch.no_grad():  # columns stay independent
            generator.heads.weight.zero_()
        generator.eval()
        return model, []
    per_energy = 1.0 / (denoised.energy or 1.0)
    if kernel.is_binned:
        columns = LossWeight(MARGINALS_FIRST * per_energy, MARGINALS_LAST * per_energy)
    else:  # as in the kernel
        share = kernel.share
        natural = (1.0 - share) / (share or 1.0) / max(len(kernel.counted), 1)
        columns = LossWeight(natural * per_energy, natural * per_energy)
    weights: dict[str, LossWeight] = {
        Key.COLUMNS: columns,
        Key.FEATURES: LossWeight(per_energy, per_energy),
    }
    generator.to(device)
    turns = kernel.in_turns()
    goal = Goal(
        [
            _target_tensors(t, indices, device)
            for t in denoised.targets
            for _, indices in turns
        ],
        _tensor(denoised.shares, device),
        weights,
        noise_energy,
        None if mix is None else _tensor(mix, device),
    )
    losses = match_embedding(
        generator,
        [part.embedding(device, rng, denoised.alone) for part, _ in turns],
        goal,
        Steps.of(settings, float(denoised.totals.sum())),
        rng=rng,
        progress=progress,
    )
    generator.cpu()
    return model, losses


def new_table_generator(
    kernel: Any,
    settings: TableSettings,
    n_classes: int,
    rng: torch.Generator,
    start: Floats | None = None,
) -> TableGenerator:
    """Return an untrained generator; ``start`` are logits it begins with."""
    hidden, n_columns = settings.hidden_layer_sizes, len(kernel.sizes)
    if isinstance(hidden, str):  # PER_COLUMN
        hidden = (4 * n_columns, 2 * n_columns)
    shape = TableShape(
        kernel.heads,
        n_classes,
        settings.n_latent,
        tuple(hidden),
        settings.batch_norm,
    )
    return TableGenerator(shape, rng=rng, start=start)


def _target_tensors(
    target: Mapping[str, Floats], indices: Tensor | None, device: torch.device
) -> dict[str, Tensor]:
    """Return a target as tensors, with the features at ``indices`` only.

    These are scaled such that their squared error estimates that of all features.
    """
    blocks = {name: _tensor(block, device) for name, block in target.items()}
    if indices is not None:
        features, indices = blocks[Key.FEATURES], indices.to(device)
        blocks[Key.FEATURES] = (
            features[:, indices] * (features.shape[1] / len(indices)) ** 0.5
        )
    return blocks


def _tensor(values: Floats, device: torch.device) -> Tensor:
    return torch.as_tensor(values, dtype=torch.float32, device=device)
