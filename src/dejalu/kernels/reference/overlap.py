"""The plain-Python twin of `kernels.overlap_table` and `kernels.overlap_join`: the specification."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["overlap_join"]


def overlap_join(
    samples: Sequence[frozenset[int]], docs: Sequence[frozenset[int]], *, threshold: float
) -> list[tuple[int, int, float]]:
    """List (document, sample, Jaccard similarity) of all pairs at or above the threshold, in that order.

    A pair of sets that share nothing is never listed, so two empty sets are not a pair.

    >>> overlap_join([frozenset({1, 2, 3})], [frozenset({2, 3, 9}), frozenset()], threshold=0.5)
    [(0, 0, 0.5)]
    """
    found = []
    for d, doc in enumerate(docs):
        for s, sample in enumerate(samples):
            both = len(doc & sample)
            if both and both / len(doc | sample) >= threshold:
                found.append((d, s, both / len(doc | sample)))
    return found
