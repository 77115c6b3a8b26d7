"""A row as one bounded vector: its norm, and how far a neighbour moves a release."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from skdpgen import (
    DPHPSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
)
from skdpgen.features import ModuleNTKFeatures, _fourier
from skdpgen.networks import CellsHead
from skdpgen.privacy import (
    Adjacency,
    GivenBatches,
    Histograms,
    Ledger,
    NonNegative,
    PrivacyBudget,
    _query,
    release,
)
from skdpgen.synthesizers.embedding import _feature_map, _row_kernel
from skdpgen.synthesizers.embedding._feature_map import Mapper
from skdpgen.synthesizers.embedding._row_kernel import RowKernel, draw_point
from skdpgen.synthesizers.models._table_model import _target_tensors
from skdpgen.tables import (
    Categorical,
    CategoryCells,
    EncodedBatch,
    Integer,
    NumberCells,
    Rows,
)
from tests._covering import parametrize_pairs

CPU = torch.device("cpu")
INF = float("inf")
LABELS = CategoryCells(("left", "stayed"), False)
CELLS = {
    "age": NumberCells(np.linspace(0, 90, 10), nullable=False),
    "income": NumberCells(np.geomspace(1, 1e5, 7), nullable=True),
    "job": CategoryCells(("office", "manual"), False),
    "size": CategoryCells(("s", "m", "l"), True, is_ordered=True),
    "owner": CategoryCells((False, True), True),
}
TABLE = pd.DataFrame(
    {
        "age": [0.0, 90.0, 44.0, 12.0, 0.0],
        "income": [1.0, np.nan, 1e5, 30.0, 1.0],
        "job": ["office", "manual", "other", None, "office"],
        "size": ["s", "l", None, "m", "s"],
        "owner": pd.array([True, False, None, True, True], dtype="boolean"),
    }
)
TARGET = pd.Series(["left", "stayed", "left", "unknown", "left"])
# what the last row, and its label, may turn into
OTHERS = (
    ([90.0, 1e5, "manual", "l", False], "left"),
    ([90.0, np.nan, "manual", "l", False], "stayed"),
    ([0.0, 1.0, "office", "s", True], "stayed"),
    ([np.nan, np.nan, None, None, None], "stayed"),
    ([np.inf, -np.inf, "unknown", "", False], "left"),
    ([1e300, -1e300, "other", "xl", True], None),
    ([-0.0, 0.0, "manual", "m", None], "unknown"),
)
NUMBERS, CATEGORIES = ["age", "income", "size"], ["job", "owner"]
KERNELS = {
    "binned": ({}, list(CELLS)),
    "all together": ({"interaction_degree": None}, list(CELLS)),
    "mostly Fourier": ({"feature_norm": 0.999}, list(CELLS)),
    "hardly Fourier": ({"feature_norm": 1e-3}, list(CELLS)),
    "fourier": ({"numeric_encoding": "fourier"}, list(CELLS)),
    "paper": ({}, list(CELLS)),
    "numbers, binned": ({}, NUMBERS),
    "numbers, fourier": ({"numeric_encoding": "fourier"}, NUMBERS),
    "categories, binned": ({}, CATEGORIES),
    "categories, fourier": ({"numeric_encoding": "fourier"}, CATEGORIES),
    "one number": ({}, ["age"]),
    "one number, fourier": ({"numeric_encoding": "fourier"}, ["income"]),
    "one category": ({}, ["owner"]),
    "one category, fourier": ({"numeric_encoding": "fourier"}, ["job"]),
}
HERMITE = {
    "Hermite": {"product_weight": 0.1},
    "Hermite, threes": {
        "product_weight": 1.0,
        "interaction_degree": 3,
        "order": ("cells", 1),
    },
    "Hermite, paper": {},
    "Hermite, both": {"order": (5, 4), "product_weight": 0.3, "n_subsets": 4},
}
TANGENT = {
    "tangent": {"feature_norm": 0.1},
    "tangent, deep": {"feature_norm": 0.5, "depth": 2, "width": 5},
    "tangent, paper": {},
    "tangent, whole": {"feature_norm": 1.0, "width": 6},
    "tangent, by torch": {
        "feature_norm": 0.2,
        "architecture": lambda n: torch.nn.Sequential(
            torch.nn.Linear(n, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)
        ),
    },
}
METHODS = {
    DPMERFSynthesizer: {name: changes for name, (changes, _) in KERNELS.items()},
    DPHPSynthesizer: HERMITE,
    DPNTKSynthesizer: TANGENT,
}
KERNELS |= {name: (changes, list(CELLS)) for name, changes in HERMITE.items()}
KERNELS |= {name: (changes, list(CELLS)) for name, changes in TANGENT.items()}
each_kernel = pytest.mark.parametrize("name", KERNELS)
ADJACENCIES = ["replace", "add_remove"]
each_adjacency = pytest.mark.parametrize("adjacency", ADJACENCIES)


class Loud:
    """A map that breaks its promise: huge vectors, opposite for some rows."""

    n_features, row_size, norm_bound = 4, 4, 1.0

    def __call__(self, x):
        sign = torch.where(x[:, :1] > 0.5, -1.0, 1.0)
        return 1e20 * sign * torch.ones(1, self.n_features)

    def to(self, device):
        return self

    def double(self):
        return self


def cells_of(name):
    return {column: CELLS[column] for column in KERNELS[name][1]}


def kernel_of(name):
    (cls,) = [cls for cls, known in METHODS.items() if name in known]
    settings = settings_of(cls, "paper" in name)
    given = dict(KERNELS[name][0])
    if cls is DPMERFSynthesizer:
        share = settings.feature_norm or 0.1  # None: by the number of rows
        given = {"feature_norm": share, "n_features": 200} | given
    settings = replace(settings, **given)
    rng = torch.Generator().manual_seed(0)
    torch.manual_seed(0)  # for the network that is given
    return cls()._map_columns(cells_of(name), settings, rng)


def settings_of(cls, is_paper=False):
    """Return the settings of a fit to a table."""
    synth = cls.from_preset("paper", data="table") if is_paper else cls()
    return synth._fill_settings(TABLE)


def tables():
    """Yield the table's neighbours, and their labels; the last row is replaced."""
    for values, label in OTHERS:
        other, labels = TABLE.astype(object), TARGET.copy()
        other.loc[4], labels[4] = values, label
        yield other.astype(TABLE.dtypes), labels


