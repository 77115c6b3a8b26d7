"""The doors through which private rows become public values, and what passes them."""

import functools
import inspect
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import skdpgen
from skdpgen import privacy
from skdpgen.privacy import (
    Beforehand,
    ClippedCounts,
    GivenBatches,
    _noise,
    _oracle,
    _release,
)
from skdpgen.privacy._value_counts import Selections


def patch_everywhere(patch, original, substitute):
    """Replace a function in every module of the package that has it by any name."""
    for package in skdpgen._PACKAGES:
        getattr(skdpgen, package)  # a module that loads later would keep the substitute
    loaded = tuple(name for name in sys.modules if name.startswith("skdpgen"))
    for module_name, name in _places_of(original, loaded):
        module = sys.modules[module_name]
        if getattr(module, name) is original:
            patch.setattr(module, name, substitute)


@functools.cache
def _places_of(original, module_names):
    """Return where a function is in these modules; to look takes a tenth of a fit."""
    return [
        (module_name, name)
        for module_name in module_names
        for name, value in vars(sys.modules[module_name]).items()
        if value is original
    ]


class Tape:
    """What passed the doors of one fit: the public values, in order."""

    def __init__(self):
        self.values = []
        self.place = None  # of the next value to play; None while recording

    def rewind(self):
        self.place = 0
        return self

    def is_played(self):
        return self.place == len(self.values)

    def pass_on(self, what, drawn):
        """Record what was drawn, or play what was recorded in its place."""
        if self.place is None:
            self.values.append((what, drawn))
            return drawn
        assert self.place < len(self.values), f"a release that was not there: {what}"
        recorded, value = self.values[self.place]
        self.place += 1
        assert recorded == what, "a release of another shape, noise or kind"
        return value


@contextmanager
def through(monkeypatch, tape):
    """Let a fit run with what it releases recorded on a tape, or played from it."""
    inside = []  # a selection draws noise for values that it does not show

    def add_noise(exact, std, original=_noise.add_noise):
        drawn = original(exact, std)
        if inside:
            return drawn
        return np.copy(tape.pass_on(("noise", np.shape(exact), float(std)), drawn))

    def select(totals, std, ledger, public=(), original=_release._select):
        inside.append(True)
        drawn = original(totals, std, ledger, public)
        inside.clear()
        what = "selection", tuple(totals), float(std), tuple(public)
        return dict(tape.pass_on(what, drawn))

    def on_grid(noisy, std, original=_noise.on_grid):
        drawn = original(noisy, std)
        return np.copy(tape.pass_on(("slopes", noisy.shape, float(std)), drawn))

    with monkeypatch.context() as patch:
        patch.setattr(_oracle, "on_grid", on_grid)
        patch.setattr(_release, "_select", select)
        patch_everywhere(patch, _noise.add_noise, add_noise)
        yield


@dataclass
class Watched:
    """One release, or one step: what the rows added up to, and what came out."""

    name: str
    mu: float  # that the ledger was charged, of a step if nobody is left out
    exact: dict[str, Any]  # by block; sums without noise
    noisy: dict[str, Any]
    std: dict[str, float]
    blocks: dict[str, Any] = field(default_factory=dict)
    n_minibatches: int = 1  # mini-batches, of which `noisy` is the sum
    rows: Any = None  # of a step of slopes: the points that it saw, and its kernel
    length_scales: tuple[float, ...] = ()


