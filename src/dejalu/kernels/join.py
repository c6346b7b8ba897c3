"""Kernels of the exact set-similarity join: shingles by rank, then settling, pairs or components of true similarity.

One way for all measures: elements are ordered from the rarest to the most common one; two sets at or above the
threshold share one of the rarest of each (the prefix), so only documents whose prefixes meet are compared. Recall is 1.
Documents are given in the order in which they are settled; results are the same for every number of threads. Twins:
`kernels.reference.join`.

Measures, with a the earlier and b the later document of a pair:
    jaccard       common elements / elements of either
    containment   common elements / elements of the contained document
    weighted      sum of the smaller weights / sum of the larger weights
    cosine        sum of products of weights / square root of the product of the sums of squares
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _native
from .arrays import F64, I64, U8, U32, U64

MEASURES = ("jaccard", "containment", "weighted", "cosine")


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sets of n documents, their elements as ranks: 0 is the rarest element that at least two documents have.

    ranks      (m,) uint32, ascending within a document; elements of one document alone have no rank and are left out
    offsets    (n + 1,) int64 into ranks
    sizes      (n,) int64: elements of each document, those without a rank too
    frequency  (r,) uint32: documents that have the element of each rank, ascending
    hashes     (r,) uint64: the elements; equal frequencies are ordered by hash
    weights    (m,) uint32 or None: weight of each entry of ranks
    totals     (n,) uint64 or None: sum of the weights of all elements, those without a rank too
    squares    (n,) uint64 or None: sum of their squares; 2**64 - 1 for anything more
    """

    ranks: U32
    offsets: I64
    sizes: I64
    frequency: U32
    hashes: U64
    weights: U32 | None = None
    totals: U64 | None = None
    squares: U64 | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def take(self, rows: I64) -> Ranked:
        """The sets of these documents, in this order; an empty set for row -1. Ranks stay what they are.

        Raises:
            ValueError: no such document.
        """
        ranks, offsets, weights = _native.take_ranked(self.ranks, self.weights, self.offsets, rows)

        return replace(
            self,
            ranks=ranks,
            offsets=offsets,
            sizes=_chosen(self.sizes, rows),
            weights=weights,
            totals=None if self.totals is None else _chosen(self.totals, rows),
            squares=None if self.squares is None else _chosen(self.squares, rows),
        )


def rank_sets(values: U64, offsets: I64, *, weights: U32 | None = None, threads: int) -> Ranked:
    """Order the elements of all sets by document frequency, rarest first, and replace them by their ranks.

    Args:
        values, offsets: elements of n documents, each once per document, in any order within it.
        weights: (m,) uint32, weight of each of values, for the measures that need them.

    Raises:
        ValueError: offsets that fall or leave values, lengths that differ, threads below 1.
    """
    hashes, frequency = _native.frequent_shingles(values[offsets[0] : offsets[-1]], threads=threads)
    return rank_by(values, offsets, hashes, frequency, weights=weights, threads=threads)


def rank_order(hashes: U64, documents: I64, *, threads: int) -> tuple[U64, U32]:
    """Order elements by document frequency, ties by value; those of one document are dropped.

    With `count_features` and `merge_counts` before it and `rank_by` after it, sets can be ranked piece by piece.

    Args:
        hashes: (k,) uint64, distinct.
        documents: (k,) int64, how many documents have each.

    Returns:
        hashes (r,) uint64 and frequency (r,) uint32, as in `Ranked`.
    """
    return _native.rank_order(hashes, documents, threads=threads)


def rank_by(
    values: U64, offsets: I64, hashes: U64, frequency: U32, *, weights: U32 | None = None, threads: int
) -> Ranked:
    """Replace elements by their ranks in a given order (`rank_order`); elements that it lacks are dropped.

    Args:
        values, offsets, weights: as in `rank_sets`.
        hashes, frequency: (r,) as in `Ranked`.
    """
    ranks, borders, sizes, left, totals, squares = _native.rank_by(values, offsets, hashes, weights, threads=threads)
    return Ranked(ranks, borders, sizes, frequency, hashes, left, totals, squares)


