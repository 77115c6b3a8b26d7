"""Images as Gaussians in the codes of a lens: means, prototypes, covariances."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.privacy import Counts, OuterProducts, Release, Vectors
from skdpgen.synthesizers.gaussian._lens_map import LensMap
from skdpgen.synthesizers.models import PictureMixture
from skdpgen.synthesizers.models._picture_mixture import shares_of_counts
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.tables import EncodedBatch
from skdpgen.training._covariance import low_rank_and_diagonal
from skdpgen.utils import Key

Floats = NDArray[np.float64]
N_TONES = 32
TONES, SCALE, MEANS, FIRST, ROUNDS = 0.02, 0.01, 0.15, 0.15, 0.35  # shares of mu²
N_ROUNDS = 2
ROWS_EACH = 80.0  # rows of a component, in units of a count's noise
MOST = 32
GRID = 2.0**-20
ROOM = 1.1


def measure_pictures(opening: Opening, cells: Any, labels: Any, lens: Any, seed: int, opts=None) -> None:
    o = dict(tones=TONES, scale=SCALE, means=MEANS, first=FIRST, rounds=ROUNDS, n_rounds=N_ROUNDS, rows_each=ROWS_EACH, room=ROOM, room2=1.0, K=None) | (opts or {})
    layout, n_rows = opening.facts.layout, opening.facts.n_rows
    view, n_classes = LensMap(lens, layout), n_classes_of(labels)
    rng = np.random.default_rng(seed)
    total = opening.ledger.remaining
    part = lambda s: s * total / opening.ledger.remaining
    def encoded(key: str, row: Callable[..., Any]) -> Iterator[EncodedBatch]:
        for known, pixels, codes in view.batches(opening, cells, labels):
            codes = codes * gain
            label, vectors = row(known, pixels, codes)
            yield EncodedBatch(label, {key: vectors})
    pooled = lambda known: np.where(known >= 0, 0, -1)
    d = view.width
    gain = np.ones(d)
    if o.get("a"):
        from skdpgen.lenses._cosine import lowest
        c, h, w = layout.size
        i, j = lowest(d // c, h, w)
        gain = np.tile((1.0 + np.hypot(i.numpy(), j.numpy())) ** o["a"], c)
    class Lens2:
        def decode(self, codes, shape): return lens.decode(codes / torch.from_numpy(gain), shape)
    tones = opening.release("tones_", encoded(Key.FEATURES, lambda k, p, z: (pooled(k), tones_of(p))),
        {Key.FEATURES: Vectors(N_TONES, 1.0, is_nonnegative=True)}, name="tones of pixels", share=part(o["tones"]))
    def scale_of(name, residual):
        got = opening.release("scale_", encoded(Key.FEATURES, lambda k, p, z: (pooled(k), np.minimum(np.linalg.norm(residual(k, z), axis=1, keepdims=True), 1.0))),
            {Key.FEATURES: Vectors(1, 1.0, is_nonnegative=True)}, name=name, share=part(o["scale"]))
        return float(np.clip(got.values[Key.FEATURES][0, 0] / n_rows, 0.02, 1.0))
    R = scale_of("size of codes", lambda k, z: z) * o["room"]
    got = opening.release("release_", encoded(Key.FEATURES, lambda k, p, z: (k, z / R)), {Key.FEATURES: Vectors(d), Key.CLASSES: Counts(1.0)},
        name="means of codes by class", n_classes=n_classes, share=part(o["means"]))
    totals = np.maximum(got.values[Key.CLASSES][:, 0], 1.0)
    centres = (R * got.values[Key.FEATURES] / totals[:, None])[:, None]
    weights = np.ones((n_classes, 1))
    std = opening.ledger.noise_std(share=opening.ledger.remaining, sensitivity=1.0)
    K = o["K"] or int(np.clip(round(n_rows / n_classes / std / o["rows_each"]), 1, MOST)) if std else MOST
    def products(name, centres, share):
        place = lambda k, z: z - centres[np.maximum(k, 0), nearest(z, centres, k)]
        r = scale_of("distance from " + name, place) * o["room2"]
        def rows(k, p, z):
            v = torch.from_numpy(place(k, z) / r)
            return k, [(v, v)]
        got = opening.release("products_", encoded(Key.MOMENTS, rows), {Key.MOMENTS: OuterProducts(((d, d),), 1.0, ("square",))}, name="products around " + name, n_classes=n_classes, share=part(share))
        s = got.noise_std[Key.MOMENTS]
        mats = [m.reshape(d, d) / t for m, t in zip(got.values[Key.MOMENTS], totals)]
        base = np.zeros((d, d))
        if o.get("pool"):
            from skdpgen.training import shrink_symmetric
            from skdpgen.training._covariance import pooled_root
            n = totals.sum(); base = shrink_symmetric(sum(m * t for m, t in zip(mats, totals)) / n, s / math.sqrt(2) * math.sqrt(len(totals)) / n)
            found = [pooled_root(m, base, s / math.sqrt(2) / t) for m, t in zip(mats, totals)]
        else:
            found = [low_rank_and_diagonal(m, s / math.sqrt(2) / t) for m, t in zip(mats, totals)]
        return np.stack([a for a, _ in found]) * r, np.stack([b for _, b in found]) * r * r
    if K > 1:
        roots, diagonals = products("means", centres, o["first"])
        mix = PictureMixture(Lens2(), layout.size, totals, centres, weights, roots, diagonals)
        centres = np.stack([spread(mix, c, K, rng) for c in range(n_classes)])
        for k in range(o["n_rounds"]):
            r = scale_of("distance from prototypes", lambda k, z: z - centres[np.maximum(k, 0), nearest(z, centres, k)]) * o["room2"] if k == 0 else r
            def rows(k, p, z):
                near = nearest(z, centres, k)
                v = (z - centres[np.maximum(k, 0), near]) / r
                return np.where(k >= 0, k * K + near, -1), v
            got = opening.release("prototypes_", encoded(Key.FEATURES, rows), {Key.FEATURES: Vectors(d), Key.CLASSES: Counts(1.0)}, name=f"prototypes, round {k+1}", n_classes=n_classes * K, share=part(o["rounds"] / o["n_rounds"]))
            counts = got.values[Key.CLASSES][:, 0]; s = got.noise_std[Key.FEATURES]
            many = np.maximum(counts, 0.75 * got.noise_std[Key.CLASSES] + 1)
            step = got.values[Key.FEATURES] / many[:, None]
            noise = (s / many) ** 2
            energy = np.maximum((step**2).mean(axis=1) - noise, 0)
            step *= (energy / (energy + noise + 1e-300))[:, None]
            centres = centres + r * step.reshape(centres.shape)
            weights = shares_of_counts(counts.reshape(n_classes, K))
    roots, diagonals = products("prototypes" if K > 1 else "means", centres, opening.ledger.remaining / total - o["scale"] * (1+1e-9))
    mix = PictureMixture(Lens2(), layout.size, totals, centres, weights, roots, diagonals)
    histogram = np.maximum(tones.values[Key.FEATURES][0], 0)
    opening.keep(mixture_=mix.with_tones(histogram, rng) if not o.get("plain") else mix)


def tones_of(pixels):
    n, width = pixels.shape
    bins = np.minimum((pixels * N_TONES).astype(np.int64), N_TONES - 1) + N_TONES * np.arange(n)[:, None]
    return np.bincount(bins.ravel(), minlength=n * N_TONES).reshape(n, N_TONES) / width


def nearest(codes, centres, labels):
    z, p = np.round(codes / GRID) * GRID, np.round(centres / GRID) * GRID
    found = np.zeros(len(z), dtype=np.int64)
    if centres.shape[1] == 1:
        return found
    for label in np.unique(labels[labels >= 0]):
        mine = labels == label
        found[mine] = ((p[label] ** 2).sum(axis=1) - 2 * z[mine] @ p[label].T).argmin(axis=1)
    return found


def spread(mix, label, K, rng, n=2000, rounds=8):
    z = mix._codes(np.full(n, label), np.zeros(n, dtype=np.int64), rng)
    p = z[rng.choice(n, K, replace=False)]
    for _ in range(rounds):
        near = ((p**2).sum(axis=1) - 2 * z @ p.T).argmin(axis=1)
        for k in range(K):
            if (near == k).any():
                p[k] = z[near == k].mean(axis=0)
    return p
