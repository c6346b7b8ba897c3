"""Candidates: which documents are worth comparing."""

from .bands import Bands, choose_bands, keys
from .edges import edges

__all__ = ["Bands", "choose_bands", "edges", "keys"]