def join_settle(ranked: Ranked, *, measure: str, threshold: float, threads: int) -> tuple[I64, F64]:
    """Settle documents: in order, each joins the earliest kept one at or above the threshold, else it is kept.

    Args:
        ranked: documents in the order in which they are settled. For containment the later document is the one that is
            contained; give the largest sets first, so that containers come before what they contain.
        measure: jaccard, containment, weighted or cosine; the last two need ranked.weights.
        threshold: in (0, 1], compared in float64, inclusive.

    Returns:
        twin (n,) int64 position or -1 where kept; similarity (n,) float64, 0 where kept.

    Raises:
        ValueError: a parameter out of range, arrays that do not belong together, weights whose sum (cosine: of squares)
            passes 2**62 in a document.

    Source: Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", WWW 2007, §3; Xiao, Wang, Lin, Yu,
        "Efficient similarity joins for near duplicate detection", WWW 2008, §4; Anastasiu, Karypis, "L2AP", ICDE
        2014, §3.
    """
    return _native.join_settle(*_columns(ranked, measure), measure=measure, threshold=threshold, threads=threads)


def join_pairs(
    ranked: Ranked, *, measure: str, threshold: float, most: int, threads: int
) -> tuple[I64, I64, F64, bool]:
    """List every pair at or above the threshold.

    Args:
        ranked, measure, threshold: as in `join_settle`; the order of documents does not matter.
        most: largest number of pairs that are listed.

    Returns:
        a, b (p,) int64 positions, sorted by (a, b), similarity (p,) float64, and whether that is all: when there are
        more than `most`, nothing is listed. a < b; for containment a is the contained document, b the container,
        and two documents that contain each other are listed both ways.

    Raises:
        ValueError: as in `join_settle`.
    """
    return _native.join_pairs(
        *_columns(ranked, measure), measure=measure, threshold=threshold, most=most, threads=threads
    )


def join_components(
    ranked: Ranked, *, measure: str, threshold: float, eligible: U8 | None = None, threads: int
) -> U32:
    """Find the connected components of the graph whose edges are the pairs at or above the threshold.

    Args:
        ranked, measure, threshold: as in `join_pairs`.
        eligible: (n,) uint8 or None: only pairs count of which at least one document has 1 here.

    Returns:
        (n,) uint32: the smallest position of each document's component.

    Raises:
        ValueError: as in `join_settle`.
    """
    return _native.join_components(
        *_columns(ranked, measure), measure=measure, threshold=threshold, eligible=eligible, threads=threads
    )


def settle_mixed(
    ranked: Ranked,
    short: U8,
    keys: U64,
    packed: U8,
    set_values: U64,
    set_offsets: I64,
    *,
    threshold: float,
    min_matches: int,
    threads: int,
) -> tuple[I64, F64, U8]:
    """Settle short and long texts as one: in order, each joins the earliest kept one that it is like, else it is kept.

    Two texts of which one is short are alike when the Jaccard similarity of their ranked sets reaches the threshold;
    two long ones when they share a band key at the same band, pass the sketch filter, and the Jaccard similarity of
    their shingle sets reaches it.

    Args:
        ranked: sets of short shingles, in the order of settling; empty where a document cannot be like a short one.
        short: (n,) uint8, 1 for a short text.
        keys: (n, bands) uint64; packed: (n, width) uint8 compact sketches; of long texts.
        set_values, set_offsets: shingle sets of the long texts, ascending; empty for short ones.
        threshold: in (0, 1], compared with intersection / union in float64, inclusive.
        min_matches: floor of the sketch filter.

    Returns:
        twin (n,) int64 position or -1; similarity (n,) float64, 0 where kept; (n,) uint8, 1 where ranked sets decided.

    Raises:
        ValueError: as in `join_settle`; shapes that do not fit.
    """
    return _native.settle_mixed(
        ranked.ranks, ranked.offsets, ranked.sizes, len(ranked.hashes), short, keys, packed, set_values, set_offsets,
        threshold=threshold, min_matches=min_matches, threads=threads,
    )


def _columns(ranked: Ranked, measure: str) -> tuple[U32, I64, I64, U32 | None, U64 | None, int]:
    totals = ranked.squares if measure == "cosine" else ranked.totals
    return ranked.ranks, ranked.offsets, ranked.sizes, ranked.weights, totals, len(ranked.hashes)


def _chosen(column: Any, rows: I64) -> Any:
    """Entries of these rows; 0 for row -1."""
    out = np.zeros(len(rows), column.dtype)
    out[rows >= 0] = column[rows[rows >= 0]]
    return out
