"""Kernels between sketches and verdicts: band keys, buckets, settling, pairs.

All take and give arrays, release the GIL and keep no state. Places are rows of the arrays given, 0-based.
Twins: `kernels.reference.groups`.
"""

from __future__ import annotations

import numpy as np

from .. import _native
from .arrays import F64, I64, U8, U32, U64


def band_keys(signatures: U32, bands: int, rows: int) -> U64:
    """Hash `bands` groups of `rows` slots of each signature.

    Args:
        signatures: (n, slots) uint32.
        bands, rows: bands × rows ≤ slots; the slots beyond are not used.

    Returns:
        (bands, n) uint64.

    Raises:
        ValueError: bands or rows out of range.
    """
    return _native.band_keys(signatures, bands, rows)


def repeated(key: U64, skip: U8 | None = None) -> tuple[I64, I64]:
    """Find the places whose key occurs at least twice.

    Returns:
        places (m,) int64 sorted by (key, place), and offsets (buckets + 1,) int64 into them.
    """
    return _native.repeated(key, skip)


def settle(
    groups: I64,
    keys: U64,
    packed: U8,
    set_values: U64,
    set_offsets: I64,
    *,
    threshold: float,
    min_matches: int,
    cap: int,
    settled: int = 0,
    small: int = 2_000,
) -> tuple[I64, F64, int]:
    """Settle work groups: each document joins the earliest kept one at or above the threshold, else it is kept.

    Args:
        groups: (g + 1,) int64 borders; group i holds the documents groups[i] … groups[i + 1] - 1, in keep order.
        keys: (m, bands) uint64 band keys, one row per document.
        packed: (m, width) uint8 compact sketches.
        set_values, set_offsets: shingle sets, ascending, as from `shingle_sets`.
        threshold: in (0, 1]; compared with intersection / union in float64, inclusive.
        min_matches: floor of the sketch filter.
        cap: kept documents tested per band key.
        settled: with one group: its first `settled` documents are known to be kept.
        small: largest group in which all kept documents are looked at; larger ones use a prefix index. Cost only.

    Returns:
        twin (m,) int64 place or -1; similarity (m,) float64, 0 where kept; number of comparisons that the cap skipped.
    """
    return _native.settle(groups, keys, packed, set_values, set_offsets, threshold, min_matches, cap, settled, small)


def settle_texts(
    batches: list[tuple[U8, I64]],
    which: I64,
    rows: I64,
    groups: I64,
    keys: U64,
    packed: U8,
    *,
    shingle: int,
    unit: int,
    unspaced: bool = True,
    threshold: float,
    min_matches: int,
    cap: int,
    small: int = 2_000,
    chunk: int = 1 << 19,
) -> tuple[I64, F64, int]:
    """Settle work groups as `settle` does, from their texts.

    Args:
        batches, which, rows: texts of the m documents, as in `gather`.
        groups, keys, packed, threshold, min_matches, cap, small: as in `settle`.
        shingle, unit, unspaced: as in `shingle_sets`.
        chunk: bytes of text of the groups that are taken together; a larger group stands alone. Cost only.

    Returns:
        twin (m,) int64 place or -1; similarity (m,) float64, 0 where kept; number of comparisons that the cap skipped.

    Raises:
        ValueError: a parameter out of range, shapes that do not fit, no such batch or row.
    """
    return _native.settle_texts(
        batches, which, rows, groups, keys, packed, shingle=shingle, unit=unit, unspaced=unspaced,
        threshold=threshold, min_matches=min_matches, cap=cap, small=small, chunk=chunk,
    )


def jaccard(a: I64, b: I64, set_values: U64, set_offsets: I64) -> F64:
    """Jaccard similarity of sets a[i] and b[i]; 0.0 when either is empty; (m,) float64."""
    return _native.jaccard(a, b, set_values, set_offsets)


def band_pairs(
    keys: U64,
    band: int,
    skip: U8 | None,
    packed: U8,
    set_values: U64,
    set_offsets: I64,
    weight: I64,
    *,
    threshold: float,
    min_matches: int,
    most: int,
) -> tuple[I64, I64, F64, bool]:
    """Find the true pairs whose first shared band is `band`; every pair of every bucket is tested.

    Args:
        keys: (bands, n) uint64.
        weight: (n,) int64 documents that each place stands for; a pair counts weight[a] × weight[b].
        most: stop when the count passes it.

    Returns:
        a, b (m,) int64 with a < b, similarity (m,) float64, and whether the count stayed within `most`.
    """
    return _native.band_pairs(keys, band, skip, packed, set_values, set_offsets, weight, threshold, min_matches, most)


def gather(batches: list[tuple[U8, I64]], which: I64, rows: I64) -> tuple[U8, I64]:
    """Copy texts of many batches, in any order, into one.

    Args:
        batches: bytes (uint8) and offsets (int64) of each, as from `data.text_buffers`.
        which, rows: (m,) int64 batch of each text wanted, and its row there.

    Returns:
        bytes (uint8) and offsets (m + 1,) int64 from 0.

    Raises:
        ValueError: no such batch or row.
    """
    return _native.gather(batches, which, rows)


def mix64(values: U64) -> U64:
    """Mix each value bijectively (SplitMix64's finalizer); (n,) uint64."""
    return _native.mix64(np.ascontiguousarray(values))
