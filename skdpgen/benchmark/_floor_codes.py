"""Cells of the floor as codes: drawn by others, or uniformly, and decoded."""

from typing import Any

import numpy as np

from skdpgen.synthesizers import all_synthesizers
from skdpgen.synthesizers.models import decode_rows
from skdpgen.tables import Cells

FLOOR = "DPIndependentSynthesizer"  # whose cells others get


class Uniform:
    """Every cell of a column as likely as any other: below every floor.

    Parameters
    ----------
    **given
        Parameters of the floor, whose cells it takes.
    """

    def __init__(self, **given: Any) -> None:
        self.floor: Any = all_synthesizers()[FLOOR](**given)

    def fit(self, X: Any, y: Any) -> "Uniform":
        """Let our floor choose cells; nothing else that it learnt is used."""
        floor = self.floor.fit(X, y)
        self.task_, self.n_samples_ = floor.task_, floor.n_samples_
        self.schema_, self.cells_ = floor.schema_, floor.cells_
        self.privacy_ = floor.privacy_
        return self

    def sample(self, n_samples: int, random_state: Any = None) -> Any:
        """Draw codes, and decode them as our own are decoded."""
        rng = np.random.default_rng(random_state)
        cells: list[Cells] = [*self.cells_.values(), self.floor._labels]
        sizes = [column.n_cells for column in cells]
        drawn = rng.integers(0, sizes, (n_samples, len(sizes)))
        return rows_of_codes(self.floor, drawn, rng)


def rows_of_codes(floor: Any, codes: Any, rng: Any) -> Any:
    """Return the rows and labels of cells that someone drew, the label's last."""
    sizes = [column.n_cells for column in floor.cells_.values()]
    drawn = dict(zip(floor.cells_, codes.T, strict=False))
    labels = codes[:, -1]
    # the decay of a number in an end cell follows the drawer's own histogram
    marginals = {
        name: np.bincount(own, minlength=size) / len(own)
        for (name, own), size in zip(drawn.items(), sizes, strict=True)
    }
    shares = np.bincount(labels, minlength=floor._labels.n_cells) / len(labels)
    X = decode_rows(floor._facts, floor.cells_, drawn, marginals, rng=rng)
    return floor._with_target(X, labels, None, shares, rng)
