"""Noise in shares: parties add it themselves, and no one sees a sum without it."""

import math
from dataclasses import dataclass
from typing import Self

from skdpgen.privacy._accounting import gaussian_epsilon
from skdpgen.privacy._budget import PrivacyBudget
from skdpgen.utils import asked, is_whole, refuse_unless, saved


@asked("shares")
@saved
@dataclass(frozen=True)
class NoiseShares:
    r"""How many parties add noise, and how many of them may work for an attacker.

    A release needs noise of variance :math:`\sigma^2`. Each of m parties adds its own,
    of variance :math:`\sigma^2 / (m - k)`, and hides its sum behind masks that cancel
    when all are added (:mod:`~skdpgen.privacy._masks`).

    *What c colluders see*, the combiner among their friends: the sum of all, and what
    they did themselves, so the sum of the other :math:`m - c` parties with the noise of
    these,

    .. math:: \sum_{i \text{ honest}} (s_i + n_i), \qquad
              \mathrm{Var} = \frac{m - c}{m - k} \sigma^2 ,

    and nothing else that depends on honest rows. *Proof.* Their own sums and noise can
    be subtracted, and given the masks' keys that they lack, messages of honest parties
    are uniform but for their sum. ∎ A row of an honest party moves this sum by the
    sensitivity at most. So for :math:`c \le k` the guarantee is at least that of the
    release, and for more a release of :math:`\mu` has
    :math:`\mu \sqrt{(m - k) / (m - c)}`, as has what they compose to.

    *Assumed*: parties follow the protocol (one who adds no noise is a colluder), and at
    most k tell what they know. Masks rest on a hash function, so against the combiner
    the guarantee is one for attackers who compute, and not for those who try all keys.

    Parameters
    ----------
    n_parties : int
        m, at least 2.
    n_colluding : int
        k, from 0 to m - 2: the larger, the more noise in all. With fewer than half of
        the parties, an honest majority is assumed.

    Examples
    --------
    >>> shares = NoiseShares.honest_majority(5)
    >>> shares.n_colluding, round(shares.excess**2, 3)
    (2, 1.667)
    """

    n_parties: int
    n_colluding: int

    def __post_init__(self) -> None:
        """Check that noise is left, and that masks hide something."""
        if not 0 <= self.n_colluding <= self.n_parties - 2:
            raise ValueError(
                "n_colluding must be from 0 to the number of parties minus 2. Got "
                f"{self.n_colluding!r} of {self.n_parties!r}."
            )

    def check_asked(self) -> None:
        """Check that both are whole numbers."""
        refuse_unless(
            is_whole(self.n_parties, 2) and is_whole(self.n_colluding, 0),
            "shares of a number of parties",
        )

    @classmethod
    def honest_majority(cls, n_parties: int) -> Self:
        """Return shares for as many colluders as are fewer than half."""
        return cls(n_parties, max(n_parties - 1, 0) // 2)

    @property
    def each(self) -> float:
        """Noise of a party, where that of the release is 1."""
        return 1.0 / math.sqrt(self.n_parties - self.n_colluding)

    @property
    def excess(self) -> float:
        """Noise of all together, where that of the release is 1."""
        return math.sqrt(self.n_parties) * self.each

    def epsilon(self, budget: PrivacyBudget, n_colluding: int) -> float:
        """Return what a budget is worth against another number of colluders.

        It holds at the budget's delta, for a row of a party that is none of them.

        Examples
        --------
        >>> shares, budget = NoiseShares(4, 1), PrivacyBudget(1.0, 1e-5)
        >>> [round(shares.epsilon(budget, c), 2) for c in range(5)]
        [0.85, 1.0, 1.25, 1.83, inf]
        """
        honest = self.n_parties - n_colluding
        if honest < 1 or not budget.is_private:
            return math.inf
        left = math.sqrt((self.n_parties - self.n_colluding) / honest)
        _, delta = budget.gaussian
        return gaussian_epsilon(budget.mu * left, delta)

    def stated(self, budget: PrivacyBudget) -> str:
        """Say in a certificate who is trusted, and what holds if that is wrong."""
        m, k = self.n_parties, self.n_colluding
        more = [
            f"{self.epsilon(budget, c):.3g} for {c}" for c in range(k + 1, m) if c < m
        ]
        return (
            f"noise in shares of {m} parties, which follow the protocol: epsilon is "
            f"for up to {k} of them that work with whoever adds up (it is "
            f"{', '.join(more)}), and against attackers with limited computers; a "
            "question that fails at the rows of a party is the last one that it "
            "answers, and that it failed is not covered by noise"
        )
