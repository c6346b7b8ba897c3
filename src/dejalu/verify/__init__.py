"""Verify: exact comparison of what the candidates proposed."""

from ..kernels import settle_texts
from .hamming import simhash_similarity
from .jaccard import chosen, pairs_of_band, settle, settle_weighted, similarity, subsets

__all__ = [
    "chosen",
    "pairs_of_band",
    "settle",
    "settle_texts",
    "settle_weighted",
    "simhash_similarity",
    "similarity",
    "subsets",
]