@dataclass
class Spy:
    """Everything that was summed over the rows of a fit, beside what was released."""

    releases: list[Watched] = field(default_factory=list)
    steps: list[Watched] = field(default_factory=list)

    @contextmanager
    def watching(self, monkeypatch):
        originals = {
            privacy.release: self._release(privacy.release),
            privacy.private_oracle: self._vectors(privacy.private_oracle),
            privacy.functional_oracle: self._slopes(privacy.functional_oracle),
        }
        with monkeypatch.context() as patch:
            for original, substitute in originals.items():
                patch_everywhere(patch, original, substitute)
            yield self

    def _release(self, original):
        signature = inspect.signature(original)

        @functools.wraps(original)
        def release(batches, blocks, **params):
            given = signature.bind(batches, blocks, **params)
            given.apply_defaults()
            kept = [] if isinstance(batches, Beforehand) else list(batches)
            rows = batches if isinstance(batches, Beforehand) else GivenBatches(kept)
            released = original(rows, blocks, **params)
            groups, n_classes = (
                given.arguments["n_minibatches"],
                params.get("n_classes", 1),
            )
            entry = given.arguments["ledger"].entries[-1]
            exact, noisy, std = {}, {}, dict(released.noise_std)
            for key, block in blocks.items():
                total = block.start(n_classes)
                for batch in kept:
                    total = block.add(total, batch.parts.get(key), batch.labels)
                noisy[key] = released.values[key]
                if isinstance(block, Selections):
                    total = {c: dict(counts) for c, counts in total.items()}
                elif isinstance(block, ClippedCounts):  # two parts of one block
                    both, drawn = block.value(total), released.values[key]
                    total, noisy[key] = both["cells"], drawn["cells"]
                    words = f"{key} words"
                    exact[words], noisy[words] = both["words"], drawn["words"]
                    std[words] = std[key]
                else:
                    total = block.value(total)
                    noisy[key] = noisy[key].reshape(groups, n_classes, -1).sum(axis=0)
                exact[key] = total
            self.releases.append(
                Watched(entry.name, mu_of(entry), exact, noisy, std, blocks, groups)
            )
            return released

        return release

    def _vectors(self, original):
        @contextmanager
        def private_oracle(rows, ledger, **params):
            bound = params["norm_bound"]
            with original(rows, ledger, **params) as step:
                entry = ledger.entries[-1]

                def watched(per_row):
                    total = np.zeros(params["width"])

                    def spied(batch):  # called for some rows at a time
                        nonlocal total
                        vectors = per_row(batch)
                        total = total + clipped_sum(vectors, bound)
                        return vectors

                    noisy = step(spied)
                    scale = params["sampling_rate"] * params["expected_rows"]
                    self.steps.append(
                        Watched(
                            entry.name,
                            mu_of(entry),
                            {"vectors": total},
                            {"vectors": noisy * scale},
                            {"vectors": entry.noise_std},
                        )
                    )
                    return noisy

                yield watched

        return private_oracle

    def _slopes(self, original):
        @contextmanager
        def functional_oracle(rows, ledger, **params):
            source = WatchedRows(rows)
            with original(source, ledger, **params) as step:
                entry = ledger.entries[-1]

                def watched(points, labels):
                    noisy = step(points, labels)
                    scale = params["sampling_rate"] * params["expected_rows"]
                    self.steps.append(
                        Watched(
                            entry.name,
                            mu_of(entry),
                            {},
                            {"slopes": noisy * scale, "points": points, "at": labels},
                            {"slopes": entry.noise_std},
                            rows=source.taken,
                            length_scales=tuple(params["length_scales"]),
                        )
                    )
                    return noisy

                yield watched

        return functional_oracle


class WatchedRows:
    """Rows that remember which of them were taken last."""

    def __init__(self, rows):
        self.rows, self.taken = rows, None

    def __len__(self):
        return len(self.rows)

    def take(self, indices):
        self.taken = self.rows.take(indices)
        return self.taken


def mu_of(entry):
    """Return what a ledger's entry charges."""
    return entry.sensitivity / entry.noise_std if entry.noise_std else np.inf


def clipped_sum(vectors, bound):
    """Return the sum of rows cut to a norm, written down once more and plainly."""
    if isinstance(vectors, list):  # layers, some of them by their factors
        rows = np.concatenate([formed(layer) for layer in vectors], axis=1)
    else:
        rows = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1)
    return np.minimum(1.0, bound / np.maximum(norms, 1e-300)) @ rows


def formed(layer):
    """Return a layer of each row as a vector, whatever it came as."""
    if not isinstance(layer, tuple):
        return np.asarray(layer, dtype=np.float64)
    u, v = (np.asarray(factor, dtype=np.float64) for factor in layer)
    return np.einsum("nta,ntb->nab", u, v).reshape(len(u), -1)


def everyone(monkeypatch):
    """Let every row take part in every step, so that steps can be compared."""
    for module in (_oracle, _oracle):
        monkeypatch.setattr(module, "poisson_sample", lambda n, rate: np.arange(n))
