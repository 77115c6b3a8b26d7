"""The result of a fit: facts, measurements, certificate, model."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from skdpgen.privacy import PrivacyReport, Release
from skdpgen.synthesizers.opening._facts import Facts
from skdpgen.synthesizers.opening._public_rows import PublicTables
from skdpgen.tables import Cells
from skdpgen.utils import (
    saved,
)


@saved("measured.columns")
@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """Choices and releases of a method, from which its model is computed.

    Everything here is public or released. A fit replaces the value after each release,
    so the estimator keeps what used budget even if the fit is interrupted. A method
    that measures more derives a class with more fields.

    Parameters
    ----------
    cells : mapping of name to Cells
        Of each column; empty for images.
    labels : Cells or None
        How a target becomes a label; None without one.
    seed : int, default=0
        Of the training, from ``random_state``.
    release : Release or None, default=None
        The main release; None before it was paid for.
    scales : tuple of float or None, default=None
        What one row counts in each column; 1 if None.
    public : PublicTables or None, default=None
        Counts of public rows.
    """

    cells: Mapping[Any, Cells]
    labels: Cells | None
    seed: int = 0
    release: Release | None = None
    scales: tuple[float, ...] | None = None
    public: PublicTables | None = None


M = TypeVar("M", bound=Measured)


@saved("fit")
@dataclass(frozen=True, eq=False)
class Fitted(Generic[M]):
    """The result of one fit; attributes of the estimator are read from it.

    Parameters
    ----------
    certificate : PrivacyReport
        What was paid for.
    facts : Facts or None, default=None
        What is known of the table; None if the fit was interrupted before its schema
        was complete.
    measured : Measured or None, default=None
        What the method chose and released; None if it was interrupted before that.
    model : default=None
        What rows are drawn from; None until ``retrain`` has made it.
    labelled : tuple of float, default=(nan, nan)
        Number of rows with a usable label, from a release, and its noise.
    loss_curve : list of float or None, default=None
        Loss of each training step; None if nothing is trained.
    """

    certificate: PrivacyReport
    facts: Facts | None = None
    measured: M | None = None
    model: Any = None
    labelled: tuple[float, float] = (math.nan, math.nan)
    loss_curve: list[float] | None = None

    def stating(self, *lines: str) -> "Fitted[M]":
        """Return it with lines at the end of its certificate, each of them once."""
        certificate = self.certificate
        for line in lines:
            certificate = certificate.without(line).stating(line)
        return replace(self, certificate=certificate)

    def without(self, line: str) -> "Fitted[M]":
        """Return it without a line of its certificate that no longer holds."""
        return replace(self, certificate=self.certificate.without(line))

    def starting_at(self, row: int) -> "Fitted[M]":
        """Return it for rows that are drawn from a given number on."""
        assert self.facts is not None
        return replace(self, facts=replace(self.facts, first_row=row))
