"""The certificate of a fit: the guarantee, every release, and public assumptions."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from skdpgen.privacy._accounting import gaussian_epsilon
from skdpgen.privacy._budget import Adjacency, PrivacyBudget
from skdpgen.privacy._report_html import certificate_html
from skdpgen.privacy._sensitivity import Signed, sensitivity
from skdpgen.privacy._subsampled import SampledSteps, subsampled_epsilon
from skdpgen.utils import (
    html,
    saved,
)

ALARMS = ("NOT PRIVATE", "LEAK")  # statements that begin with these come first
SUBSAMPLED = "Poisson sub-sampled Gaussian, q={:g} x {}"
PROFILE = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)  # deltas


@saved("certificate.release")
@dataclass(frozen=True)
class LedgerEntry:
    """One release: its name, its sensitivity, and its noise."""

    name: str
    mechanism: str
    sensitivity: float
    noise_std: float
    share: float
    """Part of the budget's squared mu."""
    sampling_rate: float = 1.0
    """Probability that a row takes part in a step; 1 if all do."""
    n_steps: int = 1
    """How many times noise of ``noise_std`` was drawn for it."""


@saved("certificate")
@dataclass(frozen=True)
class PrivacyReport:
    """The certificate of one fit; text when printed, :meth:`to_dict` for machines.

    Examples
    --------
    >>> from skdpgen.privacy import Ledger
    >>> report = Ledger(PrivacyBudget(1.0, 1e-5)).report(["classes: public"])
    >>> print(report)
    (1, 1e-05)-differentially private; unit: one row, adjacency "replace".
      spent 0.0% of the budget (mu = 0.268051)
      at other deltas: epsilon 0.837 at 0.0001, 1.14 at 1e-06
      classes: public
    """

    epsilon: float
    delta: float
    adjacency: str
    mu: float | None
    """Gaussian-DP parameter of the budget; None if a release is sub-sampled."""
    delta_selection: float
    releases: tuple[LedgerEntry, ...]
    statements: tuple[str, ...]
    unit: str = "one row"

    @property
    def spent(self) -> float:
        """Share of the squared mu that was used."""
        return math.fsum(entry.share for entry in self.releases)

    def epsilon_at(self, delta: float) -> float:
        r"""Return the smallest epsilon we can prove at another delta.

        It covers all that the budget allowed, not only what was spent: the ledger is a
        filter. *Proof.* Gaussian releases alone are a Gaussian mechanism with the mu of
        the budget, at every delta. Beside sub-sampled steps with shares of sum s all
        other releases together have a squared mu of at most :math:`\mu^2 (1-s)`, as the
        calibration of the last steps assumed, and :func:`subsampled_epsilon` holds at
        every delta. Selections add their part as in :class:`PrivacyBudget`; at or below
        ``delta_selection`` nothing is promised. At the delta of the report and above,
        its own epsilon holds as well.

        Parameters
        ----------
        delta : float
            In (0, 1).

        Examples
        --------
        >>> from skdpgen.privacy import Ledger
        >>> report = Ledger(PrivacyBudget(1.0, 1e-5)).report()
        >>> [round(report.epsilon_at(delta), 2) for delta in (1e-3, 1e-5, 1e-7)]
        [0.64, 1.0, 1.27]
        """
        if not 0 < delta < 1:
            raise ValueError(f"delta must be in (0, 1). Got {delta!r} instead.")
        promised = self.epsilon if delta >= self.delta else math.inf
        if delta <= self.delta_selection or math.isinf(self.epsilon):
            return promised
        # selections keep a part of delta and of epsilon for themselves
        delta_left, epsilon_kept = (
            delta - self.delta_selection,
            -math.log1p(-self.delta_selection),
        )
        neighbours = Adjacency.parse(self.adjacency)
        budget = PrivacyBudget(
            self.epsilon, self.delta, neighbours, self.delta_selection
        )
        sampled = [entry for entry in self.releases if _is_sampled(entry)]
        if not sampled:
            return min(promised, gaussian_epsilon(budget.mu, delta_left) + epsilon_kept)
        if any(
            entry.mechanism != SUBSAMPLED.format(entry.sampling_rate, entry.n_steps)
            for entry in sampled
        ):
            return promised  # written before an entry said how it was sampled
        (*earlier, last), share = sampled_steps(sampled, neighbours)
        epsilon = subsampled_epsilon(
            *last,
            delta_left,
            self.adjacency,
            gaussian_mu=budget.mu * math.sqrt(max(0.0, share)),
            beside=earlier,
        )
        return min(promised, epsilon + epsilon_kept)

    def stating(self, line: str) -> "PrivacyReport":
        """Return the certificate with one more statement, made from released values."""
        if line in self.statements:
            return self
        return replace(self, statements=(*self.statements, line))

    def without(self, line: str) -> "PrivacyReport":
        """Return the certificate without a statement that no longer holds."""
        rest = tuple(statement for statement in self.statements if statement != line)
        return replace(self, statements=rest)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types; an infinite epsilon or mu becomes None."""
        content = asdict(self) | {"spent": self.spent}
        content |= {"epsilon": _finite(self.epsilon), "mu": _finite(self.mu)}
        content["releases"] = [asdict(entry) for entry in self.releases]
        content["statements"] = list(self.statements)
        content["profile"] = [
            {"delta": delta, "epsilon": _finite(self.epsilon_at(delta))}
            for delta in sorted({*PROFILE, self.delta}, reverse=True)
        ]
        return content

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "PrivacyReport":
        """Read back what :meth:`to_dict` wrote."""
        derived = ("profile", "spent")
        fields = {key: value for key, value in content.items() if key not in derived}
        fields["releases"] = tuple(
            LedgerEntry(**entry) for entry in content["releases"]
        )
        fields["statements"] = tuple(content["statements"])
        if content["epsilon"] is None:
            fields["epsilon"] = math.inf
            fields["mu"] = valid_mu(math.inf, fields["releases"])
        return cls(**fields)

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    @property
    def _alarms(self) -> list[str]:
        return [line for line in self.statements if line.startswith(ALARMS)]

    @property
    def _promise(self) -> str:
        if math.isinf(self.epsilon):
            return "NOT PRIVATE: epsilon is infinite, no noise was added"
        return f"({self.epsilon:g}, {self.delta:g})-differentially private"

    def _repr_html_(self) -> str:
        """Return the certificate for a notebook."""
        return html.block(certificate_html(self, self._alarms, self._promise))

    def __str__(self) -> str:
        """Return the certificate as text."""
        alarms = [] if math.isinf(self.epsilon) else self._alarms
        promise = "; ".join([*alarms, self._promise])
        lines = [
            f'{promise}; unit: {self.unit}, adjacency "{self.adjacency}".',
            f"  spent {self.spent:.1%} of the budget"
            + ("" if self.mu is None else f" (mu = {self.mu:.6g})"),
        ]
        at_other_deltas = [
            f"{self.epsilon_at(delta):.3g} at {delta:g}"
            for delta in (10 * self.delta, self.delta / 10)
            if delta < 1 and math.isfinite(self.epsilon_at(delta))
        ]
        if at_other_deltas:
            lines.append(f"  at other deltas: epsilon {', '.join(at_other_deltas)}")
        lines += [
            f"  {entry.share:6.1%}  {entry.name}: {entry.mechanism}, "
            f"sensitivity {entry.sensitivity:.4g}, noise std {entry.noise_std:.4g}"
            for entry in self.releases
        ]
        if self.delta_selection:
            lines.append(f"  delta of partition selection: {self.delta_selection:g}")
        rest = [line for line in self.statements if not line.startswith(ALARMS)]
        return "\n".join(lines + [f"  {line}" for line in rest])

    __repr__ = __str__


def sampled_steps(
    entries: Sequence[LedgerEntry], adjacency: Adjacency
) -> tuple[tuple[SampledSteps, ...], float]:
    """Return the sub-sampled steps of a ledger, and the share that they leave."""
    sampled = [entry for entry in entries if _is_sampled(entry)]
    shift = sensitivity(Signed(), adjacency)
    steps = [
        SampledSteps(
            entry.noise_std * shift / entry.sensitivity,
            entry.sampling_rate,
            entry.n_steps,
        )
        for entry in sampled
    ]
    return tuple(steps), 1.0 - math.fsum(entry.share for entry in sampled)


def _is_sampled(entry: LedgerEntry) -> bool:
    return "sub-sampled" in entry.mechanism


def valid_mu(mu: float, entries: Sequence[LedgerEntry]) -> float | None:
    """Return mu if it is the cost of all releases together: if all are Gaussian."""
    return None if any(entry.sampling_rate < 1 for entry in entries) else mu


def _finite(number: float | None) -> float | None:
    return None if number is None or math.isinf(number) else number
