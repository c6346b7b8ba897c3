"""Twins of `kernels.groups`, in plain Python: what each kernel means, slowly."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from ..arrays import F64, I64, U8, U32, U64

MASK = (1 << 64) - 1


def _mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def mix64(values: U64) -> U64:
    """Mix each value with SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014, §5)."""
    return np.array([_mix(int(v)) for v in values], np.uint64)


def band_keys(signatures: U32, bands: int, rows: int) -> U64:
    """Absorb a band's slots two at a time into a hash that starts from the band's number."""
    keys = np.zeros((bands, len(signatures)), np.uint64)
    for d, signature in enumerate(signatures):
        for b in range(bands):
            slots = [int(s) for s in signature[b * rows : (b + 1) * rows]]
            h = _mix((b + 0x9E3779B97F4A7C15) & MASK)
            while len(slots) >= 2:
                h = _mix(h ^ (slots.pop(0) | slots.pop(0) << 32))
            if slots:
                h = _mix(h ^ slots[0])
            keys[b, d] = h
    return keys


def repeated(key: U64, skip: U8 | None = None) -> tuple[I64, I64]:
    """Group places by key and drop the groups of one."""
    buckets: dict[int, list[int]] = defaultdict(list)
    for place, value in enumerate(key):
        if skip is None or not skip[place]:
            buckets[int(value)].append(place)
    places, borders = [], [0]
    for value in sorted(buckets):
        if len(buckets[value]) > 1:
            places += buckets[value]
            borders.append(len(places))
    return np.array(places, np.int64), np.array(borders, np.int64)


def gather(batches: list[tuple[U8, I64]], which: I64, rows: I64) -> tuple[U8, I64]:
    """Cut each text out of its batch."""
    texts = [batches[b][0][batches[b][1][r] : batches[b][1][r + 1]] for b, r in zip(which, rows, strict=True)]
    offsets = np.cumsum([0, *(len(t) for t in texts)], dtype=np.int64)
    return np.concatenate([np.zeros(0, np.uint8), *texts]), offsets


def band_edges(key: U64, packed: U8, skip: U8 | None, min_matches: int, limit: int = 64) -> tuple[I64, I64]:
    """Test every pair of a small bucket; join a large one whole."""
    places, borders = repeated(key, skip)
    edges = []
    for first, last in itertools.pairwise(borders):
        bucket = [int(p) for p in places[first:last]]
        whole = len(bucket) > limit
        for i, a in enumerate(bucket[:1] if whole else bucket):
            edges += [(a, b) for b in bucket[i + 1 :] if whole or int((packed[a] == packed[b]).sum()) >= min_matches]
    return np.array([a for a, _ in edges], np.int64), np.array([b for _, b in edges], np.int64)


def components(n: int, a: I64, b: I64) -> I64:
    """Spread the smallest label along the edges until nothing changes."""
    label = list(range(n))
    changed = True
    while changed:
        changed = False
        for x, y in zip(a, b, strict=True):
            low = min(label[x], label[y])
            changed |= label[x] != low or label[y] != low
            label[x] = label[y] = low
    return np.array(label, np.int64)


def _set(values: U64, offsets: I64, d: int) -> set[int]:
    return {int(v) for v in values[offsets[d] : offsets[d + 1]]}


def _jaccard(x: set[int], y: set[int]) -> float:
    return len(x & y) / len(x | y) if x and y else 0.0


def jaccard(a: I64, b: I64, set_values: U64, set_offsets: I64) -> F64:
    """Intersection over union of the sets; 0.0 when either is empty."""
    return np.array(
        [
            _jaccard(_set(set_values, set_offsets, x), _set(set_values, set_offsets, y))
            for x, y in zip(a, b, strict=True)
        ],
        np.float64,
    )


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
    """Compare each document with the kept ones of its group, in keep order; `small` changes nothing here."""
    del small
    twin = np.full(len(keys), -1, np.int64)
    similarity = np.zeros(len(keys))
    skipped = 0
    for first, last in itertools.pairwise(groups):
        kept: list[int] = []
        under: dict[int, list[int]] = defaultdict(list)  # band key -> kept documents, in keep order
        for d in range(int(first), int(last)):
            if d >= first + settled:
                skipped += sum(max(0, len(under[int(k)]) - cap) for k in keys[d])
                for other in kept:
                    if not any(other in under[int(k)][:cap] for k in keys[d]):
                        continue
                    if int((packed[d] == packed[other]).sum()) < min_matches:
                        continue
                    j = _jaccard(_set(set_values, set_offsets, d), _set(set_values, set_offsets, other))
                    if j >= threshold:
                        twin[d], similarity[d] = other, j
                        break
            if twin[d] < 0:
                kept.append(d)
                for k in keys[d]:
                    under[int(k)].append(d)
    return twin, similarity, skipped


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
    """List the true pairs that meet first in this band."""
    places, borders = repeated(keys[band], skip)
    rows: list[tuple[int, int, float]] = []
    count = 0
    for first, last in itertools.pairwise(borders):
        bucket = [int(p) for p in places[first:last]]
        for i, a in enumerate(bucket):
            for b in bucket[i + 1 :]:
                if (keys[:band, a] == keys[:band, b]).any() or int((packed[a] == packed[b]).sum()) < min_matches:
                    continue
                j = _jaccard(_set(set_values, set_offsets, a), _set(set_values, set_offsets, b))
                if j >= threshold:
                    rows.append((a, b, j))
                    count += int(weight[a] * weight[b])
                    if count > most:
                        return (*_columns(rows), False)
    return (*_columns(rows), True)


def _columns(rows: list[tuple[int, int, float]]) -> tuple[I64, I64, F64]:
    return (
        np.array([r[0] for r in rows], np.int64),
        np.array([r[1] for r in rows], np.int64),
        np.array([r[2] for r in rows], np.float64),
    )