def encoded(kernel, cells, table, labels):
    batches = Rows.read(table[list(cells)], labels).batches(cells, LABELS)
    return kernel.encode(batches, CPU)


def released(kernel, cells, table, labels, adjacency, epsilon=INF, n_minibatches=1):
    return release(
        GivenBatches(encoded(kernel, cells, table, labels)),
        kernel.blocks,
        name="embedding",
        ledger=Ledger(PrivacyBudget(epsilon, 1e-5, Adjacency(adjacency))),
        share=1.0,
        n_classes=2,
        n_minibatches=n_minibatches,
        weights=kernel.weights,
    )


def moves(kernel, cells, adjacency, n_minibatches=1):
    """Return how far each neighbour moves the sums, as parts of the sensitivity.

    The unit is the noise that a release really has, so weights and noise must fit.
    """
    given = kernel, cells
    noise = released(*given, TABLE, TARGET, adjacency, 1.0, n_minibatches)
    exact = released(
        *given, TABLE, TARGET, adjacency, n_minibatches=n_minibatches
    ).values
    for key, weight in kernel.weights.items():
        std = noise.noise_std[key] * weight  # one noise for all, in the joint vector
        assert noise.sensitivity == pytest.approx(noise.mu * std)
    neighbours = tables()
    if adjacency == "add_remove":
        neighbours = [(TABLE[:4], TARGET[:4])]
    found = []
    for table, labels in neighbours:
        other = released(
            *given, table, labels, adjacency, n_minibatches=n_minibatches
        ).values
        steps = [
            (np.linalg.norm(other[k] - exact[k]) / noise.noise_std[k]) for k in exact
        ]
        found.append(math.hypot(*steps) / noise.mu)
    return found


