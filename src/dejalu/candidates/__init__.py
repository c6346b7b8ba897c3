"""Candidates: which documents are worth comparing."""

from .bands import Bands, choose_bands, keys
from .grouping import equal, group

__all__ = ["Bands", "choose_bands", "equal", "group", "keys"]
