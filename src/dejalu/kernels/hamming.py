"""Kernels of the complete search by Hamming distance. Twin: `kernels.reference.hamming`.

Two ways, one answer: tables by choices of blocks of bits (Manku, Jain, Das Sarma, "Detecting near-duplicates for web
crawling", WWW 2007, §3.1), or a scan by popcount. `hamming_plan` chooses; all pairs within the distance are found
either way.

Arguments that recur:
    fingerprints: (n,) uint64, or (n, 2) uint64 for 128 bits; n below 2^32 - 1.
    k: largest distance in bits, 0 … 128.
    only: (n,) uint64 or None: fingerprints of different values are never compared.
    skip: (n,) uint8 or bool, or None: those marked take no part.
    threads: at least 1; the result is the same for every number.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from .. import _native
from .arrays import F64, I32, I64, U8, U32, U64, Bool

TABLE_K = 8  # beyond this distance so many tables were needed that a scan is as good
# Nanoseconds on one core, rounded: an entry laid into a table and its bucket begun, a bucket looked up elsewhere in
# memory, a fingerprint compared.
LAY, LOOK, COMPARE = 50.0, 50.0, 0.4
MOST_TABLES = 1000
MOST_BITS = 22  # of a bucket's number
MOST_BYTES = 1 << 30  # of tables that are kept, unless the fewest tables are more
SAMPLE = 2048


@dataclass(frozen=True, slots=True)
class HammingPlan:
    """Which tables to make: masks (tables, words) uint64, the bits that must agree in each, and 2^bits buckets each.

    One table with an empty mask and one bucket is a scan.
    """

    masks: U64
    bits: int

    @property
    def scans(self) -> bool:
        return len(self.masks) == 1 and self.bits == 0


def hamming_plan(fingerprints: U64, k: int, *, only: U64 | None = None, kept: bool = False) -> HammingPlan:
    """Choose the tables for n fingerprints and k.

    B blocks of bits, B > k, make one table for each choice of B - k blocks. Few blocks: few tables, large buckets; the
    sum of both costs is made small. How many fingerprints share a bucket is taken from a sample, so crowds that agree
    in many bits get more blocks.

    Args:
        kept: the tables are all in memory at once, which bounds their number.

    Source: Manku, Jain, Das Sarma, WWW 2007, §3.2 (choosing the number of blocks).
    """
    rows = _rows(fingerprints)
    n, words = rows.shape
    if only is not None and only.shape != (n,):
        raise ValueError(f"only: needs one entry for each of {n:,} fingerprints, has shape {only.shape}")
    scan = np.zeros((1, words), np.uint64)
    most_bits = min(MOST_BITS, max(0, n.bit_length() - (4 if kept else 7)))  # 8 … 16 entries a bucket, or 64 … 128
    plan = HammingPlan(scan, most_bits if only is not None else 0)
    if k > TABLE_K or n < 64:
        return plan
    step = max(1, n // SAMPLE)
    sample = rows[::step]
    apart = None if only is None else only[::step]
    pairs = max(1.0, len(sample) * (len(sample) - 1) / 2)
    best = LAY + n / 2 * COMPARE * _meeting(sample, apart, scan) / pairs
    for blocks in range(k + 1, 64 * words + 1):
        tables = comb(blocks, k)
        room = tables * n * (8 * words + 4) <= MOST_BYTES or blocks == k + 1
        if tables > MOST_TABLES or tables * LAY > best or (kept and not room):
            break
        masks = _masks(64 * words, blocks, k)
        key_bits = 64.0 * words * (blocks - k) / blocks
        meeting = max(_meeting(sample, apart, masks) / pairs, tables * 2.0 ** -min(key_bits, most_bits))
        cost = tables * (LAY + LOOK * kept) + n / 2 * COMPARE * meeting
        if cost < best:
            best, plan = cost, HammingPlan(masks, min(most_bits, int(key_bits)) if only is None else most_bits)
    return plan


def hamming_pairs(
    fingerprints: U64, k: int, *, only: U64 | None = None, most: int, threads: int, plan: HammingPlan | None = None
) -> tuple[I64, I64, I32, bool]:
    """List all pairs within k bits, equal fingerprints included.

    Returns:
        a, b (m,) int64, a < b, sorted by a, then b; distance (m,) int32; and whether these are all: when there are more
        than `most`, none is listed.

    Raises:
        ValueError: a parameter out of range, shapes that do not fit.
    """
    rows = _rows(fingerprints)
    p = hamming_plan(rows, k, only=only) if plan is None else plan
    return _native.hamming_pairs(rows, k, p.masks, p.bits, only=only, most=most, threads=threads)


def hamming_tables(fingerprints: U64, plan: HammingPlan, *, threads: int) -> tuple[U32, U64, U32]:
    """Lay fingerprints into tables.

    Returns:
        starts (tables, 2^bits + 1) uint32: entry at which each bucket begins; held (tables, n, words) uint64: the
        fingerprints bucket by bucket; places (tables, n) uint32: where each came from, ascending within a bucket.
    """
    return _native.hamming_tables(_rows(fingerprints), plan.masks, plan.bits, threads=threads)


def hamming_query(
    tables: tuple[U32, U64, U32],
    plan: HammingPlan,
    fingerprints: U64,
    queries: U64,
    k: int,
    *,
    most: int,
    threads: int,
) -> tuple[I64, I64, I32, bool]:
    """Find for each query all fingerprints within k bits.

    Args:
        tables, plan: from `hamming_tables` for these fingerprints and a plan for this k or a larger one.

    Returns:
        a (m,) int64 places of queries, b (m,) int64 places of fingerprints, sorted by a, then b; distance (m,) int32;
        and whether these are all: when there are more than `most`, none is listed.

    Raises:
        ValueError: a parameter out of range, shapes that do not fit, damaged tables.
    """
    return _native.hamming_query(
        *tables, plan.masks, plan.bits, _rows(fingerprints), _rows(queries), k, most=most, threads=threads
    )


def hamming_busy(
    fingerprints: U64, k: int, *, only: U64 | None = None, skip: U8 | Bool | None = None, threads: int
) -> Bool:
    """Mark the documents that have another within k bits: (n,) bool.

    Raises:
        ValueError: a parameter out of range, shapes that do not fit.
    """
    rows = _rows(fingerprints)
    p = hamming_plan(rows, k, only=only)
    marks = _native.hamming_busy(rows, k, p.masks, p.bits, only=only, skip=_bytes(skip), threads=threads)
    return marks.view(np.bool_)


def hamming_settle(
    fingerprints: U64,
    k: int,
    *,
    only: U64 | None = None,
    skip: U8 | Bool | None = None,
    sets: tuple[U64, I64] | None = None,
    threshold: float = 0.0,
    threads: int,
) -> tuple[I64, I32, F64]:
    """Settle documents in their order: each joins the earliest kept one within k bits, else it is kept.

    Args:
        sets: shingle sets, as `shingle_sets` gives them; then only documents whose Jaccard similarity is at or above
            the threshold are twins (intersection / union >= threshold in float64).
        skip: those marked are neither removed nor anyone's twin.

    Returns:
        twin (n,) int64 or -1 where kept; distance (n,) int32 or -1; similarity (n,) float64, the Jaccard similarity, 0
        where kept or without sets.

    Raises:
        ValueError: a parameter out of range, shapes that do not fit.
    """
    rows = _rows(fingerprints)
    alone = ~hamming_busy(rows, k, only=only, skip=skip, threads=threads)  # they cost no room in the tables
    few = rows[~alone]
    p = hamming_plan(few, k, only=None if only is None else only[~alone], kept=True)
    values, offsets = (None, None) if sets is None else sets
    return _native.hamming_settle(
        rows, k, p.masks, p.bits, only=only, skip=alone.view(np.uint8), values=values, offsets=offsets,
        threshold=threshold, threads=threads,
    )


def _rows(fingerprints: U64) -> U64:
    if fingerprints.dtype != np.uint64 or fingerprints.ndim not in (1, 2):
        raise ValueError(
            f"fingerprints: must be uint64 of shape (n,) or (n, 2), are {fingerprints.dtype} of {fingerprints.shape}"
        )
    rows = fingerprints.reshape(-1, 1) if fingerprints.ndim == 1 else fingerprints
    return np.ascontiguousarray(rows)


def _bytes(marks: U8 | Bool | None) -> U8 | None:
    return marks.view(np.uint8) if marks is not None and marks.dtype == np.bool_ else marks  # type: ignore[return-value]


def _masks(bits: int, blocks: int, k: int) -> U64:
    """One mask for each choice of blocks - k of the blocks: (tables, bits / 64) uint64."""
    borders = [bits * b // blocks for b in range(blocks + 1)]
    block = [(1 << borders[b + 1]) - (1 << borders[b]) for b in range(blocks)]
    whole = [sum(block[b] for b in chosen) for chosen in combinations(range(blocks), blocks - k)]
    return np.array([[m >> 64 * w & ((1 << 64) - 1) for w in range(bits // 64)] for m in whole], np.uint64)


def _meeting(sample: U64, apart: U64 | None, masks: U64) -> float:
    """Pairs of the sample that agree in the masked bits, summed over the tables."""
    total = 0.0
    with np.errstate(over="ignore"):
        for mask in masks:
            kept = sample & mask
            key = kept[:, 0] if len(mask) == 1 else kept[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ kept[:, 1]
            if apart is not None:
                key = (key ^ key >> np.uint64(32)) * np.uint64(0xD1B54A32D192ED03) ^ apart
            sizes = np.unique(key, return_counts=True)[1].astype(np.float64)
            total += float((sizes * (sizes - 1)).sum()) / 2
    return total