def joint_norms(kernel, cells):
    """Return the norm of each row's joint vector, weighted."""
    label = np.zeros(1, dtype=np.int64)
    for table, labels in [(TABLE, TARGET), *tables()]:
        for batch in encoded(kernel, cells, table, labels):
            for row in range(len(table)):
                squares = 0.0
                for key, weight in kernel.weights.items():
                    block = kernel.blocks[key]
                    total = block.add(block.start(1), row_of(batch, key, row), label)
                    one = block.value(total)
                    squares += (weight * np.linalg.norm(one)) ** 2
                yield math.sqrt(squares)


def row_of(batch, key, row):
    """Return one row of a part; of outer products, one row of each factor."""
    part, some = batch.parts[key], slice(row, row + 1)
    if isinstance(part, list):
        return [(u[some], v[some]) for u, v in part]
    return part[some]


@each_kernel
def test_no_row_is_longer_than_one(name):
    norms = list(joint_norms(kernel_of(name), cells_of(name)))
    assert max(norms) <= 1 + 1e-5
    assert max(norms) >= (0.6 if name in HERMITE else 1 - 1e-5)  # a series, cut off


@each_kernel
def test_features_need_no_clipping(name):
    kernel = kernel_of(name)
    if kernel.phi is None:
        return
    for table, labels in [(TABLE, TARGET), *tables()]:
        for batch in encoded(kernel, cells_of(name), table, labels):
            norms = features_of(batch).norm(dim=1)
            assert norms.max() <= 1 + 1e-5
            if name not in HERMITE:
                assert norms.min() >= 1 - 1e-5


def features_of(batch):
    """Return the features of a batch; outer products are formed."""
    part = batch.parts["features"]
    if isinstance(part, list):
        return torch.cat([torch.einsum("na,nb->nab", *f).flatten(1) for f in part], 1)
    return part


@pytest.mark.parametrize("name", ["binned", "fourier", "categories, fourier"])
def test_one_hot_cells_that_weigh_too_much_are_caught(name, monkeypatch):
    kernel = kernel_of(name)
    wrong = kernel.weights | {"columns": 1.5 * kernel.weights["columns"]}
    monkeypatch.setattr(RowKernel, "weights", wrong)
    assert max(joint_norms(kernel, cells_of(name))) > 1.2


@each_kernel
def test_the_sensitivity_is_the_one_of_the_docs(name):
    kernel, cells = kernel_of(name), cells_of(name)
    share = kernel.share
    found = released(kernel, cells, TABLE, TARGET, "replace").sensitivity
    assert found == pytest.approx(math.sqrt(4 * share + 2 * (1 - share)))
    found = released(kernel, cells, TABLE, TARGET, "add_remove").sensitivity
    # class counts are free beside features that may turn round, not here
    assert found == pytest.approx(1.0 if kernel.counted else math.sqrt(2))


@each_kernel
def test_columns_share_the_one_hot_part(name):
    kernel, cells = kernel_of(name), cells_of(name)
    if not kernel.counted:
        return
    assert np.square(kernel.scales).sum() == pytest.approx(1.0)
    sums = released(kernel, cells, TABLE, TARGET, "replace").values["columns"]
    sizes = [kernel.sizes[j] for j in kernel.counted]
    counts = sums / np.repeat(kernel.scales, sizes)
    np.testing.assert_array_equal(counts, counts.round())
    one = np.argmax(sizes), np.argmin(sizes)
    assert kernel.scales[one[0]] >= kernel.scales[one[1]]


@each_adjacency
@each_kernel
def test_no_row_moves_a_release_further_than_is_claimed(name, adjacency):
    found = moves(kernel_of(name), cells_of(name), adjacency)
    assert max(found) <= 1 + 1e-9
    assert max(found) > 0.7  # the search is not blind


@each_adjacency
@pytest.mark.parametrize("name", ["binned", "fourier", "numbers, fourier"])
def test_features_that_break_their_promise_are_clipped(name, adjacency):
    kernel = replace(kernel_of(name), phi=Loud())
    found = moves(kernel, cells_of(name), adjacency)
    assert max(found) == pytest.approx(1.0)  # reached, and not passed


