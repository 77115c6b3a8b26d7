"""Parties that do not share rows: each sums its own, and a combiner fits to the sum."""

from skdpgen.parties._arrow_sums import arrow_sums
from skdpgen.parties._guarded_party import GuardedParty
from skdpgen.parties._parties import Parties, first_question
from skdpgen.parties._party import Party

__all__ = ["GuardedParty", "Parties", "Party", "arrow_sums", "first_question"]
