"""Exact Jaccard similarity of shingle sets: the measure that every near-duplicate verdict rests on."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..data import F64, I64, U8, U32, U64, Bool, Pairs


def settle(
    groups: I64,
    keys: U64,
    packed: U8,
    sets: tuple[U64, I64],
    *,
    threshold: float,
    min_matches: int,
    cap: int,
    settled: int = 0,
) -> tuple[I64, F64, int]:
    """Compare the documents of work groups, in keep order, with the kept ones that share a band key.

    See `kernels.settle` for the arrays. Returns twin (m,) int64 or -1, similarity (m,) float64, comparisons skipped
    by the cap.
    """
    return kernels.settle(
        groups, keys, packed, *sets, threshold=threshold, min_matches=min_matches, cap=cap, settled=settled
    )


def pairs_of_band(
    keys: U64,
    band: int,
    skip: U8 | None,
    packed: U8,
    sets: tuple[U64, I64],
    weight: I64,
    *,
    threshold: float,
    min_matches: int,
    most: int,
) -> tuple[Pairs, bool]:
    """List the true pairs that meet first in `band`, and whether their weighted count stayed within `most`."""
    a, b, similarity, fits = kernels.band_pairs(
        keys, band, skip, packed, *sets, weight, threshold=threshold, min_matches=min_matches, most=most
    )
    return Pairs(a, b, similarity), fits


def similarity(a: I64, b: I64, sets: tuple[U64, I64]) -> F64:
    """Jaccard similarity of sets a[i] and b[i]: (m,) float64 in [0, 1]; 0.0 when either has no shingle."""
    return kernels.jaccard(a, b, *sets)


def subsets(sets: tuple[U64, I64], keep: Bool) -> tuple[U64, I64]:
    """The sets of the documents marked in `keep` (n,), in order."""
    values, offsets = sets
    sizes = np.diff(offsets)
    return values[np.repeat(keep, sizes)], np.concatenate(([0], np.cumsum(sizes[keep]))).astype(np.int64)


def chosen(sets: tuple[U64, I64], rows: I64) -> tuple[U64, I64]:
    """The sets of these rows, in their order; an empty one for row -1."""
    values, offsets = sets
    sizes = np.where(rows < 0, 0, np.diff(offsets, append=offsets[-1])[rows])
    borders = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return values[np.arange(borders[-1]) + np.repeat(offsets[rows] - borders[:-1], sizes)], borders


def settle_weighted(
    groups: I64,
    keys: U64,
    packed: U8,
    sets: tuple[U64, I64],
    weights: U32,
    *,
    threshold: float,
    min_matches: int,
) -> tuple[I64, F64]:
    """Settle as `settle` does, by weighted Jaccard similarity; weights (m,) uint32 of the sets' elements."""
    return kernels.settle_weighted(
        groups, keys, packed, *sets, weights, threshold=threshold, min_matches=min_matches
    )