@parametrize_pairs("name, adjacency", KERNELS, ADJACENCIES, strength=1)
def test_groups_move_no_further(name, adjacency, monkeypatch):
    # rows that neighbours share must be in the same groups: by their place
    monkeypatch.setattr(_query, "random_groups", lambda n, k: np.arange(n) % k)
    kernel, cells = kernel_of(name), cells_of(name)
    found = moves(kernel, cells, adjacency, n_minibatches=3)
    assert max(found) <= 1 + 1e-9
    np.testing.assert_allclose(found, moves(kernel, cells, adjacency))


@pytest.mark.parametrize("n_minibatches", [1, 3])
def test_one_hot_cells_that_are_claimed_half_as_long_are_caught(
    n_minibatches, monkeypatch
):
    true = Histograms.structure.fget
    monkeypatch.setattr(_query, "random_groups", lambda n, k: np.arange(n) % k)
    monkeypatch.setattr(
        Histograms, "structure", property(lambda h: NonNegative(true(h).bound / 2))
    )
    kernel = kernel_of("hardly Fourier")
    assert max(moves(kernel, CELLS, "replace", n_minibatches)) > 1.5


def test_groups_that_depend_on_the_rows_are_caught(monkeypatch):
    calls = iter(range(100))
    monkeypatch.setattr(
        _query, "random_groups", lambda n, k: (np.arange(n) + next(calls)) % k
    )
    assert max(moves(kernel_of("binned"), CELLS, "replace", n_minibatches=3)) > 1.2


@each_kernel
def test_rows_are_mapped_a_few_at_a_time(name, monkeypatch):
    kernel, cells = kernel_of(name), cells_of(name)
    whole = released(kernel, cells, TABLE, TARGET, "replace").values
    (n_at_once,) = {len(b.labels) for b in encoded(kernel, cells, TABLE, TARGET)}
    assert n_at_once == len(TABLE)
    row_size = 1 if kernel.phi is None else kernel.phi.row_size
    has_factors = hasattr(kernel.phi, "factors")
    most = (row_size + 1) // 2 if has_factors else 2 * row_size
    monkeypatch.setattr(_feature_map, "BATCH_MULTIPLE", 2)
    monkeypatch.setattr(_row_kernel, "MOST_ROWS", 2)
    monkeypatch.setattr(_feature_map, "NUMBERS_AT_ONCE", most)
    sizes = [len(b.labels) for b in encoded(kernel, cells, TABLE, TARGET)]
    assert sizes == [2, 2, 1]
    pieces = released(kernel, cells, TABLE, TARGET, "replace").values
    for key, value in whole.items():
        np.testing.assert_allclose(pieces[key], value, atol=1e-6)


@each_kernel
def test_a_generator_sure_of_its_row_has_the_embedding_of_that_row(name):
    kernel, cells = kernel_of(name), cells_of(name)
    whole = TABLE[:2]  # every value has a cell
    batch = next(encoded(kernel, cells, whole, TARGET[:2]))
    codes = next(iter(Rows.read(whole[list(cells)]).batches(cells))).parts["columns"]
    points = dict(zip(kernel.seen, kernel.points_at, strict=True))
    outputs = []
    for j, size in enumerate(kernel.sizes):
        is_cells = isinstance(kernel.heads[j], CellsHead)
        table = np.eye(size) if is_cells else points[j]
        outputs.append(torch.tensor(table[codes[:, j]], dtype=torch.float32))
        head = kernel.heads[j]
        width = head.n_cells if is_cells else 1 + head.is_nullable
        assert outputs[-1].shape[1] == width
    blocks = kernel.embedding(CPU, torch.Generator())(
        outputs, len(whole)
    )  # each row is a group
    assert blocks.keys() == kernel.blocks.keys() - {"classes"}
    if kernel.counted:
        one_hot = [np.eye(kernel.sizes[j])[codes[:, j]] for j in kernel.counted]
        np.testing.assert_array_equal(blocks["columns"], np.hstack(one_hot))
    if kernel.phi is not None:
        features = features_of(batch).float()
        torch.testing.assert_close(blocks["features"], features, atol=1e-5, rtol=1e-4)


