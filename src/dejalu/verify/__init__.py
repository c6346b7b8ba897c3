"""Verify: exact comparison of what the candidates proposed."""

from ..kernels import settle_texts
from .jaccard import pairs_of_band, settle, similarity, subsets

__all__ = ["pairs_of_band", "settle", "settle_texts", "similarity", "subsets"]
