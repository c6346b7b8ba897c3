"""Verify: exact comparison of what the candidates proposed."""

from .jaccard import pairs_of_band, settle, settle_texts, similarity, subsets

__all__ = ["pairs_of_band", "settle", "settle_texts", "similarity", "subsets"]