def test_the_public_length_scale_is_the_median_distance_of_uniform_rows():
    cells = {j: NumberCells(np.arange(65.0), nullable=False) for j in range(20)}
    settings = replace(settings_of(DPMERFSynthesizer, is_paper=True), n_features=4000)
    rng = torch.Generator().manual_seed(0)
    kernel = DPMERFSynthesizer()._map_columns(cells, settings, rng)
    one, two = np.random.default_rng(0).random((2, 5000, 20))
    median = np.median(np.linalg.norm(one - two, axis=1))
    assert 1 / kernel.phi.frequencies.std().item() == pytest.approx(median, rel=0.03)


@pytest.mark.parametrize("name", ["binned", "Hermite", "tangent", "tangent, deep"])
def test_independent_columns_have_the_mean_of_drawn_rows(name):
    kernel, rng = kernel_of(name), np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(size), 2) for size in kernel.sizes]
    found = kernel.independent(tables, torch.Generator().manual_seed(0))
    for label in range(2):
        codes = [rng.choice(len(t[label]), 20_000, p=t[label]) for t in tables]
        x = [at[c] for at, c in zip(kernel.points_at, codes, strict=True)]
        rows = kernel.phi(torch.tensor(np.concatenate(x, axis=1)).float())
        error = rows.double().mean(dim=0).numpy() - found[label]
        assert np.linalg.norm(error) < 0.02


def test_a_drawn_point_has_the_gradient_of_the_mean():
    points = torch.tensor([[0.0], [1.0], [5.0]])
    chances = torch.tensor([[0.2, 0.3, 0.5]]).repeat(20_000, 1).requires_grad_()
    places = torch.rand(20_000, 1, generator=torch.Generator().manual_seed(0))
    drawn = draw_point(chances, points, places)
    assert set(drawn.detach().round(decimals=4).flatten().tolist()) == {0.0, 1.0, 5.0}
    assert drawn.mean().item() == pytest.approx(2.8, abs=0.05)
    drawn.sum().backward()
    assert chances.grad[0].tolist() == [0.0, 1.0, 5.0]


def test_what_is_known_of_independent_columns_makes_means_surer():
    kernel, rng = kernel_of("tangent"), np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(size), 2) for size in kernel.sizes]
    mean = kernel.independent(tables, torch.Generator().manual_seed(0))
    near = [0.9 * table + 0.1 / table.shape[1] for table in tables]
    rows = [torch.tensor(t).float().repeat_interleave(64, dim=0) for t in near]
    exact = kernel.independent(near, torch.Generator().manual_seed(1))
    errors = []
    for alone in (None, (tables, mean)):
        embed = kernel.embedding(CPU, torch.Generator().manual_seed(2), alone)
        found = [embed(rows, 2)["features"].numpy() for _ in range(50)]
        assert np.linalg.norm(np.mean(found, axis=0) - exact) < 0.05
        errors.append(np.square(found - exact).mean())
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("name", ["all together", "binned"])
def test_turns_ask_for_the_same_in_the_mean(name, monkeypatch):
    """Squared errors of the parts, each scaled as if it were all, are those of all."""
    monkeypatch.setattr(_fourier, "NUMBERS_OF_TURN", 20)
    monkeypatch.setattr(_fourier, "FEWEST_OF_TURN", 2)
    kernel, rng = kernel_of(name), np.random.default_rng(0)
    rows = [torch.tensor(rng.dirichlet(np.ones(n), 6)) for n in kernel.sizes]
    target = rng.normal(size=(2, kernel.phi.n_features))
    turns = kernel.in_turns()
    assert len(turns) > 1
    assert all(which is not None for _, which in turns)

    def error(one, which):
        wanted = _target_tensors({"features": target}, which, CPU)["features"]
        embed = one.embedding(CPU, torch.Generator())
        found = embed([row.float() for row in rows], 2)["features"]
        return float((wanted - found).square().sum()) * len(wanted[0])

    each = sum(error(*turn) for turn in turns) / kernel.phi.n_features
    assert each == pytest.approx(error(kernel, None) / kernel.phi.n_features, rel=1e-4)


