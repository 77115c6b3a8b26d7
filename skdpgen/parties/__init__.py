"""Parties that do not share rows: each sums its own, and a combiner fits to the sum."""

from skdpgen.parties._parties import Parties, first_question
from skdpgen.parties._party import Party

__all__ = ["Parties", "Party", "first_question"]
