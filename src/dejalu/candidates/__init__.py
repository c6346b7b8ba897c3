"""Candidates: which documents are worth comparing."""

from .bands import Bands, choose_bands, keys
from .grouping import equal, group
from .hamming import HammingTable, hamming_pairs

__all__ = ["Bands", "HammingTable", "choose_bands", "equal", "group", "hamming_pairs", "keys"]