@pytest.mark.parametrize("name", ["fourier", "Hermite", "tangent", "one category"])
def test_what_is_cheap_is_seen_at_once(name):
    kernel = kernel_of(name)
    turns = kernel.in_turns()
    assert len(turns) == 1
    assert turns[0][0].phi.n_features == kernel.phi.n_features


@parametrize_pairs("name, n", KERNELS, [1, 2, 63, 64, 65, 130, 777], strength=1)
def test_a_row_is_mapped_alike_wherever_it_stands(name, n):
    kernel, rng = kernel_of(name), np.random.default_rng(0)
    if kernel.phi is None:
        return
    codes = np.stack([rng.integers(size, size=n + 1) for size in kernel.sizes], axis=1)
    found = []
    for some in (codes, codes[1:]):  # the first row is removed
        batch = EncodedBatch(np.zeros(len(some), dtype=np.int64), {"columns": some})
        features = [features_of(b) for b in kernel.encode([batch], CPU)]
        found.append(torch.cat(features)[-n:])
    error = (found[0] - found[1]).abs().max().item()
    is_alone = getattr(kernel.phi, "is_opaque", False)
    assert error <= (1e-14 if name in TANGENT and not is_alone else 0.0)


class Cancelling(torch.nn.Module):
    """Sums that are 0 but for rounding, in front of a step."""

    def __init__(self, half):
        super().__init__()
        zero = torch.zeros(len(half), 1)
        self.weight = torch.nn.Parameter(torch.cat([half, -half, zero], dim=1))

    def forward(self, x):
        return (x / math.sqrt(x.shape[1]) @ self.weight.T).relu().sum(dim=1)


def test_rows_go_one_by_one_through_a_network_of_somebody_else():
    generator = torch.Generator().manual_seed(0)
    network = Cancelling(torch.randn(40, 4, generator=generator))
    x = torch.rand(1, 4, generator=generator)
    rows = torch.cat([x, x, torch.ones(1, 1)], dim=1).expand(130, -1).numpy()
    mapper = Mapper.of(ModuleNTKFeatures(network), CPU)
    for some in (rows, rows[1:], rows[3:]):
        found = mapper(some)
        assert (found == found[0]).all()


def test_points_are_those_of_each_column_and_zeros_where_there_is_no_cell(monkeypatch):
    monkeypatch.setattr(_row_kernel, "ROWS_LOOKED_UP", 64)
    kernel = RowKernel.of(CELLS, lambda *_: None, layout="whole", share=None)
    widths = [at.shape[1] for at in kernel.points_at]
    assert len(set(widths)) > 1
    codes = np.random.default_rng(0).integers(-3, 14, (200, len(CELLS)))
    expected = np.zeros((200, sum(widths)), dtype=np.float32)
    for row, of_row in enumerate(codes):
        end = 0
        for code, at, width in zip(of_row, kernel.points_at, widths, strict=True):
            end += width
            if 0 <= code < len(at):
                expected[row, end - width : end] = at[code]
    np.testing.assert_array_equal(kernel.inputs(codes), expected)
    assert kernel.inputs(codes[:0]).shape == (0, sum(widths))


@pytest.mark.parametrize("method", [DPMERFSynthesizer, DPKernelSynthesizer])
def test_a_column_of_very_many_categories_is_refused_by_name(method):
    X = pd.DataFrame({"number": np.arange(200.0), "place": ["p1", "p2"] * 100})
    places = Categorical([f"p{i}" for i in range(10_001)])
    schema = {"number": Integer(0, 199), "place": places}
    synth = method(schema=schema, classes=None)
    with pytest.raises(ValueError, match=r"Got 10,00[12] for column 'place'"):
        synth.fit(X)
