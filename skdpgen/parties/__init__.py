"""Parties that do not share rows: each sums its own, and a combiner fits to the sum."""

from skdpgen.parties._guarded_party import GuardedParty, arrow_sums
from skdpgen.parties._parties import Parties, Party, first_question

__all__ = ["GuardedParty", "Parties", "Party", "arrow_sums", "first_question"]
