"""Kernels that measure a run: the exact overlap of a few sampled documents with every document."""

from __future__ import annotations

from typing import NamedTuple

from .. import _native
from .arrays import F64, I64, U32, U64

__all__ = ["OverlapTable", "overlap_join", "overlap_table"]


class OverlapTable(NamedTuple):
    """Which samples hold a shingle: an open-addressed hash table in plain arrays, to be shared between
    threads.

    slot_key  (capacity,) uint64: the shingle in each slot; capacity is a power of two, at most half used
    slot_ref  (capacity,) uint32: 1 + place of the shingle in `starts`; 0 marks a free slot
    starts    (shingles + 1,) int64: where each shingle's samples begin in `posting`
    posting   (entries,) uint32: samples, ascending within a shingle
    values    (m,) uint64 and offsets (samples + 1,) int64: the samples' own shingles, as they were given
    """

    slot_key: U64
    slot_ref: U32
    starts: I64
    posting: U32
    values: U64
    offsets: I64


def overlap_table(values: U64, offsets: I64) -> OverlapTable:
    """Build the table of the sampled documents' shingle sets.

    values   (m,) uint64: distinct shingle hashes of each sample, ascending, one run after the other
    offsets  (samples + 1,) int64: where each run begins

    Raises ValueError when the offsets do not fit the values.

    >>> import numpy as np
    >>> table = overlap_table(np.array([1, 2, 2, 3], np.uint64), np.array([0, 2, 4]))
    >>> table.starts.tolist(), table.posting.tolist()
    ([0, 1, 3, 4], [0, 0, 1, 1])
    """
    return OverlapTable(*_native.overlap_table(values, offsets), values=values, offsets=offsets)


def overlap_join(table: OverlapTable, values: U64, offsets: I64, *, threshold: float) -> tuple[I64, I64, F64]:
    """Find every (document, sample) pair whose exact Jaccard similarity reaches the threshold.

    values, offsets  distinct shingle hashes of n documents, ascending, ragged as in `overlap_table`
    threshold        in (0, 1], compared as intersection / union >= threshold in float64

    Returns document (p,) int64 (0-based in this batch), sample (p,) int64, similarity (p,) float64; ordered
    by document, then sample. A document that is itself a sample is paired with itself: the caller knows the
    ids.

    >>> import numpy as np
    >>> table = overlap_table(np.array([1, 2, 3], np.uint64), np.array([0, 3]))
    >>> overlap_join(table, np.array([2, 3, 9], np.uint64), np.array([0, 3]), threshold=0.5)
    (array([0]), array([0]), array([0.5]))
    """
    return _native.overlap_join(*table, values, offsets, threshold)
