"""What is promised: (epsilon, delta) for tables that are neighbours."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Real

from skdpgen.privacy._accounting import gaussian_mu
from skdpgen.utils import (
    saved,
)

LARGEST_DELTA = 1e-5  # that `default_delta` gives
HIDDEN_SIZE_DELTA = 1e-7


@saved("adjacency")
class Adjacency(StrEnum):
    """When two tables count as neighbours; the unit is one row in both."""

    REPLACE = "replace"
    """The values of one row change; the number of rows is public."""

    ADD_REMOVE = "add_remove"
    """One row is there or not; the number of rows is private."""

    @classmethod
    def parse(cls, value: "str | Adjacency") -> "Adjacency":
        """Return the member named ``value``, or raise an error that lists them."""
        try:
            return cls(value)
        except ValueError:
            allowed = " or ".join(repr(member.value) for member in cls)
            raise ValueError(
                f"adjacency must be {allowed}. Got {value!r} instead."
            ) from None


@dataclass(frozen=True)
class PrivacyBudget:
    """One end-to-end guarantee, and what it allows Gaussian releases to cost.

    Partition selection fails with probability at most ``delta_selection``, and the
    Gaussian releases are limited to what is left. *Proof.* Let E be "no value owned by
    the differing row alone is shown", P(E) >= 1 - d on both tables, and let the rest of
    the output be (e', d')-private. Let Q' be the distribution of M(D') given E. Then
    P(M(D) in S) <= d + P(M(D) in S, E) <= d + d' + exp(e') Q'(S), and
    P(M(D') in S) >= (1 - d) Q'(S); so M is (e' - log(1 - d), d + d')-private.

    Parameters
    ----------
    epsilon, delta : float
        The promise. ``epsilon=inf`` adds no noise and promises nothing.
    adjacency : Adjacency
        Which tables are neighbours.
    delta_selection : float, default=0
        The part of ``delta`` reserved for partition selection.
    n_selections : int, default=0
        Number of columns, labels included, whose values are selected privately.

    Examples
    --------
    >>> round(1 / PrivacyBudget(1.0, 1e-5).mu, 4)
    3.7306
    """

    epsilon: float
    delta: float
    adjacency: Adjacency = Adjacency.REPLACE
    delta_selection: float = 0.0
    n_selections: int = 0

    def __post_init__(self) -> None:
        """Check the promise."""
        for name in ("epsilon", "delta"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise TypeError(f"{name} must be a number. Got {value!r} instead.")
        if not self.epsilon > 0:
            raise ValueError(
                f"epsilon must be in (0, inf], inf meaning no privacy. "
                f"Got {self.epsilon!r} instead."
            )
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must be in (0, 1). Got {self.delta!r} instead.")
        if not 0 <= self.delta_selection < self.delta:
            raise ValueError(
                f"delta_selection must be in [0, delta={self.delta!r}). "
                f"Got {self.delta_selection!r} instead."
            )
        for name in ("epsilon", "delta"):  # in float32 searches need not end
            object.__setattr__(self, name, float(getattr(self, name)))

    @classmethod
    def reserving(
        cls, epsilon: float, delta: float, adjacency: Adjacency, n_selections: int
    ) -> "PrivacyBudget":
        """Return a budget with a tenth of delta kept for ``n_selections`` columns.

        A tenth costs .6 % more noise. At tiny epsilon less is kept, so that the
        Gaussian part of epsilon never loses more than a hundredth.
        """
        budget = cls(epsilon, delta, adjacency, n_selections=n_selections)
        if not n_selections:
            return budget
        reserved = min(delta / 10, -math.expm1(-epsilon / 100))
        return replace(budget, delta_selection=reserved)

    @property
    def is_private(self) -> bool:
        """Whether anything is promised at all."""
        return math.isfinite(self.epsilon)

    @property
    def gaussian(self) -> tuple[float, float]:
        """The (epsilon, delta) that all Gaussian releases together may cost."""
        epsilon = self.epsilon + math.log1p(-self.delta_selection)
        return epsilon, self.delta - self.delta_selection

    @property
    def mu(self) -> float:
        """Exact Gaussian-DP parameter of the budget; the squares of several add up."""
        return gaussian_mu(*self.gaussian)


def default_delta(n_rows: int | None) -> float:
    r"""Return the delta of a budget that names none: a power of ten.

    At most ``LARGEST_DELTA``, and at most a tenth of one over the number of rows: a
    mechanism that publishes each row with probability delta, in full, would then show
    one in a tenth of its uses, or fewer.

    Parameters
    ----------
    n_rows : int or None
        If it is public. Where it is private delta must not depend on it, released or
        not, since noise is calibrated before it is released: None gives a constant,
        small enough for a million rows.

    Examples
    --------
    >>> default_delta(10_000), default_delta(10_001), default_delta(None)
    (1e-05, 1e-06, 1e-07)
    """
    if n_rows is None:
        return HIDDEN_SIZE_DELTA
    digits = len(str(10 * int(n_rows) - 1))  # the least with 10 ** digits >= 10 n_rows
    return min(LARGEST_DELTA, float(f"1e-{digits}"))
