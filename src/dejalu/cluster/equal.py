"""Equal texts collapse first: one representative per group of equal hashes, the best of its group in keep order."""

from __future__ import annotations

import numpy as np

from ..data import I64, U8, U64
from ..kernels import repeated


def representatives(equal: U64, rank: I64, skip: U8) -> I64:
    """Name each document's representative.

    Args:
        equal: (n, 2) uint64, 128-bit hashes; equal means equal text.
        rank: (n,) int64 keep order.
        skip: (n,) uint8; documents with 1 stand for themselves (no token, null).

    Returns:
        (n,) int64: the place of the best document of the same hash; its own place for the best itself.
    """
    n = len(rank)
    rep = np.arange(n, dtype=np.int64)
    places, _ = repeated(np.ascontiguousarray(equal[:, 1]), skip)
    if not len(places):
        return rep
    high, low = equal[places, 0], equal[places, 1]
    order = np.lexsort((rank[places], high, low))
    places, high, low = places[order], high[order], low[order]
    starts = np.ones(len(places), np.bool_)
    starts[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    rep[places] = places[starts][np.cumsum(starts) - 1]
    return rep
