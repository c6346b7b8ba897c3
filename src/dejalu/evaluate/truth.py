"""The exact answer, by comparing everything with everything that shares a shingle: for samples, tests and
benchmarks.

The cost grows with the square of the number of documents that share wording; a hundred thousand ordinary ones
are minutes. The pipeline never calls this: it is what the pipeline is measured against.
"""

from __future__ import annotations

import numpy as np

from ..data import I64, U64, Pairs
from ..kernels.evaluate import overlap_join, overlap_table

__all__ = ["all_pairs"]

# Documents of one block of the join; the block's table then stays in the cache for ordinary documents.
BLOCK = 256


def all_pairs(
    ids: I64, values: U64, offsets: I64, *, threshold: float, groups: I64 | None = None, block: int = BLOCK
) -> Pairs:
    """List every pair of documents whose exact Jaccard similarity reaches the threshold, equal sets included.

    ids      (n,) int64, ascending
    values, offsets  distinct shingle hashes per document, ragged: (m,) uint64 and (n + 1,) int64
    threshold  in (0, 1]
    groups   (n,) int64 or None: pairs inside one group only
    block    documents per table: a matter of speed, never of the result

    Returns pairs with a < b, ordered by (a, b). Documents without a shingle are in no pair.
    """
    n = len(ids)
    found: list[tuple[I64, I64, np.ndarray]] = []
    for first in range(0, n, block):
        last = min(first + block, n)
        table = overlap_table(values, np.ascontiguousarray(offsets[first : last + 1]))
        # Later documents only: each pair is then found once, by its earlier document.
        doc, sample, similarity = overlap_join(
            table, values, np.ascontiguousarray(offsets[first:]), threshold=threshold
        )
        good = doc > sample
        if groups is not None:
            good &= groups[first + doc] == groups[first + sample]
        found.append((ids[first + sample[good]], ids[first + doc[good]], similarity[good]))
    if not found:
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    a, b, similarity = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((b, a))
    return Pairs(a[order], b[order], similarity[order])
