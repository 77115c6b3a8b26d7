"""The ledger: every release is entered before its noise is drawn."""

import math
from collections.abc import Sequence

from skdpgen.exceptions import (
    BudgetExceededError,
)
from skdpgen.privacy._budget import PrivacyBudget
from skdpgen.privacy._noise import is_noise_insecure
from skdpgen.privacy._report import (
    SUBSAMPLED,
    LedgerEntry,
    PrivacyReport,
    sampled_steps,
    valid_mu,
)
from skdpgen.privacy._sensitivity import Signed, check_accurate, sensitivity
from skdpgen.privacy._subsampled import subsampled_noise_multiplier
from skdpgen.privacy._value_counts import selection_threshold
from skdpgen.utils import (
    check_count,
)

SHARE_ROUNDING = 1e-9  # people write decimals, and 0.1 * 3 counts as 0.3
SMALLEST_SHARE = 1e-12  # far below what any release can use
SMALLEST_RATE = 1e-12  # of sampling


class Ledger:
    """The account of one fit; a release without an entry cannot get its noise.

    Later releases, and their shares, may depend on earlier ones: the ledger is a
    privacy filter. For Gaussian mechanisms fully adaptive composition under a hard
    limit on the sum of mu² costs no more than that limit [1]_, [2]_. **The share of a
    sub-sampled mechanism must be fixed before anything is released**: then Rényi
    divergences add up order by order, the Gaussian ones as a filter [3]_, and privacy
    losses add up, whichever Gaussian releases come between (proof:
    :func:`~skdpgen.privacy._subsampled.pld_epsilon`); a share that depended on releases
    would make the best order depend on them.

    Parameters
    ----------
    budget : PrivacyBudget
        What may be spent.

    References
    ----------
    .. [1] Smith & Thakurta, "Fully adaptive composition for Gaussian differential
       privacy", 2022.
    .. [2] Koskela, Tobaben & Honkela, "Individual privacy accounting with Gaussian
       differential privacy", 2022.
    .. [3] Feldman & Zrnic, "Individual privacy accounting via a Rényi filter", 2021.

    Examples
    --------
    >>> ledger = Ledger(PrivacyBudget(1.0, 1e-5))
    >>> std = ledger.charge("counts", share=0.25, sensitivity=1.0)
    >>> round(std, 3), ledger.remaining
    (7.461, 0.75)
    """

    def __init__(self, budget: PrivacyBudget) -> None:
        self.budget = budget
        self.mu = budget.mu
        self.entries: list[LedgerEntry] = []
        self._insecure = False
        self._n_selected = 0

    @property
    def remaining(self) -> float:
        """Share of the squared mu that is left."""
        return max(0.0, 1.0 - math.fsum(entry.share for entry in self.entries))

    def noise_std(self, *, share: float, sensitivity: float) -> float:
        """Return the noise that a release of ``share`` would get; costs nothing."""
        if not self.budget.is_private:
            return 0.0
        return sensitivity / (self.mu * math.sqrt(share))

    def charge(
        self,
        name: str,
        *,
        share: float,
        sensitivity: float,
        mechanism: str = "Gaussian",
    ) -> float:
        """Enter a Gaussian release and return the noise std that it must add.

        A sensitivity that is 0, subnormal, infinite or no number is an error: either
        nothing is released, or rounding has hidden how far a row moves it.
        """
        sensitivity = check_accurate("sensitivity", sensitivity)
        share = self._admit(share)
        std = self.noise_std(share=share, sensitivity=sensitivity)
        if self.budget.is_private:
            check_accurate("noise std", std)
        self._enter(LedgerEntry(name, mechanism, sensitivity, std, share))
        return std

    def charge_subsampled(
        self,
        name: str,
        *,
        share: float,
        sampling_rate: float,
        n_steps: int,
        norm_bound: float,
    ) -> float:
        """Enter a Poisson sub-sampled mechanism; return its noise multiplier.

        It is calibrated beside the sub-sampled entries so far and one Gaussian that
        spends everything their shares and ``share`` leave, so the order of Gaussian
        releases does not matter. *Several.* The entries up to the last one cost the
        budget together with that Gaussian, by its calibration; more Gaussian releases
        than that are not admitted. Their rates, steps and shares must all be fixed
        before anything is released.
        """
        norm_bound = check_accurate("norm_bound", norm_bound)
        check_accurate("sampling_rate", sampling_rate, SMALLEST_RATE, 1.0)
        check_count(n_steps, "n_steps")
        self._admit(share)  # raises rather than use less: the share was fixed before
        multiplier = 0.0
        adjacency = self.budget.adjacency
        if self.budget.is_private:
            earlier, remaining = sampled_steps(self.entries, adjacency)
            multiplier = subsampled_noise_multiplier(
                *self.budget.gaussian,
                sampling_rate,
                n_steps,
                adjacency,
                gaussian_mu=self.mu * math.sqrt(max(0.0, remaining - share)),
                beside=earlier,
            )
        mechanism = SUBSAMPLED.format(sampling_rate, n_steps)
        std = multiplier * norm_bound
        if self.budget.is_private:
            check_accurate("noise std", std)
        delta = sensitivity(Signed(norm_bound), adjacency)
        sampling = (sampling_rate, n_steps)
        self._enter(LedgerEntry(name, mechanism, delta, std, share, *sampling))
        return multiplier

    def admit_selection(self, n_columns: int, noise_std: float) -> float:
        """Enter ``n_columns`` selections; return the count above which to show.

        Noise of 0 would show what a single row has, so only a budget that promises
        nothing may have it.
        """
        if n_columns < 0:  # it would free reservations
            raise ValueError(f"n_columns must not be negative. Got {n_columns!r}.")
        if self.budget.is_private or noise_std != 0:
            check_accurate("noise_std", noise_std)
        self._n_selected += n_columns
        if self._n_selected > self.budget.n_selections:
            raise BudgetExceededError(
                f"delta is reserved for {self.budget.n_selections} partition "
                f"selections. Got {self._n_selected}; reserve them all in the budget."
            )
        failure = self.budget.delta_selection
        return selection_threshold(noise_std, failure, self.budget.n_selections)

    def mark_insecure(self) -> None:
        """State in the report that noise was drawn from a seed."""
        self._insecure = True

    def report(self, statements: Sequence[str] = ()) -> PrivacyReport:
        """Return the certificate; ``statements`` list what was assumed to be public."""
        if self._insecure:
            statements = [
                "NOT PRIVATE: the noise came from insecure_noise_seed",
                *statements,
            ]
        return PrivacyReport(
            self.budget.epsilon,
            self.budget.delta,
            self.budget.adjacency.value,
            valid_mu(self.mu, self.entries),
            self.budget.delta_selection,
            tuple(self.entries),
            tuple(statements),
        )

    def _admit(self, share: float) -> float:
        """Return a share that may be charged; raise if less than that is left."""
        share = check_accurate("share", share, SMALLEST_SHARE, 1 + SHARE_ROUNDING)
        remaining = self.remaining
        if share > remaining + SHARE_ROUNDING or remaining < SMALLEST_SHARE:
            raise BudgetExceededError(
                f"Asked for a share of {share:g}, but {remaining:g} of the budget "
                f"(epsilon={self.budget.epsilon:g}) is left. "
                "Release fewer quantities or raise `epsilon`."
            )
        return min(share, remaining)

    def _enter(self, entry: LedgerEntry) -> None:
        self._insecure |= is_noise_insecure()
        self.entries.append(entry)
